//! Container image references, as container runtimes read them
//! (distribution/reference: reference.go, normalize.go).

/// An image reference in its parts, normalised: `nginx` is `docker.io/library/nginx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image<'a> {
    pub(super) registry: &'a str,
    pub(super) repository: String,
    pub(super) tag: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
}

impl<'a> Image<'a> {
    pub(super) fn parse(reference: &'a str) -> Result<Self, String> {
        let fail = |why: &str| Err(format!("`{reference}` is not an image reference: {why}"));
        let (rest, digest) = match reference.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (reference, None),
        };
        // A colon before the last slash belongs to the registry's port.
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (rest, None),
        };
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return fail("a digest is `sha256:` and 64 hexadecimal digits");
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return fail(
                "a tag has at most 128 letters, digits, `_`, `.` and `-`, and begins with none of the last two",
            );
        }
        let (registry, path) = match name.split_once('/') {
            Some((first, path)) if is_registry_like(first) => (first, path),
            _ => ("docker.io", name),
        };
        // The old name of the same registry.
        let registry = if registry == "index.docker.io" { "docker.io" } else { registry };
        if !is_host(registry) {
            return fail("the registry is a host name with an optional port");
        }
        if path.is_empty() || !path.split('/').all(is_component) {
            return fail("a repository is lower-case words between slashes");
        }
        if name.len() > 255 {
            return fail("the name is longer than 255 bytes");
        }
        let repository = if registry == "docker.io" && !path.contains('/') {
            format!("library/{path}")
        } else {
            path.to_owned()
        };
        Ok(Self { registry, repository, tag, digest })
    }
}

/// The first part of a name is a registry if it cannot be a user's name.
fn is_registry_like(first: &str) -> bool {
    first.contains(['.', ':']) || first == "localhost" || first.chars().any(|c| c.is_ascii_uppercase())
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    if port.is_some_and(|port| port.is_empty() || !port.chars().all(|c| c.is_ascii_digit())) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return !address.is_empty() && address.chars().all(|c| c.is_ascii_hexdigit() || c == ':');
    }
    host.split('.').all(|label| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !label.is_empty() && label.chars().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    })
}

/// Lower-case letters and digits, joined by `.`, `_`, `__` or any number of `-`.
fn is_component(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !text.chars().all(|c| word(c) || matches!(c, '.' | '_' | '-')) {
        return false;
    }
    let separators: Vec<&str> = text.split(word).filter(|separator| !separator.is_empty()).collect();
    text.starts_with(word)
        && text.ends_with(word)
        && separators.iter().all(|s| matches!(*s, "." | "_" | "__") || s.chars().all(|c| c == '-'))
}

fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 128 && text.starts_with(word) && text.chars().all(|c| word(c) || matches!(c, '.' | '-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let lower = hex.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    match algorithm {
        "sha256" => hex.len() == 64 && lower,
        "sha384" => hex.len() == 96 && lower,
        "sha512" => hex.len() == 128 && lower,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(reference: &str) -> Option<(&str, String, Option<&str>, Option<&str>)> {
        Image::parse(reference).ok().map(|i| (i.registry, i.repository, i.tag, i.digest))
    }

    #[test]
    fn references_are_read_as_container_runtimes_read_them() {
        let hex = "0123456789abcdef".repeat(4);
        let pinned = format!("registry.example.org:5000/team/app:v1.2@sha256:{hex}");
        let digest = format!("sha256:{hex}");
        assert_eq!(
            parts(&pinned),
            Some(("registry.example.org:5000", "team/app".into(), Some("v1.2"), Some(digest.as_str())))
        );
        assert_eq!(parts("nginx:1.27"), Some(("docker.io", "library/nginx".into(), Some("1.27"), None)));
        assert_eq!(parts("user/app"), Some(("docker.io", "user/app".into(), None, None)));
        assert_eq!(parts("docker.io/nginx"), Some(("docker.io", "library/nginx".into(), None, None)));
        assert_eq!(parts("index.docker.io/a/b"), Some(("docker.io", "a/b".into(), None, None)));
        assert_eq!(parts("localhost/app"), Some(("localhost", "app".into(), None, None)));
        assert_eq!(parts("localhost:5000/app"), Some(("localhost:5000", "app".into(), None, None)));
        assert_eq!(
            parts("[2001:db8::1]:5000/app:v1"),
            Some(("[2001:db8::1]:5000", "app".into(), Some("v1"), None))
        );
        assert_eq!(parts("a.b/c__d/e---f.g_h"), Some(("a.b", "c__d/e---f.g_h".into(), None, None)));
    }

    #[test]
    fn what_no_runtime_pulls_is_refused() {
        for bad in [
            "",
            ":v1",
            "a b",
            "App",
            "reg.example.org/App",
            "a//b",
            "/a",
            "a/",
            "a:",
            "a:-x",
            "a@",
            "a@sha256:12",
            "a..b",
            "a___b",
            "-a",
            "reg.example.org:port/a",
            "a@md5:00",
            "${IMAGE}",
            "{{ .Values.image }}",
        ] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
