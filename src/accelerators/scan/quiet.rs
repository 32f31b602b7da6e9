//! The places of which it is known that they ask for nothing.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::manifest;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    kinds: Vec<Entry>,
    renders: Vec<Entry>,
    keys: Vec<String>,
    within: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    group: String,
    kind: String,
}

const TEXT: &str = include_str!("quiet.yaml");

static QUIET: LazyLock<File> = LazyLock::new(|| manifest::typed(TEXT).unwrap_or_default());

/// Whether objects of a kind ask for nothing, whatever they name.
pub(super) fn kind(group: &str, kind: &str) -> bool {
    QUIET.kinds.iter().any(|entry| entry.is(group, kind))
}

/// Whether the cluster itself makes other objects of an object's settings.
pub(super) fn renders(group: &str, kind: &str) -> bool {
    QUIET.renders.iter().any(|entry| entry.is(group, kind))
}

impl Entry {
    fn is(&self, group: &str, kind: &str) -> bool {
        let of_group = match self.group.strip_prefix('*') {
            Some(suffix) => group.ends_with(suffix),
            None => group == self.group,
        };
        of_group && (self.kind == "*" || self.kind == kind)
    }
}

/// Whether what stands below a key of a mapping asks for nothing.
pub(super) fn key(key: &str) -> bool {
    QUIET.keys.iter().any(|quiet| quiet == key)
}

/// Whether devices below a key of a mapping are asked for, though it is in no manifest.
pub(super) fn within(key: &str) -> bool {
    QUIET.within.iter().any(|within| within == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_reads() {
        let file: File = manifest::typed(TEXT).expect("a list");
        assert!(file.kinds.len() > 40 && file.keys.len() > 5 && file.within.len() > 4);
    }

    #[test]
    fn kinds_are_quiet_by_group_and_name() {
        assert!(kind("", "ResourceQuota"));
        assert!(!kind("", "ConfigMap"));
        assert!(kind("karpenter.sh", "NodePool"));
        assert!(kind("infrastructure.cluster.x-k8s.io", "AWSMachineTemplate"));
        assert!(kind("nvidia.com", "ClusterPolicy"));
        assert!(!kind("nvidia.com", "DynamoGraphDeployment"));
    }
}
