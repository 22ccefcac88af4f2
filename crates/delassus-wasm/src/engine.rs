//! What the playground asks: an analysis at the state of a scene, or its motion.

use std::convert::Infallible;
use std::ops::ControlFlow;

use delassus::analysis::{analyze_world, analyze_written, glance, glance_world};
use delassus::lagrangian::Tolerances;
use delassus::simulation::Simulation;
use delassus::world::{BodyId, Scene};
use delassus_page::{Page, record};
use delassus_report::{analysis_document, analysis_text};
use delassus_scene::{FileError, SceneFile, WorldFile, read_scene, read_xml};
use delassus_solve::modes::EnumerateOptions;
use serde_json::{Map, Value, json};

/// Steps of a motion, and its frames.
const MAX_STEPS: f64 = 20_000.0;
const FRAMES: f64 = 300.0;

/// The response to a request, both as JSON.
pub fn answer_text(request: &str) -> String {
    let answer = serde_json::from_str::<Value>(request)
        .map_err(|e| json!({ "message": format!("the request is no JSON: {e}") }))
        .and_then(|request| answer(&request));
    answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
}

fn answer(request: &Value) -> Result<Value, Value> {
    let text = request["text"].as_str().unwrap_or_default();
    let set: Vec<(String, String)> = (request["set"].as_object().into_iter().flatten())
        .map(|(name, value)| (name.clone(), value.as_str().map_or(value.to_string(), str::to_owned)))
        .collect();
    let set: Vec<(&str, &str)> = set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let scene = if text.trim_start().starts_with('<') {
        read_xml(text, None).map(|imported| SceneFile::World(Box::new(imported.file)))
    } else {
        read_scene(text, None, &set)
    };
    let scene = scene.map_err(|e| at_place(&e, text))?;
    match request["do"].as_str() {
        Some("run") => motion(scene, request["t_end"].as_f64()),
        Some("glance") => first_look(&scene, text),
        _ => analysis(&scene, text),
    }
}

/// What is known at once of a scene whose analysis may take long: it decides nothing.
fn first_look(scene: &SceneFile, text: &str) -> Result<Value, Value> {
    let tolerances = Tolerances::default();
    let (result, parameters) = match scene {
        SceneFile::System(file) => {
            let result = glance(&file.system, &file.state, &tolerances);
            (result.map_err(|e| at_place(&file.explain(e, text), text))?, &file.parameters[..])
        }
        SceneFile::World(file) => {
            let result = glance_world(&file.world, &file.state, &tolerances);
            (result.map_err(plainly)?, &file.parameters[..])
        }
    };
    let moves = matches!(scene, SceneFile::World(_));
    let analysis = analysis_document(&result);
    Ok(json!({ "analysis": analysis, "parameters": by_name(parameters), "moves": moves }))
}

fn by_name(parameters: &[(String, f64)]) -> Map<String, Value> {
    parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}

/// An error of a file with its line.
fn at_place(error: &FileError, text: &str) -> Value {
    let place = error.place.as_ref();
    json!({
        "message": error.to_string(), "line": place.map(|p| p.line), "column": place.map(|p| p.column),
        "rendered": error.render("scene", text),
    })
}

fn plainly(error: impl std::fmt::Display) -> Value {
    json!({ "message": error.to_string() })
}

fn analysis(scene: &SceneFile, text: &str) -> Result<Value, Value> {
    let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
    let (result, parameters) = match scene {
        SceneFile::System(file) => {
            let result = analyze_written(&file.system, &file.state, &file.exact_state, &tolerances, &options);
            (result.map_err(|e| at_place(&file.explain(e, text), text))?, &file.parameters[..])
        }
        SceneFile::World(file) => {
            let result = analyze_world(&file.world, &file.state, &tolerances, &options);
            (result.map_err(plainly)?, &file.parameters[..])
        }
    };
    let parameters = by_name(parameters);
    let text = analysis_text(&result, delassus_report::Style::plain());
    let moves = matches!(scene, SceneFile::World(_));
    let analysis = analysis_document(&result);
    Ok(json!({ "analysis": analysis, "text": text, "parameters": parameters, "moves": moves }))
}

