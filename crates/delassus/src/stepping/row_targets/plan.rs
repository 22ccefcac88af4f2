//! How a substep is made: its length, what it keeps, and what it may do where it fails.

/// What a substep does with limits that are not reached at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LimitRule {
    /// It keeps them.
    Enforce,
    /// It goes on as if they were not there: where one is passed, the substep shall end.
    PassBy,
}

/// How far a substep keeps gaps open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum GapRule {
    /// At its end, whatever the linearization missed.
    Exact,
    /// As far as their linearization goes; what overlaps is not pushed out by velocities.
    Linearized,
}

/// Whether contacts may give energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ContactEnergy {
    /// No contact does in exact motion: a substep in which they do has failed.
    Bounded,
    /// Where velocities do not count.
    Free,
}

/// How a substep is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct SubstepPlan {
    pub(in super::super) length: f64,
    /// The time in which what overlaps opens, at least `length`, s. Its velocity stays: one that opens it
    /// within a substep of a nanosecond would throw bodies apart.
    pub(in super::super) opening_time: f64,
    /// The time in which joints that are open at its begin close, s: `length`, and more in substeps that are
    /// short for the sake of joints. Rows of loops that were left out near a singular position are open by
    /// what the mechanism went beside its branch, and to close that within nanoseconds throws it away.
    pub(in super::super) joint_time: f64,
    pub(in super::super) limits: LimitRule,
    pub(in super::super) gaps: GapRule,
    pub(in super::super) energy: ContactEnergy,
    /// Whether the first solve that fails ends the substep: it can be made again, shorter.
    pub(in super::super) may_retry: bool,
    /// Whether it can be made again, shorter, where joints are open at its end or give energy.
    pub(in super::super) may_shorten: bool,
    /// How far joints may be open at its end, in position tolerances.
    pub(in super::super) opening: f64,
    /// Whether it may end where shapes touch that its linearization does not see.
    pub(in super::super) may_cut: bool,
}

impl SubstepPlan {
    /// The bias of a contact or limit with this gap: as fast as it closes within the substep, or as an
    /// overlap opens in its time.
    pub(in super::super) fn gap_bias(&self, gap: f64) -> f64 {
        gap / if gap < 0.0 { self.opening_time } else { self.length }
    }

    /// What a substep leaves of a gap that is an overlap, zero or negative.
    pub(super) fn overlap_left(&self, gap: f64) -> f64 {
        gap.min(0.0) * (1.0 - self.length / self.opening_time)
    }

    /// The same with another length.
    pub(in super::super) fn of_length(self, length: f64) -> Self {
        let joint_time = if self.joint_time == self.length { length } else { self.joint_time };
        SubstepPlan { length, joint_time, ..self }
    }

    /// What a substep leaves of the opening that a joint has at its begin.
    pub(super) fn opening_left(&self, value: f64) -> f64 {
        value * (1.0 - self.length / self.joint_time)
    }

    /// The same, ended at a limit.
    pub(in super::super) fn ending_at_limit(self, length: f64) -> Self {
        SubstepPlan { limits: LimitRule::Enforce, may_cut: false, ..self.of_length(length) }
    }

    /// The same, made where no substep is short enough: bodies go as far as the linearized gaps let them.
    pub(in super::super) fn linearized(self) -> Self {
        SubstepPlan {
            gaps: GapRule::Linearized,
            limits: LimitRule::Enforce,
            energy: ContactEnergy::Free,
            may_retry: false,
            may_shorten: false,
            may_cut: false,
            ..self
        }
    }
}
