//! Files that are known to be no manifests, by where they are and what they are called.

use camino::Utf8Path;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Glob and what such a file is. A glob without `/` stands for a name in any directory.
const KNOWN: [(&str, &str); 67] = [
    (".github/**", "GitHub configuration"),
    (".gitlab-ci.{yaml,yml}", "GitLab CI configuration"),
    ("*.gitlab-ci.{yaml,yml}", "GitLab CI configuration"),
    (".gitlab/**", "GitLab configuration"),
    (".circleci/**", "CircleCI configuration"),
    (".buildkite/**", "Buildkite configuration"),
    (".drone.{yaml,yml}", "Drone configuration"),
    (".travis.{yaml,yml}", "Travis CI configuration"),
    (".woodpecker/**", "Woodpecker CI configuration"),
    (".woodpecker.{yaml,yml}", "Woodpecker CI configuration"),
    ("azure-pipelines*.{yaml,yml}", "Azure Pipelines configuration"),
    ("bitbucket-pipelines.yml", "Bitbucket Pipelines configuration"),
    ("cloudbuild*.{yaml,yml,json}", "Cloud Build configuration"),
    ("buildspec*.{yaml,yml}", "CodeBuild configuration"),
    (".pre-commit-{config,hooks}.{yaml,yml}", "pre-commit configuration"),
    ("dependabot.{yaml,yml}", "Dependabot configuration"),
    ("{renovate,.renovaterc,renovate-config}.json", "Renovate configuration"),
    (".renovate/**", "Renovate configuration"),
    (".codecov.{yaml,yml}", "Codecov configuration"),
    ("codecov.{yaml,yml}", "Codecov configuration"),
    (".mergify.{yaml,yml}", "Mergify configuration"),
    (".goreleaser.{yaml,yml}", "GoReleaser configuration"),
    (".golangci.{yaml,yml}", "golangci-lint configuration"),
    ("mkdocs.{yaml,yml}", "MkDocs configuration"),
    (".readthedocs.{yaml,yml}", "Read the Docs configuration"),
    ("catalog-info.{yaml,yml}", "Backstage catalogue entry"),
    ("{docker-,}compose*.{yaml,yml}", "Compose file"),
    ("{.,}{T,t}askfile*.{yaml,yml}", "Taskfile"),
    (".taskfiles/**", "Taskfile"),
    (".sops.{yaml,yml}", "SOPS configuration"),
    ("helmfile*.{yaml,yml}", "helmfile configuration"),
    ("helmfile.d/**", "helmfile configuration"),
    ("skaffold.{yaml,yml}", "Skaffold configuration"),
    ("ct.{yaml,yml}", "chart-testing configuration"),
    ("artifacthub-{repo,pkg}.{yaml,yml}", "Artifact Hub metadata"),
    ("kind-config*.{yaml,yml}", "kind configuration"),
    (".kube-linter.{yaml,yml}", "kube-linter configuration"),
    (".kube-score.{yaml,yml}", "kube-score configuration"),
    (".yamllint{,.yaml,.yml}", "yamllint configuration"),
    (".yamlfmt{,.yaml,.yml}", "yamlfmt configuration"),
    (".prettierrc*", "Prettier configuration"),
    (".markdownlint*.{json,yaml,yml}", "markdownlint configuration"),
    (".markdown-link-check.json", "link checker configuration"),
    (".mega-linter.{yaml,yml}", "MegaLinter configuration"),
    (".eslintrc*", "ESLint configuration"),
    ("{package,package-lock,npm-shrinkwrap,composer}.json", "package manifest"),
    ("pnpm-{lock,workspace}.yaml", "pnpm configuration"),
    ("{tsconfig,jsconfig}*.json", "TypeScript configuration"),
    ("jsonnetfile{,.lock}.json", "jsonnet-bundler file"),
    ("*.schema.json", "JSON schema"),
    ("*.code-workspace", "editor configuration"),
    (".vscode/**", "editor configuration"),
    (".idea/**", "editor configuration"),
    (".devcontainer/**", "development container"),
    (".devcontainer.json", "development container"),
    (".devfile.yaml", "development environment"),
    ("devfile.yaml", "development environment"),
    ("node_modules/**", "installed package"),
    (".terraform/**", "Terraform working directory"),
    ("*.tfvars.json", "Terraform variables"),
    ("*.tf.json", "Terraform configuration"),
    ("{.,}release-please-{config,manifest}.json", "release-please configuration"),
    (".releaserc.{json,yaml,yml}", "semantic-release configuration"),
    (".argocd-source*.{yaml,yml}", "Argo CD parameter override"),
    (".krmignore", "kpt configuration"),
    ("OWNERS_ALIASES", "owners"),
    (".fleetgate/**", "our own working directory"),
];

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(&format!("**/{pattern}")).empty_alternates(true).build()
}

/// The table, ready to be asked.
#[derive(Debug)]
pub(super) struct Known {
    globs: GlobSet,
}

impl Known {
    pub(super) fn new() -> Self {
        let mut globs = GlobSetBuilder::new();
        for (pattern, _) in KNOWN {
            // A pattern that does not compile would shift the positions; a test compiles them all.
            if let Ok(glob) = glob(pattern) {
                globs.add(glob);
            }
        }
        Self { globs: globs.build().unwrap_or_default() }
    }

    /// What a file is, if it is known to be no manifest. A name alone says little about a file that
    /// reads like a manifest (`manifest`); the directory of another tool says enough.
    pub(super) fn what(&self, path: &Utf8Path, manifest: bool) -> Option<&'static str> {
        let known = self.globs.matches(path).into_iter().filter_map(|index| KNOWN.get(index));
        known.filter(|(pattern, _)| !manifest || pattern.ends_with("/**")).map(|(_, what)| *what).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for (pattern, _) in KNOWN {
            assert!(glob(pattern).is_ok(), "{pattern}");
        }
        assert_eq!(Known::new().globs.len(), KNOWN.len());
    }

    #[test]
    fn tools_are_known_and_manifests_are_not() {
        let known = Known::new();
        let what = |path| known.what(Utf8Path::new(path), false);
        assert_eq!(what(".github/workflows/ci.yaml"), Some("GitHub configuration"));
        assert_eq!(what("sub/.pre-commit-config.yaml"), Some("pre-commit configuration"));
        assert_eq!(what("docker-compose.prod.yml"), Some("Compose file"));
        assert_eq!(what("docs/Taskfile.yml"), Some("Taskfile"));
        for path in [
            "apps/deployment.yaml",
            "github/a.yaml",
            "renovate.yaml",
            "apps/renovate/cronjob.yaml",
            "package.yaml",
            "x.json",
        ] {
            assert_eq!(what(path), None, "{path}");
        }
        assert_eq!(known.what(Utf8Path::new("a/ct.yaml"), true), None);
    }
}
