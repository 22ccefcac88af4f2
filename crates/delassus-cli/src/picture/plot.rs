//! Charts of maps, and pictures of friction cones.

use std::f64::consts::PI;
use std::path::Path;

use delassus::analysis::{ContactReport, SystemAnalysis};
use delassus::lagrangian::ContactState;
use delassus_report::{mode_word, number};
use delassus_solve::analysis::FrictionCone;
use delassus_solve::linalg::Matrix;

use super::canvas::{Anchor, BLACK, Colour, Picture, Shape, WHITE};
use super::raster;

/// Grey of points without a state.
pub const GREY: Colour = [150, 150, 150];
const RED: Colour = [203, 24, 29];
const BLUE: Colour = [33, 113, 181];
const SKY: Colour = [222, 235, 247];
const ORANGE: Colour = [253, 174, 97];
const GREEN: Colour = [35, 139, 69];

/// Width of a plot inside of its axes.
pub const WIDTH: f64 = 520.0;
/// Its height.
pub const HEIGHT: f64 = 360.0;
/// Where it begins.
pub const LEFT: f64 = 76.0;
/// Where it begins, from above.
pub const TOP: f64 = 44.0;
/// Colours of the scale of numbers.
const BANDS: usize = 48;

/// Whether a picture can be written under this name; the error is a message ready for stderr.
pub fn check_picture_name(path: &Path) -> Result<(), String> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png") => Ok(()),
        _ => Err(format!("error: {}: expected a name that ends in .svg or .png\n", path.display())),
    }
}

/// Writes a picture to a file that ends in .svg or .png.
pub fn write_picture(picture: &Picture, path: &Path) -> Result<(), String> {
    check_picture_name(path)?;
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("png") => raster::png(picture).map_err(|e| format!("error: {}: {e}\n", path.display()))?,
        _ => picture.svg().into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|e| format!("error: {}: cannot be written: {e}\n", path.display()))
}

/// What the values of an axis are, which decides its ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Numbers.
    Plain,
    /// Degrees.
    Degrees,
    /// Decimal logarithms, shown as the numbers that they are of.
    Log,
}

/// One axis: what it is called, and the values at its ends, as they are shown.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Name and unit.
    pub label: String,
    /// The least value.
    pub lo: f64,
    /// The greatest value.
    pub hi: f64,
    /// What the values are.
    pub scale: Scale,
}

impl Axis {
    /// The axis of a parameter; with half a cell on both sides for maps, whose cells stand around their
    /// points.
    pub fn of(parameter: &delassus_report::Axis, cells: bool) -> Self {
        let end = |x: Option<&f64>| parameter.shown(*x.unwrap_or(&0.0));
        let (lo, hi) = (end(parameter.values.first()), end(parameter.values.last()));
        let half = if cells { 0.5 * (hi - lo) / (parameter.values.len() - 1) as f64 } else { 0.0 };
        let degrees = parameter.unit.is_some_and(|(unit, _)| unit == "deg");
        let scale = if degrees { Scale::Degrees } else { Scale::Plain };
        Axis { label: parameter.label(), lo: lo - half, hi: hi + half, scale }
    }

    /// Round values inside of the axis, about five of them.
    pub fn ticks(&self) -> Vec<f64> {
        let rough = (self.hi - self.lo) / 7.0;
        if rough.is_nan() || rough <= 0.0 {
            return vec![self.lo];
        }
        if self.scale == Scale::Log {
            return self.powers();
        }
        let step = if self.scale == Scale::Degrees && (1.0..=90.0).contains(&rough) {
            [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0].into_iter().find(|s| *s >= rough).unwrap_or(90.0)
        } else {
            let power = 10f64.powf(rough.log10().floor());
            [1.0, 2.0, 5.0, 10.0]
                .map(|s| s * power)
                .into_iter()
                .find(|s| *s >= 0.999 * rough)
                .unwrap_or(rough)
        };
        let first = (self.lo / step - 1e-9).ceil() as i64;
        (first..)
            .map(|k| k as f64 * step)
            .take_while(|x| *x <= self.hi + 1e-9 * step)
            .map(|x| if x.abs() < 1e-9 * step { 0.0 } else { x })
            .collect()
    }

