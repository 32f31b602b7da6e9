//! What renders what: the kustomizations, charts, Argo CD and Flux objects of a tree, the files that
//! each one takes in, and what that means for each file.
//!
//! A *node* is something that a tool renders. It takes in *manifests*, which reach the output byte
//! for byte unless the node or one above it alters them, *inputs* such as patches and values, which
//! are no manifests at all, and other nodes.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::discovery::Renderer;

/// Something that a tool renders.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The file that says what is rendered.
    pub(super) file: Utf8PathBuf,
    /// Its kind.
    pub(super) kind: Renderer,
    /// Why its output differs from the manifests that it takes in, if it does.
    pub(super) alters: Option<String>,
    /// Why its output has more than the manifests that are at hand, if it has.
    pub(super) adds: Option<String>,
    /// Manifests that it takes in.
    pub(super) manifests: Vec<Utf8PathBuf>,
    /// Other files that it takes in.
    pub(super) inputs: Vec<Utf8PathBuf>,
    /// Directories, or files, of further nodes.
    pub(super) nodes: Vec<Utf8PathBuf>,
    /// Names of charts, by which a rendered output can be recognised.
    pub(super) charts: Vec<String>,
    /// Whether names of objects change.
    pub(super) renames: bool,
}

impl Node {
    pub(super) fn new(file: Utf8PathBuf, kind: Renderer) -> Self {
        Self {
            file,
            kind,
            alters: None,
            adds: None,
            manifests: Vec::new(),
            inputs: Vec::new(),
            nodes: Vec::new(),
            charts: Vec::new(),
            renames: false,
        }
    }

    /// Notes a reason for a difference; the first one stays.
    pub(super) fn alter(&mut self, reason: impl Into<String>) {
        self.alters.get_or_insert_with(|| reason.into());
    }

    /// Notes a reason for more output; the first one stays.
    pub(super) fn add(&mut self, reason: impl Into<String>) {
        self.adds.get_or_insert_with(|| reason.into());
    }

    /// The directory of its file.
    pub(super) fn dir(&self) -> &Utf8Path {
        self.file.parent().unwrap_or(Utf8Path::new("/"))
    }

    /// Whether the file is read by the tool alone, and is no manifest.
    fn is_tool_file(&self) -> bool {
        matches!(self.kind, Renderer::Kustomization | Renderer::Chart)
    }
}

/// All nodes of a tree. Indexes are positions in `nodes`.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    children: Vec<Vec<usize>>,
    /// The node through whose altering each node's manifests go.
    through: Vec<Option<usize>>,
    /// Whether each node is taken in by one that alters.
    below: Vec<bool>,
    /// The node through which each file is seen.
    owners: BTreeMap<Utf8PathBuf, usize>,
}

impl Graph {
    /// Links the nodes and decides about every file.
    pub(super) fn new(mut nodes: Vec<Node>) -> Self {
        nodes.sort_by(|a, b| (&a.file, a.kind).cmp(&(&b.file, b.kind)));
        let mut at: BTreeMap<&Utf8Path, Vec<usize>> = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_tool_file()) {
            at.entry(node.dir()).or_default().push(index);
        }
        let children: Vec<Vec<usize>> = nodes
            .iter()
            .map(|node| {
                node.nodes
                    .iter()
                    .flat_map(|dir| at.get(dir.as_path()).into_iter().flatten())
                    .copied()
                    .collect()
            })
            .collect();
        let mut graph = Self {
            through: vec![None; nodes.len()],
            below: vec![false; nodes.len()],
            owners: BTreeMap::new(),
            nodes,
            children,
        };
        graph.spread();
        graph.own();
        graph
    }

    /// Carries each altering down to everything that it takes in. Cycles end where they were before.
    fn spread(&mut self) {
        let altering: Vec<usize> = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.alters.is_some())
            .map(|(index, _)| index)
            .collect();
        for index in &altering {
            if let Some(through) = self.through.get_mut(*index) {
                *through = Some(*index);
            }
        }
        for top in altering {
            for index in self.reach(top).into_iter().filter(|index| *index != top) {
                if let Some(below) = self.below.get_mut(index) {
                    *below = true;
                }
                if let Some(through) = self.through.get_mut(index) {
                    through.get_or_insert(top);
                }
            }
        }
    }

    /// The node and everything that it takes in, sorted.
    fn reach(&self, from: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(index) = open.pop() {
            for child in self.children.get(index).into_iter().flatten() {
                if seen.insert(*child) {
                    open.push(*child);
                }
            }
        }
        seen
    }

    fn own(&mut self) {
        let mut owners = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.is_tool_file() {
                owners.insert(node.file.clone(), index);
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            for input in &node.inputs {
                owners.entry(input.clone()).or_insert(index);
            }
        }
        for (node, through) in self.nodes.iter().zip(&self.through) {
            let Some(through) = through else { continue };
            for manifest in &node.manifests {
                owners.entry(manifest.clone()).or_insert(*through);
            }
        }
        self.owners = owners;
    }

    /// The node through which a file is seen; none if it is judged where it is.
    pub(super) fn owner(&self, file: &Utf8Path) -> Option<&Node> {
        self.owners.get(file).and_then(|index| self.nodes.get(*index))
    }

    /// Why what the node puts out is not simply what it takes in, if so.
    pub(super) fn difference(&self, node: &Node) -> Option<String> {
        let index = self.nodes.iter().position(|other| other.file == node.file && other.kind == node.kind)?;
        let through = self.through.get(index).copied().flatten().and_then(|index| self.nodes.get(index));
        through.and_then(|node| node.alters.clone()).or_else(|| node.adds.clone())
    }

    /// The nodes whose output differs from the manifests at hand and that no altering node takes in,
    /// each with the reason and everything that it takes in.
    pub(super) fn rendering(&self) -> impl Iterator<Item = (&Node, &str, Vec<&Node>)> {
        self.nodes.iter().enumerate().zip(&self.below).filter(|(_, below)| !**below).filter_map(
            |((index, node), _)| {
                let reason = node.alters.as_deref().or(node.adds.as_deref())?;
                let reach = self.reach(index).into_iter().filter_map(|index| self.nodes.get(index)).collect();
                Some((node, reason, reach))
            },
        )
    }

    /// Kustomizations that take in themselves, which kustomize refuses.
    pub(super) fn cycles(&self) -> impl Iterator<Item = &Node> {
        self.nodes
            .iter()
            .enumerate()
            .filter(|(index, _)| {
                let children = self.children.get(*index).into_iter().flatten();
                children.into_iter().any(|child| self.reach(*child).contains(index))
            })
            .map(|(_, node)| node)
    }
}
