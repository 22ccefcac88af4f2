//! Why a step was not solved, in words.

use delassus::stepping::StepFailure;
use delassus::world::World;

/// What failed.
pub fn failure_text(world: &World, failure: StepFailure, tolerance: f64) -> String {
    match failure {
        StepFailure::Residual(residual) => {
            format!("a solve ended with the residual {residual:.1e}, above the tolerance {tolerance:.0e}")
        }
        StepFailure::Overlap { bodies, depth } => {
            let [a, b] = bodies.map(|b| &world.bodies[b].name);
            format!("bodies `{a}` and `{b}` overlapped by {depth:.1e} m")
        }
        StepFailure::Joint { joint, opening } => {
            format!("joint `{}` was open or beyond its limit by {opening:.1e}", world.joints[joint].name)
        }
        StepFailure::Energy => "contacts would have given energy".into(),
        StepFailure::JointEnergy { gained } => format!("joints gave {gained:.1e} J"),
        StepFailure::JointLoss { lost } => {
            format!("joints took {lost:.1e} J, however short the substeps")
        }
        StepFailure::Bounds => "motors or friction of joints did not settle".into(),
    }
}
