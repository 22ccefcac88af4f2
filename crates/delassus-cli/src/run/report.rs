//! The report of a run, as JSON or in words.

use delassus::events::EventKind;
use delassus::world::{Body, BodyState, World, WorldState};
use delassus_report::{Style, count, number};
use serde_json::{Map, Value, json};

use super::simulate::{Ending, ForcesAt, Run};
use super::totals::{AdaptiveTotals, Event, Totals};

/// Bodies and jams that are shown to people.
const SHOWN: usize = 12;
/// Parts of the account of energy are shown from this part of the largest kinetic energy on.
const SHOWN_ENERGY_RATIO: f64 = 1e-6;

/// Where the bodies of a world are.
pub fn bodies_json(world: &World, state: &WorldState) -> Value {
    let body = |(body, s): (&Body, &BodyState)| {
        let written = s.pose.compose(&body.frame);
        let q = written.rotation;
        let entry = json!({
            "position": written.position.to_array(), "orientation": [q.w, q.x, q.y, q.z],
            "velocity": s.velocity.to_array(), "angular_velocity": s.world_angular_velocity().to_array(),
        });
        (body.name.clone(), entry)
    };
    world.bodies.iter().zip(&state.bodies).map(body).collect()
}

/// The document of `--json`.
pub fn document(world: &World, run: &Run) -> Value {
    let bodies = bodies_json(world, &run.state);
    let totals = &run.totals;
    let [impact, open, slide, stick, accumulation, jam] = totals.counts;
    let ending = match &run.ending {
        Ending::Done => "done",
        Ending::Interrupted => "interrupted",
        Ending::Failed(_) => "failed",
    };
    let mut document = json!({
        "name": world.name, "ending": ending, "steps": totals.steps, "t_end": run.state.t, "wall_seconds": run.wall_seconds,
        "real_time_factor": (run.state.t - run.t_start) / run.wall_seconds,
        "bodies": bodies, "events": totals.events, "events_left_out": totals.left_out(),
        "event_counts": {
            "impact": impact, "open": open, "slide": slide, "stick": stick, "accumulation": accumulation, "jam": jam,
        },
        "max_penetration": totals.max_penetration, "max_residual": totals.max_residual,
        "max_joint_error": totals.max_joint_error,
        "energy": energy(totals, run.energy_end), "energy_created": totals.energy.created,
        "energy_created_by": totals.energy.created_by,
        "steps_with_non_unique_forces": totals.non_unique_steps,
        "steps_with_non_unique_motion": totals.non_unique_motion_steps,
        "unsolved_steps": totals.unsolved_steps, "first_unsolved": totals.first_unsolved,
        "first_failure": totals.first_failure,
        "rejected_steps": totals.adaptive.rejected,
        "degrees_of_freedom": run.mobility.degrees_of_freedom, "redundant_rows": run.mobility.redundant,
        "contacts": run.contacts, "max_contacts": totals.max_contacts,
        "solves": totals.solves, "iterations": totals.iterations, "notes": run.notes,
    });
    if let Some(tolerance) = run.error {
        let AdaptiveTotals { rejected, beyond, max_error, shortest, longest, .. } = totals.adaptive;
        document["adaptive"] = json!({
            "error": tolerance, "accepted": totals.steps, "rejected": rejected, "beyond_error": beyond,
            "max_error": max_error, "shortest": shortest, "longest": longest,
        });
    }
    if !run.forces.is_empty() {
        document["forces"] = run.forces.iter().map(forces).collect();
    }
    if let Ending::Failed(reason) = &run.ending {
        document["failure"] = json!(reason);
    }
    document
}

/// Energy at both ends, and where it went between them.
fn energy(totals: &Totals, end: f64) -> Value {
    let (start, account) = (totals.energy_start, &totals.energy);
    json!({
        "start": start, "end": end, "supplied": account.supplied,
        "dissipated": { "friction": account.friction, "impacts": account.impacts, "dampers": account.dampers },
        "left_over": account.left_over(start, end),
    })
}

/// Where energy went, as far as there was any.
fn energy_in_words(totals: &Totals, end: f64) -> String {
    let (start, account) = (totals.energy_start, &totals.energy);
    let mut out = format!("  energy {} J at the start, {} J at the end", number(start), number(end));
    let parts = [
        (account.supplied, "supplied"),
        (-account.friction, "by friction"),
        (-account.impacts, "by impacts"),
        (-account.dampers, "by dampers"),
        (account.created, "created"),
        (account.left_over(start, end), "error of the steps"),
    ];
    // Parts below the rounding of the others mean nothing.
    let shown = SHOWN_ENERGY_RATIO * parts.iter().map(|(x, _)| x.abs()).fold(account.max_kinetic, f64::max);
    let parts: Vec<String> =
        (parts.iter()).filter(|(x, _)| x.abs() > shown).map(|(x, what)| format!("{x:+.3e} {what}")).collect();
    if !parts.is_empty() {
        out += &format!(": {}", parts.join(", "));
    }
    out + "\n"
}