    /// Powers of ten inside of a logarithmic axis, with their double and fivefold where there are few.
    fn powers(&self) -> Vec<f64> {
        let decades = self.hi - self.lo;
        let factors: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / 8.0).ceil().max(1.0) as usize;
        (self.lo.floor() as i32..=self.hi.floor() as i32)
            .step_by(every)
            .flat_map(|k| factors.iter().map(move |f| f64::from(k) + f.log10()))
            .filter(|x| (self.lo - 1e-9..=self.hi + 1e-9).contains(x))
            .collect()
    }

    /// Where a value lies: 0 at the least, 1 at the greatest.
    pub fn share(&self, x: f64) -> f64 {
        (x - self.lo) / (self.hi - self.lo)
    }

    /// What stands beside a tick, without the noise of rounding.
    fn word(&self, x: f64) -> String {
        match self.scale {
            Scale::Log if x.abs() >= 5.0 => format!("1e{x:.0}"),
            Scale::Log => number((10f64.powf(x) * 1e9).round() / 1e9),
            Scale::Plain | Scale::Degrees => {
                let fine = 10f64.powf((self.hi - self.lo).abs().max(f64::MIN_POSITIVE).log10().floor() - 6.0);
                let round = if fine >= 1e-9 { (x * 1e9).round() / 1e9 } else { (x / fine).round() * fine };
                small(round)
            }
        }
    }
}

/// A number for people, however small.
fn small(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-4 {
        format!("{:e}", (x * 1e4 / order(x)).round() * order(x) / 1e4)
    } else {
        number(x)
    }
}

/// The power of ten below |x|.
fn order(x: f64) -> f64 {
    10f64.powf(x.abs().log10().floor())
}

/// Frame, ticks and labels; without a second axis the chart is a strip.
pub fn axes(picture: &mut Picture, x: &Axis, y: Option<&Axis>, height: f64) {
    picture.shapes.push(Shape::Rectangle { frame: [LEFT, TOP, WIDTH, height], fill: None, outline: true });
    let bottom = TOP + height;
    for value in x.ticks() {
        let at = LEFT + WIDTH * x.share(value);
        picture.line(vec![[at, bottom], [at, bottom + 5.0]], BLACK, 1.0);
        picture.text([at, bottom + 19.0], x.word(value), Anchor::Middle);
    }
    picture.text([LEFT + WIDTH / 2.0, bottom + 40.0], x.label.clone(), Anchor::Middle);
    let Some(y) = y else { return };
    for value in y.ticks() {
        let at = bottom - height * y.share(value);
        picture.line(vec![[LEFT - 5.0, at], [LEFT, at]], BLACK, 1.0);
        picture.text([LEFT - 9.0, at + 4.5], y.word(value), Anchor::End);
    }
    picture.shapes.push(Shape::Text {
        at: [20.0, TOP + height / 2.0],
        text: y.label.clone(),
        anchor: Anchor::Middle,
        size: 13.0,
        upward: true,
    });
}

/// Squares with words, under the axes.
pub fn legend(picture: &mut Picture, top: f64, entries: &[(Colour, String)]) {
    for (k, (colour, words)) in entries.iter().enumerate() {
        let (x, y) = (LEFT + (k % 2) as f64 * 260.0, top + (k / 2) as f64 * 22.0);
        let frame = [x, y, 14.0, 14.0];
        picture.shapes.push(Shape::Rectangle { frame, fill: Some(*colour), outline: true });
        picture.text([x + 21.0, y + 12.0], words.clone(), Anchor::Start);
    }
}

/// A map in colours that have names; one row where there is no second axis. Cells are row by row from the
/// least y.
pub fn categories(
    title: &str,
    x: &Axis,
    y: Option<&Axis>,
    columns: usize,
    cells: &[u16],
    names: &[(Colour, String)],
) -> Picture {
    let height = if y.is_some() { HEIGHT } else { 60.0 };
    let used: Vec<(Colour, String)> = names
        .iter()
        .enumerate()
        .filter(|(k, _)| cells.contains(&(*k as u16)))
        .map(|(_, name)| name.clone())
        .collect();
    let lines = used.len().div_ceil(2) as f64;
    let mut picture = Picture::new(LEFT + WIDTH + 24.0, TOP + height + 62.0 + 22.0 * lines);
    picture.title([LEFT, 26.0], title);
    picture.shapes.push(Shape::Cells {
        frame: [LEFT, TOP, WIDTH, height],
        columns,
        cells: from_the_top(columns, cells),
        palette: names.iter().map(|(colour, _)| *colour).collect(),
    });
    axes(&mut picture, x, y, height);
    legend(&mut picture, TOP + height + 54.0, &used);
    picture
}

