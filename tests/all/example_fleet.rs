//! The example fleet in `testdata/fleet`.

use camino::Utf8Path;
use fleetgate::fleet;

#[test]
fn its_fleet_file_is_read() {
    let file = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet/fleetgate.yaml");
    let loaded = fleet::load(&file).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(loaded.fleet.clusters.len(), 10);
}
