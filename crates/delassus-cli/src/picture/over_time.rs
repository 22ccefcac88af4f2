//! Quantities of a motion over time, with its events, or over each other.

use delassus::events::EventKind;

use super::canvas::{Colour, Picture};
use super::chart::{Curve, Mark, chart};
use super::plot::{Axis, Scale};

/// Colors that can be distinguished with any color vision (Okabe and Ito).
const COLOURS: [Colour; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [0, 0, 0]];
/// More marks than this hide the curves.
const MAX_MARKS: usize = 200;

/// A motion of which quantities are drawn.
pub struct Motion<'a> {
    /// Above every chart.
    pub title: &'a str,
    /// The instants that are known, ascending, s.
    pub times: Vec<f64>,
    /// When what happened.
    pub events: Vec<(f64, EventKind)>,
    /// What the quantity with this name is: those of one kind share a chart.
    pub kind: fn(&str) -> &'static str,
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
        EventKind::Branch => [0, 150, 136],
    }
}

/// The colours of the kinds of events that there are, with how often.
pub fn event_meanings(events: impl Iterator<Item = EventKind> + Clone) -> Vec<(Colour, String)> {
    let count = |kind: EventKind| events.clone().filter(|e| *e == kind).count();
    let all = EventKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, n)| *n > 0);
    all.map(|(kind, n)| (event_colour(kind), format!("{} ({n})", kind.name()))).collect()
}

/// The picture of a motion: a chart over time for quantities of each kind, one per phase portrait (`x:y`).
/// `column` gives the values of a quantity at all times; its error is a message ready for stderr.
pub fn draw_quantities(
    motion: &Motion<'_>,
    names: &[String],
    column: impl Fn(&str) -> Result<Vec<f64>, String>,
) -> Result<Picture, String> {
    let Motion { title, times, kind, .. } = motion;
    let (portraits, over_time): (Vec<&String>, Vec<&String>) = names.iter().partition(|n| n.contains(':'));
    let marked = || motion.events.iter().take(MAX_MARKS);
    let meanings = event_meanings(marked().map(|(_, kind)| *kind));
    let mut pictures = vec![];
    let mut drawn: Vec<&str> = vec![];
    for of in over_time.iter().map(|name| kind(name)) {
        if drawn.contains(&of) {
            continue;
        }
        drawn.push(of);
        let here: Vec<&&String> = over_time.iter().filter(|name| kind(name) == of).collect();
        let mut list = vec![];
        for (k, name) in here.iter().enumerate() {
            let points = times.iter().zip(column(name)?).map(|(t, y)| [*t, y]).collect();
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
        let marks: Vec<_> = marked().map(|(t, kind)| (event_colour(*kind), Mark::Line(*t))).collect();
        let title = format!("{title}: {}", if here.len() == 1 { name } else { of });
        pictures.push(chart(&title, &x, &y, &list, &marks, &meanings));
    }
    for name in portraits {
        let (first, second) = name.split_once(':').unwrap_or((name, name));
        let (x, y) = (column(first)?, column(second)?);
        let points: Vec<[f64; 2]> = x.iter().zip(&y).map(|(x, y)| [*x, *y]).collect();
        let (ax, ay) = (axis(first, x.iter().copied()), axis(second, y.iter().copied()));
        // Where the motion was at an event, or first known to be after it.
        let place = |(t, kind): &(f64, EventKind)| {
            let at = points.get(times.partition_point(|before| before < t))?;
            Some((event_colour(*kind), Mark::Dot(*at)))
        };
        let marks: Vec<_> = marked().filter_map(place).collect();
        let list = [Curve { colour: COLOURS[0], name: String::new(), points: points.clone() }];
        let title = format!("{title}: {second} over {first}");
        pictures.push(chart(&title, &ax, &ay, &list, &marks, &meanings));
    }
    let mut pictures = pictures.into_iter();
    let mut whole = pictures.next().unwrap_or_else(|| Picture::new(1.0, 1.0));
    pictures.for_each(|below| whole.append(below));
    Ok(whole)
}
