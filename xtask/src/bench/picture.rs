//! Error against time per step, both on logarithmic axes, as SVG.

use std::fmt::Write;

/// A scene as one engine did it: its time per step, ms, and its error, m.
pub struct Mark {
    pub series: String,
    pub time: f64,
    pub error: f64,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
/// The left, the top, the right and the bottom of the axes.
const FRAME: [f64; 4] = [80.0, 20.0, 560.0, 400.0];
/// Errors below are drawn here: bodies that do not move at all have none.
const LEAST: f64 = 1e-12;
const COLORS: [&str; 6] = ["#c0392b", "#2471a3", "#85c1e9", "#1e8449", "#82e0aa", "#7d3c98"];

/// The picture.
pub fn scatter(marks: &[Mark]) -> String {
    let [left, top, right, bottom] = FRAME;
    let decade = |x: f64| x.max(LEAST).log10();
    let span = |values: &mut dyn Iterator<Item = f64>| {
        let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], x| [l.min(x), h.max(x)]);
        if low <= high { [low.floor(), (high.floor() + 1.0)] } else { [0.0, 1.0] }
    };
    let [x0, x1] = span(&mut marks.iter().map(|m| decade(m.time)));
    let [y0, y1] = span(&mut marks.iter().map(|m| decade(m.error)));
    let x = |value: f64| left + (right - left) * (value - x0) / (x1 - x0);
    let y = |value: f64| bottom - (bottom - top) * (value - y0) / (y1 - y0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let mut put = |text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(svg, "{text}");
    };
    for k in x0 as i32..=x1 as i32 {
        let at = x(f64::from(k));
        put(format!("<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>"));
        put(format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            power(k)
        ));
    }
    for k in (y0 as i32..=y1 as i32).filter(|k| k % 2 == 0) {
        let at = y(f64::from(k));
        put(format!("<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>"));
        put(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            power(k)
        ));
    }
    let middle = 0.5 * (left + right);
    put(format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">time per step, ms</text>",
        bottom + 42.0
    ));
    let height = 0.5 * (top + bottom);
    put(format!(
        "<text x=\"22\" y=\"{height}\" text-anchor=\"middle\" transform=\"rotate(-90 22 {height})\">error, m</text>"
    ));
    let mut names: Vec<&str> = vec![];
    for mark in marks {
        let known = names.iter().position(|name| *name == mark.series);
        let series = known.unwrap_or_else(|| {
            names.push(&mark.series);
            names.len() - 1
        });
        let (cx, cy) = (x(decade(mark.time)), y(decade(mark.error)));
        let color = COLORS[series % COLORS.len()];
        put(format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"5\" fill=\"{color}\" fill-opacity=\"0.8\"/>"));
    }
    for (k, name) in names.iter().enumerate() {
        let (at, color) = (top + 20.0 * k as f64 + 12.0, COLORS[k % COLORS.len()]);
        put(format!("<circle cx=\"{}\" cy=\"{at}\" r=\"5\" fill=\"{color}\"/>", right + 24.0));
        put(format!("<text x=\"{}\" y=\"{}\">{name}</text>", right + 36.0, at + 4.0));
    }
    svg + "</svg>\n"
}

/// 10ⁿ with its exponent raised.
fn power(exponent: i32) -> String {
    format!("10<tspan dy=\"-5\" font-size=\"10\">{exponent}</tspan>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lie_within_the_frame_and_have_a_name_each() {
        let mark = |series: &str, time, error| Mark { series: series.into(), time, error };
        let svg = scatter(&[mark("a", 0.01, 1e-3), mark("b", 100.0, 0.0), mark("a", 1.0, 1e-7)]);
        assert_eq!(svg.matches("fill-opacity").count(), 3);
        assert!(svg.contains(">a</text>") && svg.contains(">b</text>") && svg.ends_with("</svg>\n"));
        for part in svg.split("cx=\"").skip(1).take(3) {
            let at: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((FRAME[0]..=FRAME[2]).contains(&at), "{at}");
        }
        assert!(scatter(&[]).contains("time per step"));
    }
}
