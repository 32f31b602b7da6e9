//! Finds the fleet file of a working tree.

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Result;
use crate::model::Problem;

/// The names of a fleet file.
pub(super) const NAMES: [&str; 2] = ["fleetgate.yaml", "fleetgate.yml"];

/// Looks for `fleetgate.yaml` in `start` and its parents, up to the root of the Git working tree and
/// not beyond; outside any working tree, in `start` alone. The path that is returned is relative to
/// where `start` is relative to.
///
/// Two fleet files in one directory are an error, since nobody could tell which one counts.
pub fn find_config(start: &Utf8Path) -> Result<Option<Utf8PathBuf>> {
    let real = start.canonicalize_utf8().map_err(|error| {
        Problem::new("unreadable", format!("cannot look for a fleet file in `{start}`: {error}"))
    })?;
    let depth = real.ancestors().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    let mut shown = if start.as_str() == "." { Utf8PathBuf::new() } else { start.to_owned() };
    for dir in real.ancestors().take(depth + 1) {
        match NAMES.map(|name| dir.join(name).is_file().then(|| shown.join(name))) {
            [Some(first), Some(second)] => {
                return Err(Problem::new("two-fleet-files", format!("`{first}` and `{second}` both exist"))
                    .help("keep one of them")
                    .in_file(second)
                    .into());
            }
            [Some(found), None] | [None, Some(found)] => return Ok(Some(found)),
            [None, None] => shown.push(".."),
        }
    }
    Ok(None)
}

/// The fleet file to which `paths` belong: for each of them the search of [`find_config`] starts at
/// the directory itself, or at the directory of the file. Paths that belong to none, standard input
/// and no path at all go with the working directory's.
///
/// Paths of several fleets are an error: one run judges by one fleet file. A path that does not
/// exist is left to whoever reads it.
pub fn find_config_of(paths: &[Utf8PathBuf]) -> Result<Option<Utf8PathBuf>> {
    let mut found: Option<(&Utf8Path, Utf8PathBuf)> = None;
    for path in paths.iter().filter(|path| *path != "-") {
        let start = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
        let start = start.filter(|start| !start.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        if !start.is_dir() {
            continue;
        }
        let Some(file) = find_config(start)?.map(from_here) else { continue };
        match &found {
            Some((first, other)) if !same(other, &file) => {
                let message =
                    format!("`{first}` belongs to the fleet of `{other}`, `{path}` to that of `{file}`");
                return Err(Problem::new("two-fleets", message)
                    .help("check one fleet at a time, or name the file that counts with `--config`")
                    .into());
            }
            Some(_) => {}
            None => found = Some((path, file)),
        }
    }
    match found {
        Some((_, file)) => Ok(Some(file)),
        None => find_config(Utf8Path::new(".")),
    }
}

/// `file` as a path from the working directory, where it is below it.
fn from_here(file: Utf8PathBuf) -> Utf8PathBuf {
    let short = || {
        let here = Utf8Path::new(".").canonicalize_utf8().ok()?;
        let dir = file.parent().filter(|dir| !dir.as_str().is_empty())?.canonicalize_utf8().ok()?;
        Some(dir.strip_prefix(here).ok()?.join(file.file_name()?))
    };
    short().unwrap_or(file)
}

fn same(a: &Utf8Path, b: &Utf8Path) -> bool {
    a == b || matches!((a.canonicalize_utf8(), b.canonicalize_utf8()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        (dir, root)
    }

    #[test]
    fn the_search_ends_at_the_git_root() {
        let (_dir, root) = tree(&["fleetgate.yaml", "repo/.git/HEAD", "repo/apps/a/x.yaml"]);
        assert_eq!(find_config(&root.join("repo/apps/a")).unwrap(), None);
        let (_dir, root) = tree(&[".git/HEAD", "fleetgate.yaml", "apps/a/x.yaml"]);
        let found = find_config(&root.join("apps/a")).unwrap().unwrap();
        assert_eq!(found, root.join("apps/a/../../fleetgate.yaml"));
    }

    #[test]
    fn outside_a_working_tree_only_the_directory_itself_counts() {
        let (_dir, root) = tree(&["fleetgate.yml", "apps/x.yaml"]);
        assert_eq!(find_config(&root).unwrap(), Some(root.join("fleetgate.yml")));
        assert_eq!(find_config(&root.join("apps")).unwrap(), None);
    }

    #[test]
    fn two_fleet_files_are_an_error() {
        let (_dir, root) = tree(&["fleetgate.yaml", "fleetgate.yml"]);
        assert!(find_config(&root).is_err());
    }
}
