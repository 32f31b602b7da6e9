//! Plain data that every other module speaks in. It depends on no other module, reads nothing,
//! and knows neither YAML nor Rego.

mod finding;
mod fleet;
mod level;
mod object;
mod place;
mod problem;
mod promotion;
mod report;
mod route;
mod value;

pub use finding::{Finding, Identity, Standing, Subject};
pub use fleet::{
    Budget, Cluster, Context, Environment, Exclusion, Fleet, Injects, Override, Owner, Pool, Taint, Team,
    Waiver,
};
pub use level::{Face, Level, Mode};
pub use object::ObjectId;
pub use place::{Place, Source, Span};
pub use problem::Problem;
pub use promotion::{
    ActorKind, Answer, ApprovalKind, Change, Chart, Commit, Decision, Direction, Emergency, Freight,
    GateResult, GateVerdict, GivenApproval, Image, Promotion, PromotionSource, Release, Requester, Signature,
    Soak, StageRecord, WindowKind, WindowState,
};
pub use report::{Comparison, Counts, Report, RuleInfo, UnevaluatedRule, Unjudged, UnjudgedClass, Verdict};
pub use route::{Route, Step};
pub use value::Value;
