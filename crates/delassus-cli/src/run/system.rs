//! `delassus run` on a system: event-driven.
//!
//! Exit codes: 0 done; 1 the run ended before its end; 2 misuse or bad input.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use delassus::events::{Ending, EventKind, EventOptions, Indeterminate, Sample, Trajectory};
use delassus::lagrangian::System;
use delassus::simulation::WorldAsSystem;
use delassus::stepping::{FrictionLaw, Scheme};
use delassus_report::{
    Style, contact_mode_word, count, ending_word, event_document, has_energy, named, number,
};
use delassus_scene::Integrator;
use delassus_solve::impact::Violation;
use serde_json::{Map, Value, json};

use super::arguments::{PolicyName, RunArgs};
use super::branches::add_others;
use super::page_output::{FRAMES, event_motion, event_page, is_page, write_page};
use super::report::bodies_json;
use super::subject::{Subject, world_as_system};
use crate::output::{CommandResult, json_text, print};
use crate::picture::{check_quantities, draw_motion, write_picture};
use crate::scene::{Scene, WorldScene};

/// Events that are shown to people.
const SHOWN: usize = 40;

/// Moves a system.
pub fn move_system(scene: &Scene, args: &RunArgs) -> CommandResult {
    if args.integrator == Some(Integrator::TimeStepping) {
        return Err(format!(
            "error: {}: time stepping moves worlds of rigid bodies; a [system] moves with --integrator event-driven\n",
            scene.name
        ));
    }
    move_subject(&Subject::of_system(scene, args.t_end), args)
}

/// Integrates a small world event by event.
pub fn move_world(mut scene: WorldScene, args: &RunArgs) -> CommandResult {
    let as_system = world_as_system(&mut scene)?;
    move_subject(&Subject::of_world(&scene, &as_system, args.t_end), args)
}

fn move_subject(scene: &Subject<'_>, args: &RunArgs) -> CommandResult {
    refuse_time_stepping(args)?;
    let indeterminate = match args.indeterminate {
        None | Some(PolicyName::Detach) => Indeterminate::Detach,
        Some(PolicyName::Stop) => Indeterminate::Stop,
        Some(PolicyName::Branch) => {
            let name = scene.name;
            return Err(format!(
                "error: {name}: a run follows one motion; `delassus explore {name}` follows all branches\n"
            ));
        }
    };
    check_outputs(args)?;
    check_quantities(scene.system, &args.plot)?;
    let (start, end) = (scene.state.t, scene.t_end);
    let mut sample_times = args.forces_at.clone();
    if let Some(t) = sample_times.iter().find(|t| !(start..=end).contains(*t)) {
        return Err(format!("error: --forces-at: expected times from {start} to {end} s, found {t}\n"));
    }
    sample_times.sort_by(f64::total_cmp);
    let asked = sample_times.clone();
    if !args.output.is_empty() {
        sample_times.extend((0..=FRAMES).map(|k| start + (end - start) * k as f64 / FRAMES as f64));
    }
    sample_times.sort_by(f64::total_cmp);
    sample_times.dedup();
    let defaults = EventOptions::default();
    let options = EventOptions {
        t_end: end,
        tolerance: args.tolerance.unwrap_or(defaults.tolerance),
        law: scene.law(args.impact_law.as_ref()),
        impact_at_start: args.impact_at_start || scene.impact_at_start,
        indeterminate,
        max_events: args.max_events.unwrap_or(defaults.max_events),
        breakpoints: scene.breakpoints.to_vec(),
        sample_times,
        sample_events: args.output.iter().any(|path| is_picture(path)),
        ..defaults
    };
    let clock = Instant::now();
    let system = scene.system;
    let run = scene.motion(&options)?;
    let seconds = clock.elapsed().as_secs_f64();
    let notes = scene.notes(&run);
    for path in &args.output {
        if is_page(path) {
            let report = to_json(scene, &run, &[], seconds);
            let mut page = event_page(scene, &event_motion(scene, &run, &report, &notes));
            if is_indeterminate(&run) {
                add_others(&mut page, scene, &options, Some(indeterminate));
            }
            write_page(path, &page)?;
        } else if is_picture(path) {
            write_picture(&draw_motion(system, &run, &args.plot)?, path)?;
        } else {
            write(path, &motion_table(system, &run))?;
            write(&events_path(path), &event_table(&run))?;
        }
    }
    let samples: Vec<&Sample> = run.samples.iter().filter(|s| asked.contains(&s.state.t)).collect();
    print(&if args.json {
        let mut document = to_json(scene, &run, &samples, seconds);
        document["impact_law"] = json!(options.law.name());
        document["notes"] = json!(notes);
        json_text(&document)
    } else {
        notes.iter().for_each(|note| eprintln!("note: {}: {note}", scene.name));
        in_words(system, &run, &samples, seconds)
    });
    if run.ending != Ending::Done {
        eprintln!("error: {}: the run ended at t = {} s: {}", scene.name, run.state.t, run.ending);
    }
    Ok(u8::from(run.ending != Ending::Done))
}

