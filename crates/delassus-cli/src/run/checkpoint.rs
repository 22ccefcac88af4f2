//! Checkpoints: the state of a run in a file, from which it goes on to the same bits.
//!
//! JSON whose numbers give back the bits that were written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use delassus::formula::{AnyFormula, Point};
use delassus::stepping::{Snapshot, StepControl, StepImpactLaw, StepOptions};
use delassus::world::{ActionKind, BodyState, JointKind, Pose, World, WorldState};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::parquet::beside;
use super::totals::Totals;

/// The value of the first key.
const FORMAT: &str = "delassus checkpoint 2";

/// A run that was saved.
pub struct Checkpoint {
    /// The state of the stepper.
    pub snapshot: Snapshot,
    /// The step length that the snapshot counts in, s.
    pub dt: f64,
    /// What the run had found.
    pub totals: Totals,
    /// Of the scene.
    pub scene: SceneMark,
    /// How steps were made.
    pub manner: Manner,
}

/// How steps are made: options by their names on the command line, as text. Numbers are written so that
/// different ones have different texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manner(BTreeMap<String, String>);

impl Manner {
    /// Of steps with these options, of lengths that follow from their error where that is asked.
    pub fn new(options: &StepOptions, control: Option<&StepControl>) -> Manner {
        let StepOptions { dt, scheme, coordinates, law, impact_law, tolerance, .. } = options;
        let StepOptions { method, position_tolerance, warm_start, minimum_norm, .. } = options;
        let impact_law = match impact_law {
            StepImpactLaw::Moreau => "moreau",
            StepImpactLaw::Newton => "newton",
            StepImpactLaw::Poisson => "poisson",
            StepImpactLaw::Sequence => "sequence",
        };
        let said = |yes: bool| if yes { "yes" } else { "no" }.to_string();
        let mut named: Vec<(&str, String)> = vec![
            ("dt", format!("{dt:?}")),
            ("scheme", scheme.to_string()),
            ("coordinates", coordinates.to_string()),
            ("law", law.to_string()),
            ("impact-law", impact_law.into()),
            ("tolerance", format!("{tolerance:?}")),
            ("position tolerance", format!("{position_tolerance:?}")),
            ("solver", method.name().into()),
            ("no-warm-start", said(!warm_start)),
            ("minimum-norm", said(*minimum_norm)),
            ("adaptive", said(control.is_some())),
        ];
        if let Some(StepControl { tolerance, halvings, .. }) = control {
            named.push(("error", format!("{tolerance:?}")));
            named.push(("dt-min", format!("{:?}", dt / 2_f64.powi(*halvings as i32))));
        }
        Manner(named.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// What is other than before, in words; `None` where nothing is, or where it is not known how steps were
    /// made before.
    pub fn change_in_words(&self, before: &Manner) -> Option<String> {
        if before.0.is_empty() {
            return None;
        }
        let value = |of: &Manner, name: &String| of.0.get(name).map_or("none", String::as_str).to_string();
        let names: BTreeSet<&String> = self.0.keys().chain(before.0.keys()).collect();
        let changes: Vec<String> = (names.into_iter())
            .filter(|name| self.0.get(*name) != before.0.get(*name))
            .map(|name| format!("{name} {} (before: {})", value(self, name), value(before, name)))
            .collect();
        (!changes.is_empty())
            .then(|| format!("the run goes on with other options than before: {}", changes.join(", ")))
    }
}

/// What distinguishes a scene from others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneMark {
    /// Its name and its file, for messages.
    pub name: String,
    /// A hash of the model and the state at its start.
    pub hash: u64,
}

impl SceneMark {
    /// The mark of a scene that was read from a file.
    pub fn new(file: &str, world: &World, start: &WorldState) -> SceneMark {
        let mut hash = Fnv::default();
        // Shortest texts of numbers are as many as there are numbers.
        let _ = write!(hash, "{world:?}{start:?}");
        for formula in formulas(world) {
            // Formulas have no text; two that agree at these points and differ are not written by chance.
            for s in [0.0, 0.137, 1.0, 2.6, 40.3] {
                let value = formula.value(&Point { q: &[s], v: &[], t: s });
                let _ = write!(hash, "{value:?},");
            }
        }
        let name = if world.name.is_empty() { file.into() } else { format!("{} ({file})", world.name) };
        SceneMark { name, hash: hash.0 }
    }
}

/// All that is given as a formula.
fn formulas(world: &World) -> impl Iterator<Item = &AnyFormula> {
    world.joints.iter().flat_map(|joint| {
        let curve: &[AnyFormula] = match &joint.kind {
            JointKind::PointOnCurve(curve) => &curve.point,
            _ => &[],
        };
        let of_actions = joint.actions.iter().filter_map(|action| match &action.kind {
            ActionKind::Speed { target, .. } | ActionKind::Position { target, .. } => Some(target),
            ActionKind::Force { force } => Some(force),
            ActionKind::Drive { position } => Some(position),
            ActionKind::Servo(servo) => Some(&servo.control),
            ActionKind::Limits { .. } | ActionKind::Spring { .. } | ActionKind::Armature { .. } => None,
        });
        curve.iter().chain(of_actions)
    })
}

/// The hash of Fowler, Noll and Vo (FNV-1a): the same in every version of every library.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// Bodies, shapes, feature, impulse; fewer rows than a contact may have are followed by zeros.
type SavedImpulse = ([u32; 2], [u32; 2], u32, Vec<f64>);

/// The file.
#[derive(Serialize, Deserialize)]
struct Saved {
    format: String,
    #[serde(default)]
    scene: SceneMark,
    #[serde(default)]
    manner: Manner,
    bodies: Vec<SavedBody>,
    joints: Vec<String>,
    t: f64,
    dt: f64,
    steps: u64,
    start: f64,
    coordinates: Vec<f64>,
    row_impulse: Vec<f64>,
    contact_impulse: Vec<SavedImpulse>,
    totals: Totals,
}

/// Centre of mass, quaternion x y z w, velocity, and angular velocity in the axes of the body.
#[derive(Serialize, Deserialize)]
struct SavedBody {
    name: String,
    position: [f64; 3],
    rotation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

/// Saves a run. The file is replaced as a whole: a crash leaves the old one.
pub fn write(path: &Path, world: &World, checkpoint: Checkpoint) -> Result<(), String> {
    let Checkpoint { snapshot, dt, totals, scene, manner } = checkpoint;
    let body = |(body, s): (&delassus::world::Body, &BodyState)| SavedBody {
        name: body.name.clone(),
        position: s.pose.position.to_array(),
        rotation: s.pose.rotation.to_array(),
        velocity: s.velocity.to_array(),
        angular_velocity: s.angular_velocity.to_array(),
    };
    let saved = Saved {
        format: FORMAT.into(),
        scene,
        manner,
        bodies: world.bodies.iter().zip(&snapshot.state.bodies).map(body).collect(),
        joints: world.joints.iter().map(|joint| joint.name.clone()).collect(),
        t: snapshot.state.t,
        dt,
        steps: snapshot.steps,
        start: snapshot.start,
        coordinates: snapshot.state.coordinates,
        row_impulse: snapshot.row_impulse,
        contact_impulse: (snapshot.contact_impulse.into_iter())
            .map(|(bodies, shapes, feature, r)| (bodies, shapes, feature, r.to_vec()))
            .collect(),
        totals,
    };
    let fail = |e: &dyn std::fmt::Display| format!("{}: cannot be written: {e}", path.display());
    let text = serde_json::to_string(&saved).map_err(|e| fail(&e))?;
    let part = beside(path, ".part");
    std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)).map_err(|e| {
        drop(std::fs::remove_file(&part));
        fail(&e)
    })
}

