//! The energy that passes through joints and contacts in a substep.
//!
//! ```text
//! T(v⁺) − T(v⁻) = Σ_i r_i ū_i + K·v̄ ,   ū = H v̄ ,   v̄ = ½ (v⁻ + v⁺)
//! ```
//!
//! r are the impulses of a solve, K = h F those of weights and given forces that act beside them, v⁻ the
//! velocities before both. The sum is exact whatever the solve: it splits the change into the work of each
//! impulse. Passive joints do no work in exact motion. What they do in a substep is the error of the scheme:
//! of third order where the motion is smooth, and without bound where the positions at the end belong to
//! another motion. What they do in a step is bounded too: many substeps, each within its own bound, may add
//! up.

mod account;

pub(super) use account::AccountedSolve;
pub use account::{EnergyAccount, EnergyGain};

use super::linearization::Linearization;
use super::model::Model;
use super::row_targets::SubstepPlan;
use super::warm_start::Impulses;
use crate::collision::Contact;
use crate::world::{Masses, RowKind, Rows, World, mean_row_velocity, row_velocity};
use account::SubstepAccount;

/// Work of joints in a substep, in parts of the kinetic energy, above which it is made again, shorter. A
/// motion that a step resolves to a tenth of a radian has less; 10⁴ substeps at this bound would be needed to
/// change the energy by as much as there is.
const MAX_JOINT_WORK: f64 = 1e-4;
/// The same where contacts push: where one hits, the impulse of a joint acts along the velocity of the middle
/// of the substep, and its work is of first order.
const MAX_JOINT_WORK_AT_CONTACTS: f64 = 1e-2;
/// The same in the scheme of first order, whose error is (ωh)²/4 for a rotation with ω. It takes energy by
/// itself: only what joints give counts.
const MAX_JOINT_WORK_HALF_IMPLICIT: f64 = 0.1;
/// Work of joints in all substeps of a step, in parts of the kinetic energy, above which the step is no
/// motion: as much as a hundred substeps may have. A bob that passes below a cart without weight has a
/// thousandth of it.
const MAX_STEP_JOINT_WORK: f64 = 1e-2;
/// The same where contacts push.
const MAX_STEP_JOINT_WORK_AT_CONTACTS: f64 = 5e-2;
/// The next substep may be twice as long where the work, of third order, is below this part of the bound.
const GROWTH_RATIO: f64 = 0.1;
/// Joints may move by this many position tolerances against their forces: positions are found to one of them
/// at both ends of the drift, and what is beyond ten of them is reported as open.
const OPENING_TOLERANCES: f64 = 20.0;
/// The most of the kinetic energy that this lets joints have: in substeps of a nanosecond impulses near
/// singular positions would pass with any work. What rests has no kinetic energy to compare; there it is what
/// joints have that open by as much within the time in which they close.
const MAX_SLACK: f64 = 1e-3;

/// Work of the bilateral rows of joints in a substep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JointWork {
    /// Beside what drives give, J.
    work: f64,
    /// Kinetic energy of all bodies, the larger of both ends and that of the begin, J.
    kinetic: f64,
    kinetic_before: f64,
    /// Velocity of joints that the tolerance of positions leaves, m/s, and the work that it lets them have,
    /// J.
    opening_speed: f64,
    slack: f64,
    /// The velocity that it leaves contacts and limits, m/s: overlaps open more slowly.
    overlap_speed: f64,
    /// The same of joints that open by the whole tolerance within the time in which they close.
    closing_speed: f64,
    slow_slack: f64,
    /// The part of the kinetic energy that it may be, in the substep and in its step, and whether what joints
    /// take counts as what they give.
    part: f64,
    step_part: f64,
    takes: bool,
}

/// Work of joints in the substeps of a step that were taken.
#[derive(Clone, Copy, Debug, Default)]
struct StepWork {
    /// As in [`JointWork`]; the kinetic energy is that at the begin of the step.
    work: f64,
    kinetic: Option<f64>,
    slack: f64,
    part: f64,
}

impl StepWork {
    /// With one substep more.
    fn with(self, substep: &JointWork) -> Self {
        StepWork {
            work: self.work + substep.work,
            kinetic: self.kinetic.or(Some(substep.kinetic_before)),
            slack: self.slack + substep.slow_slack,
            part: self.part.max(substep.step_part),
        }
    }

