//! "Did you mean": the known name closest to a mistyped one.

/// The known name that is closest to `name`, if any is close.
pub(super) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Help for a name that is not known: the closest one, or all of them.
pub(super) fn help<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(candidate) = closest(name, known.clone()) {
        return format!("did you mean `{candidate}`?");
    }
    let names: Vec<&str> = known.into_iter().collect();
    match names.as_slice() {
        [] => "there are none yet".to_owned(),
        names if names.len() <= 12 => format!("known: `{}`", names.join("`, `")),
        names => format!("{} are known; `fleetgate config show` lists them", names.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_slip_is_recognised_and_a_different_word_is_not() {
        assert_eq!(closest("prd", ["dev", "uat", "prod"]), Some("prod"));
        assert_eq!(closest("prod-aws-usel", ["prod-aws-use1", "prod-gcp"]), Some("prod-aws-use1"));
        assert_eq!(closest("staging", ["dev", "uat", "prod"]), None);
        assert_eq!(help("staging", ["dev", "prod"]), "known: `dev`, `prod`");
    }
}