fn forces(at: &ForcesAt) -> Value {
    // JSON has no infinity: nothing bounds such a force.
    let bound = |x: f64| x.is_finite().then_some(x);
    let contacts: Map<String, Value> = (at.contacts.iter())
        .map(|c| {
            let range = c.interval().map(|range| range.map(bound));
            let [point, friction] = [c.point, c.friction].map(|x| x.to_array());
            let entry =
                json!({ "point": point, "normal": c.normal_force, "friction": friction, "interval": range });
            (c.name.clone(), entry)
        })
        .collect();
    let joints: Map<String, Value> = (at.joints.iter())
        .map(|(name, [force, moment])| (name.clone(), json!({ "force": force, "moment": moment })))
        .collect();
    let mut document = json!({
        "t": at.t, "unique": at.unique, "unique_for_this_motion": at.unique_for_this_motion,
        "contacts": contacts, "joints": joints,
    });
    if !at.other_motion.is_empty() {
        let velocities = |[v, w]: [[f64; 3]; 2]| json!({ "velocity": v, "angular_velocity": w });
        let bodies: Map<String, Value> = (at.other_motion.iter())
            .map(|(name, m)| {
                let [other, taken] = [m.other, m.taken].map(|m| velocities(m.map(|x| x.to_array())));
                (name.clone(), json!({ "other": other, "taken": taken }))
            })
            .collect();
        document["another_motion"] = json!({ "t": at.t + at.dt, "bodies": bodies });
    }
    document
}

/// A report for people.
pub fn in_words(world: &World, run: &Run) -> String {
    let style = Style::for_stdout();
    let totals = &run.totals;
    let name = if world.name.is_empty() { "world" } else { &world.name };
    let word = match run.ending {
        Ending::Done if totals.unsolved_steps == 0 => style.good("done"),
        Ending::Done => style.caution("done, not all steps solved"),
        Ending::Interrupted => style.caution("interrupted"),
        Ending::Failed(_) => style.bad("failed"),
    };
    let factor = (run.state.t - run.t_start) / run.wall_seconds;
    let mut out = format!(
        "{word}  {name}: {} to t = {} s in {:.2} s ({} × real time)\n",
        count(totals.steps as usize, "step"),
        number(run.state.t),
        run.wall_seconds,
        number((factor * 100.0).round() / 100.0)
    );
    let freedom = match run.mobility.degrees_of_freedom {
        1 => "1 degree of freedom".to_string(),
        n => format!("{n} degrees of freedom"),
    };
    out += &format!("  {freedom}, {}\n", count(run.mobility.redundant, "redundant row"));
    out += &format!(
        "  worst residual {}, overlap {} m, joint opening {}\n",
        small(totals.max_residual),
        small(totals.max_penetration),
        small(totals.max_joint_error)
    );
    out += &energy_in_words(totals, run.energy_end);
    out += &steps_in_words(run, style);
    out += &events_in_words(totals, style);
    for at in &run.forces {
        out += &forces_in_words(at, style);
    }
    out += &bodies(world, run, style);
    out
}

/// Steps that deserve a word: not solved, adaptive, with forces that are not unique.
fn steps_in_words(run: &Run, style: Style) -> String {
    let mut out = String::new();
    if run.totals.unsolved_steps > 0 {
        let first = run.totals.first_unsolved.unwrap_or_default();
        let steps = count(run.totals.unsolved_steps as usize, "step");
        let mut text = format!("{steps} not solved, the first at {} s", number(first));
        if let Some(failure) = &run.totals.first_failure {
            text += &format!(": {failure}");
        }
        out += &format!("  {}\n", style.caution(&text));
    }
    if run.error.is_some() {
        let AdaptiveTotals { rejected, beyond, max_error, shortest, longest, .. } = run.totals.adaptive;
        out += &format!(
            "  adaptive: {} of {} to {} s, {rejected} rejected, error of a step up to {} m",
            count(run.totals.steps as usize, "step"),
            number(shortest),
            number(longest),
            small(max_error)
        );
        if beyond > 0 {
            out += &format!("; {} of the shortest above what was asked", count(beyond as usize, "step"));
        }
        out.push('\n');
    }
    if run.totals.non_unique_steps > 0 {
        let steps = count(run.totals.non_unique_steps as usize, "step");
        let text = format!("forces not unique in {steps}");
        out += &format!("  {} (--forces-at gives their intervals)\n", style.caution(&text));
    }
    if run.totals.non_unique_motion_steps > 0 {
        let steps = count(run.totals.non_unique_motion_steps as usize, "step");
        let text = format!("motion not unique in {steps}");
        out += &format!("  {}: others obey the laws as well\n", style.caution(&text));
    }
    out
}