    /// The work in parts of what a step may have whose last substep this was, positive where joints give. The
    /// kinetic energy to compare with is none that joints gave.
    fn ratio(&self, last: &JointWork) -> f64 {
        let given = last.kinetic - self.work.max(0.0);
        let kinetic = self.kinetic.unwrap_or(0.0).max(given);
        if self.work == 0.0 { 0.0 } else { self.work / (self.part * kinetic + self.slack) }
    }
}

/// Joints had more work than they may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JointExcess {
    /// They gave so much, J.
    Gave(f64),
    /// They took so much, J.
    Took(f64),
}

/// The energy of the solves of a substep, in memory that is kept.
#[derive(Default)]
pub(super) struct SubstepEnergy {
    joints: JointWork,
    step: StepWork,
    account: SubstepAccount,
}

impl SubstepEnergy {
    /// Begins with the first solve of a substep.
    pub(super) fn begin(&mut self, plan: &SubstepPlan, solve: &AccountedSolve<'_>) {
        self.joints = JointWork::new(solve.model, plan, solve.impulses);
        self.account.clear();
        self.add(solve);
    }

    /// Adds a solve.
    pub(super) fn add(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve { model, linearization, impulses, velocities: [before, _, after], .. } = *solve;
        self.joints.add(model, linearization, &impulses.rows, [before, after]);
        self.account.add(solve);
    }

    /// Adds the change of the kinetic energy by a law of impact that acts beside the solves.
    pub(super) fn add_impact(&mut self, change: f64, hit: Option<&Contact>) {
        self.account.add_impact(change, hit);
    }

    /// That of joints which had this work beside this kinetic energy, without contacts.
    #[cfg(test)]
    pub(super) fn of_joints(work: f64, kinetic: f64) -> Self {
        let joints = JointWork {
            work,
            kinetic,
            part: MAX_JOINT_WORK,
            step_part: MAX_STEP_JOINT_WORK,
            takes: true,
            ..JointWork::default()
        };
        SubstepEnergy { joints, ..SubstepEnergy::default() }
    }

    /// Begins a step.
    pub(super) fn begin_step(&mut self) {
        self.step = StepWork::default();
    }

    /// What joints gave or took, where it is more than the substep, or its step with it, may have. What is
    /// not a number is given.
    pub(super) fn joint_excess(&self) -> Option<JointExcess> {
        let step = self.step.with(&self.joints);
        self.own_excess().or_else(|| self.excess(step.ratio(&self.joints), step.work))
    }

    /// Whether that might be less in a shorter substep: what the substeps before it had stays.
    pub(super) fn shorter_may_help(&self) -> bool {
        let before = || self.excess(self.step.ratio(&self.joints), self.step.work);
        self.own_excess().is_some() || self.joint_excess().is_some() && before().is_none()
    }

    fn own_excess(&self) -> Option<JointExcess> {
        self.excess(self.joints.ratio(), self.joints.work)
    }

    fn excess(&self, ratio: f64, work: f64) -> Option<JointExcess> {
        if ratio.is_nan() || ratio > 1.0 {
            Some(JointExcess::Gave(work))
        } else {
            (self.joints.takes && ratio < -1.0).then_some(JointExcess::Took(-work))
        }
    }

    /// Whether a substep twice as long would do, as far as joints go.
    pub(super) fn lets_grow(&self) -> bool {
        self.joints.ratio().abs() <= GROWTH_RATIO
    }

    /// Adds the account of a substep that ended at t with these contacts to that of its step, and what
    /// contacts put in to the list of it.
    pub(super) fn close(
        &mut self,
        world: &World,
        contacts: &[Contact],
        t: f64,
        (energy, gains): (&mut EnergyAccount, &mut Vec<EnergyGain>),
    ) {
        let [kinetic, overlap_speed] = self.joints.scales();
        self.account.close(world, contacts, [t, kinetic, overlap_speed], gains);
        energy.add(&self.account.energy);
        energy.joints += self.joints.work;
        self.step = self.step.with(&self.joints);
    }
}

