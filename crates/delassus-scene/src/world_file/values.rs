//! Numbers, vectors, directions and poses in the tables of a world.

use glam::{DMat3, DQuat, DVec3, EulerRot};

use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::toml_table::{Table, Value};
use delassus::formula::{Dimension, Expression, ExpressionErrorKind, Symbols, clip, unit_dimension};
use delassus::world::Pose;

/// How far the length of a quaternion may be from one: four entries with three digits each.
const UNIT: f64 = 5e-3;

impl Value<'_> {
    pub(super) fn world_error<T>(&self, kind: WorldErrorKind) -> Result<T> {
        self.error(FileErrorKind::World(kind))
    }

    /// A number whose unit, where one is written, is one of what the key stands for.
    pub(super) fn quantity(&self, symbols: &Symbols) -> Result<f64> {
        let value = self.constant(symbols)?;
        self.check_unit(symbols, self.key.as_str())?;
        Ok(value)
    }

    /// An error where a unit is written that this quantity does not have.
    pub(super) fn check_unit(&self, symbols: &Symbols, quantity: &str) -> Result<()> {
        let Some((known, expected)) = dimensions(quantity) else { return Ok(()) };
        match self.string("").ok().and_then(|text| unit_dimension(text, symbols).map(|unit| (text, unit))) {
            Some((text, unit)) if !known.contains(&unit) => {
                self.world_error(WorldErrorKind::Unit { key: clip(&self.key), value: clip(text), expected })
            }
            _ => Ok(()),
        }
    }

    /// A number greater than zero.
    pub(super) fn positive(&self, symbols: &Symbols) -> Result<f64> {
        let value = self.quantity(symbols)?;
        if value > 0.0 {
            return Ok(value);
        }
        self.world_error(WorldErrorKind::NotPositive { key: clip(&self.key), value })
    }

    /// A number that is not negative.
    pub(super) fn nonnegative(&self, symbols: &Symbols) -> Result<f64> {
        let value = self.quantity(symbols)?;
        if value >= 0.0 {
            return Ok(value);
        }
        self.world_error(WorldErrorKind::Negative { key: clip(&self.key), value })
    }

    /// A coefficient of restitution.
    pub(super) fn restitution(&self, symbols: &Symbols, owner: &str) -> Result<f64> {
        let value = self.quantity(symbols)?;
        if (0.0..=1.0).contains(&value) {
            return Ok(value);
        }
        self.error(FileErrorKind::Restitution { owner: owner.to_string(), value })
    }

    /// A friction coefficient.
    pub(super) fn friction(&self, symbols: &Symbols, owner: &str) -> Result<f64> {
        let value = self.quantity(symbols)?;
        if value >= 0.0 {
            return Ok(value);
        }
        self.error(FileErrorKind::NegativeFriction { owner: owner.to_string(), value })
    }

    /// An angle in radians from a number in degrees, or from a string with a unit of its own.
    pub(super) fn degrees(&self, symbols: &Symbols) -> Result<f64> {
        let value = self.quantity(symbols)?;
        let unit = self.string("").ok().and_then(|text| Expression::parse(text, symbols).err());
        match unit.map(|error| error.kind) {
            Some(ExpressionErrorKind::UnitInFormula { .. }) => Ok(value),
            _ => Ok(value.to_radians()),
        }
    }

    /// As many numbers as `expected` names.
    pub(super) fn numbers<const N: usize>(
        &self,
        expected: &'static str,
        number: impl Fn(&Value<'_>) -> Result<f64>,
    ) -> Result<[f64; N]> {
        let items = self.items(expected)?;
        if items.len() != N {
            let (key, found) = (clip(&self.key), items.len());
            return self.world_error(WorldErrorKind::Length { key, found, expected });
        }
        let mut numbers = [0.0; N];
        for (slot, item) in numbers.iter_mut().zip(&items) {
            *slot = number(item)?;
        }
        Ok(numbers)
    }

    pub(super) fn vector(&self, symbols: &Symbols) -> Result<DVec3> {
        Ok(DVec3::from_array(self.numbers("three numbers [x, y, z]", |v| v.quantity(symbols))?))
    }

    /// A vector of which only the direction counts, as a unit vector.
    pub(super) fn direction(&self, symbols: &Symbols) -> Result<DVec3> {
        let v = self.vector(symbols)?;
        // Scaled first: the square of a small or large number leaves the range.
        match (v / v.abs().max_element()).try_normalize() {
            Some(unit) => Ok(unit),
            None => self.world_error(WorldErrorKind::NoDirection { key: clip(&self.key) }),
        }
    }

    /// A unit quaternion w, x, y, z.
    fn quaternion(&self, symbols: &Symbols) -> Result<DQuat> {
        let [w, x, y, z] = self.numbers("four numbers [w, x, y, z]", |v| v.quantity(symbols))?;
        let q = DQuat::from_xyzw(x, y, z, w);
        let length = q.length();
        if (length - 1.0).abs() > UNIT {
            return self.world_error(WorldErrorKind::NotUnit { key: clip(&self.key), length });
        }
        Ok(q.normalize())
    }
}

