//! What a check of a fleet costs, step by step, on generated fleets of two sizes: if a step takes much
//! more than ten times as long for ten times as many clusters, it does not scale.

#![allow(clippy::disallowed_methods, reason = "it makes files and runs programs")]
#![expect(clippy::expect_used, reason = "without its fleets a bench has nothing to measure")]

mod generator;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use fleetgate::fleet;
use fleetgate::manifest::corpus::{self, Content, InputFile};
use fleetgate::model::Context;
use generator::Shape;

/// The program's own allocator: the standard one is slower with many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const OBJECTS: usize = 1000;

/// A generated fleet on disk.
struct Generated {
    name: String,
    objects: u64,
    root: Utf8PathBuf,
    _directory: tempfile::TempDir,
}

impl Generated {
    fn new(clusters: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a path in UTF-8");
        let shape = Shape { clusters, objects: OBJECTS, repeated_per_mille: 900, seed: 1 };
        shape.write(root.as_std_path()).expect("a writable directory");
        let objects = (clusters * OBJECTS) as u64;
        Self { name: format!("{clusters}x{OBJECTS}"), objects, root, _directory: directory }
    }

    /// Every file with the cluster that it goes to.
    fn files(&self) -> Vec<InputFile> {
        let loaded = fleet::load(&self.root.join("fleetgate.yaml")).expect("a fleet file");
        let mut files = Vec::new();
        for cluster in loaded.fleet.clusters.values() {
            let context = Arc::new(Context {
                cluster: Some(cluster.clone()),
                environment: Some(cluster.environment.clone()),
            });
            for path in sorted(&self.root.join("rendered").join(&*cluster.name)) {
                files.push(InputFile {
                    content: Content::Path(path.clone()),
                    path: Arc::new(path),
                    contexts: vec![Arc::clone(&context)],
                    strict: true,
                });
            }
        }
        files
    }
}

fn sorted(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = folder.read_dir_utf8().expect("a folder of a cluster");
    let mut paths: Vec<Utf8PathBuf> = entries.map(|entry| entry.expect("a file").into_path()).collect();
    paths.sort();
    paths
}

fn fleets(criterion: &mut Criterion) {
    let fleets = [Generated::new(10), Generated::new(100)];
    read(criterion, &fleets);
}

fn read(criterion: &mut Criterion, fleets: &[Generated]) {
    let mut group = criterion.benchmark_group("read");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(20));
    for fleet in fleets {
        let files = fleet.files();
        group.throughput(Throughput::Elements(fleet.objects));
        group.bench_function(BenchmarkId::from_parameter(&fleet.name), |bencher| {
            bencher.iter_with_large_drop(|| {
                let corpus = corpus::read(black_box(files.clone()), &corpus::Limits::default());
                assert_eq!(corpus.resource_count as u64, fleet.objects);
                corpus
            });
        });
    }
    group.finish();
}

criterion_group!(benches, fleets);
criterion_main!(benches);
