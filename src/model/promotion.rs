//! A promotion: which release somebody wants where, and the evidence for it.
//!
//! Every style of promotion becomes one [`Promotion`]; adapters fill in what they know. What is not
//! known is `None` or `unknown`, and blocks where a requirement needs it.

use std::sync::Arc;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::Serialize;

/// One release on its way into one environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Promotion {
    /// How it was found.
    pub source: PromotionSource,
    /// What is promoted: an application, or whatever the repository calls its parts.
    pub unit: Arc<str>,
    /// The Kargo project, if there is one.
    pub project: Option<Arc<str>>,
    /// The Kargo stage, or what stands for it.
    pub stage: Option<Arc<str>>,
    /// The environment of the fleet file.
    pub environment: Option<Arc<str>>,
    /// The clusters that it reaches, sorted.
    pub clusters: Vec<Arc<str>>,
    /// Which way the version goes.
    pub direction: Direction,
    /// Environments before this one that do not have the release, in promotion order.
    pub skipped: Vec<Arc<str>>,
    /// What runs there now.
    pub from: Release,
    /// What is to run there.
    pub to: Release,
    /// Who asks; none if it cannot be told.
    pub requester: Option<Requester>,
    /// Who agreed.
    pub approvals: Vec<GivenApproval>,
    /// Kargo's freight, if it is one.
    pub freight: Option<Freight>,
    /// What the health gates say, by gate and cluster.
    pub gates: Vec<GateResult>,
    /// The windows that concern it, by window.
    pub windows: Vec<WindowState>,
    /// The change that brings it about, if it is one of Git.
    pub change: Option<Change>,
    /// The emergency under which it goes, if it is one.
    pub break_glass: Option<Emergency>,
}

/// How a promotion was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromotionSource {
    /// A Kargo `Promotion`.
    KargoPromotion,
    /// A Kargo `PromotionRequest`.
    KargoPromotionRequest,
    /// A branch `kargo/promotion/…`.
    KargoBranch,
    /// `images` of a kustomization.
    KustomizeImages,
    /// Configured keys of a values file.
    Values,
    /// `targetRevision` or Helm parameters of an Argo CD `Application` or `ApplicationSet`.
    ArgoCd,
    /// `.argocd-source-*.yaml` of Argo CD Image Updater.
    ImageUpdater,
    /// A Flux `HelmRelease`, `Kustomization` or source, or a line with an image policy marker.
    Flux,
    /// `hydrator.metadata` on an environment branch.
    Hydrator,
    /// A directory that stands for an environment.
    Directory,
    /// A request file.
    Request,
}

/// Which way a version goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// To a later version.
    Upgrade,
    /// To an earlier one.
    Rollback,
    /// To the same version with other configuration, or to one that is neither earlier nor later.
    Sideways,
    /// It cannot be told.
    Unknown,
}

/// What makes up a release. Lists are sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// Images.
    pub images: Vec<Image>,
    /// Revisions of Git repositories.
    pub commits: Vec<Commit>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// A digest over the configuration beside those, if it was worked out.
    pub configuration: Option<Arc<str>>,
}

/// An image of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Registry and repository, such as `registry.example.org/search/ranker`.
    pub repository: Arc<str>,
    /// Tag, if one is stated.
    pub tag: Option<Arc<str>>,
    /// Digest, such as `sha256:…`, if it is pinned.
    pub digest: Option<Arc<str>>,
}

/// A revision of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The repository's address.
    pub repository: Arc<str>,
    /// Commit, tag or branch, as stated.
    pub revision: Arc<str>,
}

/// A chart of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chart {
    /// The repository's address; empty if the chart lies in the tree.
    pub repository: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Version.
    pub version: Arc<str>,
}

/// Who asks for a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requester {
    /// The person of the fleet file's `people`, if the identity is one of theirs.
    pub person: Option<Arc<str>>,
    /// The identity as stated, such as `email:ann@example.org`.
    pub raw: Arc<str>,
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// Whether the statement can be believed.
    pub trusted: bool,
    /// Where it comes from, such as `create-actor of system:serviceaccount:kargo:kargo-api`.
    pub via: Arc<str>,
}

/// What kind of actor somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActorKind {
    /// A person.
    Human,
    /// An account that a program uses.
    Bot,
    /// A controller that acts by itself.
    Controller,
}

/// An approval that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenApproval {
    /// The person of the fleet file's `people`, if the identity is one of theirs.
    pub person: Option<Arc<str>>,
    /// The identity as stated, with its provider, such as `github:ann`.
    pub raw: Arc<str>,
    /// `github`, `gitlab` or `signature`.
    pub provider: Arc<str>,
    /// The groups that the person is in, sorted.
    pub groups: Vec<Arc<str>>,
    /// When it was given, as the provider says.
    pub at: Timestamp,
    /// What was said.
    pub kind: ApprovalKind,
    /// The revision that it is about.
    pub revision: Option<Arc<str>>,
    /// Whether something was pushed since.
    pub stale: bool,
    /// Whether its origin is certain.
    pub verified: bool,
}

