//! The MIG profiles that rules know are those by which demand is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fleetgate::manifest;
use fleetgate::model::Value;

type Models = BTreeMap<String, (String, BTreeSet<String>)>;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.as_object().unwrap().get(&Value::from(key)).map(|value| value.as_string().unwrap().to_string())
}

/// Family and profiles of each model that can be divided, from the tables.
fn counted() -> Models {
    let mig = manifest::value(&read("src/accelerators/tables/mig.yaml")).unwrap();
    let models = manifest::value(&read("src/accelerators/tables/models.yaml")).unwrap();
    let models = models[&Value::from("models")].as_array().unwrap();
    (models.iter())
        .filter_map(|model| {
            let geometry = Value::from(text(model, "mig")?);
            let profiles = &mig[&Value::from("geometries")][&geometry][&Value::from("profiles")];
            let profiles = profiles.as_object().unwrap().iter_sorted();
            let profiles = profiles.map(|(profile, _)| profile.as_string().unwrap().to_string()).collect();
            Some((text(model, "model")?, (text(model, "family")?, profiles)))
        })
        .collect()
}

/// The same from the library of rules: the object after `models :=` is YAML as well.
fn known() -> Models {
    let rego = read("policies/lib/mig/mig.rego");
    let (_, rest) = rego.split_once("models := ").unwrap();
    let (object, _) = rest.split_once("\n}\n").unwrap();
    let models = manifest::value(&format!("{}}}", object.replace(['\t', '\n'], " "))).unwrap();
    (models.as_object().unwrap().iter_sorted())
        .map(|(name, model)| {
            let profiles = model[&Value::from("profiles")].as_array().unwrap();
            let profiles = profiles.iter().map(|profile| profile.as_string().unwrap().to_string()).collect();
            (name.as_string().unwrap().to_string(), (text(model, "family").unwrap(), profiles))
        })
        .collect()
}

#[test]
fn rules_know_the_profiles_by_which_demand_is_counted() {
    let counted = counted();
    assert!(counted.len() > 15, "{}", counted.len());
    assert_eq!(known(), counted);
}
