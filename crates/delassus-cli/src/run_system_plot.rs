//! Quantities of a motion over time, with its events, or over each other.

use delassus::event_driven::{EventKind, Sample, Trajectory};
use delassus::system::System;

use crate::picture::{Colour, Picture};
use crate::plot::{Axis, GREY, Scale, curves, mark};

/// Colours that people with any eyes tell apart (Okabe and Ito).
const COLOURS: [Colour; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [0, 0, 0]];
/// More marks than this are a wall.
const MARKS: usize = 200;

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
         CONTACT.normal, CONTACT.tangential or JOINT.force\n",
        system.coordinates.join(", ")
    ))
}

/// Room around values, so that a constant has an axis too.
fn axis(label: &str, values: impl Iterator<Item = f64>) -> Axis {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (lo, hi) = if lo <= hi { (lo, hi) } else { (0.0, 1.0) };
    let room =
        if hi - lo > 1e-12 * hi.abs().max(lo.abs()) { 0.04 * (hi - lo) } else { 0.5 * hi.abs().max(1.0) };
    Axis { label: label.to_string(), lo: lo - room, hi: hi + room, scale: Scale::Plain }
}

/// The picture of a motion: one chart of all that is plotted over time, one per phase portrait.
pub fn draw(system: &System, run: &Trajectory, names: &[String]) -> Result<Picture, String> {
    let positions: Vec<String> = system.coordinates.clone();
    let names = if names.is_empty() { &positions } else { names };
    let title = if system.name.is_empty() { "motion" } else { &system.name };
    let (portraits, over_time): (Vec<&String>, Vec<&String>) = names.iter().partition(|n| n.contains(':'));
    let mut pictures = vec![];
    if !over_time.is_empty() {
        let mut list = vec![];
        for (k, name) in over_time.iter().enumerate() {
            let y = quantity(system, name)?;
            let points: Vec<[f64; 2]> = run.samples.iter().map(|s| [s.state.t, y(s)]).collect();
            list.push((COLOURS[k % COLOURS.len()], name.to_string(), points));
        }
        let points = || list.iter().flat_map(|(_, _, points)| points);
        let x = Axis {
            label: "t, s".into(),
            lo: points().next().map_or(0.0, |p| p[0]),
            hi: points().last().map_or(1.0, |p| p[0]).max(1e-12),
            scale: Scale::Plain,
        };
        let label = if let [one] = over_time.as_slice() { one.as_str() } else { "" };
        let y = axis(label, points().map(|p| p[1]));
        let mut picture = curves(title, &x, &y, &list);
        for event in run.events.iter().take(MARKS) {
            let colour = match event.kind {
                EventKind::Jam | EventKind::Indeterminate => [203, 24, 29],
                EventKind::Accumulation => [35, 139, 69],
                EventKind::Impulse => [136, 86, 167],
                _ => GREY,
            };
            mark(&mut picture, &x, event.t, colour);
        }
        pictures.push(picture);
    }
    for name in portraits {
        let (first, second) = name.split_once(':').unwrap_or((name, name));
        let (x, y) = (quantity(system, first)?, quantity(system, second)?);
        let points: Vec<[f64; 2]> = run.samples.iter().map(|s| [x(s), y(s)]).collect();
        let (ax, ay) = (axis(first, points.iter().map(|p| p[0])), axis(second, points.iter().map(|p| p[1])));
        pictures.push(curves(title, &ax, &ay, &[(COLOURS[0], name.clone(), points)]));
    }
    let mut pictures = pictures.into_iter();
    let mut whole = pictures.next().unwrap_or_else(|| Picture::new(1.0, 1.0));
    pictures.for_each(|below| whole.append(below));
    Ok(whole)
}
