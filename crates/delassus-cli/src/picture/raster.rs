//! Pictures as PNG: shapes are drawn into an array of pixels, two for each pixel of the SVG.

use font8x8::UnicodeFonts;

use super::canvas::{Anchor, BLACK, Colour, Picture, Shape};

/// Pixels for each unit of length.
const SCALE: f64 = 2.0;
/// Length of a dash and of a dash with its gap.
const DASH: [f64; 2] = [5.0, 9.0];

/// The picture as a PNG file.
pub fn png(picture: &Picture) -> Result<Vec<u8>, String> {
    let mut canvas = Canvas::new(picture.width, picture.height);
    for shape in &picture.shapes {
        canvas.draw(shape);
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, canvas.width as u32, canvas.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer.write_image_data(&canvas.pixels).map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())?;
    Ok(out)
}

struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel, row by row.
    pixels: Vec<u8>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = ((width * SCALE).ceil() as usize, (height * SCALE).ceil() as usize);
        Canvas { width, height, pixels: vec![255; 3 * width * height] }
    }

    /// Mixes a colour into a pixel.
    fn blend(&mut self, x: i64, y: i64, colour: Colour, share: f64) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 {
            return;
        }
        let at = 3 * (y as usize * self.width + x as usize);
        for (pixel, c) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            *pixel = (f64::from(*pixel) + share * (f64::from(c) - f64::from(*pixel))).round() as u8;
        }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { frame: [x, y, w, h], fill, outline } => {
                if let Some(colour) = fill {
                    self.fill([*x, *y, x + w, y + h], *colour);
                }
                if *outline {
                    let (r, b) = (x + w, y + h);
                    self.line(&[[*x, *y], [r, *y], [r, b], [*x, b], [*x, *y]], BLACK, 1.0, false);
                }
            }
            Shape::Line { points, colour, width, dashed } => self.line(points, *colour, *width, *dashed),
            Shape::Area { points, fill } => self.area(points, *fill),
            Shape::Text { at, text, anchor, size, upward } => self.text(*at, text, *anchor, *size, *upward),
            Shape::Cells { frame: [x, y, w, h], columns, cells, palette } => {
                let rows = cells.len() / (*columns).max(1);
                for (k, cell) in cells.iter().enumerate() {
                    let (i, j) = ((k / columns) as f64, (k % columns) as f64);
                    let (cw, ch) = (w / *columns as f64, h / rows as f64);
                    if let Some(colour) = palette.get(usize::from(*cell)) {
                        let (left, top) = (x + j * cw, y + i * ch);
                        self.fill([left, top, left + cw, top + ch], *colour);
                    }
                }
            }
        }
    }

    /// A rectangle from edge to edge, to whole pixels, so that neighbours meet without a seam.
    fn fill(&mut self, [left, top, right, bottom]: [f64; 4], colour: Colour) {
        let pixel = |x: f64| (x * SCALE).round() as i64;
        for y in pixel(top)..pixel(bottom) {
            for x in pixel(left)..pixel(right) {
                self.blend(x, y, colour, 1.0);
            }
        }
    }

    /// Segments, each pixel covered by how far it lies inside of the width.
    fn line(&mut self, points: &[[f64; 2]], colour: Colour, width: f64, dashed: bool) {
        let half = 0.5 * width * SCALE;
        let mut walked = 0.0;
        for pair in points.windows(2) {
            let [a, b] = [pair[0].map(|x| x * SCALE), pair[1].map(|x| x * SCALE)];
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length = dx.hypot(dy);
            let range = |p: f64, q: f64| {
                ((p.min(q) - half - 1.0).floor() as i64, (p.max(q) + half + 1.0).ceil() as i64)
            };
            let ((x0, x1), (y0, y1)) = (range(a[0], b[0]), range(a[1], b[1]));
            for y in y0.max(0)..=y1.min(self.height as i64) {
                for x in x0.max(0)..=x1.min(self.width as i64) {
                    let (px, py) = (x as f64 + 0.5 - a[0], y as f64 + 0.5 - a[1]);
                    let along =
                        if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, length) } else { 0.0 };
                    if dashed && ((walked + along) / SCALE) % DASH[1] > DASH[0] {
                        continue;
                    }
                    let at = if length > 0.0 { along / length } else { 0.0 };
                    let distance = (px - at * dx).hypot(py - at * dy);
                    let share = (half + 0.5 - distance).clamp(0.0, 1.0);
                    if share > 0.0 {
                        self.blend(x, y, colour, share);
                    }
                }
            }
            walked += length;
        }
    }

    /// The inside of a closed line, by the even-odd rule at pixel centres.
    fn area(&mut self, points: &[[f64; 2]], colour: Colour) {
        for y in 0..self.height as i64 {
            let level = (y as f64 + 0.5) / SCALE;
            let mut crossings: Vec<f64> = Vec::new();
            for k in 0..points.len() {
                let ([ax, ay], [bx, by]) = (points[k], points[(k + 1) % points.len()]);
                if (ay <= level) != (by <= level) {
                    crossings.push((ax + (bx - ax) * (level - ay) / (by - ay)) * SCALE);
                }
            }
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                for x in pair[0].round() as i64..pair[1].round() as i64 {
                    self.blend(x, y, colour, 1.0);
                }
            }
        }
    }

    /// Letters of 8 × 8 squares, moved together to their own widths.
    fn text(&mut self, [x, y]: [f64; 2], text: &str, anchor: Anchor, size: f64, upward: bool) {
        let square = (size * SCALE / 13.0).round().max(1.0) as i64;
        let letters: Vec<Letter> = text.chars().map(Letter::new).collect();
        let width: i64 = letters.iter().map(|l| l.advance * square).sum();
        let mut pen = match anchor {
            Anchor::Start => 0,
            Anchor::Middle => -width / 2,
            Anchor::End => -width,
        };
        let (x0, y0) = ((x * SCALE).round() as i64, (y * SCALE).round() as i64);
        for letter in &letters {
            for (row, bits) in letter.rows.iter().enumerate() {
                for column in (0..8).filter(|c| bits >> c & 1 == 1) {
                    // The last of the eight rows is for what hangs below the base line.
                    let right = pen + (i64::from(column) - letter.left) * square;
                    let down = (row as i64 - 7) * square;
                    for (i, j) in (0..square).flat_map(|i| (0..square).map(move |j| (i, j))) {
                        let (r, d) = (right + i, down + j);
                        let (px, py) = if upward { (x0 + d, y0 - r) } else { (x0 + r, y0 + d) };
                        self.blend(px, py, BLACK, 1.0);
                    }
                }
            }
            pen += letter.advance * square;
        }
    }
}

/// A letter: rows of eight bits, the first column that is used, and the columns to the next letter.
struct Letter {
    rows: [u8; 8],
    left: i64,
    advance: i64,
}

impl Letter {
    fn new(c: char) -> Self {
        // What the font lacks and pictures use.
        let c = match c {
            '–' | '−' => '-',
            '₁' => '1',
            '₂' => '2',
            'ᵤ' => 'u',
            'ₙ' => 'n',
            '≤' | '≥' | '…' => ' ',
            c => c,
        };
        let glyph = font8x8::BASIC_FONTS
            .get(c)
            .or_else(|| font8x8::LATIN_FONTS.get(c))
            .or_else(|| font8x8::GREEK_FONTS.get(c))
            .or_else(|| font8x8::BASIC_FONTS.get('?'));
        let rows = glyph.unwrap_or_default();
        let used = rows.iter().fold(0, |all, row| all | row);
        if used == 0 {
            return Letter { rows, left: 0, advance: 4 };
        }
        let (first, last) = (i64::from(used.trailing_zeros()), 7 - i64::from(used.leading_zeros()));
        Letter { rows, left: first, advance: last - first + 2 }
    }
}
