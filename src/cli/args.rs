//! The command line as people write it. Nothing after [`super::settings`] sees these types.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_STATUS: &str = "\
Exit status:
  0  nothing denied
  1  denied
  2  could not judge: bad usage, unreadable input, policy error, a needed fact missing
  3  nothing to judge: no resource found or no rule loaded";

/// Decides whether a change or a release may go to a fleet of Kubernetes clusters.
#[derive(Debug, Parser)]
#[command(name = "fleetgate", version, about, after_help = EXIT_STATUS, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Args)]
pub(super) struct Global {
    /// When to colour the output
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = "Terminal")]
    pub(super) color: Colour,
    /// Findings and errors only, no counts
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Terminal")]
    pub(super) quiet: bool,
    /// More about what was seen
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Terminal")]
    pub(super) verbose: u8,
    /// Threads [default: one for each processor]
    #[arg(short, long, global = true, value_name = "N", env = "FLEETGATE_JOBS", help_heading = "Terminal")]
    pub(super) jobs: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Judge a fleet, or files, or standard input (`-`)
    Check(Check),
    /// What workloads ask for: steady, while they roll out, and when they scale up
    Demand(Demand),
    /// Run the unit tests of policies (`test_*` rules in `*_test.rego`)
    Test(Test),
    /// List the rules and where they apply
    Rules(Rules),
    /// Show what a rule is for, with an example that fails and one that passes
    Explain(Explain),
    /// Accept the findings of today, so that only new ones deny
    #[command(subcommand)]
    Baseline(Baseline),
    /// Derive parts of the fleet file from their sources; ask what a change of capacity would break
    #[command(subcommand)]
    Fleet(Fleet),
    /// Write a fleet file for a repository, accept its present findings, check it
    Init(Init),
    /// Show the configuration in effect
    #[command(subcommand)]
    Config(Config),
    /// Print the JSON schema of a file format
    Schema(Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Evaluate policies for a parent process that does not trust them
    #[command(hide = true, name = crate::policy::isolate::COMMAND)]
    Isolated,
}

/// Where the configuration and the policies come from.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Rulebook {
    /// Fleet file [default: `fleetgate.yaml` in the directory that is named, or here, or above it up to the Git root]
    #[arg(long, value_name = "FILE", env = "FLEETGATE_CONFIG", help_heading = "Configuration")]
    pub(super) config: Option<Utf8PathBuf>,
    /// Use no fleet file, even if there is one
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(super) no_config: bool,
    /// Further policies: a directory or a `.rego` file
    #[arg(short, long, value_name = "PATH", help_heading = "Configuration")]
    pub(super) policy: Vec<Utf8PathBuf>,
    /// Data for `--policy`: a directory, or a JSON or YAML file
    #[arg(short, long, value_name = "PATH", requires = "policy", help_heading = "Configuration")]
    pub(super) data: Vec<Utf8PathBuf>,
    /// `--policy` is in conftest's style: the packages whose `deny`, `violation` and `warn` count [conftest's default is `main`]
    #[arg(short, long, value_name = "NAME", requires = "policy", help_heading = "Configuration")]
    pub(super) namespace: Vec<String>,
    /// Do not load the policies that come with the program
    #[arg(long, help_heading = "Configuration")]
    pub(super) no_shipped_policies: bool,
    /// Only these rules: ids or globs such as `gitops/*`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Configuration")]
    pub(super) select: Vec<String>,
    /// Not these rules: ids or globs
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Configuration")]
    pub(super) ignore: Vec<String>,
}

