//! Which contacts take part in the contact problem, and under which law.

use delassus::lagrangian::{Assembly, ContactState, Names, StateError, Tolerances, assemble, kinematics};
use delassus_scene::read_system;
use delassus_solve::problem::{Law, Slip};

/// A unit mass in space above the floor z = 0, friction 0.4 static and 0.3 kinetic.
fn particle(position: f64, velocity: [f64; 3]) -> Result<Assembly, StateError> {
    let text = format!(
        "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n[energy]\nkinetic = \"(x'^2 + y'^2 + z'^2)/2\"\n\
         [[contact]]\nname = \"floor\"\ngap = \"z\"\nslip = [\"x\", \"y\"]\nmu_static = 0.4\nmu_kinetic = 0.3\n\
         [state.position]\nz = {position:e}\n[state.velocity]\nx = {:e}\ny = {:e}\nz = {:e}\n",
        velocity[0], velocity[1], velocity[2]
    );
    let file = read_system(&text, &[]).unwrap();
    assemble(
        &Names::of(&file.system),
        &kinematics(&file.system, &file.state).unwrap(),
        &Tolerances::default(),
    )
}

#[test]
fn prop_000_2_touching_and_staying_is_active() {
    let at_rest = particle(0.0, [0.0; 3]).unwrap();
    assert_eq!(at_rest.contacts, [ContactState::Active(0)]);
    // At rest the static coefficient counts, sliding the kinetic one with the direction of the slip.
    assert_eq!(at_rest.dynamics.laws, [Law::Coulomb { mu: 0.4 }]);
    let sliding = particle(0.0, [3.0, -4.0, 0.0]).unwrap();
    assert_eq!(sliding.dynamics.laws, [Law::Sliding { mu: 0.3, slip: Slip::Space([0.6, -0.8]) }]);
    // Within the tolerances zero is zero.
    assert_eq!(particle(5e-7, [1e-7, 0.0, -5e-7]).unwrap().contacts, [ContactState::Active(0)]);
}

#[test]
fn prop_000_2_parting_has_no_force() {
    assert_eq!(particle(0.1, [0.0; 3]).unwrap().contacts, [ContactState::Apart]);
    let parting = particle(0.0, [0.0, 0.0, 1.0]).unwrap();
    assert_eq!(parting.contacts, [ContactState::Parting]);
    assert!(parting.dynamics.laws.is_empty());
    assert_eq!(particle(0.0, [0.0, 0.0, -1.0]).unwrap().contacts, [ContactState::Approaching]);
    assert!(matches!(particle(-0.1, [0.0; 3]), Err(StateError::Penetration { .. })));
}
