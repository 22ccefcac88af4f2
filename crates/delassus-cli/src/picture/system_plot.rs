//! Quantities of the motion of a system.

use delassus::events::{Sample, Trajectory};
use delassus::lagrangian::System;

use super::canvas::Picture;
use super::over_time::{Motion, draw_quantities};

/// A number of every sample.
type Quantity<'a> = Box<dyn Fn(&Sample) -> f64 + 'a>;

/// The quantity with this name; the error is a message ready for stderr.
fn quantity<'a>(system: &'a System, name: &str) -> Result<Quantity<'a>, String> {
    let coordinate = |name: &str| system.coordinates.iter().position(|c| c == name);
    if name == "t" {
        return Ok(Box::new(|s| s.state.t));
    }
    if name == "energy" {
        return Ok(Box::new(|s| s.energy));
    }
    let bare = name.trim_end_matches('\'');
    if let Some(i) = coordinate(bare) {
        match name.len() - bare.len() {
            0 => return Ok(Box::new(move |s| s.state.q[i])),
            1 => return Ok(Box::new(move |s| s.state.v[i])),
            2 => return Ok(Box::new(move |s| s.acceleration[i])),
            _ => {}
        }
    }
    if let Some((owner, what)) = name.rsplit_once('.') {
        if let Some(i) = system.contacts.iter().position(|c| c.name == owner) {
            match what {
                "normal" => return Ok(Box::new(move |s| s.contact_forces[i][0])),
                "tangential" | "tangential1" => return Ok(Box::new(move |s| s.contact_forces[i][1])),
                "tangential2" => return Ok(Box::new(move |s| s.contact_forces[i][2])),
                _ => {}
            }
        }
        if let Some(j) = system.joints.iter().position(|j| j.name == owner)
            && what == "force"
        {
            return Ok(Box::new(move |s| s.joint_forces[j][0]));
        }
    }
    Err(format!(
        "error: --plot: unknown quantity `{name}`, expected t, energy, a coordinate ({}) with up to two primes, \
         CONTACT.normal, CONTACT.tangential or JOINT.force, or two of them with a colon between{}\n",
        short_list(&system.coordinates),
        owners(system)
    ))
}

/// Names, the first of them where there are many.
fn short_list(names: &[String]) -> String {
    const NAMED: usize = 12;
    let rest = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{rest}", names[..names.len().min(NAMED)].join(", "))
}

/// The contacts and joints of a system, for messages.
fn owners(system: &System) -> String {
    let contacts: Vec<String> = system.contacts.iter().map(|c| c.name.clone()).collect();
    let joints: Vec<String> = system.joints.iter().map(|j| j.name.clone()).collect();
    let named = [("contacts", contacts), ("joints", joints)];
    let named = named.iter().filter(|(_, names)| !names.is_empty());
    named.map(|(what, names)| format!("; {what}: {}", short_list(names))).collect()
}

/// What is drawn in one chart: quantities of one kind.
fn kind(name: &str) -> &'static str {
    let what = name.rsplit_once('.').map(|(_, what)| what);
    match (name, what) {
        ("energy", _) => "energy",
        ("t", _) => "time",
        (_, Some("normal" | "tangential" | "tangential1" | "tangential2" | "force")) => "forces",
        _ if name.ends_with("''") => "accelerations",
        _ if name.ends_with('\'') => "velocities",
        _ => "positions",
    }
}

/// All samples in the order of time: at an event first the motion before it, then after it, then what was
/// asked for.
fn in_order(run: &Trajectory) -> Vec<&Sample> {
    let mut all: Vec<&Sample> = run.event_samples.iter().chain(&run.samples).collect();
    all.sort_by(|a, b| a.state.t.total_cmp(&b.state.t));
    all
}

/// Whether all these names can be drawn; the error is a message ready for stderr.
pub fn check_quantities(system: &System, names: &[String]) -> Result<(), String> {
    let mut quantities = names.iter().flat_map(|name| name.splitn(2, ':'));
    quantities.try_for_each(|name| quantity(system, name).map(|_| ()))
}

/// The picture of a motion: a chart over time for quantities of each kind, one per phase portrait.
pub fn draw_motion(system: &System, run: &Trajectory, names: &[String]) -> Result<Picture, String> {
    let positions: Vec<String> = system.coordinates.clone();
    let names = if names.is_empty() { &positions } else { names };
    let samples = in_order(run);
    let motion = Motion {
        title: if system.name.is_empty() { "motion" } else { &system.name },
        times: samples.iter().map(|s| s.state.t).collect(),
        events: run.events.iter().map(|e| (e.t, e.kind)).collect(),
        kind,
    };
    draw_quantities(&motion, names, |name| {
        let y = quantity(system, name)?;
        Ok(samples.iter().map(|s| y(s)).collect())
    })
}
