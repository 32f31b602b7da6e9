//! Which functions a policy can call: what the engine has, less what could make a verdict depend
//! on the moment or the machine, plus our own.

use regorus::unstable::BUILTINS;

/// A function that we add to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Path as a policy writes it, such as `fleetgate.quantity.parse`.
    pub path: &'static str,
    /// Number of arguments.
    pub arity: u8,
}

/// Every function that evaluation adds to the engine. Loading accepts calls to these and evaluation
/// registers exactly these; a test holds the two together.
pub const EXTENSIONS: &[Function] = &[
    // Two amounts of a demand together.
    Function { path: "fleetgate.add", arity: 2 },
    // "yes", "no" or "unknown": whether an amount is within a limit, whatever it turns out to be.
    Function { path: "fleetgate.fits", arity: 2 },
    // Whether a string matches a glob: `fleetgate.glob(pattern, string)`. `*` stops at no character.
    Function { path: "fleetgate.glob", arity: 2 },
    // {registry, repository, tag, digest} of an image reference, as the container runtime reads it;
    // tag and digest are null if there is none.
    Function { path: "fleetgate.image", arity: 1 },
    // Whether the value is an image reference.
    Function { path: "fleetgate.image.valid", arity: 1 },
    // Whether an amount is known exactly.
    Function { path: "fleetgate.known", arity: 1 },
    // By how many an amount is over a limit at least; 0 if it need not be.
    Function { path: "fleetgate.over", arity: 2 },
    // -1, 0 or 1 as the first quantity is smaller than, equal to or larger than the second.
    Function { path: "fleetgate.quantity.compare", arity: 2 },
    // A whole quantity as a number; an error if it is not whole.
    Function { path: "fleetgate.quantity.integer", arity: 1 },
    // Whether the value is a quantity.
    Function { path: "fleetgate.quantity.valid", arity: 1 },
    // Whether a quantity is a whole number; an error if it is no quantity.
    Function { path: "fleetgate.quantity.whole", arity: 1 },
    // An amount in words.
    Function { path: "fleetgate.show", arity: 1 },
];

/// Functions that are refused: their answer depends on the moment, on chance, on the machine or on
/// the network, so that a verdict could neither be repeated nor explained. Each with what to do
/// instead.
const REFUSED: &[(&str, &str)] = &[
    ("http.send", "facts are fetched before evaluation; put them into a data document"),
    ("net.lookup_ip_addr", "facts are fetched before evaluation; put them into a data document"),
    ("opa.runtime", "use a parameter: `custom.params` in the metadata"),
    ("rand.intn", "a verdict must be repeatable"),
    ("rego.parse_module", "a policy cannot load another"),
    ("time.now_ns", "declare `needs: [time]` and read `input.now.ns`"),
    ("uuid.rfc4122", "a verdict must be repeatable"),
];

/// Why a function is refused, if it is.
pub(super) fn refused(path: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(name, _)| *name == path).map(|(_, help)| *help)
}

/// How many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arity {
    /// This many, and one more to take the result.
    Exactly(u8),
    /// Any number.
    Any,
}

/// Number of arguments of a function that the engine or we provide; `None` if there is none.
pub(super) fn arity(path: &str) -> Option<Arity> {
    if path == "print" {
        return Some(Arity::Any);
    }
    let ours = EXTENSIONS.iter().find(|function| function.path == path).map(|function| function.arity);
    ours.or_else(|| BUILTINS.get(path).map(|(_, arity)| *arity)).map(Arity::Exactly)
}

/// The names of all functions that can be called, sorted.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = EXTENSIONS.iter().map(|function| function.path).collect();
    names.extend(BUILTINS.keys().copied().filter(|name| refused(name).is_none()));
    names.push("print");
    names.sort_unstable();
    names
}
