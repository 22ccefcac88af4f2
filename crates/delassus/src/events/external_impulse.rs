//! External impulses of a motion: velocities jump at a given time.
//!
//! ```text
//! M (v⁺ − v⁻) = P + Jᵀ p ,     (p, J v⁻, J v⁺) in the law of impact
//! ```
//!
//! P ∈ ℝⁿ is the sum of the impulses of that time, J the rows of all joints and of all contacts that touch (001 eq. 71–73;
//! 002 eq. 2.10). Contacts at rest answer at once: one that is pushed into its surface pushes back, by the law of impact with the
//! velocities before P. One that separates is not there yet: where P drives it back, it is struck after P with the speed it
//! then has.

use delassus_solve::impact::ImpactLaw;
use delassus_solve::linalg::max_abs;

use super::equations::Equations;
use super::impact::{impact, joint_names};
use super::integrate::{GAP, Run};
use super::{Ending, EventKind};

/// Percussions of contacts below this part of the impulse are rounding.
const NO_PERCUSSION: f64 = 1e-12;

impl Run<'_> {
    /// Applies the impulses whose time has come.
    pub(super) fn apply_impulses(&mut self) -> Result<(), Ending> {
        let mut external: Vec<f64> = vec![];
        while let Some(impulse) = self.impulses.pop_if(|i| i.time <= self.state.t) {
            external.resize(self.state.v.len(), 0.0);
            external[impulse.coordinate] += impulse.value;
        }
        if max_abs(&external) == 0.0 {
            return Ok(());
        }
        let before = self.here();
        self.record_event();
        self.push(&external)?;
        self.keep_to_limit(before)?;
        self.record_event();
        Ok(())
    }

    /// The impulse now, and the answer of joints and contacts.
    fn push(&mut self, external: &[f64]) -> Result<(), Ending> {
        let mut at = self.equations()?;
        let still = self.still();
        let rate = |at: &Equations, i: usize| at.contacts[i].as_ref().map_or(0.0, |c| c.normal.velocity);
        let mut law = &self.options.law;
        if let ImpactLaw::NewtonMatrix(_) = law {
            // A matrix tells what becomes of contacts that approach, not how contacts at rest answer to an impulse.
            law = &ImpactLaw::Newton;
            let all = self.touching(&at);
            if all.iter().any(|&i| rate(&at, i) < -still) {
                self.strike(&all)?;
                at = self.equations()?;
            }
        }
        // What separates does not answer. Where the impulse drives it back it is struck, as it would be had the impulse come a
        // moment later.
        let (separate, meeting): (Vec<usize>, Vec<usize>) =
            self.touching(&at).into_iter().partition(|&i| rate(&at, i) > still);
        let struck = impact(self.system, &at, (&self.state.v, external), &meeting, law)?;
        let result = struck.outcome;
        let hit: Vec<usize> = (0..external.len()).filter(|i| external[*i] != 0.0).collect();
        let names: Vec<&str> = hit.iter().map(|&i| self.system.coordinates[i].as_str()).collect();
        let joints = joint_names(self.system, &struck.joints);
        let event = self.event(EventKind::Impulse, &names.join(", "));
        event.impulse = hit.iter().map(|&i| external[i]).collect();
        event.energy_change = result.kinetic_energy_after - result.kinetic_energy_before;
        event.violations.clone_from(&result.violations);
        event.joint_impulses = joints;
        for (&i, p) in meeting.iter().zip(&result.contact_impulses) {
            if max_abs(p) > NO_PERCUSSION * max_abs(external) {
                let name = self.system.contacts[i].name.clone();
                self.event(EventKind::Impact, &name).impulse.clone_from(p);
            }
        }
        self.state.v.clone_from(&result.velocity);
        // A chatter under way is another one from here on.
        self.chatter.iter_mut().for_each(|chatter| chatter.clear());
        let (after, still) = (self.equations()?, self.still());
        let driven = separate.iter().copied().filter(|&i| rate(&after, i) < -still);
        let meeting: Vec<usize> = meeting.into_iter().chain(driven).collect();
        separate.iter().filter(|i| !meeting.contains(i)).for_each(|&i| self.leaving[i] = true);
        if meeting.iter().any(|&i| rate(&after, i) < -still) {
            return self.strike(&meeting);
        }
        let (leaving, touching): (Vec<usize>, Vec<usize>) =
            meeting.iter().partition(|&&i| rate(&after, i) > still);
        leaving.iter().for_each(|&i| self.leaving[i] = true);
        self.settle(&touching, None, true)
    }

    /// Contacts that are closed or have no gap.
    fn touching(&self, at: &Equations) -> Vec<usize> {
        let touches = |i: usize| at.contacts[i].as_ref().is_some_and(|c| c.gap <= GAP);
        (0..at.contacts.len()).filter(|&i| self.modes.contacts[i].is_closed() || touches(i)).collect()
    }
}
