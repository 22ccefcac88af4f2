//! A motion as frames: poses of bodies, contacts, forces of joints, and numbers over time.

use std::collections::HashMap;
use std::sync::Arc;

use delassus::stepping::{EnergyAccount, StepReport, Stepper, Uniqueness};
use delassus::world::{BodyState, Pose, World, WorldState, kinetic_energy, potential_energy};
use delassus_solve::modes::Mode;
use delassus_solve::problem::Status;
use glam::DVec3;
use serde_json::{Value, json};

use crate::arrays::Arrays;
use crate::contacts::{ContactFrames, ContactMark, ContactRecord, halve};
use crate::quantize::{Grid, smallest_three, zigzag};
use crate::shapes;

/// Poses of moving bodies in all frames together that a page keeps: frames are thinned beyond twice as many.
const MAX_POSES: usize = 1_600_000;
/// The same for velocities.
const MAX_VELOCITIES: usize = 100_000;
/// Contacts up to which it is decided in a frame which forces are unique: two cone programs a row.
const MAX_DECIDED: usize = 16;

/// Contacts up to which those that carry nothing are shown too.
const MAX_OPEN: usize = 64;

/// Numbers over time with one unit.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name.
    pub name: String,
    /// What is drawn together, with the unit.
    pub group: String,
    /// One per frame; what is not a number is a gap.
    pub values: Vec<f64>,
}

/// Numbers of a frame of time stepping, worst or summed since the frame before.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameNumbers {
    /// Largest residual of a solve.
    pub residual: f64,
    /// Largest overlap, m.
    pub overlap: f64,
    /// Largest opening of a joint, m or rad.
    pub joint_error: f64,
    /// Whether a step was not solved.
    pub unsolved: bool,
    /// Whether forces, and the motion, were shown to be not unique.
    pub non_unique: bool,
    /// See `non_unique`.
    pub non_unique_motion: bool,
}

impl FrameNumbers {
    fn add(&mut self, other: &FrameNumbers) {
        self.residual = self.residual.max(other.residual);
        self.overlap = self.overlap.max(other.overlap);
        self.joint_error = self.joint_error.max(other.joint_error);
        self.unsolved |= other.unsolved;
        self.non_unique |= other.non_unique;
        self.non_unique_motion |= other.non_unique_motion;
    }
}

/// A motion that is shown.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// The bodies, where there are any.
    world: Option<Arc<World>>,
    times: Vec<f64>,
    /// Per frame the state of every body.
    states: Vec<Vec<BodyState>>,
    contacts: Option<ContactFrames>,
    /// Per frame force and moment of every joint.
    joint_forces: Vec<Vec<[DVec3; 2]>>,
    /// What is plotted.
    pub series: Vec<Series>,
    /// What happened: `t`, `kind`, `contact` and more.
    pub events: Vec<Value>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Why the motion ended early.
    pub failure: Option<String>,
    /// Whether it goes on.
    pub running: bool,
    /// The report of the run: what is shown as its summary.
    pub report: Value,
}

impl Motion {
    /// Numbers over time without bodies.
    pub fn of_series(times: Vec<f64>, series: Vec<Series>) -> Motion {
        Motion { times, series, ..Motion::default() }
    }

    /// Shows bodies at these states, one per time.
    pub fn with_bodies(mut self, world: &World, states: Vec<WorldState>) -> Motion {
        self.world = Some(Arc::new(world.clone()));
        self.states = states.into_iter().map(|state| state.bodies).collect();
        self
    }