/// Whether a state with several answers was met.
fn is_indeterminate(run: &Trajectory) -> bool {
    let stopped = matches!(run.ending, Ending::Indeterminate { .. });
    stopped || run.events.iter().any(|event| event.kind == EventKind::Indeterminate)
}

fn is_picture(path: &Path) -> bool {
    matches!(extension(path).as_str(), "svg" | "png")
}

/// Files that an event-driven run does not write are refused.
fn check_outputs(args: &RunArgs) -> Result<(), String> {
    let is_known = |path: &&PathBuf| matches!(extension(path).as_str(), "html" | "csv" | "svg" | "png");
    if let Some(path) = args.output.iter().find(|path| !is_known(path)) {
        let name = path.display();
        return Err(format!(
            "error: {name}: expected a file that ends in .html, .csv, .svg or .png for event-driven integration\n"
        ));
    }
    if !args.plot.is_empty() && !args.output.iter().any(|path| is_picture(path)) {
        return Err("error: --plot: expected a picture too, -o FILE.svg or -o FILE.png\n".into());
    }
    Ok(())
}

/// Options that only steps of one length know are refused, not ignored.
fn refuse_time_stepping(args: &RunArgs) -> Result<(), String> {
    let given = [
        ("--dt", args.dt.is_some()),
        ("--law ccp", args.law == Some(FrictionLaw::Ccp)),
        ("--scheme half-implicit", args.scheme == Scheme::HalfImplicit),
        ("--coordinates", args.coordinates.is_some()),
        ("--solver", args.solver.is_some()),
        ("--adaptive", args.adaptive),
        ("--every", args.every.is_some()),
        ("--minimum-norm", args.minimum_norm),
        ("--no-warm-start", args.no_warm_start),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--resume", args.resume.is_some()),
        ("--dump-problems", args.dump_problems.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(format!("error: {option} belongs to time stepping, this run is event-driven\n"))
        }
        None => Ok(()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("error: {}: cannot be written: {e}\n", path.display()))
}

/// `path` with `-events` before its extension.
fn events_path(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-events.csv");
    path.with_file_name(name)
}

fn motion_table(system: &System, run: &Trajectory) -> String {
    let mut out = String::from("time");
    for suffix in ["", "'", "''"] {
        for name in &system.coordinates {
            let _ = write!(out, ",{name}{suffix}");
        }
    }
    for contact in &system.contacts {
        let _ = write!(out, ",{}.normal", contact.name);
        for k in 0..contact.slip.len() {
            let _ = write!(out, ",{}.tangential{}", contact.name, k + 1);
        }
        let _ = write!(out, ",{}.mode", contact.name);
    }
    for joint in &system.joints {
        let _ = write!(out, ",{}.force", joint.name);
    }
    out.push_str(",energy\n");
    for sample in &run.samples {
        let _ = write!(out, "{:?}", sample.state.t);
        for x in sample.state.q.iter().chain(&sample.state.v).chain(&sample.acceleration) {
            let _ = write!(out, ",{x:?}");
        }
        for (i, contact) in system.contacts.iter().enumerate() {
            for f in &sample.contact_forces[i][..=contact.slip.len()] {
                let _ = write!(out, ",{f:?}");
            }
            let _ = write!(out, ",{}", contact_mode_word(sample.modes[i]));
        }
        for force in &sample.joint_forces {
            let _ = write!(out, ",{:?}", force[0]);
        }
        let _ = writeln!(out, ",{:?}", sample.energy);
    }
    out
}

fn event_table(run: &Trajectory) -> String {
    let mut out = String::from("time,kind,contact,normal_impulse,energy_change\n");
    for event in &run.events {
        let impulse = event.impulse.first().map(|p| format!("{p:?}")).unwrap_or_default();
        let kind = event.kind.name();
        let _ = writeln!(out, "{:?},{kind},{},{impulse},{:?}", event.t, event.contact, event.energy_change);
    }
    out
}

fn sample_json(system: &System, sample: &Sample) -> Value {
    let contacts: Map<String, Value> = (system.contacts.iter().enumerate())
        .map(|(i, c)| {
            let f = &sample.contact_forces[i];
            let entry = json!({
                "normal": f[0], "tangential": f[1..=c.slip.len()], "mode": contact_mode_word(sample.modes[i]),
            });
            (c.name.clone(), entry)
        })
        .collect();
    let joints: Map<String, Value> = (system.joints.iter().zip(&sample.joint_forces))
        .map(|(joint, f)| (joint.name.clone(), json!(f[0])))
        .collect();
    json!({
        "t": sample.state.t, "position": named(&system.coordinates, &sample.state.q),
        "velocity": named(&system.coordinates, &sample.state.v),
        "acceleration": named(&system.coordinates, &sample.acceleration),
        "contacts": contacts, "joints": joints, "energy": sample.energy,
    })
}

fn to_json(subject: &Subject<'_>, run: &Trajectory, samples: &[&Sample], seconds: f64) -> Value {
    let system = subject.system;
    let counts: Map<String, Value> = EventKind::ALL
        .iter()
        .map(|kind| (kind, run.events.iter().filter(|e| e.kind == *kind).count()))
        .filter(|(kind, count)| **kind != EventKind::Branch || *count > 0)
        .map(|(kind, count)| (kind.name().into(), json!(count)))
        .collect();
    let modes: Map<String, Value> = (system.contacts.iter().zip(&run.modes))
        .map(|(c, mode)| (c.name.clone(), json!(contact_mode_word(*mode))))
        .collect();
    let corrections: Vec<Value> = (run.corrections.iter())
        .map(|c| json!({ "name": c.name, "value": c.value, "rate": c.rate }))
        .collect();
    let mut document = json!({
        "name": system.name, "integrator": "event-driven", "ending": ending_word(&run.ending),
        "steps": run.steps, "evaluations": run.evaluations, "t_end": run.state.t, "wall_seconds": seconds,
        "modes": modes, "events": run.events.iter().map(|e| event_document(system, e)).collect::<Vec<_>>(), "event_counts": counts,
        "max_penetration": run.max_gap_error, "max_residual": run.max_force_error,
        "max_joint_error": run.max_joint_error, "start_corrections": corrections,
        "energy": { "start": run.energy[0], "end": run.energy[1] },
        "steps_with_non_unique_forces": run.steps_with_non_unique_forces,
    });
    match subject.world {
        None => {
            document["final"] = json!({
                "position": named(&system.coordinates, &run.state.q),
                "velocity": named(&system.coordinates, &run.state.v),
            });
        }
        Some(WorldAsSystem { world, start, as_system }) => {
            document["bodies"] = bodies_json(world, &as_system.world_state(start, &run.state));
        }
    }
    if !samples.is_empty() {
        document["samples"] = samples.iter().map(|s| sample_json(system, s)).collect();
    }
    if run.ending != Ending::Done {
        document["failure"] = json!(run.ending.to_string());
    }
    document
}

fn in_words(system: &System, run: &Trajectory, samples: &[&Sample], seconds: f64) -> String {
    let style = Style::for_stdout();
    let name = if system.name.is_empty() { "system" } else { &system.name };
    let word = match run.ending {
        Ending::Done => style.good("done"),
        _ => style.bad("ended early"),
    };
    let mut out = format!(
        "{word}  {name}: {}, {} to t = {} s in {seconds:.2} s\n",
        count(run.steps as usize, "step"),
        count(run.events.len(), "event"),
        number(run.state.t)
    );
    let [start, end] = run.energy;
    out += &format!("  energy {} J at the start, {} J at the end\n", number(start), number(end));
    for c in &run.corrections {
        let (value, rate) = (format!("{:.1e} m", c.value), format!("{:.1e} m/s", c.rate));
        out += &format!("  corrected at the start: {} was off by {value}, its rate by {rate}\n", c.name);
    }
    let off = run.max_gap_error.max(run.max_joint_error);
    out += &format!("  constraints held to {off:.1e} before their correction\n");
    out += &events_in_words(system, run, style);
    for sample in samples {
        out += &format!("  {}\n", style.bold(&format!("at {} s", number(sample.state.t))));
        for (i, contact) in system.contacts.iter().enumerate() {
            let f = sample.contact_forces[i];
            let friction = f[1].hypot(f[2]);
            let mode = contact_mode_word(sample.modes[i]);
            let (normal, friction) = (number(f[0]), number(friction));
            out += &format!("    {}: {mode}, normal {normal}, friction {friction}\n", contact.name);
        }
    }
    let width = system.coordinates.iter().map(|c| c.chars().count()).max().unwrap_or(0).max(10);
    out += &style.dim(&format!("  {:<width$}{:>16}{:>16}", "coordinate", "position", "velocity"));
    out.push('\n');
    for (i, name) in system.coordinates.iter().enumerate() {
        let (q, v) = (number(run.state.q[i]), number(run.state.v[i]));
        out += &format!("  {name:<width$}{q:>16}{v:>16}\n");
    }
    out
}

/// A condition that does not hold, with the name of who breaks it.
fn violation_in_words(system: &System, violation: &Violation) -> String {
    let contact = |i: usize| system.contacts.get(i).map_or("?", |c| c.name.as_str());
    match *violation {
        Violation::Approach { contact: i, velocity } => {
            format!("`{}` still approaches with {} m/s", contact(i), number(-velocity))
        }
        Violation::Joint { joint, velocity } => {
            let name = system.joints.get(joint).map_or("?", |j| j.name.as_str());
            format!("joint `{name}` is torn with {}", number(velocity))
        }
        Violation::Adhesion { contact: i, impulse } => {
            format!("`{}` pulls with {}", contact(i), number(-impulse))
        }
        Violation::Friction { contact: i, excess } => {
            format!("the friction of `{}` is {} too large", contact(i), number(excess))
        }
        Violation::Energy { gain } => format!("{} J come out of nothing", number(gain)),
    }
}

fn events_in_words(system: &System, run: &Trajectory, style: Style) -> String {
    if run.events.is_empty() {
        return String::new();
    }
    let width = run.events.iter().map(|e| e.contact.chars().count()).max().unwrap_or(0).max(7);
    let head = format!(
        "  {:>18}  {:<13}  {:<width$}  {:>12}  {:>13}",
        "time", "event", "contact", "impulse", "energy"
    );
    let mut out = style.dim(&head);
    out.push('\n');
    let left_out = run.events.len().saturating_sub(SHOWN);
    for (k, event) in run.events.iter().enumerate() {
        // The first and the last, half each.
        if left_out > 0 && k == SHOWN / 2 {
            out += &format!("  {:>18}  and {left_out} more; --json lists all\n", "…");
        }
        if left_out > 0 && (SHOWN / 2..SHOWN / 2 + left_out).contains(&k) {
            continue;
        }
        let impulse = event.impulse.first().map(|p| number(*p)).unwrap_or_default();
        let energy = if has_energy(event) { number(event.energy_change) } else { String::new() };
        let kind = format!("{:<13}", event.kind.name());
        let kind = match event.kind {
            EventKind::Jam => style.bad(&kind),
            EventKind::Indeterminate | EventKind::Branch => style.caution(&kind),
            _ => kind,
        };
        let line =
            format!("  {:>18.12}  {kind}  {:<width$}  {impulse:>12}  {energy:>13}", event.t, event.contact);
        out += line.trim_end();
        out.push('\n');
        for violation in &event.violations {
            let words = violation_in_words(system, violation);
            out += &format!("  {:>18}  {} {words}\n", "", style.caution("the law of impact fails:"));
        }
    }
    out
}