/// What a reviewer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalKind {
    /// Agreed.
    Approved,
    /// Asked for changes.
    ChangesRequested,
    /// Agreed once; that was dismissed.
    Dismissed,
}

/// Kargo's freight, as far as it is evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Freight {
    /// Its name, a hash of its content.
    pub name: Arc<str>,
    /// The warehouse that it comes from.
    pub origin: Option<Arc<str>>,
    /// Stages in which it was verified.
    pub verified_in: Vec<StageRecord>,
    /// Stages for which it was approved: by nobody in particular, so never as a person's approval.
    pub approved_for: Vec<StageRecord>,
    /// Stages in which it is now.
    pub currently_in: Vec<StageRecord>,
    /// Soak, by upstream stage.
    pub soak: Vec<Soak>,
}

/// Something about freight and a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StageRecord {
    /// The stage.
    pub stage: Arc<str>,
    /// Verified at, approved at, or there since.
    pub at: Option<Timestamp>,
    /// The longest completed soak, in seconds.
    pub longest_soak: Option<i64>,
}

/// How long freight has been in a stage against how long it must have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Soak {
    /// The upstream stage.
    pub stage: Arc<str>,
    /// Required, in seconds.
    pub required: i64,
    /// Reached, in seconds; none: it cannot be told.
    pub reached: Option<i64>,
    /// When it will be reached if the freight stays there.
    pub not_before: Option<Timestamp>,
}

/// What a health gate says on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateResult {
    /// The gate.
    pub name: Arc<str>,
    /// The cluster; none for a gate over all of them.
    pub cluster: Option<Arc<str>>,
    /// `pass`, `fail` or `unknown`.
    pub verdict: GateVerdict,
    /// Why.
    pub reason: Arc<str>,
    /// Digest or place of what was observed.
    pub evidence: Option<Arc<str>>,
    /// When the observation will be complete.
    pub not_before: Option<Timestamp>,
}

/// What a health gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    /// Healthy over the whole window.
    Pass,
    /// Not healthy.
    Fail,
    /// It cannot be told.
    Unknown,
}

/// A window and whether it lets the promotion go now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowState {
    /// Name.
    pub name: Arc<str>,
    /// Whether it allows while it is active, or denies.
    pub kind: WindowKind,
    /// The clusters that it is for; empty: all.
    pub clusters: Vec<Arc<str>>,
    /// Whether it is active now.
    pub active: bool,
    /// When that changes next; none: not within a year.
    pub until: Option<Timestamp>,
}

/// What an active window does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowKind {
    /// Promotions go then only.
    Allow,
    /// Promotions do not go then.
    Deny,
}

/// The change of Git that brings a promotion about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The tip of the target branch.
    pub base: Arc<str>,
    /// The tip of the pull request, to which approvals bind.
    pub head: Arc<str>,
    /// Who wrote its commits, as stated there (`Name <address>`), sorted.
    pub authors: Vec<Arc<str>>,
    /// Who committed them.
    pub committers: Vec<Arc<str>>,
    /// What is known of the commits' signatures.
    pub signatures: Vec<Signature>,
    /// The files that it touches, sorted.
    pub files: Vec<Arc<Utf8PathBuf>>,
}

/// The signature of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Signature {
    /// The commit.
    pub commit: Arc<str>,
    /// `ssh`, `gpg`, `x509`, or `none`.
    pub kind: Arc<str>,
    /// Whose it is by the allowed signers of the base; none: nobody's that is known.
    pub signer: Option<Arc<str>>,
    /// Whether it was verified.
    pub verified: bool,
}

/// An emergency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Emergency {
    /// The identity of whoever called it.
    pub by: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
    /// The ticket.
    pub ticket: Arc<str>,
    /// When it ends.
    pub until: Timestamp,
    /// The requirements that it skips, sorted.
    pub skips: Vec<Arc<str>>,
    /// Whether it holds for this promotion now, and why not if it does not.
    pub refused: Option<Arc<str>>,
}

/// The answer to one requirement, on one cluster or all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// `approvals`, `soak`, `window`, `health`, `images` …
    pub requirement: Arc<str>,
    /// The cluster; none: all that the promotion reaches.
    pub cluster: Option<Arc<str>>,
    /// Allow, wait, deny or cannot tell.
    pub decision: Decision,
    /// Why, for people: lower case, no full stop.
    pub reason: Arc<str>,
    /// When it will be allowed if nothing else happens.
    pub not_before: Option<Timestamp>,
    /// Who can act, such as `any @sre but the requester`.
    pub who: Option<Arc<str>>,
}

/// May it go ahead? Everything but `Allow` blocks; the order is that of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Yes.
    Allow,
    /// Not yet: time will tell.
    Wait,
    /// No.
    Deny,
    /// A fact is missing. Never a yes.
    CannotTell,
}
