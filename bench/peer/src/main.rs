//! `delassus-peer SCENE.json OUT.json CONFIG`: runs a scene in the format in which engines are compared.
//!
//! CONFIG: `ncp` (Coulomb's law) or `ccp` (the associated cone), with `-half` behind it for the half-implicit
//! scheme. The scene gives gravity, dt, t_end, bodies with geoms, planes, revolute joints, one mu and one
//! restitution; the output has positions, quaternions (w x y z), velocities and angular velocities (world
//! axes) at t = 0 and every `sample` steps, CPU seconds of the stepping alone (and of the slowest step where
//! there are many bodies), the contacts of the last step, and notes: whatever a user should know. A scene
//! with `forces` false asks for no contacts, one with `model` names a file (MJCF, URDF or `.toml`) in the
//! place of bodies and joints, and may name a `keyframe` of it.
#![forbid(unsafe_code)]

mod scene;

use std::process::ExitCode;
use std::time::Instant;

use cpu_time::ProcessTime;
use delassus::collision::Contact;
use delassus::stepping::{FrictionLaw, Scheme, StepOptions, Stepper};
use delassus::world::WorldState;
use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::Status;
use serde_json::{Value, json};

/// Above so many bodies there is one solve a step, which stops at the residual that such comparisons ask for.
const MAX_EXACT_BODIES: usize = 200;
/// The residual for more of them.
const MANY_BODIES_TOLERANCE: f64 = 1e-4;
/// Contacts up to which the ranges of their forces are examined.
const MAX_EXAMINED_CONTACTS: usize = 200;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn options_of(config: &str, dt: f64, bodies: usize) -> Result<StepOptions, String> {
    let (law, scheme) = match config {
        "ncp" | "default" if bodies > MAX_EXACT_BODIES => (FrictionLaw::Ncp, Scheme::HalfImplicit),
        "ncp" | "default" => (FrictionLaw::Ncp, Scheme::Symmetric),
        "ncp-symmetric" => (FrictionLaw::Ncp, Scheme::Symmetric),
        "ccp" => (FrictionLaw::Ccp, Scheme::HalfImplicit),
        "ncp-half" => (FrictionLaw::Ncp, Scheme::HalfImplicit),
        "ccp-symmetric" => (FrictionLaw::Ccp, Scheme::Symmetric),
        other => {
            return Err(format!(
                "unknown configuration `{other}`: expected ncp, ccp, ncp-half, ncp-symmetric or ccp-symmetric"
            ));
        }
    };
    let tolerance =
        if bodies > MAX_EXACT_BODIES { MANY_BODIES_TOLERANCE } else { StepOptions::default().tolerance };
    Ok(StepOptions { dt, law, scheme, tolerance, ..StepOptions::default() })
}