/// What is judged.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Subjects {
    /// Files and directories, of one fleet; `-` is standard input [default: the fleet, or the current directory]
    pub(super) paths: Vec<Utf8PathBuf>,
    /// The cluster for files outside any cluster's rendered tree
    #[arg(long, value_name = "NAME", help_heading = "Subjects")]
    pub(super) cluster: Option<String>,
    /// The environment for files outside any cluster's rendered tree
    #[arg(long, value_name = "NAME", help_heading = "Subjects")]
    pub(super) environment: Option<String>,
    /// Name to show for standard input
    #[arg(long, value_name = "NAME", help_heading = "Subjects")]
    pub(super) stdin_filename: Option<Utf8PathBuf>,
    /// Judge as if it were this instant (RFC 3339)
    #[arg(long, value_name = "TIME", env = "FLEETGATE_NOW", help_heading = "Subjects")]
    pub(super) now: Option<jiff::Timestamp>,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) subjects: Subjects,
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
    /// Judge only what a change makes new or worse since this revision, the tip of its target branch, from Git objects; configuration and policies come from there
    #[arg(long, value_name = "REV", help_heading = "Change")]
    pub(super) base: Option<String>,
    /// Head of the change [default: HEAD]
    #[arg(long, value_name = "REV", requires = "base", help_heading = "Change")]
    pub(super) head: Option<String>,
    /// Judge everything and show findings that the change leaves as they were, too
    #[arg(long, requires = "base", help_heading = "Change")]
    pub(super) all: bool,
    /// Format, to standard output or to a file: `-o text -o sarif=out.sarif` [default: text, with annotations under GitHub Actions] [formats: text, concise, json, sarif, junit, github, gitlab, markdown, tap, table]
    #[arg(short, long, alias = "format", value_name = "FORMAT[=FILE]", help_heading = "Output")]
    pub(super) output: Vec<String>,
    /// The lowest level that fails the run
    #[arg(long, value_enum, default_value_t = FailOn::Deny, value_name = "LEVEL", help_heading = "Output")]
    pub(super) fail_on: FailOn,
    /// Exit 0 where the status would be 1
    #[arg(long, help_heading = "Output")]
    pub(super) exit_zero: bool,
    /// Baseline file [default: `fleetgate.baseline.yaml` beside the fleet file, and one directory below]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(super) baseline: Vec<Utf8PathBuf>,
    /// Accept nothing: show what the baseline hides
    #[arg(long, conflicts_with = "baseline", help_heading = "Configuration")]
    pub(super) no_baseline: bool,
    /// Evaluate policies in a child process with limits on memory and time
    #[arg(long, help_heading = "Configuration")]
    pub(super) untrusted_policies: bool,
    /// Evaluate every document anew, even if its text was judged elsewhere; the report is the same
    #[arg(long, help_heading = "Configuration")]
    pub(super) no_dedupe: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Deny,
    Warn,
}

#[derive(Debug, Args)]
pub(super) struct Demand {
    #[command(flatten)]
    pub(super) subjects: Subjects,
    /// Fleet file [default: as for `check`]
    #[arg(long, value_name = "FILE", env = "FLEETGATE_CONFIG", help_heading = "Configuration")]
    pub(super) config: Option<Utf8PathBuf>,
    /// Use no fleet file, even if there is one
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(super) no_config: bool,
    /// Say on which clusters of the fleet the manifests at PATH would fit, and what is in the way;
    /// `--cluster` asks about one
    #[arg(long)]
    pub(super) fit: bool,
    /// Format
    #[arg(short, long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub(super) output: ListFormat,
}

impl Demand {
    /// The same choice of fleet file as other commands make.
    pub(super) fn rulebook(&self) -> Rulebook {
        Rulebook { config: self.config.clone(), no_config: self.no_config, ..Rulebook::default() }
    }
}

#[derive(Debug, Args)]
pub(super) struct Test {
    /// Policy directories or files [default: those of the fleet file and of the program]
    pub(super) paths: Vec<Utf8PathBuf>,
    /// Data: a directory, or a JSON or YAML file
    #[arg(short, long, value_name = "PATH")]
    pub(super) data: Vec<Utf8PathBuf>,
    /// Only tests whose `package.name` matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub(super) filter: Option<String>,
    /// Show which lines the tests reached
    #[arg(long)]
    pub(super) coverage: bool,
    /// Fail if less than this share of lines is reached, in percent
    #[arg(long, value_name = "PERCENT", requires = "coverage")]
    pub(super) threshold: Option<f64>,
    /// Format
    #[arg(short, long, value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub(super) output: TestFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TestFormat {
    Text,
    Json,
    Junit,
}

