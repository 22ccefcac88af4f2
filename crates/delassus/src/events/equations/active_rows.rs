//! The unknown forces of the equations of motion: the row that each holds, the direction in which it acts.
//!
//! ```text
//! C = Rᵀ + (∂h_t/∂q)ᵀ (−μ e)ᵀ      for what slides ,      max s :  reserves of x + N z ≥ s      where forces are not unique
//! ```
//!
//! R, C and x as in [`super`], h_t the tangential displacements, μ the coefficient of friction, e the
//! direction of slip, N the null space of R M⁻¹ C.

use delassus_solve::lcp::{Lp, linear_program};
use delassus_solve::linalg::{Matrix, axpy, dot, max_abs};

use super::{ContactMode, Equations, JointMode, Modes, Response};
use crate::lagrangian::{Row, System};

/// Sides of the polygon around a friction cone, where forces are not unique.
const CONE_SIDES: usize = 32;

/// Whom an unknown force belongs to, and which of its components it is.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    Joint(usize, usize),
    Contact(usize, usize),
}

/// The unknown forces: the rows that they constrain (R, γ) and the directions in which they push (C).
pub(in crate::events) struct ActiveRows<'a> {
    pub(super) owners: Vec<Owner>,
    pub(super) rows: Vec<&'a Row>,
    pub(super) columns: Vec<Vec<f64>>,
    /// Friction of what slides, per unit of normal force.
    pub(super) friction: Vec<[f64; 2]>,
}

/// The direction of slip at these rows: that of the velocity, or the one at the start of the step where the
/// velocity is no more than `zero_slip` or has passed zero. A slip that ends on a straight line passes zero
/// smoothly that way.
fn slip_direction(slip: &[Row], start: [f64; 2], zero_slip: f64) -> [f64; 2] {
    match slip {
        [_] => start,
        [a, b] => {
            let (x, y) = (a.velocity, b.velocity);
            let speed = x.hypot(y);
            if speed <= zero_slip.max(f64::MIN_POSITIVE) || x * start[0] + y * start[1] <= 0.0 {
                start
            } else {
                [x / speed, y / speed]
            }
        }
        _ => [0.0; 2],
    }
}