/// Kinetic energy of all bodies and of the rotors of joints, J.
pub(super) fn kinetic(masses: &Masses, rows: &Rows, v: &[f64]) -> f64 {
    let of_bodies = 0.5 * v.iter().zip(&masses.mass).map(|(v, m)| m * v * v).sum::<f64>();
    let rotors = rows.rows.iter().enumerate().filter_map(|(i, row)| match row.kind {
        RowKind::Armature { inertia } => Some(0.5 * inertia * row_velocity(rows, i, masses, v).powi(2)),
        _ => None,
    });
    of_bodies + rotors.sum::<f64>()
}

impl JointWork {
    /// No work yet, in a substep whose first solve had these impulses.
    pub(super) fn new(model: &Model, plan: &SubstepPlan, first: &Impulses) -> Self {
        let opening = OPENING_TOLERANCES * plan.opening * model.options.position_tolerance;
        let contacts_push = first.contacts.iter().any(|r| r[0] > 0.0);
        let ([part, step_part], takes) = match contacts_push {
            _ if !model.is_symmetric() => ([MAX_JOINT_WORK_HALF_IMPLICIT; 2], false),
            true => ([MAX_JOINT_WORK_AT_CONTACTS, MAX_STEP_JOINT_WORK_AT_CONTACTS], true),
            false => ([MAX_JOINT_WORK, MAX_STEP_JOINT_WORK], true),
        };
        let (opening_speed, overlap_speed) = (opening / plan.length, opening / plan.opening_time);
        let closing_speed = overlap_speed / plan.opening;
        let bounds = JointWork { part, step_part, takes, ..JointWork::default() };
        JointWork { opening_speed, overlap_speed, closing_speed, ..bounds }
    }

    /// Adds a solve that led from the velocities `from`, without the kick, to the velocities `to`.
    pub(super) fn add(
        &mut self,
        model: &Model,
        on: &Linearization,
        row_impulse: &[f64],
        [from, to]: [&[f64]; 2],
    ) {
        let (rows, masses) = (on.joint_rows(), &model.masses);
        // The second solve begins with what the first ends with.
        if self.kinetic == 0.0 {
            self.kinetic_before = kinetic(masses, rows, from);
            self.kinetic = self.kinetic_before;
        }
        self.kinetic = self.kinetic.max(kinetic(masses, rows, to));
        for (i, r) in row_impulse.iter().enumerate().take(rows.bilateral).filter(|(_, r)| **r != 0.0) {
            self.work += r * (mean_row_velocity(rows, i, masses, [from, to]) + rows.rows[i].rate);
            self.slack += r.abs() * self.opening_speed;
            self.slow_slack += r.abs() * self.closing_speed;
        }
    }

    /// The work in parts of what a substep may have, positive where joints give.
    fn ratio(&self) -> f64 {
        let slack = self.slack.min(self.slow_slack.max(MAX_SLACK * self.kinetic));
        if self.work == 0.0 { 0.0 } else { self.work / (self.part * self.kinetic + slack) }
    }