/// The dimensions that a quantity may have, and how they are called. Those of joints depend on whether they
/// act along or about an axis.
fn dimensions(quantity: &str) -> Option<(&'static [Dimension], &'static str)> {
    const NUMBER: Dimension = Dimension::NONE;
    const LENGTH: Dimension = Dimension([1, 0, 0]);
    const SPEED: Dimension = Dimension([1, 0, -1]);
    const RATE: Dimension = Dimension([0, 0, -1]);
    const FORCE: Dimension = Dimension([1, 1, -2]);
    const MOMENT: Dimension = Dimension([2, 1, -2]);
    Some(match quantity {
        "mass" => (&[Dimension([0, 1, 0])], "a mass (kg, g)"),
        "density" => (&[Dimension([-3, 1, 0])], "a density (kg/m^3, g/cm^3)"),
        "inertia" => (&[Dimension([2, 1, 0])], "a moment of inertia (kg*m^2)"),
        "position" | "center_of_mass" | "anchor" | "anchors" | "local_anchors" | "radius" | "half_height"
        | "half_extents" | "extent" | "heights" | "points" | "length" | "pitch" | "rolling" | "spinning" => {
            (&[LENGTH], "a length (m, cm, mm)")
        }
        "velocity" => (&[SPEED], "a speed (m/s)"),
        "angular_velocity" => (&[RATE], "an angular velocity (rad/s, rpm)"),
        "gravity" => (&[Dimension([1, 0, -2])], "an acceleration (m/s^2)"),
        "dt" | "t_end" => (&[Dimension([0, 0, 1])], "a time (s, ms)"),
        // Of motors, which may act along an axis or about one.
        "force" | "torque" => (&[FORCE, MOMENT], "a force (N) or a moment (Nm)"),
        "plain force" => (&[FORCE], "a force (N)"),
        "plain torque" => (&[MOMENT], "a moment (Nm)"),
        "limits" | "rest" | "target" | "offset" => {
            (&[LENGTH, NUMBER], "a length (m, mm) or an angle (rad, deg)")
        }
        "limits along" | "rest along" | "position along" | "drive along" => {
            (&[LENGTH], "a length (m, mm), as the joint moves along its axis")
        }
        "limits about" | "rest about" | "position about" | "drive about" => {
            (&[NUMBER], "an angle (rad, deg), as the joint rotates")
        }
        "speed along" | "max_speed along" => (&[SPEED], "a speed (m/s), as the joint moves along its axis"),
        "speed about" | "max_speed about" => {
            (&[RATE], "an angular velocity (rad/s, rpm), as the joint rotates")
        }
        "force along" | "torque along" => (&[FORCE], "a force (N), as the joint moves along its axis"),
        "force about" | "torque about" => (&[MOMENT], "a moment (Nm), as the joint rotates"),
        "stiffness along" => {
            (&[Dimension([0, 1, -2])], "a stiffness (N/m), as the joint moves along its axis")
        }
        "stiffness about" => (&[MOMENT], "a stiffness (Nm/rad), as the joint rotates"),
        "damping along" => {
            (&[Dimension([0, 1, -1])], "a damping coefficient (N*s/m), as the joint moves along its axis")
        }
        "damping about" => {
            (&[Dimension([2, 1, -1])], "a damping coefficient (Nm*s/rad), as the joint rotates")
        }
        "euler_deg" | "limits_deg" => (&[NUMBER], "an angle (deg, rad)"),
        "speed" | "max_speed" => (&[SPEED, RATE], "a speed (m/s) or an angular velocity (rad/s, rpm)"),
        "stiffness" => (&[Dimension([0, 1, -2]), MOMENT], "a stiffness (N/m, Nm/rad)"),
        "damping" => {
            (&[Dimension([0, 1, -1]), Dimension([2, 1, -1])], "a damping coefficient (N*s/m, Nm*s/rad)")
        }
        "armature" => (&[Dimension([2, 1, 0]), Dimension([0, 1, 0])], "an inertia (kg*m^2) or a mass (kg)"),
        "mu" | "mu_static" | "mu_kinetic" | "restitution" | "restitution_tangential" | "tolerance" => {
            (&[], "a number without a unit")
        }
        _ => return None,
    })
}

/// `position` and `orientation` or `euler_deg`; zero where they are not given.
pub(super) fn pose(table: &Table<'_>, symbols: &Symbols) -> Result<Pose> {
    let position = table.get("position").map_or(Ok(DVec3::ZERO), |v| v.vector(symbols))?;
    let rotation = match table.either("orientation", "euler_deg")? {
        None => DQuat::IDENTITY,
        Some(value) if value.key == "orientation" => value.quaternion(symbols)?,
        Some(value) => {
            let [roll, pitch, yaw] =
                value.numbers("three angles [roll, pitch, yaw] in degrees", |v| v.degrees(symbols))?;
            DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll)
        }
    };
    Ok(Pose { position, rotation })
}

/// A frame at a point with this z axis, and its x axis as near as possible to a second direction where one is
/// given.
pub fn frame(position: DVec3, z: DVec3, near_x: Option<DVec3>) -> Pose {
    let rotation = match near_x.and_then(|x| (x - z * x.dot(z)).try_normalize()) {
        Some(x) => DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize(),
        // The shortest rotation, so that the frame of an upright axis is the frame of the world.
        None => DQuat::from_rotation_arc(DVec3::Z, z),
    };
    Pose { position, rotation }
}