/// Fails where a checkpoint could not be written: better before a run than at its end. The error is a message
/// ready for stderr.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let part = beside(path, ".part");
    let fail = |e: std::io::Error| format!("error: {}: cannot be written: {e}\n", path.display());
    if path.is_dir() {
        return Err(format!("error: {}: is a folder, expected the name of a file\n", path.display()));
    }
    std::fs::write(&part, "").and_then(|()| std::fs::remove_file(&part)).map_err(fail)
}

/// Reads a checkpoint of this scene; the error is a message ready for stderr.
pub fn read(path: &Path, world: &World, scene: &SceneMark) -> Result<Checkpoint, String> {
    let name = path.display();
    let fail = |e: &dyn std::fmt::Display| format!("error: {name}: {e}\n");
    let text = std::fs::read_to_string(path).map_err(|e| fail(&format!("cannot be read: {e}")))?;
    let saved: Saved = serde_json::from_str(&text).map_err(|e| fail(&format!("not a checkpoint: {e}")))?;
    if saved.format != FORMAT {
        return Err(fail(&format!("expected \"{FORMAT}\", found \"{}\"", saved.format)));
    }
    let same_bodies = saved.bodies.iter().map(|b| &b.name).eq(world.bodies.iter().map(|b| &b.name));
    let same_joints = saved.joints.iter().eq(world.joints.iter().map(|j| &j.name));
    let same_names = same_bodies && same_joints && saved.coordinates.len() == world.joints.len();
    if !same_names || saved.scene.hash != scene.hash {
        let other = if same_names { "properties, laws or another start" } else { "bodies or joints" };
        return Err(fail(&format!(
            "was saved from another scene, {}, with other {other}; this one is {}",
            saved.scene.name, scene.name
        )));
    }
    let body = |b: &SavedBody| BodyState {
        pose: Pose { position: DVec3::from_array(b.position), rotation: DQuat::from_array(b.rotation) },
        velocity: DVec3::from_array(b.velocity),
        angular_velocity: DVec3::from_array(b.angular_velocity),
    };
    let unit = |b: &SavedBody| (DQuat::from_array(b.rotation).length() - 1.0).abs() < 1e-9;
    if !(saved.bodies.iter().all(unit) && saved.dt > 0.0 && saved.t.is_finite()) {
        return Err(fail(&"damaged: a rotation is not a unit quaternion, or a time is not a number"));
    }
    let state = WorldState {
        t: saved.t,
        bodies: saved.bodies.iter().map(body).collect(),
        coordinates: saved.coordinates,
    };
    let snapshot = Snapshot {
        state,
        steps: saved.steps,
        start: saved.start,
        row_impulse: saved.row_impulse,
        contact_impulse: (saved.contact_impulse.into_iter())
            .map(|(bodies, shapes, feature, rows)| {
                let mut r = [0.0; 6];
                r.iter_mut().zip(rows).for_each(|(r, row)| *r = row);
                (bodies, shapes, feature, r)
            })
            .collect(),
    };
    Ok(Checkpoint { snapshot, dt: saved.dt, totals: saved.totals, scene: saved.scene, manner: saved.manner })
}