impl<'a> ActiveRows<'a> {
    /// Of the joints those for which `selected` is true.
    pub(super) fn new(
        at: &'a Equations,
        modes: &Modes,
        zero_slip: f64,
        selected: impl Fn(usize) -> bool,
    ) -> ActiveRows<'a> {
        let mut active = ActiveRows { owners: vec![], rows: vec![], columns: vec![], friction: vec![] };
        let joints = at.joints.iter().zip(&modes.joints).enumerate();
        for (i, (joint, mode)) in joints.filter(|(i, _)| selected(*i)) {
            let sliding = match *mode {
                JointMode::Slide { direction, sign } => {
                    let e = slip_direction(&joint.slip, direction, zero_slip);
                    Some(e.map(|x| -joint.mu * sign * x))
                }
                _ => None,
            };
            active.add(|c| Owner::Joint(i, c), &joint.row, &joint.slip, sliding, *mode == JointMode::Stick);
        }
        for (i, (contact, mode)) in at.contacts.iter().zip(&modes.contacts).enumerate() {
            let Some(contact) = contact.as_ref().filter(|_| mode.is_closed()) else { continue };
            let sliding = match *mode {
                ContactMode::Slide { direction } => {
                    let e = slip_direction(&contact.slip, direction, zero_slip);
                    Some(e.map(|x| -contact.mu_kinetic * x))
                }
                _ => None,
            };
            let sticks = *mode == ContactMode::Stick;
            active.add(|c| Owner::Contact(i, c), &contact.normal, &contact.slip, sliding, sticks);
        }
        active
    }

    fn add(
        &mut self,
        owner: impl Fn(usize) -> Owner,
        normal: &'a Row,
        slip: &'a [Row],
        sliding: Option<[f64; 2]>,
        sticks: bool,
    ) {
        let mut column = normal.gradient.clone();
        let friction = sliding.unwrap_or_default();
        for (row, f) in slip.iter().zip(friction) {
            axpy(f, &row.gradient, &mut column);
        }
        self.owners.push(owner(0));
        self.rows.push(normal);
        self.columns.push(column);
        self.friction.push(friction);
        for (k, row) in slip.iter().enumerate().filter(|_| sticks) {
            self.owners.push(owner(k + 1));
            self.rows.push(row);
            self.columns.push(row.gradient.clone());
            self.friction.push([0.0; 2]);
        }
    }

    /// R.
    pub(in crate::events) fn rows(&self) -> &[&'a Row] {
        &self.rows
    }

    /// What a row belongs to.
    pub(in crate::events) fn name<'s>(&self, row: usize, system: &'s System) -> &'s str {
        match self.owners[row] {
            Owner::Joint(i, _) => &system.joints[i].name,
            Owner::Contact(i, _) => &system.contacts[i].name,
        }
    }

    /// Per row, the largest entry of its gradient so far.
    pub(in crate::events) fn gradient_sizes(&self, at: &Equations) -> Vec<f64> {
        let size = |(owner, row): (&Owner, &&Row)| match *owner {
            Owner::Joint(i, 0) => at.gradient_sizes[i],
            _ => max_abs(&row.gradient),
        };
        self.owners.iter().zip(&self.rows).map(size).collect()
    }

    /// Values of the rows that are held at zero; 0 for tangents.
    pub(in crate::events) fn values(&self, at: &Equations) -> Vec<f64> {
        let value = |owner: &Owner| match *owner {
            Owner::Joint(i, 0) => at.joints[i].value,
            Owner::Contact(i, 0) => at.contacts[i].as_ref().map_or(0.0, |c| c.gap),
            _ => 0.0,
        };
        self.owners.iter().map(value).collect()
    }

    /// Forces of contacts and joints from the unknowns x.
    pub(in crate::events) fn spread(&self, x: &[f64], response: &mut Response) {
        for ((owner, x), friction) in self.owners.iter().zip(x).zip(&self.friction) {
            let (force, component) = match *owner {
                Owner::Joint(i, c) => (&mut response.joints[i], c),
                Owner::Contact(i, c) => (&mut response.contacts[i], c),
            };
            force[component] += x;
            if component == 0 {
                force[1] += friction[0] * x;
                force[2] += friction[1] * x;
            }
        }
    }

    /// max s with every reserve of forces at least s, over all x + N z.
    pub(in crate::events) fn margin(&self, at: &Equations, modes: &Modes, x: &[f64], null: &Matrix) -> f64 {
        let (k, d) = (x.len(), null.cols());
        let mut forms: Vec<Vec<f64>> = Vec::new();
        for (j, owner) in self.owners.iter().enumerate() {
            let Owner::Contact(i, 0) = *owner else { continue };
            let mut normal = vec![0.0; k];
            normal[j] = 1.0;
            if modes.contacts[i] == ContactMode::Stick {
                let mu = at.contacts[i].as_ref().map_or(0.0, |c| c.mu_static);
                let tangents = at.contacts[i].as_ref().map_or(0, |c| c.slip.len());
                let sides = if tangents == 2 { CONE_SIDES } else { 2 };
                for side in 0..if tangents == 0 { 0 } else { sides } {
                    let angle = 2.0 * std::f64::consts::PI * side as f64 / sides as f64;
                    let mut form = vec![0.0; k];
                    form[j] = mu;
                    form[j + 1] = -angle.cos();
                    if tangents == 2 {
                        form[j + 2] = -angle.sin();
                    }
                    forms.push(form);
                }
            }
            forms.push(normal);
        }
        let size = max_abs(x).max(f64::MIN_POSITIVE);
        if forms.is_empty() {
            return size;
        }
        // Unknowns (z, s): form·(x + N z) − s ≥ 0 and s ≤ size.
        let rows = forms.len() + 1;
        let g = Matrix::from_fn(rows, d + 1, |i, j| match forms.get(i) {
            Some(_) if j == d => -1.0,
            Some(form) => (0..k).map(|l| form[l] * null[(l, j)]).sum(),
            None => -f64::from(j == d),
        });
        let h: Vec<f64> = (0..rows).map(|i| forms.get(i).map_or(-size, |form| -dot(form, x))).collect();
        let mut c = vec![0.0; d + 1];
        c[d] = -1.0;
        match linear_program(&c, &g, &h) {
            Lp::Optimal { value, .. } => -value,
            _ => forms.iter().map(|form| dot(form, x)).fold(size, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mechanics;
    use super::*;
    use crate::events::fixtures::{G, SLIDE_DOWN, block, one_contact, point_on_plane, state};

    fn slip(x: f64, y: f64) -> [Row; 2] {
        [x, y].map(|velocity| Row { gradient: vec![], velocity, bias: 0.0 })
    }

    #[test]
    fn slip_goes_along_the_velocity_until_it_has_passed_zero() {
        assert_eq!(slip_direction(&slip(3.0, 4.0), [1.0, 0.0], 1e-9), [0.6, 0.8]);
        // Too slow to have a direction, and turned around within the step.
        assert_eq!(slip_direction(&slip(0.0, 1e-10), [1.0, 0.0], 1e-9), [1.0, 0.0]);
        assert_eq!(slip_direction(&slip(-3.0, 4.0), [1.0, 0.0], 1e-9), [1.0, 0.0]);
        // In the plane the mode knows the direction.
        assert_eq!(slip_direction(&slip(-3.0, 0.0)[..1], [1.0, 0.0], 1e-9), [1.0, 0.0]);
    }

    /// What slides down an incline pushes along (−μ, 1); what sticks has a force along each row.
    #[test]
    fn columns_have_the_friction_of_what_slides() {
        let (system, at_rest) = (block(0.6, 0.25), state(&[0.0; 2], &[0.0; 2]));
        let mut mechanics = Mechanics::new(&system, &at_rest).unwrap();
        let at = mechanics.equations((0.0, &at_rest.q, &at_rest.v), |_| true).unwrap();
        let sliding = ActiveRows::new(&at, &one_contact(SLIDE_DOWN), 1e-9, |_| true);
        assert_eq!(sliding.columns, [vec![-0.25, 1.0]]);
        assert_eq!(sliding.rows[0].gradient, [0.0, 1.0]);
        let sticking = ActiveRows::new(&at, &one_contact(ContactMode::Stick), 1e-9, |_| true);
        assert_eq!(sticking.columns, [vec![0.0, 1.0], vec![1.0, 0.0]]);
        let open = ActiveRows::new(&at, &one_contact(ContactMode::Open), 1e-9, |_| true);
        assert!(open.rows.is_empty());
    }

    /// With the normal force N and friction f in space the reserve is the least of N and μN − |f|.
    #[test]
    fn the_margin_is_the_least_reserve() {
        let (system, at_rest) = (point_on_plane(0.5), state(&[0.0; 3], &[0.0; 3]));
        let mut mechanics = Mechanics::new(&system, &at_rest).unwrap();
        let at = mechanics.equations((0.0, &at_rest.q, &at_rest.v), |_| true).unwrap();
        let modes = one_contact(ContactMode::Stick);
        let active = ActiveRows::new(&at, &modes, 1e-9, |_| true);
        let unique = Matrix::zeros(3, 0);
        // A direction in which the polygon around the cone has a side.
        let reserve = active.margin(&at, &modes, &[G, 3.0, 0.0], &unique);
        assert!((reserve - (0.5 * G - 3.0)).abs() < 1e-12, "{reserve}");
        // With friction free along x and y it can be taken away.
        let free = Matrix::from_fn(3, 2, |i, j| f64::from(i == j + 1));
        let reserve = active.margin(&at, &modes, &[G, 3.0, 4.0], &free);
        assert!((reserve - 0.5 * G).abs() < 1e-12, "{reserve}");
    }
}