#[derive(Debug, Args)]
pub(super) struct Rules {
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
    /// Format
    #[arg(short, long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub(super) output: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ListFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Rule id, such as `gitops/image-digest`
    pub(super) rule: String,
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
}

#[derive(Debug, Subcommand)]
pub(super) enum Baseline {
    /// Accept all present findings; refuses to replace a baseline
    Create(Accept),
    /// Accept what is there now and drop what is mended
    Update(Accept),
    /// Drop what is mended; accept nothing new
    Prune(Keep),
    /// Count what is accepted, by rule and owner
    Stats(Stats),
}

#[derive(Debug, Args)]
pub(super) struct Accept {
    #[command(flatten)]
    pub(super) keep: Keep,
    /// Who answers for the new entries
    #[arg(long, value_name = "OWNER")]
    pub(super) owner: Option<String>,
    /// Why they are accepted
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
    /// The last day on which they are accepted
    #[arg(long, value_name = "DATE")]
    pub(super) expires: Option<jiff::civil::Date>,
    /// One file for each top-level directory, so that its owners can review it
    #[arg(long)]
    pub(super) per_directory: bool,
}

#[derive(Debug, Args)]
pub(super) struct Keep {
    #[command(flatten)]
    pub(super) subjects: Subjects,
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
}

#[derive(Debug, Args)]
pub(super) struct Stats {
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
    /// Format
    #[arg(short, long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub(super) output: ListFormat,
}

#[derive(Debug, Subcommand)]
pub(super) enum Fleet {
    /// Write a part of the fleet file from what other tools say
    #[command(after_help = SYNC_STATUS)]
    Sync(Box<Sync>),
    /// Ask which budgets, queues and workloads another number of nodes would break
    #[command(after_help = WHAT_IF_STATUS)]
    WhatIf(WhatIf),
}

const WHAT_IF_STATUS: &str = "\
Exit status:
  0  nothing breaks
  1  something no longer fits
  2  could not tell: bad usage, unreadable input, capacity that is not known
  3  nothing asks for capacity: no resource and no budget found";

#[derive(Debug, Args)]
pub(super) struct WhatIf {
    /// The cluster
    #[arg(long, value_name = "NAME")]
    pub(super) cluster: String,
    /// Nodes of a family, or of its pools of a capacity type or machine type, such as `H100/spot.nodes=8`
    #[arg(long, value_name = "FAMILY[/WHICH].nodes=N", required = true)]
    pub(super) set: Vec<String>,
    /// The instant of the run [default: now]
    #[arg(long, value_name = "TIME", env = "FLEETGATE_NOW")]
    pub(super) now: Option<jiff::Timestamp>,
    /// Fleet file [default: `fleetgate.yaml` here, or above it up to the Git root]
    #[arg(long, value_name = "FILE", env = "FLEETGATE_CONFIG", help_heading = "Configuration")]
    pub(super) config: Option<Utf8PathBuf>,
    /// Format
    #[arg(short, long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub(super) output: ListFormat,
}

impl WhatIf {
    /// The same choice of fleet file as other commands make.
    pub(super) fn rulebook(&self) -> Rulebook {
        Rulebook { config: self.config.clone(), ..Rulebook::default() }
    }

    /// The whole fleet.
    pub(super) fn subjects(&self) -> Subjects {
        Subjects { now: self.now, ..Subjects::default() }
    }
}

const SYNC_STATUS: &str = "\
Exit status:
  0  the file is current, or was written
  1  with `--check`: the file is not current
  2  an input cannot be read or understood, or the file was not generated";

