//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args;
use delassus::stepping::{Coordinates, FrictionLaw, Scheme};
use delassus_scene::Integrator;
use delassus_solve::contact::Method;
use delassus_solve::impact::ImpactLaw;

use crate::arguments::{
    coordinates, friction_law, impact_law, integrator, method, scheme, seconds, tolerance,
};
use crate::scene;

/// What to do where several accelerations satisfy the laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PolicyName {
    /// Follow the one with the least contact forces.
    Detach,
    /// End there.
    Stop,
    /// Follow all: `delassus explore` does it.
    Branch,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// File with a [world] or a [system], URDF or MJCF
    pub file: PathBuf,
    /// Write the motion here: .html (a page that shows it in any browser), .csv (forces or events beside
    /// it), .parquet, .vtu or .pvd (a series for ParaView), .svg or .png (what --plot names); may be repeated
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub output: Vec<PathBuf>,
    /// Time step, s [default: of the file, else 1e-3]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub dt: Option<f64>,
    /// End, s [default: of the file, else 1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub t_end: Option<f64>,
    /// Coulomb's law as it is (ncp), or its associated relaxation, which lifts off while sliding (ccp)
    /// [default: of the file, else ncp]
    #[arg(long, value_parser = friction_law())]
    pub law: Option<FrictionLaw>,
    /// Two solves a step and second order, or one and first order
    #[arg(long, value_parser = scheme(), default_value = "symmetric")]
    pub scheme: Scheme,
    /// Coordinates in which joints are solved [default: of the file, else auto]
    #[arg(long, value_parser = coordinates())]
    pub coordinates: Option<Coordinates>,
    /// How time passes [default: of the file, else time-stepping for a world, event-driven for a system]
    #[arg(long, value_parser = integrator())]
    pub integrator: Option<Integrator>,
    /// Residual below which a step counts as solved [default: of the file, else 1e-10]
    #[arg(long, value_parser = tolerance, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// Method of the contact problems [default: of the file, else auto]
    #[arg(long, value_parser = method())]
    pub solver: Option<Method>,
    /// Start every solve from zero, not from the impulses of the step before
    #[arg(long)]
    pub no_warm_start: bool,
    /// Where impulses are not unique, choose those of least norm in every step
    #[arg(long)]
    pub minimum_norm: bool,
    /// Let the length of steps follow from their error: --dt is the longest one
    #[arg(long)]
    pub adaptive: bool,
    /// Error that an adaptive step may have, m [default: 1e-6]
    #[arg(long, value_name = "METRES", requires = "adaptive", allow_hyphen_values = true)]
    pub error: Option<f64>,
    /// Shortest adaptive step, s; it is --dt halved so often that it is not longer than this [default: 1/64
    /// of --dt]
    #[arg(long, value_name = "SECONDS", requires = "adaptive", allow_hyphen_values = true)]
    pub dt_min: Option<f64>,
    /// Record every N steps [default: as many as give about 1000 frames]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// Save the state here at the end, and when interrupted
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Save it also every so many seconds of computing
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "checkpoint")]
    pub checkpoint_every: Option<f64>,
    /// Continue from a checkpoint, to the same bits as without the pause
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Write the contact problem of each step into this folder (FCLib .hdf5; own .json where FCLib cannot
    /// hold it)
    #[arg(long, value_name = "DIR")]
    pub dump_problems: Option<PathBuf>,
    /// Report contact forces, and their intervals where they are not unique, at these times
    #[arg(long, value_name = "T,T,…", value_delimiter = ',', value_parser = seconds, allow_hyphen_values = true)]
    pub forces_at: Vec<f64>,
    /// What the picture of -o FILE.svg shows, x:y for one over the other. Of a system: x, x', x'',
    /// tip.normal, tip.tangential, guide.force, energy [default: all positions]. Of a world: BODY.x, BODY.vx,
    /// BODY.wx, …, BODY|BODY.normal or .friction, JOINT.force or .moment, energy [default: the first bodies,
    /// energy]
    #[arg(long, value_name = "Q,Q,…", value_delimiter = ',')]
    pub plot: Vec<String>,
    /// Law of impact [default: of the file, else moreau]
    #[arg(long, value_parser = impact_law())]
    pub impact_law: Option<ImpactLaw>,
    /// Apply the impact law to contacts that touch and approach at the start; else they are an error
    /// (event-driven)
    #[arg(long)]
    pub impact_at_start: bool,
    /// Where several accelerations satisfy the laws (event-driven) [default: detach]
    #[arg(long, value_enum)]
    pub indeterminate: Option<PolicyName>,
    /// Most events; the run ends before the next one (event-driven) [default: 1000000]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub max_events: Option<usize>,
    /// Override a parameter of the file, or dt, t_end, tolerance: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub import: scene::ImportArgs,
}

/// A number of things.
fn whole(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("expected a whole number from 0 on, found \"{text}\""))
}

#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    run: RunArgs,
}

impl RunArgs {
    /// A run of a file with all options by default.
    pub fn plain(file: &str, json: bool) -> RunArgs {
        let words = ["run", file].into_iter().chain(json.then_some("--json"));
        <Alone as clap::Parser>::parse_from(words).run
    }
}
