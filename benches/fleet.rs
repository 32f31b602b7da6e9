//! What a check of a fleet costs, step by step, on generated fleets of two sizes: if a step takes much
//! more than ten times as long for ten times as many clusters, it does not scale.

#![allow(clippy::disallowed_methods, reason = "it makes files and runs programs")]
#![expect(clippy::expect_used, reason = "without its fleets a bench has nothing to measure")]

mod generator;

use std::cell::LazyCell;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use fleetgate::engine::{self, Baseline};
use fleetgate::fleet::{self, Discovery, Loaded, Loose};
use fleetgate::manifest::corpus::{self, Corpus};
use fleetgate::model::{Face, Level, Report};
use fleetgate::policy::{self, Isolation, LoadOptions, PolicySet};
use fleetgate::report::{self, Format};
use generator::Shape;

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const OBJECTS: usize = 1000;

/// A generated fleet on disk.
struct Generated {
    config: Utf8PathBuf,
    _directory: tempfile::TempDir,
}

impl Generated {
    fn new(clusters: usize) -> Self {
        Self::repeating(clusters, 900)
    }

    /// So many of a thousand documents are the same as in another cluster.
    fn repeating(clusters: usize, repeated_per_mille: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a path in UTF-8");
        let shape = Shape { clusters, objects: OBJECTS, repeated_per_mille, seed: 1 };
        shape.write(root.as_std_path()).expect("a writable directory");
        Self { config: root.join("fleetgate.yaml"), _directory: directory }
    }

    fn load(&self) -> Loaded {
        fleet::load(&self.config).expect("a fleet file")
    }
}

/// A generated fleet as a repository, with a change to one application on a branch.
struct Changed(Generated);

impl Changed {
    fn new(clusters: usize) -> Self {
        let generated = Generated::new(clusters);
        let root = generated.config.parent().expect("a directory");
        git(root, &["init", "-q", "-b", "main"]);
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "the fleet"]);
        git(root, &["checkout", "-q", "-b", "topic"]);
        for cluster in root.join("rendered").read_dir_utf8().expect("clusters") {
            let file = cluster.expect("a cluster").path().join("search-api.yaml");
            let text = std::fs::read_to_string(&file).expect("a chart");
            let changed = text.replace("targetPort: http\n", "targetPort: web\n");
            assert_ne!(text, changed, "{file} has a service");
            std::fs::write(&file, changed).expect("a writable file");
        }
        git(root, &["commit", "-q", "-a", "-m", "another port"]);
        Self(generated)
    }

    /// The program, as a job runs it; how many objects it judged.
    fn check(&self, base: bool) -> u64 {
        let root = self.0.config.parent().expect("a directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetgate"));
        command.current_dir(root).args(["check", "-q", "-o", "json"]);
        if base {
            command.args(["--base", "main"]);
        }
        let output = command.output().expect("the program starts");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        report.pointer("/counts/resources").and_then(serde_json::Value::as_u64).expect("a number")
    }
}

fn git(dir: &Utf8Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(dir).status();
    assert!(status.expect("git starts").success(), "{arguments:?}");
}

/// The state of a check before each step.
struct Steps {
    generated: Generated,
    fleet: Loaded,
    policies: PolicySet,
    discovery: Discovery,
    corpus: Corpus,
    report: Report,
}

impl Steps {
    fn new(clusters: usize) -> Self {
        let generated = Generated::new(clusters);
        let fleet = generated.load();
        let policies = policies(&fleet);
        let discovery = discover(&fleet);
        let corpus = read(&discovery);
        assert_eq!(corpus.resource_count, clusters * OBJECTS);
        let report = judge(&fleet, &policies, &corpus, true);
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        Self { generated, fleet, policies, discovery, corpus, report }
    }
}

fn policies(fleet: &Loaded) -> PolicySet {
    let options =
        LoadOptions { parameters: fleet.params.clone(), locate: None, fleet: Some(fleet.fleet.data.clone()) };
    policy::load(&[policy::Source::Shipped], &options).expect("the shipped policies")
}

fn discover(fleet: &Loaded) -> Discovery {
    fleet::discover(Some(fleet), &[], &Loose::default(), jiff::civil::date(2026, 1, 1))
}

fn read(discovery: &Discovery) -> Corpus {
    corpus::read(discovery.files.clone(), &corpus::Limits::default())
}

