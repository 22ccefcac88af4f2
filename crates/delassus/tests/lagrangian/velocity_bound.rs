//! The bound on velocities (002) along motions.

use delassus::events::{EventOptions, run_events};
use delassus::lagrangian::{State, velocity_bound, weighted_speed};
use delassus_scene::read_system;

/// 002.velocity_bound: the motion itself, and the bound along it.
#[test]
fn a_motion_keeps_its_bound() {
    let text = r#"
[system]
coordinates = ["q"]
[energy]
kinetic = "(1 + sin(q)/2)*q'^2/2"
[[force]]
coordinate = "q"
value = "cos(3*t)"
[state.velocity]
q = 1.0
"#;
    let file = read_system(text, &[]).unwrap();
    let sample_times = (0..=100).map(|k| f64::from(k) / 100.0).collect();
    let options = EventOptions { t_end: 1.0, sample_times, ..Default::default() };
    let run = run_events(&file.system, &file.state, &options).unwrap();
    assert!((run.state.q[0] - 1.0915285246015975).abs() < 1e-6);
    assert!((run.state.v[0] - 0.8953179617623812).abs() < 1e-6);
    let states: Vec<State> = run.samples.iter().map(|s| s.state.clone()).collect();
    let bound = velocity_bound(&file.system, &states).unwrap().unwrap();
    for state in &states {
        assert!(weighted_speed(&file.system, state).unwrap() <= bound.at(state.t) + 1e-12);
    }
    let end = weighted_speed(&file.system, states.last().unwrap()).unwrap();
    assert!((end - 1.07574843177323).abs() < 1e-6);
}

/// Free fall attains the bound, and impacts do not break it.
#[test]
fn attained_by_free_fall() {
    let text = r#"
[system]
coordinates = ["y"]
[energy]
kinetic = "y'^2"
potential = "2*9.81*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 1.0
[state.position]
y = 1.0
"#;
    let file = read_system(text, &[]).unwrap();
    let sample_times = (0..=200).map(|k| f64::from(k) / 100.0).collect();
    let options = EventOptions { t_end: 2.0, sample_times, ..Default::default() };
    let run = run_events(&file.system, &file.state, &options).unwrap();
    let states: Vec<State> = run.samples.iter().map(|s| s.state.clone()).collect();
    let bound = velocity_bound(&file.system, &states).unwrap().unwrap();
    for state in &states {
        let s = weighted_speed(&file.system, state).unwrap();
        assert!(s <= bound.at(state.t) + 1e-12);
        assert!(state.t > 0.45 || (s - bound.at(state.t)).abs() < 1e-12);
    }
}
