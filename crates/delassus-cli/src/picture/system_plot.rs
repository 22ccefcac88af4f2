//! Quantities of a motion over time, with its events, or over each other.

use delassus::events::{Event, EventKind, Sample, Trajectory};
use delassus::lagrangian::System;

use super::canvas::{Colour, Picture};
use super::chart::{Curve, Mark, chart};
use super::plot::{Axis, Scale};

/// Colours that people with any eyes tell apart (Okabe and Ito).
const COLOURS: [Colour; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [0, 0, 0]];
/// More marks than this hide the curves.
const MAX_MARKS: usize = 200;

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

/// The name of a quantity on an axis, with its unit where that is known.
fn label(name: &str) -> String {
    match name {
        "t" => "t, s".into(),
        "energy" => "energy, J".into(),
        _ => name.into(),
    }
}

/// A margin around values, so that a constant has an axis too.
fn axis(name: &str, values: impl Iterator<Item = f64>) -> Axis {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (lo, hi) = if lo <= hi { (lo, hi) } else { (0.0, 1.0) };
    let margin =
        if hi - lo > 1e-12 * hi.abs().max(lo.abs()) { 0.04 * (hi - lo) } else { 0.5 * hi.abs().max(1.0) };
    Axis { label: label(name), lo: lo - margin, hi: hi + margin, scale: Scale::Plain }
}

/// Curves that hardly move beside their size are shown less their values at the start, since ticks could not
/// tell them apart; whether they are.
fn changes(list: &mut [Curve]) -> bool {
    let all = || list.iter().flat_map(|curve| curve.points.iter().map(|p| p[1]));
    let (lo, hi) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let size = lo.abs().max(hi.abs());
    if !(1e-12 * size..1e-4 * size).contains(&(hi - lo)) {
        return false;
    }
    for Curve { points, .. } in list {
        let start = points.first().map_or(0.0, |p| p[1]);
        points.iter_mut().for_each(|p| p[1] -= start);
    }
    true
}

/// The colour in which events of a kind are marked.
pub fn event_colour(kind: EventKind) -> Colour {
    match kind {
        EventKind::Impact => [120, 120, 120],
        EventKind::Close => [166, 118, 29],
        EventKind::Graze => [153, 153, 0],
        EventKind::Open => [70, 160, 200],
        EventKind::Slide => [240, 140, 50],
        EventKind::Stick => [120, 90, 180],
        EventKind::Accumulation => [35, 139, 69],
        EventKind::Jam => [203, 24, 29],
        EventKind::Indeterminate => [231, 41, 138],
        EventKind::Impulse => [0, 0, 0],
    }
}

/// The colours of the kinds of events that there are, with how often.
pub fn event_meanings<'a>(events: impl Iterator<Item = &'a Event> + Clone) -> Vec<(Colour, String)> {
    let count = |kind: EventKind| events.clone().filter(|e| e.kind == kind).count();
    let all = EventKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, n)| *n > 0);
    all.map(|(kind, n)| (event_colour(kind), format!("{} ({n})", kind.name()))).collect()
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
    let title = if system.name.is_empty() { "motion" } else { &system.name };
    let (portraits, over_time): (Vec<&String>, Vec<&String>) = names.iter().partition(|n| n.contains(':'));
    let samples = in_order(run);
    let marked = || run.events.iter().take(MAX_MARKS);
    let meanings = event_meanings(marked());
    let mut kinds: Vec<&str> = over_time.iter().map(|name| kind(name)).collect();
    kinds.dedup();
    let mut pictures = vec![];
    let mut drawn: Vec<&str> = vec![];
    for of in kinds {
        if drawn.contains(&of) {
            continue;
        }
        drawn.push(of);
        let here: Vec<&&String> = over_time.iter().filter(|name| kind(name) == of).collect();
        let mut list = vec![];
        for (k, name) in here.iter().enumerate() {
            let y = quantity(system, name)?;
            let points: Vec<[f64; 2]> = samples.iter().map(|s| [s.state.t, y(s)]).collect();
            list.push(Curve { colour: COLOURS[k % COLOURS.len()], name: name.to_string(), points });
        }
        let since = changes(&mut list);
        let points = || list.iter().flat_map(|curve| &curve.points);
        let lo = points().next().map_or(0.0, |p| p[0]);
        let hi = points().last().map_or(1.0, |p| p[0]);
        let x =
            Axis { label: "t, s".into(), lo, hi: if hi > lo { hi } else { lo + 1.0 }, scale: Scale::Plain };
        let name = if let [one] = here.as_slice() { one.as_str() } else { of };
        let mut y = axis(name, points().map(|p| p[1]));
        y.label += if since { ", change since the start" } else { "" };
        let marks: Vec<_> = marked().map(|e| (event_colour(e.kind), Mark::Line(e.t))).collect();
        let title = format!("{title}: {}", if here.len() == 1 { name } else { of });
        pictures.push(chart(&title, &x, &y, &list, &marks, &meanings));
    }
    for name in portraits {
        let (first, second) = name.split_once(':').unwrap_or((name, name));
        let (x, y) = (quantity(system, first)?, quantity(system, second)?);
        let points: Vec<[f64; 2]> = samples.iter().map(|s| [x(s), y(s)]).collect();
        let (ax, ay) = (axis(first, points.iter().map(|p| p[0])), axis(second, points.iter().map(|p| p[1])));
        let place = |e: &Event| {
            let at = run.event_samples.iter().find(|s| s.state.t == e.t);
            at.map(|s| (event_colour(e.kind), Mark::Dot([x(s), y(s)])))
        };
        let marks: Vec<_> = marked().filter_map(place).collect();
        let list = [Curve { colour: COLOURS[0], name: String::new(), points }];
        let title = format!("{title}: {second} over {first}");
        pictures.push(chart(&title, &ax, &ay, &list, &marks, &meanings));
    }
    let mut pictures = pictures.into_iter();
    let mut whole = pictures.next().unwrap_or_else(|| Picture::new(1.0, 1.0));
    pictures.for_each(|below| whole.append(below));
    Ok(whole)
}
