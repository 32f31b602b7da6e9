//! `fleetgate demand`

mod fit;
mod json;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::accelerators::{Assessed, FamilyRow, Registry, Three, Totals, Unaccounted, unaccounted};
use crate::cli::args::{Demand, ListFormat};
use crate::cli::pipeline::{Subjects, load_fleet};
use crate::cli::progress::Progress;
use crate::cli::term::Term;
use crate::engine::{self, Located, Site, team_of};
use crate::error::Error;
use crate::manifest::corpus::Corpus;
use crate::model::{Fleet, ObjectId, Place};

pub(in crate::cli) fn run(args: &Demand, term: &Term) -> Result<u8, Error> {
    if args.fit {
        return fit::run(args, term);
    }
    let fleet = load_fleet(&args.rulebook(), &args.subjects.paths)?;
    let progress = Progress::new(term.quiet);
    let now = args.subjects.now.unwrap_or_else(jiff::Timestamp::now);
    let subjects = Subjects::read(&args.subjects, fleet.as_ref(), now, &progress)?;
    let registry = fleet.as_ref().map_or(Registry::builtin(), |fleet| &fleet.registry);
    let sites = engine::sites(subjects.corpus(), registry, subjects.has_whole_clusters());
    let view = View::new(subjects.corpus(), fleet.as_ref().map(|loaded| &loaded.fleet), registry, &sites);
    drop(progress);
    for note in fleet.iter().flat_map(|fleet| &fleet.notes) {
        term.say(&format!("note: {note}"));
    }
    let text = match args.output {
        ListFormat::Json => format!("{:#}\n", json::render(&view)),
        ListFormat::Text => table::render(&view),
    };
    term.out(text.as_bytes())?;
    let problems = subjects.problems();
    if !problems.is_empty() {
        // What could not be read may ask for any number.
        return Err(Error::Problems(problems));
    }
    Ok(if subjects.corpus().resource_count == 0 { 3 } else { 0 })
}

/// What is shown, in whatever format.
struct View<'a> {
    clusters: Vec<Cluster<'a>>,
    unaccounted: Vec<(ObjectId, Place, Unaccounted)>,
}

/// One cluster, or what belongs to none that is known.
struct Cluster<'a> {
    name: Option<Arc<str>>,
    /// Objects that ask for devices, or may, or of which something is to be told.
    workloads: Vec<Workload<'a>>,
}

struct Workload<'a> {
    id: &'a ObjectId,
    place: &'a Place,
    team: Option<Arc<str>>,
    assessed: &'a Assessed,
    /// The object through which it is counted.
    through: Option<&'a ObjectId>,
}

/// Families, each with its capacity type.
type Families = BTreeMap<(Family, Option<Arc<str>>), Three>;

/// A family, or why it is not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Known(Arc<str>),
    OneOf(Vec<Arc<str>>),
    /// Of the devices of this resource.
    Unknown(Arc<str>),
}

impl Family {
    fn of(row: &FamilyRow) -> Self {
        match &row.family {
            Some(family) => Self::Known(family.clone()),
            None if row.one_of.is_empty() => Self::Unknown(row.resource.clone()),
            None => Self::OneOf(row.one_of.iter().cloned().collect()),
        }
    }
}

impl<'a> View<'a> {
    fn new(corpus: &'a Corpus, fleet: Option<&Fleet>, registry: &Registry, sites: &'a [Site]) -> Self {
        let id = |located: Located| located.resource(corpus).map(|resource| &resource.id);
        let workload = |site: &'a Site, assessed: &'a Assessed| {
            let located = site.located(assessed)?;
            let through = assessed.demand.through.and_then(|index| id(*site.objects.get(index)?));
            let id = id(located)?;
            let place = located.place(corpus)?;
            Some(Workload { id, place, team: team_of(id, fleet), assessed, through })
        };
        let cluster = |site: &'a Site| Cluster {
            name: site.context.cluster.as_ref().map(|cluster| cluster.name.clone()),
            workloads: (site.assessment.objects.iter())
                .filter(|assessed| assessed.asks())
                .filter_map(|assessed| workload(site, assessed))
                .collect(),
        };
        let mut found = Vec::new();
        for document in &corpus.documents {
            let Some(first) = document.occurrences.first() else { continue };
            for resource in &*document.resources {
                let workload = registry.workload(&resource.object);
                let places = unaccounted(&resource.object, workload.as_ref()).into_iter();
                found.extend(places.map(|place| (resource.id.clone(), first.place.clone(), place)));
            }
        }
        Self { clusters: sites.iter().map(cluster).collect(), unaccounted: found }
    }

    fn workloads(&self) -> impl Iterator<Item = (&Cluster<'a>, &Workload<'a>)> {
        self.clusters
            .iter()
            .flat_map(|cluster| cluster.workloads.iter().map(move |workload| (cluster, workload)))
    }
}

impl Cluster<'_> {
    fn totals(&self) -> Totals {
        crate::accelerators::totals(self.workloads.iter().map(|workload| &workload.assessed.demand))
    }
}

/// The sum by family of workloads, each counted once.
fn families<'a>(workloads: impl IntoIterator<Item = &'a Workload<'a>>) -> Families {
    let mut sums = Families::new();
    for workload in workloads.into_iter().filter(|workload| workload.through.is_none()) {
        for row in &workload.assessed.families {
            let sum = sums.entry((Family::of(row), row.capacity_type.clone())).or_insert(Three::ZERO);
            *sum = sum.add(&row.three);
        }
    }
    sums
}