fn run() -> Result<(), String> {
    let began = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene_path, out_path, config] = arguments.as_slice() else {
        return Err("expected three arguments: SCENE.json OUT.json CONFIG".into());
    };
    let text = std::fs::read_to_string(scene_path).map_err(|e| format!("{scene_path}: {e}"))?;
    let json: Value = serde_json::from_str(&text).map_err(|e| format!("{scene_path}: {e}"))?;
    let scene = scene::read(&json).map_err(|e| format!("{scene_path}: {e}"))?;
    let options = options_of(config, scene.times.dt, scene.bodies.len())?;
    let mut notes = scene::mobility_notes(&scene);
    let mut stepper =
        Stepper::new(&scene.world, scene.state.clone(), options).map_err(|e| format!("{scene_path}: {e}"))?;

    let steps = (scene.times.t_end / scene.times.dt).round() as usize;
    let mut record = Record::default();
    record.add(stepper.state(), &scene.bodies);
    let (mut cpu, mut done, mut history) = (0.0, 0, vec![]);
    let (mut residual, mut penetration, mut failed) = (0.0f64, 0.0f64, 0usize);
    let (mut non_unique, mut iterations) = (0, 0);
    // The clock is read for each step where that costs nothing beside it.
    let (each, mut slowest) = (scene.bodies.len() > MAX_EXACT_BODIES, 0.0f64);
    while done < steps {
        let count = scene.times.sample.min(steps - done);
        let clock = ProcessTime::now();
        for _ in 0..count {
            let begin = each.then(ProcessTime::now);
            let report = stepper.step().map_err(|e| e.to_string())?;
            slowest = begin.map_or(slowest, |begin| slowest.max(begin.elapsed().as_secs_f64()));
            residual = residual.max(report.residual);
            iterations += report.iterations;
            penetration = penetration.max(report.penetration);
            if report.status != Status::Solved {
                failed += 1;
                if failed <= 3 {
                    let (step, r) = (stepper.steps(), report.residual);
                    notes.push(format!("step {step}: {:?}, residual {r:.1e}", report.status));
                }
            }
            non_unique += usize::from(report.non_unique);
            for rest in report.accumulations {
                notes.push(format!("contact {} at rest from t = {:.6} s on", rest.contact, rest.t));
            }
            for jam in report.jams {
                notes.push(format!(
                    "jam at t = {:.6} s: contact {} at ({:.4}, {:.4}, {:.4}) cannot slide on: friction {} exceeds \
                     the jamming value {:.4}; stopped by an impulse of {:.4} N s",
                    jam.t, jam.contact, jam.point.x, jam.point.y, jam.point.z, jam.mu, jam.mu_jam, jam.impulse
                ));
            }
        }
        cpu += clock.elapsed().as_secs_f64();
        done += count;
        record.add(stepper.state(), &scene.bodies);
        history.push(json!([done, cpu]));
        if began.elapsed().as_secs_f64() > scene.times.wall_cap && done < steps {
            notes.push("wall cap".into());
            break;
        }
    }
    notes.push(format!("largest residual {residual:.1e}, largest overlap {penetration:.1e} m"));
    if non_unique > 0 {
        notes.push(format!("forces were not unique in {non_unique} of {done} steps"));
    }
    if failed > 0 {
        notes.push(format!("{failed} of {done} steps not solved to the tolerance"));
    }
    let (contacts, more) = if scene.times.forces { forces_now(&stepper)? } else { (vec![], vec![]) };
    notes.extend(more);
    let out = json!({
        "t": record.t, "pos": record.position, "quat": record.orientation, "vel": record.velocity,
        "omega": record.angular_velocity, "wall": cpu, "steps": done, "dt": scene.times.dt, "wh": history,
        "contacts": contacts, "notes": notes, "residual": residual, "penetration": penetration,
        "niter": iterations as f64 / done.max(1) as f64, "slowest": each.then_some(slowest),
    });
    std::fs::write(out_path, out.to_string()).map_err(|e| format!("{out_path}: {e}"))
}

/// Contacts with their forces (of least norm where others would do as well), and what is to be said of them.
fn forces_now(stepper: &Stepper) -> Result<(Vec<Value>, Vec<String>), String> {
    let as_json = |contact: &Contact, normal: f64, friction: f64| json!({"p": contact.point.to_array(), "fn": normal, "ft": friction, "dist": contact.gap});
    if stepper.contacts().len() > MAX_EXAMINED_CONTACTS {
        let forces = stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0).take(400);
        return Ok((forces.map(|(c, n, f)| as_json(c, n, f.length())).collect(), vec![]));
    }
    let forces = stepper.forces().map_err(|e| e.to_string())?;
    let mut contacts = vec![];
    let mut notes = vec![];
    for (i, contact) in stepper.contacts().iter().enumerate() {
        let (normal, friction) = forces.contacts[i];
        let Some(place) = forces.place[i] else { continue };
        contacts.push(as_json(contact, normal, friction.length()));
        if let ImpulseRange::Ranges { normal: ranges, .. } = &forces.ranges {
            let ([low, high], name) = (ranges[place], stepper.contact_name(contact));
            notes.push(format!(
                "contact {name}: normal force between {low:.3} and {high:.3} N, {normal:.3} N of least norm"
            ));
        }
    }
    if !notes.is_empty() {
        notes.insert(0, "contact forces are not unique: other forces go with the same motion".into());
    }
    Ok((contacts, notes))
}

#[derive(Default)]
struct Record {
    t: Vec<f64>,
    position: Vec<Vec<[f64; 3]>>,
    orientation: Vec<Vec<[f64; 4]>>,
    velocity: Vec<Vec<[f64; 3]>>,
    angular_velocity: Vec<Vec<[f64; 3]>>,
}

impl Record {
    fn add(&mut self, state: &WorldState, bodies: &[usize]) {
        let all = || bodies.iter().map(|&b| &state.bodies[b]);
        self.t.push(state.t);
        self.position.push(all().map(|s| s.pose.position.to_array()).collect());
        let wxyz = |q: glam::DQuat| [q.w, q.x, q.y, q.z];
        self.orientation.push(all().map(|s| wxyz(s.pose.rotation)).collect());
        self.velocity.push(all().map(|s| s.velocity.to_array()).collect());
        self.angular_velocity.push(all().map(|s| s.world_angular_velocity().to_array()).collect());
    }
}
