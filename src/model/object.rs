//! The identity of a Kubernetes object.

use std::fmt;
use std::sync::Arc;

/// Group, version, kind, namespace and name of an object, as its manifest states them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// API group, empty for the core group.
    pub group: Arc<str>,
    /// API version without the group, such as `v1`.
    pub version: Arc<str>,
    /// Kind, such as `Deployment`.
    pub kind: Arc<str>,
    /// Namespace, if the manifest states one.
    pub namespace: Option<Arc<str>>,
    /// `metadata.name`, or `metadata.generateName` if `generated`.
    pub name: Arc<str>,
    /// Whether the API server will append a suffix to `name` (`metadata.generateName`).
    pub generated: bool,
}

impl ObjectId {
    /// `apps/v1` or `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `namespace/name`, or `name` for an object without a namespace. A generated name reads
    /// `job-(generated)`.
    pub fn qualified_name(&self) -> String {
        let suffix = if self.generated { "(generated)" } else { "" };
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}{suffix}", self.name),
            None => format!("{}{suffix}", self.name),
        }
    }
}

/// `Deployment ml-search/ranker`.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.qualified_name())
    }
}
