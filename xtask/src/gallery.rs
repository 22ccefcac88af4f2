//! `cargo xtask gallery`: the pictures of the README and the book, drawn from the analysis itself, and a page
//! of every scene.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use delassus::analysis::analyze;
use delassus::lagrangian::Tolerances;
use delassus_scene::read_system;
use delassus_solve::modes::{EnumerateOptions, Mode};

/// The answer of the laws at one point of the map.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Slides,
    LiftsOff,
    None,
    Two,
}

impl Answer {
    const ALL: [Answer; 4] = [Answer::Slides, Answer::LiftsOff, Answer::None, Answer::Two];

    fn colour(self) -> &'static str {
        match self {
            Answer::Slides => "#9ecae1",
            Answer::LiftsOff => "#deebf7",
            Answer::None => "#cb181d",
            Answer::Two => "#fdae61",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Answer::Slides => "one solution: the tip slides on",
            Answer::LiftsOff => "one solution: the tip lifts off",
            Answer::None => "no solution: the rod jams",
            Answer::Two => "two solutions",
        }
    }
}

const COLUMNS: usize = 170;
const ROWS: usize = 110;
/// Degrees from the floor, and rad/s.
const ANGLES: [f64; 2] = [5.0, 90.0];
const SPEEDS: [f64; 2] = [0.0, 5.5];

/// Draws all pictures into `book/src/images`.
pub fn draw(root: &Path) -> Result<(), String> {
    let scene = root.join("scenes/painleve-rod-pulled.toml");
    let text = std::fs::read_to_string(&scene).map_err(|e| format!("{}: {e}", scene.display()))?;
    let mut cells = Vec::with_capacity(ROWS * COLUMNS);
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            // Cell centres.
            let at = |range: [f64; 2], k: usize, n: usize| {
                range[0] + (range[1] - range[0]) * (k as f64 + 0.5) / n as f64
            };
            cells.push(answer(&text, at(ANGLES, column, COLUMNS), at(SPEEDS, row, ROWS))?);
        }
    }
    let folder = root.join("book/src/images");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let path = folder.join("rod-map.svg");
    std::fs::write(&path, svg(&cells)).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{}", path.display());
    pages(root)
}

/// Runs every scene into `target/gallery`: its page, a picture of it where there are Node and Chromium, and
/// an index with the command that makes it.
fn pages(root: &Path) -> Result<(), String> {
    let folder = root.join("target/gallery");
    let fail = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(&folder).map_err(|e| fail(&folder, e))?;
    let mut cargo = Command::new("cargo");
    let built = cargo.args(["build", "--release", "--package", "delassus-cli"]).current_dir(root).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the program could not be built".into());
    }
    let scenes = root.join("scenes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&scenes)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|e| fail(&scenes, e))?;
    files.sort();
    let mut names = vec![];
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let page = folder.join(format!("{stem}.html"));
        let mut program = Command::new(root.join("target/release/delassus"));
        program.current_dir(root).arg("run").arg(format!("scenes/{name}")).arg("-o").arg(&page);
        let out = program.output().map_err(|e| format!("delassus: {e}"))?;
        if out.status.code() == Some(2) {
            // A state without a motion has an answer all the same.
            let mut program = Command::new(root.join("target/release/delassus"));
            program.current_dir(root).arg("analyze").arg(format!("scenes/{name}")).arg("-o").arg(&page);
            program.output().map_err(|e| format!("delassus: {e}"))?;
            names.push((stem.clone(), format!("delassus analyze scenes/{name} -o {stem}.html")));
        } else {
            names.push((stem.clone(), format!("delassus run scenes/{name} -o {stem}.html")));
        }
    }
    let pictures = Command::new("node").arg(root.join("web/gallery.mjs")).arg(&folder).status();
    if !pictures.is_ok_and(|status| status.success()) {
        println!("no pictures: they need Node and Chromium, and `cargo xtask web` once");
    }
    let index = folder.join("index.html");
    std::fs::write(&index, gallery_index(&folder, &names)).map_err(|e| fail(&index, e))?;
    println!("{}: {} scenes", index.display(), names.len());
    Ok(())
}