#[derive(Debug, Args)]
pub(super) struct Sync {
    /// The file to write, one that `include` of the fleet file names [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<Utf8PathBuf>,
    /// Write nothing; say what is not current
    #[arg(long, requires = "out")]
    pub(super) check: bool,
    /// The instant of the run, whose day the file is dated with if it changes [default: now]
    #[arg(long, value_name = "TIME", env = "FLEETGATE_NOW")]
    pub(super) now: Option<jiff::Timestamp>,
    /// `argocd cluster list -o json`, or Argo CD's cluster secrets; `-` is standard input, here and below
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    pub(super) clusters: Vec<Utf8PathBuf>,
    /// `terraform output -json`, with the outputs `fleetgate_clusters` and `fleetgate_teams`
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    pub(super) terraform: Vec<Utf8PathBuf>,
    /// Only this cluster; inputs that name no cluster are about it
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    pub(super) cluster: Option<String>,
    /// Environment of `--cluster`
    #[arg(long, value_name = "NAME", requires = "cluster", help_heading = "Clusters")]
    pub(super) environment: Option<String>,
    /// Provider of `--cluster`, such as `aws`
    #[arg(long, value_name = "NAME", requires = "cluster", help_heading = "Clusters")]
    pub(super) provider: Option<String>,
    /// Region of `--cluster`
    #[arg(long, value_name = "NAME", requires = "cluster", help_heading = "Clusters")]
    pub(super) region: Option<String>,
    /// The label of Argo CD's clusters that names their environment
    #[arg(long, value_name = "KEY", default_value = "environment", help_heading = "Clusters")]
    pub(super) environment_label: String,
    /// What a cluster is called in the fleet, by its name or server in the sources
    #[arg(long, value_name = "FROM=TO", help_heading = "Clusters")]
    pub(super) rename: Vec<String>,
    /// A cluster that does not belong to the fleet
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    pub(super) skip: Vec<String>,
    /// `kubectl get nodes -o json`
    #[arg(long, value_name = "[CLUSTER=]FILE", help_heading = "Capacity")]
    pub(super) nodes: Vec<String>,
    /// `kubectl get nodepools.karpenter.sh -o json`
    #[arg(long, value_name = "[CLUSTER=]FILE", help_heading = "Capacity")]
    pub(super) karpenter: Vec<String>,
    /// `kubectl get clusterqueues,localqueues,resourceflavors -A -o json`
    #[arg(long, value_name = "[CLUSTER=]FILE", help_heading = "Capacity")]
    pub(super) kueue: Vec<String>,
    /// A further node label that pods select by, or a glob
    #[arg(long, value_name = "KEY", help_heading = "Capacity")]
    pub(super) keep_label: Vec<String>,
    /// The family of a model that is not known, by the value of the node label that names it
    #[arg(long, value_name = "MODEL=FAMILY", help_heading = "Capacity")]
    pub(super) family: Vec<String>,
    /// Do not write how many nodes there are today: the clusters add nodes by themselves
    #[arg(long, help_heading = "Capacity")]
    pub(super) no_counts: bool,
    /// `kubectl get namespaces -o json`
    #[arg(long, value_name = "FILE", help_heading = "Teams and people")]
    pub(super) namespaces: Vec<Utf8PathBuf>,
    /// The label of namespaces that names their team
    #[arg(long, value_name = "KEY", default_value = "team", help_heading = "Teams and people")]
    pub(super) team_label: String,
    /// `kubectl get appprojects.argoproj.io -A -o json`
    #[arg(long, value_name = "FILE", help_heading = "Teams and people")]
    pub(super) projects: Vec<Utf8PathBuf>,
    /// A CODEOWNERS file
    #[arg(long, value_name = "FILE", help_heading = "Teams and people")]
    pub(super) codeowners: Vec<Utf8PathBuf>,
    /// Members as GitHub's API lists them, of an organisation or of a team
    #[arg(long, value_name = "[TEAM=]FILE", help_heading = "Teams and people")]
    pub(super) github: Vec<String>,
    /// Members as GitLab's API lists them, of a group or of a team
    #[arg(long, value_name = "[TEAM=]FILE", help_heading = "Teams and people")]
    pub(super) gitlab: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Init {
    /// The repository
    #[arg(default_value = ".")]
    pub(super) path: Utf8PathBuf,
    /// Write the fleet file only: no baseline, no check
    #[arg(long)]
    pub(super) no_baseline: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Print the fleet file as it is understood, with the origin of each part
    Show(Show),
}

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    pub(super) rulebook: Rulebook,
}

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which format
    #[arg(value_enum)]
    pub(super) format: SchemaOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// `fleetgate.yaml` and the files it includes
    Fleet,
    /// The baseline file
    Baseline,
    /// The report of `-o json`
    Report,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
