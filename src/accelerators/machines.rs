//! How many GPUs a machine type has.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::amount::Amount;
use crate::manifest;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Machines {
    #[expect(dead_code, reason = "the file states its format")]
    version: u32,
    #[expect(dead_code, reason = "the file states its age")]
    date: String,
    gpus: BTreeMap<String, u64>,
}

static MACHINES: LazyLock<Machines> =
    LazyLock::new(|| manifest::typed(include_str!("machines.yaml")).unwrap_or_default());

/// The GPUs of a machine type; unknown if the table does not have it. Upper and lower case are one,
/// as Azure has it.
pub(super) fn gpus(machine: &str) -> Amount {
    let found = MACHINES.gpus.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine));
    match found {
        Some((_, gpus)) => Amount::Known(*gpus),
        None => Amount::unknown(format!("how many GPUs a `{machine}` has is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_machines_of_the_table_have_a_number() {
        assert_eq!(gpus("Standard_NC48ads_A100_v4"), Amount::Known(2));
        assert_eq!(gpus("standard_nd96isr_h100_v5"), Amount::Known(8));
        assert_eq!(gpus("Standard_X"), Amount::unknown("how many GPUs a `Standard_X` has is not known"));
    }
}
