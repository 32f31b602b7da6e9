//! Proposes a fleet file for a repository that has none.
//!
//! What is found is written down with how it was found; what is only guessed says so. The proposal is
//! loaded before it is handed out, so that what `fleetgate init` writes can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;

use super::discover::discover;
use super::discovery::{Loose, Renderer};
use super::find::NAMES;
use super::hints::{self, Hints};
use super::load::load_text;
use super::paths::is_structured;
use super::walk::Walked;
use crate::error::Result;

/// A fleet file to be looked over and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Where it belongs.
    pub file: Utf8PathBuf,
    /// Its text, with comments.
    pub text: String,
    /// Environments, in the order that was guessed.
    pub environments: Vec<String>,
    /// Clusters by name, with their environments.
    pub clusters: BTreeMap<String, String>,
    /// Where the rendered manifests are, if that was found.
    pub rendered: Option<String>,
    /// What was looked for and not found, or only guessed; one sentence each.
    pub remarks: Vec<String>,
}

/// Looks over the repository at `root` and proposes a fleet file for it.
pub fn init(root: &Utf8Path, today: Date) -> Result<Proposal> {
    let mut walked = Walked::default();
    let Some(home) = walked.root(root) else { return Err(crate::error::Error::Problems(walked.problems)) };
    walked.walk(&home, true, &|_| false);
    let files: BTreeSet<Utf8PathBuf> = walked
        .files
        .keys()
        .filter_map(|path| path.strip_prefix(&home.real).ok())
        .filter(|path| is_structured(path))
        .map(Utf8Path::to_owned)
        .collect();
    let shown = home.shown.as_path();
    let mut hints = Hints::default();
    hints.directories(&files);
    hints.objects(walked.files.values().map(|found| found.shown.as_path()));
    let counted = count(root, today);

    let mut proposal = propose(shown, hints);
    // A layout that looks rendered can turn out to be sources, which something alters afterwards.
    if proposal.rendered.is_some() {
        let text = write(&proposal, &counted);
        let loaded = load_text(&proposal.file, &text)?;
        let found = discover(Some(&loaded), &[], &Loose::default(), today);
        if let Some(problem) = found.problems.iter().find(|problem| problem.code == "rendered-again") {
            let guess = proposal.rendered.take().unwrap_or_default();
            proposal.remarks.push(format!("`{guess}` is not what the clusters run: {}", problem.message));
        }
    }
    proposal.text = write(&proposal, &counted);
    load_text(&proposal.file, &proposal.text)?;
    Ok(proposal)
}

/// Decides on environments and clusters.
fn propose(root: &Utf8Path, hints: Hints) -> Proposal {
    let mut remarks = hints.remarks;
    let mut environments: BTreeSet<String> = hints.environments;
    let mut clusters = BTreeMap::new();
    let mut unsorted = Vec::new();
    for (name, hint) in hints.clusters {
        let known = hint.filter(|environment| hints::is_plain(environment)).or_else(|| {
            let whole = environments.iter().find(|environment| **environment == name).cloned();
            whole.or_else(|| hints::environment_in(&name, &environments))
        });
        if let Some(environment) = known {
            environments.insert(environment.clone());
            clusters.insert(name, environment);
        } else {
            unsorted.push(name);
        }
    }
    if !unsorted.is_empty() {
        let only = if environments.len() == 1 { environments.first().cloned() } else { None };
        let fallback = only.unwrap_or_else(|| "unsorted".to_owned());
        if fallback == "unsorted" {
            let names = unsorted.join("`, `");
            remarks.push(format!("the environment of `{names}` could not be told: replace `unsorted`"));
        } else {
            let names = unsorted.join("`, `");
            remarks.push(format!("`{names}` is put in `{fallback}` because no other environment was found"));
        }
        environments.insert(fallback.clone());
        clusters.extend(unsorted.into_iter().map(|name| (name, fallback.clone())));
    }
    if clusters.is_empty() {
        remarks.push(
            "no clusters were found: no `clusters/<name>`, no `rendered/<name>`, no Argo CD cluster or `destination.name`"
                .to_owned(),
        );
    }
    let rendered = hints.rendered.filter(|_| !clusters.is_empty());
    if rendered.is_none() {
        remarks.push(
            "no rendered manifests were found: what kustomize and Helm put out is not judged".to_owned(),
        );
    }
    let environments = hints::in_order(environments);
    Proposal { file: root.join(NAMES[0]), text: String::new(), environments, clusters, rendered, remarks }
}

