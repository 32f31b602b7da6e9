//! A seeded generator of large fleets: the same shape and seed give the same bytes, everywhere.
//!
//! Each cluster runs a few dozen charts. A document is either the same, byte for byte, in every
//! cluster, or differs as rendered documents do: an annotation, a variable, a registry, a number of
//! replicas. Kinds and sizes follow what real trees hold, about 2.4 KB a document. One pod in a hundred
//! has an image without a digest; everything else is meant to be clean under the shipped rules.

#![expect(clippy::format_push_string, reason = "plain to read; `write!` has an error that cannot happen")]

mod objects;
mod random;
mod workloads;

use std::fs;
use std::io;
use std::path::Path;

use objects::Object;
use random::Random;

/// How large a fleet is and how much of it repeats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Clusters.
    pub(crate) clusters: usize,
    /// Objects in each cluster, one a document.
    pub(crate) objects: usize,
    /// Of each cluster's objects, how many per thousand are the same in every cluster.
    pub(crate) repeated_per_mille: usize,
    /// Another seed gives another fleet of the same shape.
    pub(crate) seed: u64,
}

/// One cluster of a generated fleet.
#[derive(Debug)]
struct Cluster {
    name: String,
    environment: &'static str,
    provider: &'static str,
    region: &'static str,
    /// Label of its GPU nodes.
    selector: (&'static str, &'static str),
    /// Key of their taint.
    taint: &'static str,
}

const APPLICATIONS: [&str; 6] = ["search", "feed", "ads", "billing", "vision", "speech"];
const PARTS: [&str; 6] = ["api", "worker", "index", "train", "serve", "gateway"];

impl Shape {
    /// Writes `fleetgate.yaml` and `rendered/<cluster>/<chart>.yaml` below `root`.
    pub(crate) fn write(&self, root: &Path) -> io::Result<()> {
        let clusters: Vec<Cluster> = (0..self.clusters).map(cluster).collect();
        fs::create_dir_all(root)?;
        fs::write(root.join("fleetgate.yaml"), fleet_file(&clusters))?;
        for (number, cluster) in clusters.iter().enumerate() {
            let folder = root.join("rendered").join(&cluster.name);
            fs::create_dir_all(&folder)?;
            for (position, chart) in charts().enumerate().take(self.objects) {
                fs::write(
                    folder.join(format!("{chart}.yaml")),
                    self.chart(number, cluster, position, &chart),
                )?;
            }
        }
        Ok(())
    }

    /// One chart as `helm template` would print it. Objects are dealt out to the charts in turn.
    fn chart(&self, number: usize, cluster: &Cluster, position: usize, chart: &str) -> String {
        let step = APPLICATIONS.len() * PARTS.len();
        (position..self.objects)
            .step_by(step)
            .map(|index| {
                let repeated = self.is_repeated(index);
                // What a repeated object draws does not depend on the cluster.
                let varied = if repeated { 0 } else { number + 1 };
                let object = Object {
                    index,
                    chart,
                    cluster: if repeated { None } else { Some(cluster) },
                    random: Random::new(&[self.seed, index as u64]),
                    varied: Random::new(&[self.seed, index as u64, varied as u64]),
                };
                object.document()
            })
            .collect()
    }

    /// Whether an object is the same in every cluster: exactly the wanted share of them is, spread
    /// evenly.
    fn is_repeated(&self, index: usize) -> bool {
        (index + 1) * self.repeated_per_mille / 1000 > index * self.repeated_per_mille / 1000
    }
}

fn charts() -> impl Iterator<Item = String> {
    APPLICATIONS.iter().flat_map(|application| PARTS.iter().map(move |part| format!("{application}-{part}")))
}

/// Two clusters in ten are dev, three uat and five prod, on three clouds in turn.
fn cluster(number: usize) -> Cluster {
    let environment = match number % 10 {
        0 | 1 => "dev",
        2..=4 => "uat",
        _ => "prod",
    };
    let (provider, region, selector, taint) = match number % 3 {
        0 => ("aws", "us-east-1", ("karpenter.k8s.aws/instance-gpu-name", "h100"), "nvidia.com/gpu"),
        1 => (
            "gcp",
            "europe-west4",
            ("cloud.google.com/gke-accelerator", "nvidia-h100-80gb"),
            "nvidia.com/gpu",
        ),
        _ => ("azure", "westeurope", ("kubernetes.azure.com/accelerator", "nvidia"), "sku"),
    };
    Cluster {
        name: format!("{environment}-{provider}-{number:03}"),
        environment,
        provider,
        region,
        selector,
        taint,
    }
}

fn fleet_file(clusters: &[Cluster]) -> String {
    let mut text = String::from(
        "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\nenvironments: [dev, uat, prod]\n\
         rendered: rendered/{cluster}\nclusters:\n",
    );
    for Cluster { name, environment, provider, region, .. } in clusters {
        text.push_str(&format!(
            "  {name}: {{environment: {environment}, provider: {provider}, region: {region}}}\n"
        ));
    }
    text
}
