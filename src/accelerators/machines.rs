//! How many GPUs a machine type has.

use super::amount::Amount;
use super::tables;

/// The GPUs of a machine type; unknown if the table does not have it, or only with devices of
/// another kind.
pub(super) fn gpus(machine: &str) -> Amount {
    let found = tables::machine(machine);
    let gpus = found.filter(|machine| {
        tables::model(&machine.model).is_some_and(|model| &*model.resource == "nvidia.com/gpu")
    });
    match (gpus, found) {
        (Some(machine), _) => Amount::Known(machine.devices),
        (None, Some(_)) => Amount::unknown(format!("a `{machine}` has no `nvidia.com/gpu`")),
        (None, None) => Amount::unknown(format!("how many GPUs a `{machine}` has is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_machines_of_the_table_have_a_number() {
        assert_eq!(gpus("Standard_NC48ads_A100_v4"), Amount::Known(2));
        assert_eq!(gpus("standard_nd96isr_h100_v5"), Amount::Known(8));
        assert_eq!(gpus("p5.48xlarge"), Amount::Known(8));
        assert_eq!(gpus("Standard_X"), Amount::unknown("how many GPUs a `Standard_X` has is not known"));
        assert_eq!(gpus("trn2.48xlarge"), Amount::unknown("a `trn2.48xlarge` has no `nvidia.com/gpu`"));
    }
}
