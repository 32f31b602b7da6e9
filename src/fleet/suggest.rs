//! "Did you mean": the known name closest to a mistyped one.

use crate::manifest::nearest_word;

/// Help for a name that is not known: the closest one, or all of them.
pub(super) fn help<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(candidate) = nearest_word(name, known.clone()) {
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
        assert_eq!(help("prd", ["dev", "prod"]), "did you mean `prod`?");
        assert_eq!(help("staging", ["dev", "prod"]), "known: `dev`, `prod`");
    }
}
