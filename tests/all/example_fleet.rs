//! The example fleet in `testdata/fleet`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use fleetgate::fleet;
use fleetgate::manifest::corpus::{self, Content, InputFile};
use fleetgate::model::Context;

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet")
}

/// Every file of the folders that clusters run.
fn deployed() -> Vec<InputFile> {
    let folders = ["argocd", "rendered"].map(|folder| root().join(folder));
    let entries = folders.iter().flat_map(walkdir::WalkDir::new).map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = Utf8PathBuf::from_path_buf(entry.into_path()).unwrap();
            InputFile {
                path: Arc::new(path.clone()),
                content: Content::Path(path),
                contexts: vec![Arc::new(Context::default())],
                strict: true,
            }
        })
        .collect()
}

#[test]
fn its_fleet_file_is_read() {
    let loaded = fleet::load(&root().join("fleetgate.yaml")).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(loaded.fleet.clusters.len(), 10);
    assert_eq!(loaded.fleet.waivers.len(), 1);
}

#[test]
fn all_its_objects_are_read() {
    let corpus = corpus::read(deployed(), &corpus::Limits::default());
    assert!(corpus.problems.is_empty(), "{:?}", corpus.problems);
    // Counted with another YAML reader, items of lists one by one; its README says so, too.
    assert_eq!(corpus.resource_count, 378);
}
