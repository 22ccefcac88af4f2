//! Curves over two axes, with marks on them.

use super::canvas::{Anchor, Colour, Picture};
use super::plot::{Axis, HEIGHT, LEFT, TOP, WIDTH, axes, legend};

/// Colour of the lines behind a chart.
const GRID: Colour = [225, 225, 225];
/// Radius of a dot.
const DOT: f64 = 3.5;

/// A curve.
pub struct Curve {
    /// Its colour.
    pub colour: Colour,
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the units of the axes.
    pub points: Vec<[f64; 2]>,
}

/// A mark in a chart.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A dashed line at a value of the first axis, behind the curves.
    Line(f64),
    /// A dot, in front of them.
    Dot([f64; 2]),
}

/// Curves over shared axes, each with its colour and name in a legend; the first is drawn last, and stronger.
pub fn curves(title: &str, x: &Axis, y: &Axis, list: &[Curve]) -> Picture {
    chart(title, x, y, list, &[], &[])
}

/// As [`curves`], with marks and what their colours mean.
pub fn chart(
    title: &str,
    x: &Axis,
    y: &Axis,
    list: &[Curve],
    marks: &[(Colour, Mark)],
    meanings: &[(Colour, String)],
) -> Picture {
    // One curve that the second axis names needs no legend.
    let named: Vec<(Colour, String)> = match list {
        [Curve { name, .. }] if y.label.starts_with(name.as_str()) || name.is_empty() => vec![],
        _ => list.iter().map(|curve| (curve.colour, curve.name.clone())).collect(),
    };
    let below = 22.0 * named.len().div_ceil(2) as f64;
    let lines = meanings.len().div_ceil(MEANINGS) as f64;
    let mut picture = Picture::new(LEFT + WIDTH + 24.0, TOP + HEIGHT + 62.0 + below + 20.0 * lines);
    picture.title([LEFT, 26.0], title);
    for value in y.ticks() {
        let at = TOP + HEIGHT * (1.0 - y.share(value));
        picture.line(vec![[LEFT, at], [LEFT + WIDTH, at]], GRID, 1.0);
    }
    let place = |p: &[f64; 2]| [LEFT + WIDTH * x.share(p[0]), TOP + HEIGHT * (1.0 - y.share(p[1]))];
    for (colour, mark) in marks {
        if let Mark::Line(value) = mark
            && (0.0..=1.0).contains(&x.share(*value))
        {
            let at = LEFT + WIDTH * x.share(*value);
            picture.dashed(vec![[at, TOP], [at, TOP + HEIGHT]], *colour, 1.0);
        }
    }
    for (k, Curve { colour, points, .. }) in list.iter().enumerate().rev() {
        picture.line(points.iter().map(place).collect(), *colour, if k == 0 { 3.0 } else { 2.0 });
    }
    for (colour, mark) in marks {
        if let Mark::Dot(at) = mark {
            picture.dot(place(at), DOT, *colour);
        }
    }
    axes(&mut picture, x, Some(y), HEIGHT);
    legend(&mut picture, TOP + HEIGHT + 54.0, &named);
    let dots = marks.iter().any(|(_, mark)| matches!(mark, Mark::Dot(_)));
    meaning(&mut picture, [LEFT, TOP + HEIGHT + 54.0 + below], meanings, dots);
    picture
}

/// Colours of marks that stand beside each other, and how wide each is.
pub const MEANINGS: usize = 4;
const MEANING: f64 = 130.0;

/// What the colours of marks mean, as dots or as dashed lines.
pub fn meaning(picture: &mut Picture, [left, top]: [f64; 2], meanings: &[(Colour, String)], dots: bool) {
    for (k, (colour, words)) in meanings.iter().enumerate() {
        let (x, y) = (left + (k % MEANINGS) as f64 * MEANING, top + (k / MEANINGS) as f64 * 20.0);
        if dots {
            picture.dot([x + 7.0, y + 8.0], DOT, *colour);
        } else {
            picture.dashed(vec![[x + 7.0, y + 1.0], [x + 7.0, y + 15.0]], *colour, 1.5);
        }
        picture.text([x + 21.0, y + 12.0], words.clone(), Anchor::Start);
    }
}
