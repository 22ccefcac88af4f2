//! `delassus check`: read and validate.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::AnalyzeError;
use delassus::lagrangian::{ContactState, Names, Tolerances, assemble, kinematics};
use delassus_report::{Style, number, title};
use serde_json::json;

use super::{analyze, check_world};
use crate::output::{CommandResult, json_text, print};
use crate::scene;
use crate::scene::{AnyScene, Scene};

/// Arguments of `check`.
#[derive(Args)]
pub struct CheckArgs {
    /// File with a [system] or a [world]
    pub file: PathBuf,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub import: scene::ImportArgs,
}

/// Runs the command: 0 where the file is valid.
pub fn run(args: &CheckArgs) -> CommandResult {
    let described = match scene::read_any_with(&args.file, &args.set, &args.import)? {
        AnyScene::System(scene) => describe(&scene, args.json)?,
        AnyScene::World(world) => check_world::describe(*world, args.json)?,
    };
    print(&described);
    Ok(0)
}

fn describe(scene: &Scene, as_json: bool) -> Result<String, String> {
    let (system, state) = (&scene.file.system, &scene.file.state);
    let names = Names::of(system);
    let fail = |e: AnalyzeError| analyze::explain(scene, e);
    let k = kinematics(system, state).map_err(|e| fail(e.into()))?;
    let assembly = assemble(&names, &k, &Tolerances::default()).map_err(|e| fail(e.into()))?;
    let bilateral: Vec<usize> = assembly.dynamics.offsets()[..system.joints.len()].to_vec();
    let rank = assembly.dynamics.jacobian.select_rows(&bilateral).rank();
    let n = system.coordinates.len();
    let word = |s: &ContactState| match s {
        ContactState::Apart => "apart",
        ContactState::Parting => "parting",
        ContactState::Approaching => "approaching",
        ContactState::Active(_) => "touching",
    };
    if as_json {
        let contacts: Vec<_> = system
            .contacts
            .iter()
            .zip(&k.contacts)
            .zip(&assembly.contacts)
            .map(|((c, k), s)| json!({"name": c.name, "gap": k.gap, "normal_velocity": k.normal.velocity, "state": word(s)}))
            .collect();
        let document = json!({
            "name": system.name, "n": n, "bilateral": system.joints.len(), "unilateral": system.contacts.len(),
            "mass_rank": k.mass_rank, "joint_rank": rank, "redundant_joints": system.joints.len() - rank,
            "kinetic_energy": k.kinetic_energy, "potential_energy": k.potential_energy, "contacts": contacts,
        });
        return Ok(json_text(&document));
    }
    let style = Style::for_stdout();
    let mut out = format!("{}  {}\n", style.good("valid"), title(&names));
    if k.mass_rank < n {
        out += &format!("  mass matrix singular: rank {} of {n}\n", k.mass_rank);
    }
    if rank < system.joints.len() {
        out += &format!("  joints redundant: {} independent of {}\n", rank, system.joints.len());
    }
    for ((c, k), s) in system.contacts.iter().zip(&k.contacts).zip(&assembly.contacts) {
        out += &format!(
            "  contact {}: {} (gap {}, rate {})\n",
            c.name,
            word(s),
            number(k.gap),
            number(k.normal.velocity)
        );
    }
    Ok(out)
}
