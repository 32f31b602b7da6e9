//! Taints and tolerations, by the rule of kubernetes/component-helpers `scheduling/corev1`.

use super::super::value::{field, items, text};
use crate::model::{Taint, Value};

/// The taints that keep a pod of this spec off their nodes.
pub(super) fn untolerated(spec: &Value, taints: &[Taint]) -> Vec<Taint> {
    let keeps_off = |taint: &&Taint| *taint.effect != *"PreferNoSchedule" && !is_tolerated(spec, taint);
    taints.iter().filter(keeps_off).cloned().collect()
}

fn is_tolerated(spec: &Value, taint: &Taint) -> bool {
    field(spec, "tolerations").into_iter().flat_map(items).any(|toleration| tolerates(toleration, taint))
}

fn tolerates(toleration: &Value, taint: &Taint) -> bool {
    let of = |key: &str| text(toleration, &[key]).map_or("", |text| &**text);
    let (effect, key, value) = (of("effect"), of("key"), of("value"));
    if !(effect.is_empty() || effect == &*taint.effect) || !(key.is_empty() || key == &*taint.key) {
        return false;
    }
    let numbers = || Some((taint.value.parse::<i64>().ok()?, value.parse::<i64>().ok()?));
    match of("operator") {
        "Exists" => true,
        // Without a key only `Exists` tolerates.
        "" | "Equal" => !key.is_empty() && value == &*taint.value,
        "Gt" => numbers().is_some_and(|(taint, value)| taint > value),
        "Lt" => numbers().is_some_and(|(taint, value)| taint < value),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn taint(effect: &str) -> Taint {
        Taint { key: "nvidia.com/gpu".into(), value: "present".into(), effect: effect.into() }
    }

    fn tolerated(tolerations: &str, effect: &str) -> bool {
        let spec = manifest::value(&format!("{{tolerations: [{tolerations}]}}")).expect("a pod spec");
        untolerated(&spec, &[taint(effect)]).is_empty()
    }

    #[test]
    fn tolerations_by_the_rule_of_kubernetes() {
        for (tolerations, expected) in [
            ("", false),
            ("{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}", true),
            ("{key: nvidia.com/gpu, operator: Exists}", true),
            ("{operator: Exists}", true),
            ("{operator: Exists, effect: NoExecute}", false),
            ("{key: nvidia.com/gpu, value: present}", true),
            ("{key: nvidia.com/gpu, operator: Equal, value: 'true'}", false),
            ("{value: present}", false),
            ("{key: google.com/tpu, operator: Exists}", false),
            ("{key: nvidia.com/gpu, operator: exists}", false),
        ] {
            assert_eq!(tolerated(tolerations, "NoSchedule"), expected, "{tolerations}");
        }
        assert!(!tolerated("{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}", "NoExecute"));
        assert!(tolerated("", "PreferNoSchedule"));
    }
}