/// What the repository consists of, for the head of the file.
fn count(root: &Utf8Path, today: Date) -> Vec<String> {
    let found = discover(None, &[root.to_owned()], &Loose::default(), today);
    let mut kinds: BTreeMap<Renderer, usize> = BTreeMap::new();
    let mut tools: BTreeSet<(Renderer, &Utf8Path)> = BTreeSet::new();
    let tool = |how: &Renderer| matches!(how, Renderer::Kustomization | Renderer::Chart);
    tools.extend(
        found.seen_through.iter().filter(|seen| tool(&seen.how)).map(|seen| (seen.how, seen.by.as_path())),
    );
    for (kind, _) in tools {
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| format!("{count} × {}", kind.as_str())).collect()
}

fn write(proposal: &Proposal, counted: &[String]) -> String {
    let mut text =
        String::from("# A fleet file, proposed by `fleetgate init` from what stands in this repository.\n");
    text.push_str(
        "# Look it over: what is guessed says so. `fleetgate config show` prints how it is understood.\n",
    );
    if !counted.is_empty() {
        _ = writeln!(text, "# Found: {}.", counted.join(", "));
    }
    for remark in &proposal.remarks {
        _ = writeln!(text, "# Note: {}.", remark.replace('\n', " "));
    }
    text.push_str("apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n\n");
    text.push_str(
        "# `starter` shows denials as warnings, `recommended` denies, `strict` denies warnings too.\n",
    );
    text.push_str("profile: recommended\n\n");
    if proposal.environments.is_empty() {
        text.push_str("# No environments were found. List them in promotion order, the first one first.\n");
        text.push_str("# environments: [dev, uat, prod]\n\n");
    } else {
        let names: Vec<String> = proposal.environments.iter().map(|name| hints::quoted(name)).collect();
        text.push_str("# In promotion order, guessed from the names.\n");
        _ = write!(text, "environments: [{}]\n\n", names.join(", "));
    }
    if let Some(pattern) = &proposal.rendered {
        text.push_str("# The manifests that each cluster runs, after all rendering.\n");
        _ = write!(text, "rendered: \"{pattern}\"\n\n");
    } else {
        text.push_str("# Where the manifests of each cluster are, after all rendering. None were found.\n");
        text.push_str("# rendered: rendered/{cluster}\n\n");
    }
    if proposal.clusters.is_empty() {
        text.push_str("# No clusters were found. Name each with its environment.\n");
        text.push_str(
            "# clusters:\n#   prod-aws-use1: {environment: prod, provider: aws, region: us-east-1}\n\n",
        );
    } else {
        text.push_str("# Each with its environment; add `provider`, `region` and `accelerators` where they are known:\n");
        text.push_str("#   prod-aws-use1: {environment: prod, provider: aws, region: us-east-1}\n");
        text.push_str("clusters:\n");
        for (name, environment) in &proposal.clusters {
            _ = writeln!(text, "  {}: {}", hints::quoted(name), hints::quoted(environment));
        }
        text.push('\n');
    }
    text.push_str(
        "# Teams, by the namespaces that they own.\n\
         # teams:\n\
         #   ml-search: [ml-search, \"ml-search-*\"]\n\
         \n\
         # Levels and modes of rules: deny, warn, info, audit, off. `fleetgate rules` lists the rules.\n\
         # rules:\n\
         #   gitops/image-digest: warn\n\
         \n\
         # Violations that are accepted for a while.\n\
         # waivers:\n\
         #   - rule: gitops/image-digest\n\
         #     subject: Deployment ml-search/ranker\n\
         #     reason: the vendor publishes no digests\n\
         #     owner: \"@ml-search\"\n\
         #     expires: 2027-06-30\n\
         \n\
         # Files that are not read, with a reason and an end.\n\
         # exclude:\n\
         #   - {path: \"legacy/**\", reason: replaced by apps/, owner: \"@platform\", expires: 2027-06-30}\n",
    );
    text
}
