//! `delassus analyze`: the contact problem at the state in a file.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::{AnalyzeError, SystemAnalysis, analyze_world, analyze_written, constraint_names};
use delassus::lagrangian::{ContactState, Tolerances};
use delassus_scene::{SystemFile, WorldFile};
use delassus_solve::analysis::Analysis;
use delassus_solve::analysis::theorems::CheckedFinding;
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use serde_json::{Map, Value, json};

use super::solution_list::{entries, finite, intervals, normals};
use super::{report, report_impact};
use crate::picture::{cones, write_picture};
use crate::scene;
use crate::scene::{AnyScene, Scene, WorldScene};
use crate::style::{Style, print};

/// Arguments of `analyze`.
#[derive(Args)]
pub struct AnalyzeArgs {
    /// File with a [system] or a [world]
    pub file: PathBuf,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Gaps and joint errors below this are zero
    #[arg(long, default_value_t = Tolerances::default().position, value_parser = positive)]
    pub gap_tolerance: f64,
    /// Normal, slip and joint velocities below this are zero
    #[arg(long, default_value_t = Tolerances::default().velocity, value_parser = positive)]
    pub velocity_tolerance: f64,
    /// Largest number of mode combinations that is examined
    #[arg(long, default_value_t = EnumerateOptions::default().max_modes)]
    pub max_modes: u64,
    /// Draw the generalized friction cones of the contacts: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("expected a number that is at least 0".into()),
    }
}

/// How to analyze and print.
#[derive(Default)]
pub struct Options {
    /// What counts as zero.
    pub tolerances: Tolerances,
    /// Limits of the enumeration.
    pub enumerate: EnumerateOptions,
    /// JSON instead of a report.
    pub json: bool,
    /// Where to draw the friction cones.
    pub plot: Option<PathBuf>,
}

/// Runs the command; returns the exit code.
pub fn run(args: &AnalyzeArgs) -> u8 {
    let options = Options {
        tolerances: Tolerances { position: args.gap_tolerance, velocity: args.velocity_tolerance },
        enumerate: EnumerateOptions { max_modes: args.max_modes },
        json: args.json,
        plot: args.plot.clone(),
    };
    let result = scene::read_any(&args.file, &args.set).and_then(|scene| match scene {
        AnyScene::System(scene) => report_scene(&scene, &options),
        AnyScene::World(world) => report_world(&world, &options),
    });
    match result {
        Ok((report, exists)) => {
            print(&report);
            if exists == Verdict::Refuted { 1 } else { 0 }
        }
        Err(message) => {
            eprint!("{message}");
            2
        }
    }
}

/// The report of a scene, and whether a solution exists.
pub fn report_scene(scene: &Scene, options: &Options) -> Result<(String, Verdict), String> {
    let SystemFile { system, state, exact_state, .. } = &scene.file;
    let result = analyze_written(system, state, exact_state, &options.tolerances, &options.enumerate)
        .map_err(|e| explain(scene, e))?;
    report(&result, options)
}

/// The report of a world at its state, and whether a solution exists.
fn report_world(scene: &WorldScene, options: &Options) -> Result<(String, Verdict), String> {
    let WorldFile { world, state, .. } = &scene.file;
    let result = analyze_world(world, state, &options.tolerances, &options.enumerate)
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    report(&result, options)
}

fn report(result: &SystemAnalysis, options: &Options) -> Result<(String, Verdict), String> {
    if let Some(path) = &options.plot {
        write_picture(&cones(result), path)?;
    }
    // Where an impact comes first, no finite force is an answer.
    let exists = result.analysis.as_ref().map_or(Verdict::Refuted, |a| a.existence);
    let text = if options.json {
        format!("{:#}\n", document(result))
    } else {
        report::text(result, Style::for_stdout())
    };
    Ok((text, exists))
}

/// The message of an error, at its place in the file.
pub fn explain(scene: &Scene, error: AnalyzeError) -> String {
    scene::ended(scene.file.explain(error, &scene.text).render(&scene.name, &scene.text))
}

/// `proved`, `refuted` or `unknown`.
pub fn word(v: Verdict) -> &'static str {
    match v {
        Verdict::Proved => "proved",
        Verdict::Refuted => "refuted",
        Verdict::Unknown => "unknown",
    }
}

fn rows(m: Option<&Matrix>) -> Value {
    m.map_or(Value::Null, |m| json!(m.to_rows()))
}