fn from_the_top(columns: usize, cells: &[u16]) -> Vec<u16> {
    cells.chunks(columns).rev().flatten().copied().collect()
}

/// The numbers to show.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    /// What they are.
    pub what: &'a str,
    /// `None` is no value, NaN no state.
    pub list: &'a [Option<f64>],
    /// The least and the greatest that the colours distinguish; by default those of the list.
    pub range: Option<[f64; 2]>,
}

impl Values<'_> {
    fn range(&self) -> [f64; 2] {
        let finite = self.list.iter().flatten().copied().filter(|v| v.is_finite());
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        self.range.unwrap_or(if lo > hi { [0.0, 1.0] } else { [lo, hi] })
    }
}

/// A map of numbers with a scale of colours: white without a value, grey without a state.
pub fn heat(title: &str, x: &Axis, y: &Axis, columns: usize, values: &Values<'_>) -> Picture {
    let [lo, hi] = values.range();
    let span = if hi > lo { hi - lo } else { 1.0 };
    let mut palette: Vec<Colour> = (0..BANDS).map(|k| scale(k as f64 / (BANDS - 1) as f64)).collect();
    palette.extend([WHITE, GREY]);
    let cells: Vec<u16> = values
        .list
        .iter()
        .map(|value| match value {
            None => BANDS as u16,
            Some(v) if v.is_nan() => BANDS as u16 + 1,
            Some(v) => ((((v - lo) / span) * BANDS as f64).floor().clamp(0.0, BANDS as f64 - 1.0)) as u16,
        })
        .collect();
    let mut notes = Vec::new();
    if cells.contains(&(BANDS as u16)) {
        notes.push((WHITE, "no finite value".to_string()));
    }
    if cells.contains(&(BANDS as u16 + 1)) {
        notes.push((GREY, "no such state".to_string()));
    }
    let below = if notes.is_empty() { 0.0 } else { 22.0 };
    let mut picture = Picture::new(LEFT + WIDTH + 110.0, TOP + HEIGHT + 56.0 + below);
    picture.title([LEFT, 26.0], title);
    let frame = [LEFT, TOP, WIDTH, HEIGHT];
    picture.shapes.push(Shape::Cells {
        frame,
        columns,
        cells: from_the_top(columns, &cells),
        palette: palette.clone(),
    });
    axes(&mut picture, x, Some(y), HEIGHT);
    legend(&mut picture, TOP + HEIGHT + 52.0, &notes);
    let bar = [LEFT + WIDTH + 22.0, TOP, 16.0, HEIGHT];
    let cells = (0..BANDS as u16).rev().collect();
    picture.shapes.push(Shape::Cells { frame: bar, columns: 1, cells, palette });
    picture.shapes.push(Shape::Rectangle { frame: bar, fill: None, outline: true });
    let levels = Axis { label: values.what.to_string(), lo, hi: lo + span, scale: Scale::Plain };
    for value in levels.ticks() {
        let at = TOP + HEIGHT * (1.0 - levels.share(value));
        picture.line(vec![[bar[0] + 16.0, at], [bar[0] + 21.0, at]], BLACK, 1.0);
        picture.text([bar[0] + 25.0, at + 4.5], levels.word(value), Anchor::Start);
    }
    picture.text([bar[0] + 84.0, TOP - 10.0], values.what, Anchor::End);
    picture
}

/// Dark blue over green to yellow, lighter as it grows.
fn scale(share: f64) -> Colour {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let at = share.clamp(0.0, 1.0) * 4.0;
    let k = (at as usize).min(3);
    let t = at - k as f64;
    [0, 1, 2].map(|c| (STOPS[k][c] + t * (STOPS[k + 1][c] - STOPS[k][c])).round() as u8)
}

