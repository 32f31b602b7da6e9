//! Accelerators: which pods an object runs, what devices they ask for, and how many at the worst
//! moment. Everything here is pure: it sees the objects it is given and nothing else.

mod amount;
mod assess;
mod claims;
mod demand;
mod entry;
mod formula;
mod inline;
mod machines;
mod nodes;
mod placement;
mod pod;
mod quota;
mod registry;
mod resources;
mod rules;
mod scale;
mod scan;
mod shown;
mod tables;
mod tree;
mod value;
mod walk;
mod workload;

pub use amount::{Amount, Fits, Three};
pub use assess::{Assessed, Assessment, assess};
pub use claims::claim_devices;
pub use demand::{ObjectDemand, Totals, totals};
pub use entry::{AutoscalesEntry, DeviceEntry, KindEntry, PartEntry, Rule, ScaleEntry, TimesEntry};
pub use nodes::{
    MachineType, NodeFamily, is_accelerator_label, machine_types, node_capacity_type, node_family,
    node_sharing,
};
pub use placement::{
    Candidate, FamilyRow, Placement, Selected, counts_again, known_families, node_thousandths, same_family,
};
pub use pod::{Resources, pod_resources};
pub use quota::{Admission, Contributor, Flavor, Limit, Most, Problem, Queued, Quota, Reason, Ref};
pub use registry::{Registry, RegistryError};
pub use resources::{Class, class, is_extended};
pub use scan::{Unaccounted, unaccounted};
pub use shown::{plain, route_value};
pub use tree::{Note, Tree};
pub use workload::{Bounds, PodGroup, Workload};