fn judge(fleet: &Loaded, policies: &PolicySet, corpus: &Corpus, share: bool) -> Report {
    engine::judge(&engine::Request {
        corpus,
        fleet: Some(&fleet.fleet),
        registry: &fleet.registry,
        policies,
        baseline: &Baseline::default(),
        face: Face::Ci,
        now: jiff::Timestamp::UNIX_EPOCH,
        select: &[],
        ignore: &[],
        share,
        whole: true,
        unrendered: 0,
        complete: true,
        limits: policy::Limits::default(),
        isolation: &Isolation::None,
        discovered: &[],
        configuration: &[],
        before: None,
        fail_on: Level::Deny,
    })
}

fn show(report: &Report) -> Vec<u8> {
    let mut bytes = Vec::new();
    report::render(&report::resolve(report), Format::Json, &report::Options::default(), &mut bytes)
        .expect("memory takes every byte");
    bytes
}

/// Everything that `fleetgate check -o json` does.
fn check(generated: &Generated) -> Vec<u8> {
    let fleet = generated.load();
    let policies = policies(&fleet);
    let corpus = read(&discover(&fleet));
    show(&judge(&fleet, &policies, &corpus, true))
}

/// Whether times are taken, or each bench only runs once to show that it works (`-- --test`).
fn measures() -> bool {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    given("--bench") && !given("--test")
}

fn fleets(criterion: &mut Criterion) {
    rayon::ThreadPoolBuilder::new()
        .stack_size(policy::STACK_SIZE)
        .build_global()
        .expect("no other pool of threads");
    // A fleet is made when the first bench that was asked for needs it.
    let small = LazyCell::new(|| Steps::new(10));
    let large = LazyCell::new(|| Steps::new(100));
    for name in ["discover", "read", "demand", "evaluate", "evaluate-each", "report", "check"] {
        let mut group = criterion.benchmark_group(name);
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(10));
        bench(&mut group, name, 10, &small);
        if measures() {
            bench(&mut group, name, 100, &large);
        }
        group.finish();
    }
}

fn bench<F: FnOnce() -> Steps>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    clusters: usize,
    steps: &LazyCell<Steps, F>,
) {
    let id = BenchmarkId::from_parameter(format!("{clusters}x{OBJECTS}"));
    group.throughput(Throughput::Elements((clusters * OBJECTS) as u64));
    group.bench_function(id, |bencher| {
        let Steps { generated, fleet, policies, discovery, corpus, report } = black_box(&**steps);
        match name {
            "discover" => bencher.iter_with_large_drop(|| discover(fleet)),
            "read" => bencher.iter_with_large_drop(|| read(discovery)),
            "demand" => bencher.iter_with_large_drop(|| engine::sites(corpus, &fleet.registry, true)),
            "evaluate" => bencher.iter_with_large_drop(|| judge(fleet, policies, corpus, true)),
            "evaluate-each" => bencher.iter_with_large_drop(|| judge(fleet, policies, corpus, false)),
            "report" => bencher.iter_with_large_drop(|| show(report)),
            _ => bencher.iter_with_large_drop(|| check(generated)),
        }
    });
}

/// What a fleet asks for, against reading it, where no document stands twice.
fn distinct(criterion: &mut Criterion) {
    let clusters = if measures() { 100 } else { 10 };
    let read_in = LazyCell::new(|| {
        let generated = Generated::repeating(clusters, 0);
        let fleet = generated.load();
        let discovery = discover(&fleet);
        let corpus = read(&discovery);
        (generated, fleet, discovery, corpus)
    });
    let mut group = criterion.benchmark_group("distinct");
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(10));
    group.bench_function("read", |bencher| {
        let (_, _, discovery, _) = &*read_in;
        bencher.iter_with_large_drop(|| read(discovery));
    });
    group.bench_function("demand", |bencher| {
        let (_, fleet, _, corpus) = &*read_in;
        bencher.iter_with_large_drop(|| engine::sites(corpus, &fleet.registry, true));
    });
    group.finish();
}

/// A change to one application in every cluster, against a check of everything: the program as a
/// whole, started anew each time.
fn changes(criterion: &mut Criterion) {
    let clusters = if measures() { 100 } else { 10 };
    let changed = LazyCell::new(|| Changed::new(clusters));
    let mut group = criterion.benchmark_group("change");
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(10));
    for (name, base) in [("base", true), ("everything", false)] {
        let id = BenchmarkId::new(name, format!("{clusters}x{OBJECTS}"));
        group.bench_function(id, |bencher| {
            let changed = &*changed;
            let judged = changed.check(base);
            assert_eq!(judged == (clusters * OBJECTS) as u64, !base, "{judged} objects were judged");
            bencher.iter(|| black_box(changed.check(base)));
        });
    }
    group.finish();
}

criterion_group!(benches, fleets, distinct, changes);
criterion_main!(benches);