/// A curve over the axis, from its least value to its greatest; it is broken where there is no value.
pub fn curve(title: &str, x: &Axis, values: &Values<'_>) -> Picture {
    let [lo, hi] = values.range();
    // A margin above and below, and zero where it is near.
    let margin = if hi > lo { 0.06 * (hi - lo) } else { 0.5 * hi.abs().max(1.0) };
    let near_zero = lo >= 0.0 && lo < 0.5 * hi;
    let y = Axis {
        label: values.what.to_string(),
        lo: match values.range {
            Some(_) => lo,
            None if near_zero => 0.0,
            None => lo - margin,
        },
        hi: if values.range.is_some() { hi } else { hi + margin },
        scale: Scale::Plain,
    };
    let mut picture = Picture::new(LEFT + WIDTH + 24.0, TOP + HEIGHT + 56.0);
    picture.title([LEFT, 26.0], title);
    for value in y.ticks() {
        let at = TOP + HEIGHT * (1.0 - y.share(value));
        picture.line(vec![[LEFT, at], [LEFT + WIDTH, at]], [225, 225, 225], 1.0);
    }
    let step = WIDTH / (values.list.len().max(2) - 1) as f64;
    let mut run: Vec<[f64; 2]> = Vec::new();
    for (k, value) in values.list.iter().enumerate() {
        match value {
            Some(v) if (y.lo..=y.hi).contains(v) => {
                run.push([LEFT + step * k as f64, TOP + HEIGHT * (1.0 - y.share(*v))]);
            }
            _ => picture.line(std::mem::take(&mut run), BLUE, 2.0),
        }
    }
    picture.line(run, BLUE, 2.0);
    axes(&mut picture, x, Some(&y), HEIGHT);
    picture
}

/// The generalized friction cones of all contacts that have one, with the solutions.
pub fn cones(result: &SystemAnalysis) -> Picture {
    let drawn: Vec<(usize, &ContactReport, &FrictionCone)> = result
        .contacts
        .iter()
        .enumerate()
        .filter_map(|(k, c)| c.cone.as_ref().map(|cone| (k, c, cone)))
        .collect();
    let row = 330.0;
    let solutions = solution_lines(result);
    let mut picture =
        Picture::new(690.0, 44.0 + row * drawn.len() as f64 + 20.0 * solutions.len() as f64 + 14.0);
    let title = &result.names.title;
    let name = if title.is_empty() { "system" } else { title };
    picture.title([20.0, 26.0], format!("Generalized friction cones: {name}"));
    for (k, (index, contact, cone)) in drawn.iter().enumerate() {
        let top = 44.0 + row * k as f64;
        let free = free_acceleration(result, *index);
        if cone.jamming_direction.len() == 1 {
            planar_cone(&mut picture, top, contact, cone, free.as_deref());
        } else {
            spatial_cone(&mut picture, top, contact, cone);
        }
    }
    for (k, line) in solutions.iter().enumerate() {
        picture.text(
            [20.0, 44.0 + row * drawn.len() as f64 + 20.0 * (k as f64 + 0.7)],
            line.clone(),
            Anchor::Start,
        );
    }
    picture
}

fn solution_lines(result: &SystemAnalysis) -> Vec<String> {
    let Some(analysis) = &result.analysis else {
        return vec!["no finite force: an impact comes first".to_string()];
    };
    let components = &analysis.solutions.components;
    if components.is_empty() {
        return vec!["no solution".to_string()];
    }
    let names = delassus::analysis::constraint_names(&result.names, &result.assembly);
    let offsets = result.assembly.dynamics.offsets();
    let describe = |k: usize| {
        let component = &components[k];
        let parts: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(c, name)| {
                format!("{name} {} {}", mode_word(component.modes[c]), number(component.force[offsets[c]]))
            })
            .collect();
        let family = if component.freedom.is_some() { ", one of a continuum" } else { "" };
        format!("solution {}: {}{family}", k + 1, parts.join(", "))
    };
    (0..components.len().min(6)).map(describe).collect()
}

