//! Files of `run`: series for ParaView, pictures, and what a run that is killed leaves.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::texts::{on_floor, sphere, surfaces};
use crate::{Temporary, delassus, json};

fn beside(file: &Temporary, name: &str) -> String {
    Path::new(file.path()).with_file_name(name).to_str().unwrap().to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A ball of 2 kg that lies on the floor, and one that falls.
fn balls() -> String {
    let lies = sphere("ball", 2.0, 0.1, [0.0, 0.0, 0.1], [0.0; 3]);
    on_floor(&[&lies, &sphere("other", 1.0, 0.1, [1.0, 0.0, 5.0], [0.5, 0.0, 0.0]), &surfaces(0.3, 0.0)])
}

/// A rope of 1 m on which a ball falls 0.5 m.
fn rope() -> String {
    let rope = "[[joint]]\nname = \"rope\"\ntype = \"rope\"\nbodies = [\"world\", \"ball\"]\n\
                anchors = [[0, 0, 3], [0, 0, 2.5]]\nlength = 1.0\n";
    on_floor(&[&sphere("ball", 1.0, 0.1, [0.0, 0.0, 2.5], [0.0; 3]), rope])
}

/// The bytes of a text in base64.
fn unbase64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{c}"),
    };
    let mut out = vec![];
    for chunk in text.as_bytes().chunks(4) {
        let digits: Vec<u8> = chunk.iter().filter(|c| **c != b'=').map(|c| digit(*c)).collect();
        let bits = digits.iter().enumerate().fold(0u32, |n, (k, d)| n | u32::from(*d) << (18 - 6 * k));
        out.extend(&bits.to_be_bytes()[1..digits.len()]);
    }
    out
}

/// The bytes of an array, by the definition of the format.
fn array(data: &str) -> Vec<u8> {
    let number = |k: usize| {
        let header = unbase64(&data[..if k == 3 { 24 } else { 16 }]);
        u32::from_le_bytes(header[4 * k..4 * k + 4].try_into().unwrap()) as usize
    };
    if number(0) == 0 {
        return vec![];
    }
    assert_eq!((number(0), number(2)), (1, 0), "one whole block");
    let packed = unbase64(&data[24..]);
    assert_eq!(packed.len(), number(3));
    let mut out = vec![];
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
    assert_eq!(out.len(), number(1));
    out
}

/// Numbers of points and cells of a grid, and its arrays by their names.
fn grid(text: &str) -> (usize, usize, BTreeMap<String, Vec<f64>>) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let piece = document.descendants().find(|n| n.has_tag_name("Piece")).unwrap();
    let count = |key: &str| piece.attribute(key).unwrap().parse::<usize>().unwrap();
    let (points, cells) = (count("NumberOfPoints"), count("NumberOfCells"));
    let arrays = piece.descendants().filter(|n| n.has_tag_name("DataArray")).map(|node| {
        let name = node.attribute("Name").unwrap();
        let bytes = array(node.text().unwrap().trim());
        let words = || bytes.as_chunks::<4>().0.iter().copied();
        let numbers: Vec<f64> = match node.attribute("type").unwrap() {
            "Float64" => bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            "Float32" => words().map(|b| f64::from(f32::from_le_bytes(b))).collect(),
            "Int32" => words().map(|b| f64::from(i32::from_le_bytes(b))).collect(),
            "UInt8" => bytes.iter().map(|b| f64::from(*b)).collect(),
            other => panic!("{other}"),
        };
        let each = node.attribute("NumberOfComponents").unwrap().parse::<usize>().unwrap();
        let expected = match (node.parent().unwrap().tag_name().name(), name) {
            (_, "connectivity") => numbers.len(),
            ("Points" | "PointData", _) => each * points,
            _ => each * cells,
        };
        assert_eq!(numbers.len(), expected, "{name}");
        (name.to_owned(), numbers)
    });
    (points, cells, arrays.collect())
}

#[test]
fn a_series_for_paraview_has_shapes_and_contacts() {
    let file = Temporary::new("balls.toml", balls().as_bytes());
    let out = beside(&file, "series.vtu");
    let args = ["run", file.path(), "--json", "-o", &out, "--t-end", "0.02", "--every", "10"];
    let (code, doc) = json(&args);
    assert_eq!(code, 0, "{doc}");
    let list = read(&beside(&file, "series.pvd"));
    assert_eq!(list.matches("<DataSet ").count(), 3, "{list}");
    assert!(list.contains("timestep=\"0.02\" part=\"0\" file=\"series_000002.vtu\""), "{list}");
    let of = |frame: usize| grid(&read(&beside(&file, &format!("series_00000{frame}.vtu"))));
    // No step has made forces at the start.
    let (points, triangles, start) = of(0);
    assert!(start["types"].iter().all(|kind| *kind == 5.0));
    // One contact at the end.
    let (all_points, cells, grid) = of(2);
    assert_eq!((all_points, cells), (points + 1, triangles + 1));
    assert!(grid["types"][..triangles].iter().all(|kind| *kind == 5.0));
    assert_eq!((grid["types"][triangles], grid["body"][triangles]), (1.0, -1.0));
    let corners = &grid["connectivity"];
    assert_eq!((corners.len(), corners[3 * triangles]), (3 * triangles + 1, points as f64));
    assert!(corners[..3 * triangles].iter().all(|&i| i < points as f64));
    let last = 3.0 * triangles as f64;
    assert_eq!(grid["offsets"][triangles - 1..], [last, last + 1.0]);
    // Two triangles of the plane; balls are closed: corners − edges + triangles = 2.
    assert_eq!(grid["body"].iter().filter(|b| **b == 0.0).count(), 2);
    let of_ball = grid["body"].iter().filter(|b| **b == 1.0).count();
    assert_eq!((points - 4) / 2, 2 + of_ball / 2);
    // The corners of the ball that falls are on it, to single precision.
    let [x, z] = [0, 2].map(|k| doc["bodies"]["other"]["position"][k].as_f64().unwrap());
    for k in 0..(points - 4) / 2 {
        let p = &grid["Points"][3 * (points - 1 - k)..][..3];
        let r = ((p[0] - x).powi(2) + p[1].powi(2) + (p[2] - z).powi(2)).sqrt();
        assert!((r - 0.1).abs() < 1e-6, "{p:?}");
    }
    assert_eq!(grid["velocity"][3 * (triangles - 1)], 0.5);
    // From the floor to the ball that lies: m g.
    let at = |name: &str| &grid[name][3 * points..];
    assert_eq!(at("contact_normal"), [0.0, 0.0, 1.0]);
    let force = at("contact_force");
    assert!(force[0].hypot(force[1]) < 1e-9 && (force[2] - 2.0 * 9.81).abs() < 1e-6, "{force:?}");
    assert!(at("Points").iter().all(|x| x.abs() < 1e-6), "{:?}", at("Points"));
    assert!(grid["contact_force"][..3 * points].iter().all(|x| *x == 0.0));
}

