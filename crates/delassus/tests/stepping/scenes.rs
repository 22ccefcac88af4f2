//! Every scene with a `[world]` moves as it expects, by time stepping.

use std::path::PathBuf;

use delassus_scene::{Expected, ExpectedValue, SceneKind, scene_kind};

use delassus::stepping::{StepOptions, Stepper};
use delassus::world::{Body, BodyState, energy, mobility};
use delassus_scene::{WorldFile, read_world};
use delassus_solve::problem::Status;
use serde_json::{Map, Value, json};

fn world_scenes() -> Vec<(String, WorldFile)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let (name, text) =
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap());
        if scene_kind(&text).unwrap() == SceneKind::World {
            assert!(text.starts_with("# "), "{name}: a scene begins with its story");
            let file = read_world(&text, path.parent(), &[])
                .unwrap_or_else(|e| panic!("{}", e.render(&name, &text)));
            all.push((name, file));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The one scene to run, with more output.
fn chosen() -> Option<String> {
    std::env::var("DELASSUS_SCENE").ok()
}

/// Moves a world to its end: the document of `run`, as far as the library knows it.
fn moved(name: &str, file: &WorldFile) -> Value {
    let world = &file.world;
    let dt = file.simulation.dt.unwrap_or(1e-3);
    let t_end = file.simulation.t_end.unwrap_or_else(|| panic!("{name}: no t_end"));
    let usual = StepOptions::default();
    let tolerance = file.simulation.tolerance.unwrap_or(usual.tolerance);
    let mut stepper =
        Stepper::new(world, file.state.clone(), StepOptions { dt, tolerance, ..usual }).unwrap();
    let start = energy(world, &file.state);
    let (mut penetration, mut residual, mut joint_error) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut impacts, mut jams, mut non_unique) = (0, 0, 0);
    let steps = (t_end / dt).round() as usize;
    for _ in 0..steps {
        let t = stepper.state().t;
        let report = stepper.step().unwrap();
        if report.status != Status::Solved && chosen().is_some() {
            eprintln!("{name}: t = {t}: {:?}, residual {:e}", report.status, report.residual);
        }
        penetration = penetration.max(report.penetration);
        residual = residual.max(report.residual);
        joint_error = joint_error.max(report.joint_error);
        impacts += report.impacts;
        jams += report.jams.len();
        non_unique += usize::from(report.non_unique);
    }
    let body = |(body, at): (&Body, &BodyState)| {
        let written = at.pose.compose(&body.frame);
        let (x, q) = (written.position.to_array(), written.rotation);
        let entry = json!({
            "position": x, "orientation": [q.w, q.x, q.y, q.z],
            "velocity": at.velocity.to_array(), "angular_velocity": at.world_angular_velocity().to_array(),
        });
        (body.name.clone(), entry)
    };
    let bodies: Map<String, Value> = world.bodies.iter().zip(&stepper.state().bodies).map(body).collect();
    json!({
        "steps": steps, "t_end": stepper.state().t, "bodies": bodies, "impacts": impacts, "jams": jams,
        "steps_with_non_unique_forces": non_unique,
        "max_penetration": penetration, "max_residual": residual, "max_joint_error": joint_error,
        "energy": {"start": start, "end": energy(world, stepper.state())},
    })
}

/// Where a document differs from what is expected, one line each.
fn differences(name: &str, document: &Value, expected: &[ExpectedValue]) -> Vec<String> {
    let mut wrong = Vec::new();
    for value in expected {
        let Some(got) = document.pointer(&value.path) else {
            wrong.push(format!("{name}: no {}", value.path));
            continue;
        };
        let holds = match value.equals {
            Expected::Boolean(b) => got.as_bool() == Some(b),
            _ => got.as_f64().is_some_and(|x| value.accepts(x)),
        };
        if !holds {
            wrong.push(format!(
                "{name}: {} is {got}, expected {:?} within {}",
                value.path, value.equals, value.tolerance
            ));
        }
    }
    wrong
}

#[test]
fn world_scenes_move_as_they_say() {
    let mut wrong = Vec::new();
    for (name, file) in world_scenes() {
        if chosen().is_some_and(|only| only != name) {
            continue;
        }
        let expect = file.expect.as_ref().unwrap_or_else(|| panic!("{name}: a scene says what it expects"));
        assert!(!expect.run.is_empty(), "{name}: a world moves");
        let found = mobility(&file.world, &file.state);
        let checked =
            json!({"degrees_of_freedom": found.degrees_of_freedom, "redundant_rows": found.redundant});
        wrong.extend(differences(&name, &checked, &expect.check));
        let begin = std::time::Instant::now();
        let document = moved(&name, &file);
        if chosen().is_some() {
            eprintln!("{name}: {:.1} s\n{document:#}", begin.elapsed().as_secs_f64());
        }
        wrong.extend(differences(&name, &document, &expect.run));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