/// How many events there were, all of them where they are few, and all jams.
fn events_in_words(totals: &Totals, style: Style) -> String {
    let mut out = String::new();
    let kinds =
        ["impact", "opening", "beginning of sliding", "beginning of sticking", "end of rebounds", "jam"];
    let counts: Vec<String> = (kinds.iter().zip(totals.counts))
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| match (n, kind.split_once(' ')) {
            (1, _) => format!("1 {kind}"),
            (n, Some((first, rest))) => format!("{n} {first}s {rest}"),
            (n, None) => format!("{n} {kind}s"),
        })
        .collect();
    if !counts.is_empty() {
        out += &format!("  {}\n", counts.join(", "));
    }
    if (1..=SHOWN).contains(&totals.events.len()) && totals.left_out() == 0 {
        out += &event_table(&totals.events, style);
    }
    for event in totals.events.iter().filter(|e| e.kind == EventKind::Jam).take(SHOWN) {
        let [x, y, z] = event.point.unwrap_or_default().map(number);
        out += &format!(
            "  {} at {} s: contact {} at ({x}, {y}, {z}) could not slide on, friction {} exceeds {}\n",
            style.bad("jam"),
            number(event.t),
            event.contact,
            number(event.mu.unwrap_or_default()),
            number(event.mu_jam.unwrap_or(f64::INFINITY))
        );
    }
    out
}

/// Events one by one.
fn event_table(events: &[Event], style: Style) -> String {
    let width = events.iter().map(|e| e.contact.chars().count()).max().unwrap_or(0).max(16);
    let head = format!("  {:>12}  {:<12}  {:<width$}  {:>11}", "time", "event", "contact or joint", "speed");
    let mut out = style.dim(&head) + "\n";
    for Event { t, kind, contact, speed, .. } in events {
        let (t, kind, speed) = (number(*t), kind.name(), speed.map(number).unwrap_or_default());
        out += format!("  {t:>12}  {kind:<12}  {contact:<width$}  {speed:>11}").trim_end();
        out.push('\n');
    }
    out
}

fn small(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.1e}") }
}

fn forces_in_words(at: &ForcesAt, style: Style) -> String {
    let unique = match (at.unique, at.unique_for_this_motion) {
        (Some(true), _) => "unique",
        (_, Some(false)) => "not unique: least norm, and between which values others lie",
        (Some(false), Some(true)) => "unique for this motion, but another motion is possible",
        (Some(false), None) => "not unique: another motion is possible",
        (None, Some(true)) => "unique for this motion, not known whether another is possible",
        (None, None) => "not known whether unique",
    };
    let mut out = format!("  {} ({unique})\n", style.bold(&format!("forces at {} s", number(at.t))));
    for c in &at.contacts {
        let [normal, friction] = [c.normal_force, c.friction.length()].map(number);
        out += &format!("    {}: normal {normal} N, friction {friction} N", c.name);
        if let Some([low, high]) = c.interval().filter(|_| at.unique_for_this_motion == Some(false)) {
            out += &format!(", normal from {} to {} N", number(low), number(high));
        }
        out.push('\n');
    }
    if !at.other_motion.is_empty() {
        out += &format!("    another motion obeys the laws as well; at {} s\n", number(at.t + at.dt));
    }
    for (name, motion) in at.other_motion.iter().take(SHOWN) {
        let [v, w, taken_v, taken_w] = [motion.other[0], motion.other[1], motion.taken[0], motion.taken[1]]
            .map(|x| x.to_array().map(number).join(", "));
        out += &format!(
            "      {name}: velocity ({v}) m/s, angular ({w}) rad/s, instead of ({taken_v}) and ({taken_w})\n"
        );
    }
    for (name, [force, moment]) in &at.joints {
        let [f, m] = [force, moment].map(|v| v.map(number).join(", "));
        out += &format!("    {name}: force ({f}) N, moment ({m}) N m\n");
    }
    out
}

/// Where the bodies that move are at the end.
fn bodies(world: &World, run: &Run, style: Style) -> String {
    let moving: Vec<_> = world.bodies.iter().zip(&run.state.bodies).filter(|(body, _)| !body.fixed).collect();
    let names =
        moving.iter().take(SHOWN).map(|(body, _)| body.name.chars().count()).max().unwrap_or(0).max(4);
    let line = |name: &str, columns: [[String; 3]; 3]| {
        let columns = columns.map(|v| v.map(|x| format!(" {x:>11}")).concat()).join("  ");
        format!("  {name:<names$}{columns}\n")
    };
    let mut out = String::new();
    if !moving.is_empty() {
        let head = [["x", "y", "z"], ["vx", "vy", "vz"], ["wx", "wy", "wz"]].map(|v| v.map(String::from));
        out += &style.dim(line("body", head).trim_end());
        out.push('\n');
    }
    for (body, s) in moving.iter().take(SHOWN) {
        let at = s.pose.compose(&body.frame).position;
        let vectors = [at, s.velocity, s.world_angular_velocity()];
        out += &line(&body.name, vectors.map(|v| v.to_array().map(number)));
    }
    if moving.len() > SHOWN {
        out += &format!("  … and {} more; -o writes them all\n", moving.len() - SHOWN);
    }
    out
}