/// Acceleration of the contact (normal, tangents) without any contact force.
fn free_acceleration(result: &SystemAnalysis, contact: usize) -> Option<Vec<f64>> {
    let ContactState::Active(k) = result.assembly.contacts[contact] else { return None };
    let dynamics = &result.assembly.dynamics;
    let offsets = dynamics.offsets();
    Some(dynamics.reduce()?.free_velocity[offsets[k]..offsets[k + 1]].to_vec())
}

fn facts(picture: &mut Picture, at: [f64; 2], contact: &ContactReport, cone: &FrictionCone) {
    let none = if cone.is_held { "none" } else { "infinite" };
    let show = |x: Option<f64>| x.map_or(none.to_string(), number);
    let mut lines = vec![
        format!("contact {}", contact.name),
        format!("friction {}", number(contact.mu)),
        format!("jamming friction {}", show(cone.mu_jam)),
        format!("critical friction {}", show(cone.mu_crit)),
    ];
    if let Some(angle) = cone.locking_angle {
        lines.push(format!("locking angle {}°", number(angle.to_degrees())));
    }
    lines.push(if contact.jams { "slides into the jam" } else { "does not jam" }.to_string());
    for (k, line) in lines.into_iter().enumerate() {
        picture.text([at[0], at[1] + 20.0 * k as f64], line, Anchor::Start);
    }
}

/// The cone in the plane of tangent and normal: between the answers M_c⁻¹(1, ±μ) to the two edges of the
/// friction cone.
fn planar_cone(
    picture: &mut Picture,
    top: f64,
    contact: &ContactReport,
    cone: &FrictionCone,
    free: Option<&[f64]>,
) {
    let (cx, cy, length) = (220.0, top + 180.0, 135.0);
    let ray = |force: [f64; 2]| {
        let u = cone.inverse_effective_mass.mul_vec(&force);
        let size = u[0].hypot(u[1]).max(f64::MIN_POSITIVE);
        [u[1] / size, u[0] / size]
    };
    let at = |[t, n]: [f64; 2], r: f64| [cx + r * t, cy - r * n];
    let (left, right, middle) = (ray([1.0, -contact.mu]), ray([1.0, contact.mu]), ray([1.0, 0.0]));
    // A fan from one edge to the other; it is narrower than half a turn.
    let angle = |[t, n]: [f64; 2]| n.atan2(t);
    let turn = |from: f64, to: f64| (to - from + 3.0 * PI).rem_euclid(2.0 * PI) - PI;
    let sweep = turn(angle(right), angle(left));
    let mut fan = vec![[cx, cy]];
    fan.extend((0..=48).map(|k| {
        let a = angle(right) + sweep * f64::from(k) / 48.0;
        at([a.cos(), a.sin()], length)
    }));
    picture.shapes.push(Shape::Area { points: fan, fill: SKY });
    picture.line(vec![[cx - 180.0, cy], [cx + 180.0, cy]], BLACK, 1.0);
    picture.line(vec![[cx, cy + 100.0], [cx, cy - 150.0]], [190, 190, 190], 1.0);
    for edge in [left, right] {
        // What dips below the tangent plane closes the contact although it is pushed.
        picture.line(vec![[cx, cy], at(edge, length)], if edge[1] < 0.0 { RED } else { BLUE }, 2.0);
    }
    picture.dashed(vec![[cx, cy], at(middle, length)], BLUE, 1.5);
    let label = |picture: &mut Picture, p: [f64; 2], words: &str| picture.text(p, words, Anchor::Middle);
    let [mx, my] = at(middle, length + 12.0);
    label(picture, [mx, my + 4.0], "no friction");
    let jam = cone.jamming_direction[0];
    if jam != 0.0 {
        picture.arrow([cx, cy], [cx + 90.0 * jam, cy], RED, 2.0);
        label(picture, [cx + 90.0 * jam, cy + 18.0], "e_jam");
    }
    if let Some([n, t]) = free.map(|f| [f[0], f[1]]) {
        let size = n.hypot(t);
        if size > 0.0 {
            picture.arrow([cx, cy], at([t / size, n / size], 84.0), GREEN, 2.0);
            let [x, y] = at([t / size, n / size], 102.0);
            label(picture, [x, y + 4.0], "free");
        }
    }
    label(picture, [cx + 186.0, cy - 8.0], "tangent");
    label(picture, [cx, cy - 156.0], "normal");
    facts(picture, [470.0, top + 60.0], contact, cone);
}