    /// What the viewer reads.
    pub(crate) fn document(&self, arrays: &mut Arrays) -> Value {
        let series: Vec<Value> = (self.series.iter())
            .map(|s| json!({ "name": s.name, "group": s.group, "values": arrays.doubles(&s.values) }))
            .collect();
        let mut document = json!({
            "time": arrays.doubles(&self.times), "series": series, "events": self.events, "notes": self.notes,
            "failure": self.failure, "running": self.running, "report": self.report,
        });
        let Some(world) = &self.world else { return document };
        let moving: Vec<usize> = (0..world.bodies.len()).filter(|b| !world.bodies[*b].fixed).collect();
        let grid = self.grid(world, &moving);
        let lost = self.states.iter().flat_map(|state| moving.iter().map(|&b| &state[b].pose));
        let lost = lost.filter(|pose| !(pose.position.is_finite() && pose.rotation.is_finite())).count();
        if lost > 0 {
            let note =
                format!("{lost} poses of bodies are not finite numbers: what is drawn of them is wrong");
            document["notes"] = json!(self.notes.iter().chain([&note]).collect::<Vec<_>>());
        }
        let first = self.states.first().cloned().unwrap_or_default();
        let bodies: Vec<Value> = (world.bodies.iter().enumerate())
            .map(|(b, body)| {
                let mut entry = shapes::body(body, arrays);
                if body.fixed {
                    entry["pose"] = shapes::pose(&first.get(b).map_or(Pose::IDENTITY, |s| s.pose));
                }
                entry
            })
            .collect();
        document["bodies"] = json!(bodies);
        document["gravity"] = json!(world.gravity.to_array());
        document["plane"] = json!(world.plane.map(|axis| axis as usize));
        document["quantum"] = json!(grid.quantum);
        document["centre"] = json!(grid.centre.to_array());
        let (low, high) = self.positions(&moving, &grid);
        document["positions"] = arrays.words(&low);
        if high.iter().any(|x| *x != 0) {
            document["positions_high"] = arrays.words(&high);
        }
        let (left_out, rotations) = self.rotations(&moving);
        document["left_out"] = arrays.small(&left_out);
        document["rotations"] = arrays.halves(&rotations);
        if moving.len() * self.states.len() <= MAX_VELOCITIES {
            let velocities = self.states.iter().flat_map(|state| {
                moving.iter().flat_map(|&b| {
                    let (v, w) = (state[b].velocity, state[b].world_angular_velocity());
                    [v.x, v.y, v.z, w.x, w.y, w.z]
                })
            });
            document["velocities"] = arrays.singles(velocities);
        }
        document["joints"] = json!(shapes::joints(world));
        let forces = self.joint_forces.iter().flatten().flatten().flat_map(|f| f.to_array());
        document["joint_forces"] = arrays.singles(forces);
        if let Some(contacts) = &self.contacts {
            document["contacts"] = contacts.document(&grid, arrays);
        }
        document
    }

    fn grid(&self, world: &World, moving: &[usize]) -> Grid {
        let radii = moving.iter().map(|&b| world.bodies[b].bounding_radius()).filter(|r| *r > 0.0);
        let smallest = radii.reduce(f64::min).unwrap_or(0.0);
        let all = self.states.iter().flat_map(|state| moving.iter().map(|&b| state[b].pose.position));
        Grid::of(smallest, all)
    }

    /// Differences of positions, body by body and axis by axis over time: their lower and upper halves.
    fn positions(&self, moving: &[usize], grid: &Grid) -> (Vec<u32>, Vec<u32>) {
        let length = 3 * moving.len() * self.states.len();
        let (mut low, mut high) = (Vec::with_capacity(length), Vec::with_capacity(length));
        for &body in moving {
            for axis in 0..3 {
                let mut before = 0;
                for state in &self.states {
                    let now = grid.count(state[body].pose.position[axis], axis);
                    let coded = zigzag(now.wrapping_sub(before));
                    before = now;
                    low.push(coded as u32);
                    high.push((coded >> 32) as u32);
                }
            }
        }
        (low, high)
    }

    /// Which component of a quaternion is left out, and differences of the others.
    fn rotations(&self, moving: &[usize]) -> (Vec<u8>, Vec<u16>) {
        let (mut left_out, mut out) = (vec![], Vec::with_capacity(3 * moving.len() * self.states.len()));
        for &body in moving {
            let coded: Vec<(u8, [i16; 3])> =
                self.states.iter().map(|state| smallest_three(state[body].pose.rotation)).collect();
            left_out.extend(coded.iter().map(|(which, _)| *which));
            for k in 0..3 {
                let mut before = 0i16;
                out.extend(coded.iter().map(|(_, three)| {
                    let delta = three[k].wrapping_sub(before);
                    before = three[k];
                    ((delta << 1) ^ (delta >> 15)) as u16
                }));
            }
        }
        (left_out, out)
    }
}

/// Energies of a frame, J: at it, and summed from the start.
#[derive(Clone, Copy, Debug, Default)]
struct FrameEnergy {
    kinetic: f64,
    potential: f64,
    account: EnergyAccount,
    created: f64,
}

/// Records a motion by time stepping.
pub struct MotionRecorder {
    motion: Motion,
    contacts: ContactFrames,
    numbers: Vec<FrameNumbers>,
    energies: Vec<FrameEnergy>,
    /// Since the last frame.
    worst: FrameNumbers,
    /// From the start.
    energy: FrameEnergy,
    moving: usize,
    /// Every so many frames one stays, and how many were seen.
    stride: usize,
    seen: usize,
    decided: Decided,
}

/// The last frame in which it was decided which forces are unique.
#[derive(Default)]
struct Decided {
    bodies: Vec<BodyState>,
    forces: Vec<(f64, DVec3)>,
    unique: Vec<Uniqueness>,
}