#[test]
fn frames_of_many_capsules_are_small() {
    let capsule = |k: usize| {
        format!(
            "[[body]]\nname = \"c{k}\"\nmass = 1\nposition = [{}, {}, 1]\neuler_deg = [{k}, 31, {}]\n\
             angular_velocity = [1, {k}, 2]\n[[body.shape]]\ntype = \"capsule\"\nradius = 0.1\nhalf_height = 0.2\n",
            k % 5,
            k / 5,
            7 * k
        )
    };
    let all: Vec<String> = (0..24).map(capsule).collect();
    let file = Temporary::new(
        "capsules.toml",
        on_floor(&all.iter().map(String::as_str).collect::<Vec<_>>()).as_bytes(),
    );
    let out = beside(&file, "c.pvd");
    assert_eq!(json(&["run", file.path(), "--json", "-o", &out, "--t-end", "0.01", "--every", "10"]).0, 0);
    let size = std::fs::metadata(beside(&file, "c_000001.vtu")).unwrap().len();
    assert!(size < 100_000, "{size} bytes");
}

#[test]
fn a_series_is_strict_xml_whatever_its_world_is_called() {
    let name = "a -- b --- <c> & d\\u0001\\n-->";
    let text = format!(
        "[world]\nname = \"{name}\"\n[[body]]\nname = \"b<>\"\nmass = 1\n[[body.shape]]\ntype = \"cone\"\nradius = 1\nhalf_height = 1\n"
    );
    let file = Temporary::new("odd.toml", text.as_bytes());
    let out = beside(&file, "a & 'b' --.pvd");
    let (code, _) = json(&["run", file.path(), "--json", "-o", &out, "--t-end", "0.002", "--every", "1"]);
    assert_eq!(code, 0);
    let list = read(&out);
    let document = roxmltree::Document::parse(&list).unwrap_or_else(|e| panic!("{e}\n{list}"));
    let frames: Vec<_> = document.descendants().filter(|n| n.has_tag_name("DataSet")).collect();
    assert_eq!(frames.len(), 3);
    for frame in frames {
        let (points, cells, _) = grid(&read(&beside(&file, frame.attribute("file").unwrap())));
        // A cone is closed: corners − edges + triangles = 2, and each triangle has 3/2 edges.
        assert_eq!(points + cells, 2 + 3 * cells / 2);
    }
}

/// The rope is taut after √(2 · 0.5/g); then nothing happens any more.
#[test]
fn a_rope_that_goes_taut_is_reported_and_drawn() {
    let file = Temporary::new("rope.toml", rope().as_bytes());
    let svg = beside(&file, "rope.svg");
    let plot = "ball.z,energy,rope.force,world|ball.normal,ball.z:ball.vz";
    let args = ["run", file.path(), "--t-end", "0.6", "-o", &svg, "--plot", plot];
    let (code, doc) = json(&[&args[..], &["--json"]].concat());
    assert_eq!(code, 0, "{doc}");
    let [event] = doc["events"].as_array().unwrap().as_slice() else { panic!("{}", doc["events"]) };
    assert_eq!((&event["kind"], &event["contact"]), (&Value::from("impact"), &Value::from("rope")));
    assert!((event["t"].as_f64().unwrap() - (1.0f64 / 9.81).sqrt()).abs() < 1e-3, "{event}");
    assert_eq!(doc["event_counts"]["impact"], 1);
    let picture = read(&svg);
    for words in ["ball.z", "energy", "rope.force", "ball.vz over ball.z", "impact (1)"] {
        assert!(picture.contains(words), "{words}");
    }
    let out = delassus(&args);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("impact        rope") && text.contains("wx"), "{text}");
    for (wrong, message) in [
        (vec!["--plot", "ball.q", "-o", &svg], "unknown quantity `ball.q`"),
        (vec!["--plot", "energy"], "expected a picture too"),
        (vec!["-o", &svg, "-o", &svg], "has the name of one before it"),
        (vec!["--checkpoint", "/nowhere/at/all.json"], "cannot be written"),
    ] {
        let out = delassus(&[&["run", file.path()], &wrong[..]].concat());
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(2) && text.contains(message), "{text}");
    }
}