fn motion(scene: SceneFile, t_end: Option<f64>) -> Result<Value, Value> {
    let SceneFile::World(file) = scene else {
        return Err(plainly("a [system] has no bodies to show; it moves by `delassus run`"));
    };
    let WorldFile { world, state, simulation, .. } = *file;
    let options = simulation.step_options();
    let t_end = t_end.or(simulation.t_end).unwrap_or(1.0);
    let steps = t_end / options.dt;
    if !(0.0..=MAX_STEPS).contains(&steps) {
        return Err(plainly(format!("{steps:.0} steps are too many here, expected at most {MAX_STEPS}")));
    }
    let mut sim = Simulation::new(Scene { world, state }, options).map_err(plainly)?;
    let title = if sim.world().name.is_empty() { "motion".to_owned() } else { sim.world().name.clone() };
    let ControlFlow::Continue(motion) =
        record(&mut sim, t_end, FRAMES, |_| ControlFlow::<Infallible>::Continue(()));
    let mut page = Page::new(&title);
    page.add_motion(&title, &motion);
    let (document, arrays) = page.parts();
    let place =
        |i: usize| sim.body(BodyId::new(i)).map_or(Value::Null, |b| json!(b.frame.position.to_array()));
    let positions: Map<String, Value> =
        sim.world().bodies.iter().enumerate().map(|(i, body)| (body.name.clone(), place(i))).collect();
    Ok(json!({ "document": document, "arrays": arrays, "end": { "t": sim.time(), "positions": positions } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: Value) -> Value {
        serde_json::from_str(&answer_text(&request.to_string())).unwrap()
    }

    const ROD: &str = include_str!("../../../scenes/painleve-rod.toml");
    const TABLE: &str = include_str!("../../../scenes/table.toml");
    const STACK: &str = include_str!("../../../scenes/stack.toml");

    #[test]
    fn friction_that_is_dragged_changes_the_verdict() {
        // The rod jams from 5/3 on.
        for (mu, existence) in [(1.6, "proved"), (1.7, "refuted")] {
            let found = ask(json!({ "do": "analyze", "text": ROD, "set": { "mu": mu } }));
            assert_eq!(found["analysis"]["existence"], existence, "{mu}");
        }
    }

    #[test]
    fn a_glance_finds_forces_and_decides_nothing() {
        for (text, contacts) in [(ROD, 1), (TABLE, 4), (STACK, 40)] {
            let found = ask(json!({ "do": "glance", "text": text, "set": { "mu": 0.5 } }));
            let analysis = &found["analysis"];
            for verdict in ["existence", "acceleration_unique", "forces_unique"] {
                assert_eq!(analysis[verdict], "unknown", "{found}");
            }
            let list = analysis["solutions"]["list"].as_array().unwrap();
            assert_eq!(list.len(), 1, "{found}");
            assert_eq!(list[0]["contacts"].as_object().unwrap().len(), contacts);
        }
    }

    #[test]
    fn errors_have_their_line() {
        let found = ask(json!({ "do": "analyze", "text": "[system]\ncoordinates = [\"x\"]\nwrong = 1\n" }));
        assert_eq!(found["error"]["line"], 3, "{found}");
        // Ten million brackets are refused in words.
        let found = ask(json!({ "do": "analyze", "text": "[".repeat(10_000_000) }));
        assert!(found["error"]["message"].as_str().is_some_and(|m| !m.is_empty()));
        assert!(answer_text("{").contains("no JSON"));
    }

    #[test]
    fn a_world_moves() {
        let found = ask(json!({ "do": "run", "text": TABLE, "t_end": 0.05 }));
        let motion = &found["document"]["motions"][0];
        assert!(motion["time"]["length"].as_u64().unwrap() > 10, "{found}");
        assert!(found["arrays"].as_str().unwrap().len() > 100);
    }
}