impl MotionRecorder {
    /// Nothing is recorded yet.
    pub fn new(world: &World) -> MotionRecorder {
        let moving = world.bodies.iter().filter(|body| !body.fixed).count();
        let motion = Motion { world: Some(Arc::new(world.clone())), ..Motion::default() };
        MotionRecorder {
            motion,
            contacts: ContactFrames::default(),
            numbers: vec![],
            energies: vec![],
            worst: FrameNumbers::default(),
            energy: FrameEnergy::default(),
            moving,
            stride: 1,
            seen: 0,
            decided: Decided::default(),
        }
    }

    /// Which forces are unique, where there are few; what rests keeps its answer.
    fn uniqueness(&mut self, stepper: &Stepper) -> Vec<Uniqueness> {
        let forces: Vec<(f64, DVec3)> =
            stepper.contact_forces().map(|(_, normal, friction)| (normal, friction)).collect();
        let carrying = forces.iter().filter(|(normal, _)| *normal > 0.0).count();
        if !(1..=MAX_DECIDED).contains(&carrying) {
            return vec![];
        }
        let bodies = &stepper.state().bodies;
        if self.decided.bodies != *bodies || self.decided.forces != forces {
            let unique = stepper.mean_force_uniqueness(&forces);
            self.decided = Decided { bodies: bodies.clone(), forces, unique };
        }
        self.decided.unique.clone()
    }

    /// Adds a step that was made.
    pub fn step(&mut self, report: &StepReport) {
        self.worst.add(&FrameNumbers {
            residual: report.residual,
            overlap: report.penetration,
            joint_error: report.joint_error,
            unsolved: report.status != Status::Solved,
            non_unique: report.non_unique,
            non_unique_motion: report.non_unique_motion,
        });
        self.energy.account.add(&report.energy);
        self.energy.created += report.energy_gains.iter().map(|gain| gain.energy).sum::<f64>();
    }

    /// Adds the state now as a frame.
    pub fn frame(&mut self, stepper: &Stepper) {
        // One between those that stay is there only while it is the last one.
        if self.stride > 1 && self.seen > 0 && !(self.seen - 1).is_multiple_of(self.stride) {
            let dropped = self.numbers.pop().unwrap_or_default();
            self.worst.add(&dropped);
            self.energies.pop();
            self.motion.times.pop();
            self.motion.states.pop();
            self.motion.joint_forces.pop();
            self.contacts.pop();
        }
        let (world, state) = (stepper.world(), stepper.state());
        self.seen += 1;
        self.motion.times.push(state.t);
        self.motion.states.push(state.bodies.clone());
        self.motion.joint_forces.push(stepper.joint_forces());
        let unique = self.uniqueness(stepper);
        self.contacts.push(contacts_now(stepper, &unique));
        self.numbers.push(std::mem::take(&mut self.worst));
        let (kinetic, potential) = (kinetic_energy(world, state), potential_energy(world, state));
        self.energies.push(FrameEnergy { kinetic, potential, ..self.energy });
        if self.motion.times.len() * self.moving > 2 * MAX_POSES {
            self.halve();
        }
    }

    /// Keeps every second frame; what it saw goes to the next.
    fn halve(&mut self) {
        self.stride *= 2;
        for k in (2..self.numbers.len()).step_by(2) {
            let before = self.numbers[k - 1];
            self.numbers[k].add(&before);
        }
        halve(&mut self.numbers);
        halve(&mut self.energies);
        halve(&mut self.motion.times);
        halve(&mut self.motion.states);
        halve(&mut self.motion.joint_forces);
        self.contacts.halve();
    }

    /// The motion up to now.
    pub fn motion(&self) -> Motion {
        let mut motion = self.motion.clone();
        motion.contacts = Some(self.contacts.clone());
        let energy = |name: &str, of: &dyn Fn(&FrameEnergy) -> f64| Series {
            name: name.into(),
            group: "energy, J".into(),
            values: self.energies.iter().map(of).collect(),
        };
        let worst = |name: &str, group: &str, of: fn(&FrameNumbers) -> f64| Series {
            name: name.into(),
            group: group.into(),
            values: self.numbers.iter().map(of).collect(),
        };
        let flag = |x: bool| if x { 1.0 } else { 0.0 };
        let start = self.energies.first().map_or(0.0, |e| e.kinetic + e.potential);
        motion.series = vec![
            energy("kinetic", &|e| e.kinetic),
            energy("potential", &|e| e.potential),
            energy("total", &|e| e.kinetic + e.potential),
            energy("supplied", &|e| e.account.supplied),
            energy("taken by friction", &|e| e.account.friction),
            energy("taken by impacts", &|e| e.account.impacts),
            energy("taken by dampers", &|e| e.account.dampers),
            energy("created", &|e| e.created),
            energy("error of the steps", &|e| {
                e.kinetic + e.potential - start - e.account.balance() - e.created
            }),
            worst("residual", "residual", |n| n.residual),
            worst("overlap", "overlap, m", |n| n.overlap),
            worst("joint opening", "joint opening, m or rad", |n| n.joint_error),
            Series {
                name: "steps not solved".into(),
                group: "flags".into(),
                values: self.numbers.iter().map(|n| flag(n.unsolved)).collect(),
            },
            Series {
                name: "forces not unique".into(),
                group: "flags".into(),
                values: self.numbers.iter().map(|n| flag(n.non_unique)).collect(),
            },
            Series {
                name: "motion not unique".into(),
                group: "flags".into(),
                values: self.numbers.iter().map(|n| flag(n.non_unique_motion)).collect(),
            },
        ];
        motion
    }
}