    /// Kinetic energy of all bodies, the larger of both ends, J, and the velocity that the tolerance of
    /// positions leaves contacts and limits, m/s.
    fn scales(&self) -> [f64; 2] {
        [self.kinetic, self.overlap_speed]
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::super::row_targets::{ContactEnergy, GapRule, LimitRule};
    use super::*;
    use crate::world::ActionKind;

    /// The work of the first row of a guide with an impulse r along its velocity from 0.1 to 0.3 m/s.
    fn work(r: f64) -> JointWork {
        let spring = ActionKind::Spring { stiffness: 0.0, damping: 0.0, rest: 0.0 };
        let (world, mut state) = slider(spring, 0.5, 0.0);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let plan = SubstepPlan {
            length: 1e-3,
            opening_time: 1e-3,
            joint_time: 1e-3,
            limits: LimitRule::Enforce,
            gaps: GapRule::Exact,
            energy: ContactEnergy::Bounded,
            may_retry: false,
            may_shorten: false,
            opening: 1.0,
            may_cut: false,
        };
        let mut rows = vec![0.0; on.joint_rows().rows.len()];
        let unit = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let along = (0..5).find(|&i| row_velocity(on.joint_rows(), i, &model.masses, &unit) != 0.0).unwrap();
        rows[along] = r * row_velocity(on.joint_rows(), along, &model.masses, &unit).signum();
        let mut sum = JointWork::new(&model, &plan, &Impulses::default());
        sum.add(&model, &on, &rows, [0.1, 0.3].map(|v| unit.map(|x| v * x)).each_ref().map(|v| &v[..]));
        sum
    }

    #[test]
    fn the_work_of_a_joint_is_its_impulse_times_the_mean_velocity() {
        // ½ (0.1 + 0.3) of 1 mN s; the kinetic energy is ½ 2 kg (0.3 m/s)² = 0.09 J, of which 1e-4 may be
        // work.
        assert!((work(1e-3).work - 2e-4).abs() < 1e-18);
        assert!((work(1e-3).scales()[0] - 0.09).abs() < 1e-16);
        let bound = 1e-4 * 0.09 / 0.2;
        for (r, gave, took, grows) in [
            (1.01 * bound, true, false, false),
            (0.99 * bound, false, false, false),
            (0.05 * bound, false, false, true),
            (-1.01 * bound, false, true, false),
        ] {
            let found = SubstepEnergy { joints: work(r), ..SubstepEnergy::default() };
            let excess = found.joint_excess();
            assert_eq!(matches!(excess, Some(JointExcess::Gave(_))), gave, "{r}");
            assert_eq!(matches!(excess, Some(JointExcess::Took(_))), took, "{r}");
            assert_eq!(found.lets_grow(), grows, "{r}");
        }
        let lost = SubstepEnergy { joints: work(f64::NAN), ..SubstepEnergy::default() };
        assert!(matches!(lost.joint_excess(), Some(JointExcess::Gave(_))));
    }

    /// Substeps with nine tenths of their own bound: 120 of them are more than a hundred may have, whichever
    /// way joints work. As many that give and take by turns are not.
    #[test]
    fn substeps_within_their_bounds_may_not_add_up() {
        let bound = 1e-4 * 0.09 / 0.2;
        let world = World::default();
        let made = |parts: &[f64]| {
            let (mut energy, mut account) = (SubstepEnergy::default(), EnergyAccount::default());
            energy.begin_step();
            for part in parts {
                energy.joints = work(part * bound);
                if let Some(excess) = energy.joint_excess() {
                    return Err(excess);
                }
                energy.close(&world, &[], 0.0, (&mut account, &mut vec![]));
            }
            Ok(account.joints)
        };
        assert!(matches!(made(&[0.9; 120]), Err(JointExcess::Gave(work)) if work > 9e-3 * 0.09));
        assert!(matches!(made(&[-0.9; 120]), Err(JointExcess::Took(work)) if work > 9e-3 * 0.09));
        let sum = made(&[0.9; 100]).unwrap();
        assert!((sum - 100.0 * 0.9e-4 * 0.09).abs() < 1e-15, "{sum}");
        let turns = [0.9, -0.9].repeat(100);
        assert!(made(&turns).unwrap().abs() < 1e-15);
    }

    /// A substep that took too much and could not be shorter leaves the others of its step as long as they
    /// may be.
    #[test]
    fn what_is_lost_already_makes_no_substep_shorter() {
        let bound = 1e-4 * 0.09 / 0.2;
        let mut energy = SubstepEnergy { joints: work(-200.0 * bound), ..SubstepEnergy::default() };
        assert!(energy.shorter_may_help());
        energy.close(&World::default(), &[], 0.0, (&mut EnergyAccount::default(), &mut vec![]));
        energy.joints = work(-0.05 * bound);
        assert!(matches!(energy.joint_excess(), Some(JointExcess::Took(_))));
        assert!(!energy.shorter_may_help() && energy.lets_grow());
        energy.joints = work(-1.01 * bound);
        assert!(energy.shorter_may_help());
    }

    #[test]
    fn kinetic_energy_counts_translation_and_rotation() {
        let (world, _) = ball_on_floor(smooth(), 0.0, glam::DVec3::ZERO);
        let masses = Masses::new(&world);
        let v = [3.0, 0.0, 0.0, 0.0, 4.0, 0.0];
        assert!((kinetic(&masses, &Rows::default(), &v) - 0.5 * (MASS * 9.0 + INERTIA * 16.0)).abs() < 1e-14);
    }
}
