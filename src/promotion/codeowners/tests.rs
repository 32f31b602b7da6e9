use proptest::prelude::*;

use super::*;

fn parse(text: &str, dialect: Dialect) -> CodeOwners {
    CodeOwners::parse(text, "CODEOWNERS", dialect).unwrap()
}

/// `section:owner,owner×count` of each line that owns the path.
fn owners(file: &CodeOwners, path: &str) -> String {
    let one = |owned: Owned<'_>| {
        let names: Vec<&str> = owned
            .owners
            .iter()
            .map(|owner| match owner {
                Owner::Name(name) | Owner::Team(name) | Owner::Email(name) => name.as_str(),
            })
            .collect();
        let section = owned.section.map(|section| format!("{section}:")).unwrap_or_default();
        let optional = if owned.optional { "?" } else { "" };
        format!("{section}{}×{}{optional}", names.join(","), owned.count)
    };
    file.owners(path).into_iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn patterns_of_github() {
    let cases = [
        ("*", "a", true),
        ("*", "a/b/c", true),
        ("*.js", "a.js", true),
        ("*.js", "a/b.js", true),
        ("*.js", "a.jsx", false),
        // One level only.
        ("docs/*", "docs/a.md", true),
        ("docs/*", "docs/a/b.md", false),
        ("docs/*", "x/docs/a.md", false),
        // At any depth.
        ("apps/", "apps/a", true),
        ("apps/", "x/apps/a/b", true),
        ("apps/", "apps", false),
        ("apps", "apps/a", true),
        ("apps", "x/apps", true),
        // At the root.
        ("/docs/", "docs/a/b", true),
        ("/docs/", "x/docs/a", false),
        ("/prod", "prod/a.yaml", true),
        ("/prod", "production/a.yaml", false),
        ("/*", "a", true),
        ("/*", "a/b", false),
        ("clusters/prod", "clusters/prod/a/b", true),
        ("clusters/prod", "x/clusters/prod/a", false),
        ("**/logs", "a/b/logs/c", true),
        ("**/logs", "logs/c", true),
        ("/apps/**/prod", "apps/prod/x", true),
        ("/apps/**/prod", "apps/a/b/prod/x", true),
        ("/apps/**/prod", "apps/a/prodx", false),
        ("/apps/**", "apps/a/b", true),
        ("/apps/**", "apps", false),
        ("a?c", "abc", true),
        ("a?c", "a/c", false),
        ("a.c", "abc", false),
        ("/with\\ blank/", "with blank/a", true),
        // Case counts, and other letters than ASCII too.
        ("/Docs/", "docs/a", false),
        ("/prod/é*.yaml", "prod/é1.yaml", true),
        ("/{a}+(b)$", "{a}+(b)$", true),
    ];
    for (pattern, path, expected) in cases {
        let file = parse(&format!("{pattern} @a"), Dialect::GitHub);
        assert_eq!(!file.owners(path).is_empty(), expected, "{pattern} {path}");
    }
}

#[test]
fn patterns_of_gitlab() {
    let cases = [
        ("README.md", "x/README.md", true),
        ("internal/README.md", "x/internal/README.md", true),
        ("/internal/README.md", "x/internal/README.md", false),
        ("/docs", "docs/a", false),
        ("/docs/", "docs/a/b", true),
        ("docs/", "x/docs/a", true),
        ("/docs/*", "docs/a/b", false),
        ("/docs/**", "docs/a/b", true),
        ("*", "a/b", true),
        ("\\#file", "#file", true),
    ];
    for (pattern, path, expected) in cases {
        let file = parse(&format!("{pattern} @a"), Dialect::GitLab);
        assert_eq!(!file.owners(path).is_empty(), expected, "{pattern} {path}");
    }
}

#[test]
fn the_last_line_wins_and_may_take_the_owners_away() {
    let text = "# all\n* @org/platform\n/prod/ @org/sre first@example.org # both\n/prod/docs/\n";
    let file = parse(text, Dialect::GitHub);
    assert_eq!(owners(&file, "a"), "org/platform×1");
    assert_eq!(owners(&file, "prod/a"), "org/sre,first@example.org×1");
    assert_eq!(owners(&file, "prod/docs/a"), "");
    assert_eq!(file.owners("prod/a")[0].line, 3);
}