/// Contacts that carry a force, with their mean forces of the last step; of few also those that are open.
fn contacts_now(stepper: &Stepper, unique: &[Uniqueness]) -> Vec<ContactRecord> {
    let mut counts: HashMap<[u32; 2], u16> = HashMap::new();
    for contact in stepper.contacts() {
        *counts.entry(contact.bodies).or_default() += 1;
    }
    let mut numbers: HashMap<[u32; 2], u16> = HashMap::new();
    let all = stepper.contacts().len();
    let mut out = vec![];
    for (i, (contact, normal_force, friction)) in stepper.contact_forces().enumerate() {
        let number = numbers.entry(contact.bodies).or_default();
        *number += 1;
        let is_open = normal_force <= 0.0;
        if is_open && all > MAX_OPEN {
            continue;
        }
        let [a, b] = contact.bodies.map(|b| b as usize);
        out.push(ContactRecord {
            bodies: contact.bodies,
            number: if counts[&contact.bodies] > 1 { *number } else { 0 },
            point: contact.point,
            normal: contact.normal,
            normal_force: normal_force.max(0.0),
            friction,
            mark: match stepper.contact_mode(contact) {
                _ if is_open => ContactMark::Open,
                Mode::Open => ContactMark::Open,
                Mode::Stick => ContactMark::Stick,
                _ => ContactMark::Slide,
            },
            mu: stepper.world().surface(a, b).mu,
            unique: unique.get(i).copied().unwrap_or(Uniqueness::Unknown),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Page;
    use crate::random::Random;
    use delassus::prelude::*;

    /// 5,000 spheres that move at random in 300 frames, worse than any pile: below 30 MB.
    #[test]
    fn many_spheres_make_a_file_that_can_be_sent() {
        let mut scene = Scene::default();
        for i in 0..5000 {
            scene.add(Body::ball(&format!("ball{i}"), 1.0, 0.05).at(DVec3::splat(0.1 * f64::from(i % 17))));
        }
        let mut random = Random(7);
        let mut random = move || random.centred();
        let mut state = scene.state.clone();
        let mut states = vec![];
        for _ in 0..300 {
            for body in &mut state.bodies {
                // A centimetre and a tenth of a radian a frame.
                body.pose.position += 0.01 * DVec3::new(random(), random(), random());
                let turn = 0.1 * DVec3::new(random(), random(), random());
                body.pose.rotation = (glam::DQuat::from_scaled_axis(turn) * body.pose.rotation).normalize();
            }
            states.push(state.clone());
        }
        let times = (0..300).map(|k| 0.01 * f64::from(k)).collect();
        let motion = Motion::of_series(times, vec![]).with_bodies(&scene.world, states);
        let mut page = Page::new("many");
        page.add_motion("many", &motion);
        let size = page.to_html().len();
        assert!(size < 30_000_000, "{size} bytes");
    }

    /// What frames saw goes to the frames that stay when there are too many, and the last one stays.
    #[test]
    fn frames_are_thinned_and_lose_nothing_of_the_worst() {
        let mut scene = Scene::default();
        scene.add(Body::ball("ball", 1.0, 0.05));
        let stepper = Stepper::new(scene.world, scene.state, StepOptions::default()).unwrap();
        let mut recorder = MotionRecorder::new(stepper.world());
        for k in 0..8 {
            recorder.worst.residual = if k == 3 { 1.0 } else { 0.0 };
            recorder.frame(&stepper);
            if k == 4 {
                recorder.halve();
            }
        }
        // Frames 0, 2, 4, 6 and the last one, 7; the worst of frame 3 is in frame 4.
        let kept: Vec<f64> = recorder.numbers.iter().map(|n| n.residual).collect();
        assert_eq!(kept, [0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(recorder.motion().times.len(), 5);
    }
}
