//! Pictures made of a few shapes, written as SVG or drawn as PNG.

use std::fmt::Write as _;

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Black.
pub const BLACK: Colour = [0, 0, 0];
/// White.
pub const WHITE: Colour = [255, 255, 255];

/// Where the given point of a text lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left.
    Start,
    /// In its middle.
    Middle,
    /// At its right.
    End,
}

/// One thing to draw; lengths in pixels of the SVG, y downward.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A rectangle at (x, y) with its size, filled or outlined.
    Rectangle {
        /// Left, top, width, height.
        frame: [f64; 4],
        /// Colour inside.
        fill: Option<Colour>,
        /// Whether its edge is drawn in black.
        outline: bool,
    },
    /// Straight lines from point to point.
    Line {
        /// The points.
        points: Vec<[f64; 2]>,
        /// Colour.
        colour: Colour,
        /// Width.
        width: f64,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// The area inside of a closed line.
    Area {
        /// Its corners.
        points: Vec<[f64; 2]>,
        /// Colour inside.
        fill: Colour,
    },
    /// A line of text.
    Text {
        /// The point at the base line.
        at: [f64; 2],
        /// The words.
        text: String,
        /// Where the point lies in it.
        anchor: Anchor,
        /// Size of the letters.
        size: f64,
        /// Whether it runs upward.
        upward: bool,
    },
    /// A grid of coloured cells.
    Cells {
        /// Left, top, width, height of the whole grid.
        frame: [f64; 4],
        /// Cells in a row.
        columns: usize,
        /// Places in the palette, row by row from the top.
        cells: Vec<u16>,
        /// Colours.
        palette: Vec<Colour>,
    },
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Width in pixels of the SVG.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What is drawn, in order.
    pub shapes: Vec<Shape>,
}

impl Picture {
    /// An empty picture.
    pub fn new(width: f64, height: f64) -> Self {
        Picture { width, height, shapes: Vec::new() }
    }

    /// Adds a text of the usual size.
    pub fn text(&mut self, at: [f64; 2], text: impl Into<String>, anchor: Anchor) {
        self.shapes.push(Shape::Text { at, text: text.into(), anchor, size: 13.0, upward: false });
    }

    /// Adds a title.
    pub fn title(&mut self, at: [f64; 2], text: impl Into<String>) {
        let (text, anchor) = (text.into(), Anchor::Start);
        self.shapes.push(Shape::Text { at, text, anchor, size: 15.0, upward: false });
    }

    /// Adds a line.
    pub fn line(&mut self, points: Vec<[f64; 2]>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line { points, colour, width, dashed: false });
    }

    /// Adds a dashed line.
    pub fn dashed(&mut self, points: Vec<[f64; 2]>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line { points, colour, width, dashed: true });
    }

    /// Adds a dot.
    pub fn dot(&mut self, [x, y]: [f64; 2], radius: f64, fill: Colour) {
        const CORNERS: usize = 16;
        let corner = |k: usize| {
            let (s, c) = (std::f64::consts::TAU * k as f64 / CORNERS as f64).sin_cos();
            [x + radius * c, y + radius * s]
        };
        self.shapes.push(Shape::Area { points: (0..CORNERS).map(corner).collect(), fill });
    }

    /// Adds a line with a head at its end.
    pub fn arrow(&mut self, from: [f64; 2], to: [f64; 2], colour: Colour, width: f64) {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy).max(1e-9);
        let (ex, ey) = (dx / length, dy / length);
        let (long, half) = (10.0_f64.min(length), 4.0);
        let base = [to[0] - long * ex, to[1] - long * ey];
        self.line(vec![from, base], colour, width);
        let corners =
            vec![to, [base[0] - half * ey, base[1] + half * ex], [base[0] + half * ey, base[1] - half * ex]];
        self.shapes.push(Shape::Area { points: corners, fill: colour });
    }

    /// Adds another picture below.
    pub fn append(&mut self, below: Picture) {
        let down = self.height;
        self.shapes.extend(below.shapes.into_iter().map(|mut shape| {
            shape.lower(down);
            shape
        }));
        self.width = self.width.max(below.width);
        self.height += below.height;
    }

    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{0}\" height=\"{1}\" \
             font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            short(self.width),
            short(self.height)
        );
        for shape in &self.shapes {
            shape.svg(&mut out);
        }
        out + "</svg>\n"
    }
}

impl Shape {
    /// Moves the shape down.
    fn lower(&mut self, by: f64) {
        match self {
            Shape::Rectangle { frame, .. } | Shape::Cells { frame, .. } => frame[1] += by,
            Shape::Line { points, .. } | Shape::Area { points, .. } => {
                points.iter_mut().for_each(|p| p[1] += by)
            }
            Shape::Text { at, .. } => at[1] += by,
        }
    }

    fn svg(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Shape::Rectangle { frame: [x, y, w, h], fill, outline } => writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}/>",
                short(*x),
                short(*y),
                short(*w),
                short(*h),
                fill.map_or("none".to_string(), hex),
                if *outline { " stroke=\"black\"" } else { "" }
            ),
            Shape::Line { points, colour, width, dashed } => writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}/>",
                path(points),
                hex(*colour),
                short(*width),
                if *dashed { " stroke-dasharray=\"5 4\"" } else { "" }
            ),
            Shape::Area { points, fill } => {
                writeln!(out, "<path d=\"{}Z\" fill=\"{}\"/>", path(points), hex(*fill))
            }
            Shape::Text { at: [x, y], text, anchor, size, upward } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let place = if *upward {
                    format!("transform=\"translate({} {}) rotate(-90)\"", short(*x), short(*y))
                } else {
                    format!("x=\"{}\" y=\"{}\"", short(*x), short(*y))
                };
                let text = escape(text);
                writeln!(
                    out,
                    "<text {place} text-anchor=\"{anchor}\" font-size=\"{}\">{text}</text>",
                    short(*size)
                )
            }
            Shape::Cells { frame, columns, cells, palette } => {
                *out += &cells_svg(*frame, *columns, cells, palette);
                Ok(())
            }
        };
    }
}

/// Runs of equal cells are one rectangle, and all rectangles of one colour one path.
fn cells_svg([x, y, w, h]: [f64; 4], columns: usize, cells: &[u16], palette: &[Colour]) -> String {
    let rows = cells.len() / columns.max(1);
    let mut paths = vec![String::new(); palette.len()];
    for row in 0..rows {
        let line = &cells[row * columns..(row + 1) * columns];
        let mut start = 0;
        while start < columns {
            let end = (start..columns).find(|&k| line[k] != line[start]).unwrap_or(columns);
            let length = end - start;
            if let Some(path) = paths.get_mut(usize::from(line[start])) {
                let _ = write!(path, "M{start} {row}h{length}v1h-{length}z");
            }
            start = end;
        }
    }
    // Neighbouring cells share an edge: without crisp edges viewers blend the background in.
    let mut out = format!(
        "<g transform=\"translate({} {}) scale({} {})\" shape-rendering=\"crispEdges\">\n",
        short(x),
        short(y),
        w / columns as f64,
        h / rows as f64
    );
    for (path, colour) in paths.iter().zip(palette).filter(|(path, _)| !path.is_empty()) {
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"{}\"/>", hex(*colour));
    }
    out + "</g>\n"
}

/// A number with at most two decimals.
fn short(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn path(points: &[[f64; 2]]) -> String {
    let mut out = String::new();
    for (k, [x, y]) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if k == 0 { "M" } else { "L" }, short(*x), short(*y));
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