#[test]
fn sections_of_gitlab_each_ask() {
    let text = "\
* @all
[Prod][2] @sre @oncall
/prod/
/prod/db/ @dba
!/prod/docs/
^[Docs]
*.md @writers
[prod][2] @sre @oncall
/late/
";
    let file = parse(text, Dialect::GitLab);
    assert_eq!(owners(&file, "a"), "all×1");
    assert_eq!(owners(&file, "prod/a.md"), "all×1 Prod:sre,oncall×2 Docs:writers×1?");
    assert_eq!(owners(&file, "prod/db/a"), "all×1 Prod:dba×2");
    assert_eq!(owners(&file, "prod/docs/a"), "all×1");
    assert_eq!(owners(&file, "late/a"), "all×1 Prod:sre,oncall×2");
}

#[test]
fn what_is_not_understood_is_reported_with_its_line() {
    use Dialect::{GitHub, GitLab};
    let cases = [
        (GitHub, "* @a\n!/docs @a", 2, "GitHub has no exclusions with `!`"),
        (GitHub, "[Section]\n* @a", 1, "`[Section]` has `[` or `]`, which stand for no letters here"),
        (GitHub, "a[bc] @a", 1, "`a[bc]` has `[` or `]`, which stand for no letters here"),
        (GitHub, "\\#a @a", 1, "`\\#a` has a `\\` that is not understood"),
        (GitHub, "* @a b", 1, "`b` is no owner"),
        (GitHub, "* @a/b/c", 1, "`@a/b/c` is no owner"),
        (GitHub, "* @", 1, "`@` is no owner"),
        (GitHub, "a//b @a", 1, "`a//b` has an empty part, `.` or `..`; no path has those"),
        (GitHub, "../a @a", 1, "`../a` has an empty part, `.` or `..`; no path has those"),
        (GitHub, "/ @a", 1, "`/` names no file; write `*` for all of them"),
        (GitHub, "a** @a", 1, "`a**`: `**` has to stand alone between slashes"),
        (GitLab, "* @@maintainer", 1, "who has the role `@@maintainer` is not known here"),
        (GitLab, "[Prod][0]", 1, "`[Prod][0]` is no heading"),
        (GitLab, "[Prod", 1, "`[Prod` is no heading"),
        (GitLab, "[Prod]@a", 1, "`[Prod]@a` is no heading"),
        (GitLab, "[Prod][2]\n[Prod]", 2, "section `Prod` stands already with another heading"),
        (GitLab, "!a @a", 1, "`!a` excludes files and names owners of them"),
        (GitLab, "* @a # why", 1, "GitLab has no comments after owners"),
    ];
    for (dialect, text, line, message) in cases {
        let problems = CodeOwners::parse(text, "CODEOWNERS", dialect).unwrap_err();
        let found = (problems[0].span.unwrap().line, problems[0].message.as_str());
        assert_eq!(found, (line, message), "{text}");
    }
    let two = CodeOwners::parse("!a\n* b\n* @a", "CODEOWNERS", GitHub).unwrap_err();
    assert_eq!(two.len(), 2);
    assert_eq!(two[1].span, Some(Span { offset: 3, length: 3, line: 2, column: 1 }));
    assert_eq!(CodeOwners::parse(&"#".repeat(LARGEST + 1), "CODEOWNERS", GitHub).unwrap_err().len(), 1);
}

proptest! {
    #[test]
    fn no_text_panics(text in r"([ !#\\*?/\[\]^@a-c.0-9\n]|\PC){0,80}", path in r"[a-c/.é ]{0,12}", gitlab in any::<bool>()) {
        let dialect = if gitlab { Dialect::GitLab } else { Dialect::GitHub };
        if let Ok(file) = CodeOwners::parse(&text, "CODEOWNERS", dialect) {
            for owned in file.owners(&path) {
                prop_assert!(!owned.owners.is_empty() && owned.count > 0);
            }
        }
    }
}
