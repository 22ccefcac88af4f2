//! The medium of MJCF files, and what of bodies it acts on.
//!
//! A body with a geom of `fluidshape="ellipsoid"` is that ellipsoid, and all of them where there are several;
//! any other body is the box that has its moments of inertia:
//!
//! ```text
//! b_i = √(6 (I_j + I_k − I_i)/m)
//! ```

use glam::{DMat3, DQuat, DVec3};

use super::Model;
use super::attributes::Element;
use crate::diagnostic::Result;
use crate::xml::Node;
use delassus::world::{FluidCoefficients, ImmersedForm, MassProperties, Pose, ShapeKind, principal_axes};

/// Least difference of moments of inertia, kg m².
const LEAST_MOMENT: f64 = 1e-15;

/// What of a body a medium acts on, in the axes of its draft.
#[derive(Default)]
pub(super) struct Wet {
    /// The axes of `<inertial>`, and of the geoms that have mass.
    pub(super) inertial: Option<DQuat>,
    pub(super) geoms: Vec<DQuat>,
    /// Geoms that are ellipsoids for the medium, with half their axes.
    pub(super) ellipsoids: Vec<(Pose, DVec3, FluidCoefficients)>,
}

impl<'a> Model<'a> {
    /// `density`, `viscosity` and `wind` of `<option>`.
    pub(super) fn read_medium(&mut self, node: Node<'a>) -> Result<()> {
        for (name, into) in [("density", &mut self.medium.density), ("viscosity", &mut self.medium.viscosity)]
        {
            [*into] = self.source.numbers(node, name, [*into])?;
            if *into < 0.0 {
                let text = node.attribute(name).unwrap_or_default();
                return self.source.attribute(node, name, text, "a number that is not negative");
            }
        }
        let wind = self.medium.wind.to_array();
        self.medium.wind = DVec3::from_array(self.source.numbers(node, "wind", wind)?);
        Ok(())
    }

    /// Whether passive forces are left out: then weights are not carried either.
    pub(super) fn without_passive_forces(&self) -> bool {
        self.disabled.contains("passive")
            || self.disabled.contains("spring") && self.disabled.contains("damper")
    }

    /// The coefficients of a geom that is an ellipsoid for the medium.
    pub(super) fn fluid_coefficients(&self, element: Element<'a>) -> Result<Option<FluidCoefficients>> {
        let (source, defaults) = (&self.source, &self.defaults);
        match defaults.get(element, "fluidshape") {
            None | Some(("none", _)) => return Ok(None),
            Some(("ellipsoid", _)) => {}
            Some((word, node)) => {
                return source.attribute(node, "fluidshape", &format!("`{word}`"), "none or ellipsoid");
            }
        }
        let list = defaults.list(source, element, "fluidcoef", [1, 5])?.unwrap_or_default();
        if let Some(x) = list.iter().find(|x| **x < 0.0) {
            let expected = "numbers that are not negative";
            return source.attribute(element.node, "fluidcoef", &x.to_string(), expected);
        }
        let usual = FluidCoefficients::default();
        let at = |k: usize, usual: f64| list.get(k).copied().unwrap_or(usual);
        Ok(Some(FluidCoefficients {
            blunt: at(0, usual.blunt),
            slender: at(1, usual.slender),
            angular: at(2, usual.angular),
            kutta: at(3, usual.kutta),
            magnus: at(4, usual.magnus),
        }))
    }

    /// Gives a body of the file to the medium.
    pub(super) fn immerse(
        &mut self,
        draft: usize,
        mass: &MassProperties,
        own_axes: DQuat,
        from_geoms: bool,
        wet: Wet,
    ) {
        let is_there = self.medium.density > 0.0 || self.medium.viscosity > 0.0;
        if !is_there || self.drafts[draft].fixed || self.without_passive_forces() || mass.mass <= 0.0 {
            return;
        }
        if !wet.ellipsoids.is_empty() {
            let parts = wet.ellipsoids.into_iter();
            let parts = parts.map(|(pose, axes, of)| (pose, ImmersedForm::ellipsoid(axes, of)));
            self.drafts[draft].immersed.extend(parts);
            return;
        }
        // Where moments are equal, the axes of the file decide where the box stands.
        let axes = match (from_geoms, wet.geoms.as_slice()) {
            (true, [one]) => *one,
            (true, _) => own_axes,
            (false, _) => wet.inertial.unwrap_or(own_axes),
        };
        let turn = DMat3::from_quat(axes);
        let (moments, rotation) = principal_axes(&(turn.transpose() * mass.inertia * turn));
        let differences = DVec3::splat(moments.element_sum()) - 2.0 * moments;
        let edges = (6.0 * differences.max(DVec3::splat(LEAST_MOMENT)) / mass.mass).powf(0.5);
        let pose = Pose { position: mass.centre, rotation: axes * rotation };
        self.drafts[draft].immersed.push((pose, ImmersedForm::Box { edges }));
    }
}

/// Half the axes of the ellipsoid that stands for a geom; `None` for one that is no primitive.
pub(super) fn half_axes(word: &str, kind: &Option<ShapeKind>, unit: &MassProperties) -> Option<DVec3> {
    match *kind.as_ref()? {
        ShapeKind::Sphere { radius } => Some(DVec3::splat(radius)),
        ShapeKind::Capsule { radius, half_height } => Some(DVec3::new(radius, radius, radius + half_height)),
        ShapeKind::Cylinder { radius, half_height } => Some(DVec3::new(radius, radius, half_height)),
        ShapeKind::Box { half_extents } => Some(half_extents),
        // An ellipsoid of mass m has I_i = m (a_j² + a_k²)/5.
        _ if word == "ellipsoid" => {
            let moments = DVec3::new(unit.inertia.x_axis.x, unit.inertia.y_axis.y, unit.inertia.z_axis.z);
            let squares = (DVec3::splat(moments.element_sum()) - 2.0 * moments) * (2.5 / unit.mass);
            Some(squares.max(DVec3::ZERO).powf(0.5))
        }
        _ => None,
    }
}