/// The cone in space, seen from the side, and the sector of sliding directions that lock, seen from above.
fn spatial_cone(picture: &mut Picture, top: f64, contact: &ContactReport, cone: &FrictionCone) {
    let (cx, cy) = (170.0, top + 200.0);
    let rim: Vec<[f64; 3]> =
        (0..=72).map(|k| rim_point(&cone.inverse_effective_mass, contact.mu, k)).collect();
    let largest = |axes: &[usize]| {
        let entries = rim.iter().flat_map(|p| axes.iter().map(|&k| p[k].abs()));
        entries.fold(f64::MIN_POSITIVE, f64::max)
    };
    let (high, size) = (largest(&[0]), largest(&[1, 2]));
    // One scale for all axes, unless the cone would be too flat or too thin to be seen.
    let same = (0.4..=2.5).contains(&(high / size));
    let (up, r) =
        if same { (100.0 / high.max(size), 100.0 / high.max(size)) } else { (100.0 / high, 100.0 / size) };
    // Tangents to the right and to the back, the normal upward.
    let place =
        |[n, t1, t2]: [f64; 3]| [cx + r * (0.9 * t1 + 0.38 * t2), cy - up * n - r * (0.30 * t2 - 0.12 * t1)];
    let corner = |t1: f64, t2: f64| place([0.0, size * t1, size * t2]);
    let plane = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    picture.shapes.push(Shape::Area { points: plane, fill: [240, 240, 240] });
    for k in (0..72).step_by(3) {
        let colour = if rim[k][0] < 0.0 { RED } else { [158, 202, 225] };
        picture.line(vec![[cx, cy], place(rim[k])], colour, 1.0);
    }
    for pair in rim.windows(2) {
        let colour = if pair[0][0] + pair[1][0] < 0.0 { RED } else { BLUE };
        picture.line(vec![place(pair[0]), place(pair[1])], colour, 2.0);
    }
    picture.arrow([cx, cy], [cx, cy - 130.0], BLACK, 1.0);
    picture.text([cx, cy - 136.0], "normal", Anchor::Middle);
    if !same {
        picture.text([cx, top + 310.0], "normal and tangents on different scales", Anchor::Middle);
    }
    let e = &cone.jamming_direction;
    if e.iter().any(|x| *x != 0.0) {
        picture.arrow([cx, cy], place([0.0, 0.9 * size * e[0], 0.9 * size * e[1]]), RED, 2.0);
    }
    // From above.
    let (ox, oy, r) = (400.0, top + 190.0, 84.0);
    let on_circle = |angle: f64| [ox + r * angle.cos(), oy - r * angle.sin()];
    let jam = e[1].atan2(e[0]);
    if let Some(alpha) = cone.locking_angle {
        let mut sector = vec![[ox, oy]];
        sector.extend((0..=32).map(|k| on_circle(jam - alpha / 2.0 + alpha * f64::from(k) / 32.0)));
        picture.shapes.push(Shape::Area { points: sector, fill: ORANGE });
    }
    let circle = (0..=64).map(|k| on_circle(std::f64::consts::TAU * f64::from(k) / 64.0)).collect();
    picture.line(circle, BLACK, 1.0);
    if e.iter().any(|x| *x != 0.0) {
        picture.arrow([ox, oy], on_circle(jam), RED, 2.0);
    }
    if let Some(slip) = &contact.slip {
        picture.arrow([ox, oy], on_circle(slip[1].atan2(slip[0])), BLUE, 2.0);
    }
    picture.text([ox, oy + r + 20.0], "from above", Anchor::Middle);
    picture.text([ox, oy + r + 38.0], "red e_jam, blue slip, orange locks", Anchor::Middle);
    facts(picture, [510.0, top + 60.0], contact, cone);
}

/// The answer to the force on the edge of the friction cone in the direction number k of 72: (normal,
/// tangents).
fn rim_point(inverse_mass: &Matrix, mu: f64, k: usize) -> [f64; 3] {
    let angle = std::f64::consts::TAU * k as f64 / 72.0;
    let u = inverse_mass.mul_vec(&[1.0, mu * angle.cos(), mu * angle.sin()]);
    [u[0], u[1], u[2]]
}
