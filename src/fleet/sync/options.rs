//! What is asked of a synchronisation.

use std::collections::BTreeMap;

use globset::GlobMatcher;

/// Choices beside the inputs.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only this cluster; inputs that name none are about it.
    pub cluster: Option<String>,
    /// Its environment, if no input says it.
    pub environment: Option<String>,
    /// Its provider, if no input says it.
    pub provider: Option<String>,
    /// Its region, if no input says it.
    pub region: Option<String>,
    /// The label of a cluster that names its environment.
    pub environment_label: String,
    /// The label of a namespace that names its team.
    pub team_label: String,
    /// Further node labels that are kept.
    pub keep_labels: Vec<GlobMatcher>,
    /// Families of models that are not known, by the value of the label that names the model.
    pub families: BTreeMap<String, String>,
    /// Names of clusters in the fleet, by the name or server that a source has for them.
    pub renames: BTreeMap<String, String>,
    /// Clusters of the sources that do not belong to the fleet.
    pub skip: Vec<String>,
    /// Whether to write how many nodes there are today. In clusters that add nodes by themselves the
    /// number is no limit.
    pub counts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cluster: None,
            environment: None,
            provider: None,
            region: None,
            environment_label: "environment".to_owned(),
            team_label: "team".to_owned(),
            keep_labels: Vec::new(),
            families: BTreeMap::new(),
            renames: BTreeMap::new(),
            skip: Vec::new(),
            counts: true,
        }
    }
}