/// The index: a picture, the command, the page.
fn gallery_index(folder: &Path, names: &[(String, String)]) -> String {
    let mut out = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Delassus: scenes</title><style>body{font:15px/1.5 system-ui,sans-serif;margin:24px;background:#f4f5f7;\
         color:#1c2127}main{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:16px}\
         article{background:#fff;border:1px solid #d9dde3;border-radius:8px;padding:12px}img{width:100%;border-radius:6px}\
         h2{font-size:16px;margin:6px 0}code{font-size:12px;overflow-wrap:anywhere}a{color:inherit}</style>\
         <h1>Scenes</h1><main>\n",
    );
    for (stem, command) in names {
        let picture = if folder.join(format!("{stem}.png")).exists() {
            format!("<img src=\"{stem}.png\" alt=\"The page of {stem}\" loading=\"lazy\">")
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "<article><a href=\"{stem}.html\">{picture}<h2>{stem}</h2></a><code>{command}</code></article>"
        );
    }
    out + "</main></html>\n"
}

fn answer(text: &str, degrees: f64, omega: f64) -> Result<Answer, String> {
    let (angle, omega) = (format!("{degrees} deg"), omega.to_string());
    let set = [("angle", angle.as_str()), ("omega", omega.as_str())];
    let file = read_system(text, &set).map_err(|e| e.to_string())?;
    let result = analyze(&file.system, &file.state, &Tolerances::default(), &EnumerateOptions::default())
        .map_err(|e| e.to_string())?;
    let pieces = result.analysis.map(|a| a.solutions.components).ok_or("an impact in the map")?;
    Ok(match pieces.as_slice() {
        [] => Answer::None,
        [one] if one.modes[0] == Mode::Open => Answer::LiftsOff,
        [_] => Answer::Slides,
        _ => Answer::Two,
    })
}

/// The map with axes and legend; runs of equal cells are one rectangle.
fn svg(cells: &[Answer]) -> String {
    const CELL: f64 = 3.0;
    const LEFT: f64 = 60.0;
    const TOP: f64 = 40.0;
    let (width, height) = (COLUMNS as f64 * CELL, ROWS as f64 * CELL);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">The Painlevé rod, friction 2, sliding in the jamming direction</text>\n",
        LEFT + width + 24.0,
        TOP + height + 106.0
    );
    // Neighbouring cells share an edge: without crisp edges viewers blend the background in.
    out += "<g shape-rendering=\"crispEdges\">\n";
    for row in 0..ROWS {
        let line = &cells[row * COLUMNS..(row + 1) * COLUMNS];
        let y = TOP + height - (row + 1) as f64 * CELL;
        let mut start = 0;
        while start < COLUMNS {
            let end = (start..COLUMNS).find(|&k| line[k] != line[start]).unwrap_or(COLUMNS);
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{CELL}\" fill=\"{}\"/>",
                LEFT + start as f64 * CELL,
                (end - start) as f64 * CELL,
                line[start].colour()
            );
            start = end;
        }
    }
    let _ = writeln!(
        out,
        "</g>\n<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"black\"/>"
    );
    for degrees in (15..=90).step_by(15) {
        let x = LEFT + width * (f64::from(degrees) - ANGLES[0]) / (ANGLES[1] - ANGLES[0]);
        let (y0, y1) = (TOP + height, TOP + height + 5.0);
        let _ = writeln!(
            out,
            "<path d=\"M{x} {y0}V{y1}\" stroke=\"black\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{degrees}°</text>",
            y1 + 14.0
        );
    }
    for speed in 0..=5 {
        let y = TOP + height * (1.0 - (f64::from(speed) - SPEEDS[0]) / (SPEEDS[1] - SPEEDS[0]));
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y}h-5\" stroke=\"black\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{speed}</text>",
            LEFT - 9.0,
            y + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">angle between rod and floor</text>\
         <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">angular velocity, rad/s</text>",
        LEFT + width / 2.0,
        TOP + height + 38.0,
        TOP + height / 2.0
    );
    for (k, answer) in Answer::ALL.iter().enumerate() {
        let (x, y) = (LEFT + (k % 2) as f64 * 260.0, TOP + height + 54.0 + (k / 2) as f64 * 22.0);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"black\"/><text x=\"{}\" y=\"{}\">{}</text>",
            answer.colour(),
            x + 21.0,
            y + 12.0,
            answer.words()
        );
    }
    out + "</svg>\n"
}
