//! The motion of a world as a picture: quantities over time, or over each other.

use std::path::{Path, PathBuf};

use delassus::formula::nearest;
use delassus::stepping::Stepper;
use delassus::world::{World, energy};

use super::tables::{BODY_COLUMNS, motion_columns, motion_row};
use super::totals::Event;
use crate::picture::{Motion, check_picture_name, draw_quantities, write_picture};

/// Bodies whose positions are drawn where nothing else is asked: more curves than colours say nothing.
const DRAWN_BODIES: usize = 2;

/// A picture that is drawn at the end.
pub struct PlotOutput {
    path: PathBuf,
    title: String,
    /// What is drawn, as it was asked for.
    names: Vec<String>,
    /// All quantities in it, and their values at every frame.
    quantities: Vec<(String, Quantity)>,
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
    row: Vec<f64>,
}

/// A number of every frame.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Energy,
    /// A column of the table of motion.
    Column(usize),
    /// Sum of the normal forces between two bodies, N.
    Normal([usize; 2]),
    /// Size of the friction between two bodies, N.
    Friction([usize; 2]),
    /// Size of the force of a joint, N, and of its moment, N m.
    Force(usize),
    Moment(usize),
}

impl PlotOutput {
    /// A picture of these quantities; the error is in words.
    pub fn open(path: &Path, world: &World, names: &[String]) -> Result<PlotOutput, String> {
        check_picture_name(path).map_err(|e| e.trim_start_matches("error: ").trim_end().to_string())?;
        let names = if names.is_empty() { usual(world) } else { names.to_vec() };
        let mut quantities: Vec<(String, Quantity)> = vec![];
        for name in names.iter().flat_map(|name| name.splitn(2, ':')) {
            if !quantities.iter().any(|(known, _)| known == name) {
                quantities.push((name.into(), quantity(world, name)?));
            }
        }
        // What cannot be written is an error before the first step, and an older picture is none of this run.
        std::fs::write(path, "").map_err(|e| format!("{}: cannot be written: {e}", path.display()))?;
        let title = if world.name.is_empty() { "motion".into() } else { world.name.clone() };
        let values = vec![vec![]; quantities.len()];
        Ok(PlotOutput { path: path.into(), title, names, quantities, times: vec![], values, row: vec![] })
    }

    /// Adds a frame.
    pub fn frame(&mut self, world: &World, stepper: &Stepper) {
        motion_row(world, stepper, &mut self.row);
        self.times.push(stepper.state().t);
        let between = |pair: [usize; 2]| {
            let all = stepper.contact_forces();
            all.filter(move |(c, ..)| {
                let found = c.bodies.map(|b| b as usize);
                found == pair || found == [pair[1], pair[0]]
            })
        };
        let joints = stepper.joint_forces();
        for ((_, quantity), values) in self.quantities.iter().zip(&mut self.values) {
            values.push(match *quantity {
                Quantity::Time => stepper.state().t,
                Quantity::Energy => energy(world, stepper.state()),
                Quantity::Column(k) => self.row[k],
                Quantity::Normal(pair) => between(pair).map(|(_, normal, _)| normal).sum(),
                Quantity::Friction(pair) => {
                    between(pair).map(|(.., friction)| friction).sum::<glam::DVec3>().length()
                }
                Quantity::Force(joint) => joints[joint][0].length(),
                Quantity::Moment(joint) => joints[joint][1].length(),
            });
        }
    }

    /// Draws and writes the picture.
    pub fn finish(&self, events: &[Event]) -> Result<(), String> {
        let first = self.times.first().copied().unwrap_or_default();
        let motion = Motion {
            title: &self.title,
            times: self.times.clone(),
            // A run that goes on has no frames from before.
            events: events.iter().filter(|e| e.t >= first).map(|e| (e.t, e.kind)).collect(),
            kind,
        };
        let picture = draw_quantities(&motion, &self.names, |name| {
            let known = self.quantities.iter().position(|(known, _)| known == name);
            Ok(known.map_or(vec![], |k| self.values[k].clone()))
        })?;
        write_picture(&picture, &self.path)
            .map_err(|e| e.trim_start_matches("error: ").trim_end().to_string())
    }
}

/// Positions of the first bodies that move, and the energy.
fn usual(world: &World) -> Vec<String> {
    let moving = world.bodies.iter().filter(|body| !body.fixed).take(DRAWN_BODIES);
    let positions = moving.flat_map(|body| ["x", "y", "z"].map(|axis| format!("{}.{axis}", body.name)));
    positions.chain(["energy".into()]).collect()
}

/// The quantity with this name; the error is in words.
fn quantity(world: &World, name: &str) -> Result<Quantity, String> {
    match name {
        "t" => return Ok(Quantity::Time),
        "energy" => return Ok(Quantity::Energy),
        _ => {}
    }
    if let Some(k) = motion_columns(world).iter().position(|column| column == name) {
        return Ok(Quantity::Column(k));
    }
    if let Some((owner, what)) = name.rsplit_once('.') {
        let body = |name: &str| world.bodies.iter().position(|body| body.name == name);
        // Names may have a bar in them.
        let pair =
            owner.match_indices('|').find_map(|(i, _)| Some([body(&owner[..i])?, body(&owner[i + 1..])?]));
        let joint = world.joints.iter().position(|joint| joint.name == owner);
        match (what, pair, joint) {
            ("normal", Some(pair), _) => return Ok(Quantity::Normal(pair)),
            ("friction", Some(pair), _) => return Ok(Quantity::Friction(pair)),
            ("force", _, Some(joint)) => return Ok(Quantity::Force(joint)),
            ("moment", _, Some(joint)) => return Ok(Quantity::Moment(joint)),
            _ => {}
        }
    }
    Err(format!(
        "--plot: unknown quantity `{name}`, expected t, energy, BODY.x ({}), BODY|BODY.normal or .friction, \
         JOINT.force or .moment, a sensor as in the tables, or two of them with a colon between{}",
        BODY_COLUMNS.join(" "),
        nearest(name, motion_columns(world).iter().map(String::as_str))
            .map_or(String::new(), |near| format!("; perhaps `{near}`"))
    ))
}

/// What is drawn in one chart, with its unit.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or(name, |(_, what)| what) {
        "energy" => "energy",
        "t" => "time, s",
        "normal" | "friction" | "force" => "forces, N",
        "moment" => "moments, N m",
        "vx" | "vy" | "vz" => "velocities, m/s",
        "wx" | "wy" | "wz" => "angular velocities, rad/s",
        "x" | "y" | "z" => "positions, m",
        _ => "orientation",
    }
}