/// The document of `analyze --json`.
pub fn document(result: &SystemAnalysis) -> Value {
    let names = &result.names;
    let analysis = result.analysis.as_ref();
    let verdict = |of: fn(&Analysis) -> Verdict| word(analysis.map_or(Verdict::Refuted, of));
    let contacts: Vec<Value> = result
        .contacts
        .iter()
        .zip(&result.kinematics.contacts)
        .map(|(c, k)| {
            let cone = c.cone.as_ref();
            json!({
                "name": c.name,
                "state": match c.state {
                    ContactState::Apart => "apart",
                    ContactState::Parting => "parting",
                    ContactState::Approaching => "approaching",
                    ContactState::Active(_) => "touching",
                },
                "gap": k.gap,
                "normal_velocity": k.normal.velocity,
                "slip_velocity": k.slip.iter().map(|r| r.velocity).collect::<Vec<_>>(),
                "mu": c.mu,
                "mu_jam": cone.and_then(|c| c.mu_jam),
                "mu_crit": cone.and_then(|c| c.mu_crit),
                "e_jam": cone.map(|c| &c.jamming_direction),
                "locking_angle_deg": cone.and_then(|c| c.locking_angle).map(f64::to_degrees),
                "jams": c.jams,
                "cone": rows(cone.and_then(|c| c.cone.as_ref())),
                "effective_mass": rows(cone.and_then(|c| c.effective_mass.as_ref())),
            })
        })
        .collect();
    let angles: Map<String, Value> = result
        .kinetic_angles
        .iter()
        .map(|a| (format!("{}|{}", a.first, a.second), json!(a.angle.to_degrees())))
        .collect();
    let bound = |id: &str| {
        result.friction_bounds.iter().find(|b| b.id == id).map_or(Value::Null, |b| finite(b.bound))
    };
    let constraints = constraint_names(names, &result.assembly);
    // Pads have coordinates of their own, behind those with a name.
    let named: Vec<usize> = (0..names.coordinates.len().min(result.kinematics.mass.rows())).collect();
    let mass = result.kinematics.mass.select(&named, &named).to_rows();
    json!({
        "name": names.title,
        "n": names.coordinates.len(),
        "bilateral": names.joints.len(),
        "unilateral": names.contacts.len(),
        "mass_rank": result.kinematics.mass_rank,
        "existence": verdict(|a| a.existence),
        "acceleration_unique": verdict(|a| a.acceleration_unique),
        "forces_unique": verdict(|a| a.forces_unique),
        "reasons": report::reasons(result),
        "solutions": solutions(result),
        "impact": report_impact::document(result),
        "contacts": contacts,
        "friction_bounds": {
            "000.prop9": bound("000.prop9"), "000.prop11": bound("000.prop11"),
            "000.prop12": bound("000.prop12"), "000.prop14": bound("000.prop14"),
        },
        "kinetic_angles_deg": angles,
        "matrices": {
            "rows": constraints,
            "mass": mass,
            "delassus": rows(result.delassus.as_ref()),
            "constrained_delassus": rows(result.constrained_delassus.as_ref()),
            "lcp_matrix": rows(result.lcp.as_ref().map(|l| &l.matrix)),
            "lcp_vector": result.lcp.as_ref().map(|l| &l.vector),
        },
        "certificates": result.findings.iter().map(certificate).collect::<Vec<_>>(),
    })
}

/// One proposition.
fn certificate(f: &CheckedFinding) -> Value {
    json!({
        "id": f.finding.id,
        "outcome": report::outcome(f.finding.outcome),
        "value": f.finding.value.map(finite),
        "bound": f.finding.bound.map(finite),
        "verified": f.verified.unwrap_or(false),
        "claims": {
            "existence": f.finding.claims.existence,
            "acceleration_unique": f.finding.claims.acceleration_unique,
            "forces_unique": f.finding.claims.forces_unique,
        },
        "meaning": f.finding.meaning,
    })
}

fn solutions(result: &SystemAnalysis) -> Value {
    let Some(analysis) = &result.analysis else { return json!({"kind": "none", "list": []}) };
    let list: Vec<Value> = entries(result, analysis).into_iter().map(|(_, entry)| entry).collect();
    let intervals = (!list.is_empty()).then(|| intervals(result, &analysis.intervals));
    let normals = |f: &Vec<f64>| normals(result, f);
    json!({
        "kind": report::kind(analysis),
        "complete": !analysis.is_partial(),
        "partial": analysis.is_partial(),
        "exact": analysis.is_exact(),
        "modes": analysis.solutions.modes,
        "list": list,
        "minimum_norm": analysis.minimum_norm.as_ref().map(normals),
        "unique_part": analysis.unique_part.as_ref().map(normals),
        "intervals": intervals,
    })
}
