//! What discovery comes to: every YAML and JSON file under the trees, sorted into exactly one place.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::manifest::corpus::InputFile;
use crate::model::{Context, Exclusion, Problem};

/// What the command line says about files that no cluster of the fleet owns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loose {
    /// The cluster, by name.
    pub cluster: Option<String>,
    /// The environment, by name.
    pub environment: Option<String>,
    /// What standard input holds, if `-` is among the paths.
    pub stdin: Option<Arc<[u8]>>,
    /// Whether only a part of the fleet is at hand, so that what is not there says nothing.
    pub part: bool,
    /// The name under which standard input is shown; `-` if absent.
    pub stdin_name: Option<Utf8PathBuf>,
}

/// What renders files into manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Renderer {
    /// A kustomization.
    Kustomization,
    /// A Helm chart.
    Chart,
    /// An Argo CD `Application` or `ApplicationSet`.
    Application,
    /// A Flux `Kustomization`.
    FluxKustomization,
    /// A Flux `HelmRelease`.
    HelmRelease,
}

impl Renderer {
    /// The word used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kustomization => "kustomization",
            Self::Chart => "Helm chart",
            Self::Application => "Argo CD application",
            Self::FluxKustomization => "Flux kustomization",
            Self::HelmRelease => "Flux Helm release",
        }
    }
}

/// A file that something renders, so that it is judged through what is rendered from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenThrough {
    /// The file.
    pub file: Utf8PathBuf,
    /// What renders it: the file that says so, such as a `kustomization.yaml`.
    pub by: Utf8PathBuf,
    /// The kind of `by`.
    pub how: Renderer,
}

/// Something that renders manifests of which no rendered output was found: what it renders is not
/// judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unrendered {
    /// The file that says what to render.
    pub root: Utf8PathBuf,
    /// Its kind.
    pub kind: Renderer,
    /// Files that are seen through it.
    pub files: usize,
    /// Why its files are not simply judged where they are.
    pub reason: String,
}

/// A file that the fleet file excludes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excluded {
    /// The file.
    pub file: Utf8PathBuf,
    /// The pattern that excludes it, as written.
    pub pattern: Arc<str>,
    /// The reason that is given.
    pub reason: Arc<str>,
}

/// An excluded file that a cluster runs: a finding.
#[derive(Debug, Clone)]
pub struct ExcludedDeployed {
    /// The file.
    pub file: Utf8PathBuf,
    /// The cluster that runs it.
    pub context: Context,
    /// The entry that excludes it.
    pub exclusion: Exclusion,
}

/// A file that is known to be no manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The file, or a link that is not followed.
    pub file: Utf8PathBuf,
    /// Why.
    pub reason: String,
}

/// What was found. Everything is sorted by path, and every YAML and JSON file under the trees is in
/// exactly one of `files`, `seen_through`, `excluded`, `skipped` and `problems`.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Files to read and judge, each with the clusters that it goes to. Rendered trees, named files
    /// and standard input are strict.
    pub files: Vec<InputFile>,
    /// Files that are judged through what is rendered from them.
    pub seen_through: Vec<SeenThrough>,
    /// What renders manifests that are not judged.
    pub unrendered: Vec<Unrendered>,
    /// Files that the fleet file excludes.
    pub excluded: Vec<Excluded>,
    /// Those of them that a cluster runs.
    pub excluded_deployed: Vec<ExcludedDeployed>,
    /// Files known to be no manifests.
    pub skipped: Vec<Skipped>,
    /// What could not be read or told.
    pub problems: Vec<Problem>,
    /// Remarks that change no verdict, one sentence each.
    pub notes: Vec<String>,
    /// Whether all of the fleet was looked at: its directory itself, or one above it.
    pub whole_fleet: bool,
}
