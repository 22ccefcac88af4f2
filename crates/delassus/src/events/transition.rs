//! What happens at an event: impacts, jams, the end of a chatter, and the modes after it.

use delassus_solve::impact::{ImpactLaw, ImpactStatus};
use delassus_solve::linalg::norm;

use super::equations::{ContactMode, Equations, JointMode, Modes};
use super::guards::Condition;
use super::impact::{impact, jam, joint_names};
use super::integrate::{Cause, GAP, Run};
use super::low_flight::Flight;
use super::mode_selection::{Answer, Decision, decide};
use super::projection::{project, project_positions, project_velocity};
use super::{Ending, Event, EventKind, Indeterminate};
use crate::lagrangian::{DecidingOptions, Fate, deciding_order};

/// Impacts or jams at one instant, at most.
const REPEATS: usize = 100;
/// Derivatives above this order are not asked for where there are more coordinates than these.
const FEW_ORDERS: usize = 4;
const FEW: usize = 6;
/// Contacts whose flights are no longer than this many of those of another may come to rest together with it.
const RHYTHM: f64 = 4.0;
/// A state at the end of an accumulation is continued from strikes up to this many times the remaining time before it.
const LOOKED_BACK: f64 = 16.0;
/// Gaps up to this are looked at in an event; those that close are smaller by far, m.
const NEAR: f64 = 1e-5;
/// Slips at the end of a chatter below this many times what counts as zero elsewhere are none: they are extrapolated.
const SLOW: f64 = 1e3;
/// Speeds at which a contact that is struck without rebound leaves are larger than this; slower ones come back at once, m/s.
const LOW: f64 = 1e-5;
/// Parts of the step after an event at which forces that are not unique are looked at again.
const AHEAD: [f64; 2] = [1e-4, 1e-2];

impl Run<'_> {
    /// The event `cause` at θ of the step; the state is there already.
    pub(super) fn change(&mut self, theta: f64, cause: Cause) -> Result<(), Ending> {
        let closed: Vec<usize> =
            (0..self.modes.contacts.len()).filter(|i| self.modes.contacts[*i].is_closed()).collect();
        match cause {
            Cause::Touch(first) => {
                let at = self.equations()?;
                let still = self.still();
                let mut meeting = closed;
                let mut strikes = false;
                for i in 0..at.contacts.len() {
                    let Some(contact) = at.contacts[i].as_ref().filter(|_| !meeting.contains(&i)) else {
                        continue;
                    };
                    let near = i == first || (contact.gap.abs() <= GAP && !self.leaving[i]);
                    if near && contact.normal.velocity < -still {
                        strikes = true;
                        meeting.push(i);
                    } else if near && contact.normal.velocity <= still {
                        meeting.push(i);
                    }
                }
                if strikes { self.strike(&meeting) } else { self.settle_touch(&meeting, first) }
            }
            Cause::Mode(Condition::Determinant) => {
                if self.jam_now(1.0 + 1e-6)? {
                    Ok(())
                } else {
                    Err(Ending::StepTooShort)
                }
            }
            Cause::Mode(Condition::Rate(contact)) => {
                let mut touching = closed;
                touching.push(contact);
                self.settle(&touching, None, false)
            }
            Cause::Mode(condition) => {
                if let Condition::Slip(i) = condition {
                    // What is left of the slip is rounding.
                    let mut modes = self.modes.clone();
                    modes.contacts[i] = ContactMode::Stick;
                    project_velocity(&mut self.mechanics, &mut self.state, &modes)?;
                }
                if let Condition::JointSlip(j) = condition {
                    let mut modes = self.modes.clone();
                    modes.joints[j] = JointMode::Stick;
                    project_velocity(&mut self.mechanics, &mut self.state, &modes)?;
                }
                if condition == Condition::Together {
                    return self.look_ahead(theta, &closed);
                }
                let before = self.modes.clone();
                self.settle(&closed, Some(condition), false)?;
                if self.modes == before { self.look_ahead(theta, &closed) } else { Ok(()) }
            }
        }
    }

    /// Puts contacts onto their surfaces, beside those that are closed.
    pub(super) fn meet(&mut self, contacts: &[usize]) -> Result<(), Ending> {
        let mut modes = self.modes.clone();
        for &i in contacts {
            modes.contacts[i] = ContactMode::Slide { direction: [0.0; 2] };
        }
        project_positions(&mut self.mechanics, &mut self.state, &modes)?;
        Ok(())
    }

    /// Masses, forces and rows of the contacts that touch.
    pub(super) fn equations(&mut self) -> Result<Equations, Ending> {
        let near = self.mechanics.near(&self.state, NEAR);
        let modes = &self.modes;
        let wanted = |i: usize| near[i] || modes.contacts[i].is_closed();
        Ok(self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), wanted)?)
    }

    pub(super) fn event(&mut self, kind: EventKind, contact: &str) -> &mut Event {
        let at = self.events.len();
        self.events.push(Event {
            t: self.state.t,
            kind,
            contact: contact.to_owned(),
            impulse: vec![],
            joint_impulses: vec![],
            energy_change: 0.0,
            violations: vec![],
            answers: 0,
            chosen: vec![],
            order: None,
        });
        &mut self.events[at]
    }

    /// A contact that touches without speed: it grazes, or stays.
    fn settle_touch(&mut self, meeting: &[usize], first: usize) -> Result<(), Ending> {
        self.settle(meeting, None, false)?;
        if self.modes.contacts[first] == ContactMode::Open {
            // One that higher derivatives opened was told so, with their order; it was not closed before.
            let name = self.system.contacts[first].name.clone();
            let t = self.state.t;
            let told = |e: &&mut Event| e.kind == EventKind::Open && e.contact == name;
            match self.events.iter_mut().rev().take_while(|e| e.t == t).find(told) {
                Some(event) => event.kind = EventKind::Graze,
                None => {
                    self.event(EventKind::Graze, &name);
                }
            }
        }
        Ok(())
    }

    /// Impacts of these contacts, until none approaches; then the modes after them.
    pub(super) fn strike(&mut self, meeting: &[usize]) -> Result<(), Ending> {
        let mut meeting = meeting.to_vec();
        let mut struck: Vec<(usize, f64)> = vec![];
        for _ in 0..REPEATS {
            let at = self.equations()?;
            let result = impact(self.system, &at, (&self.state.v, &[]), &meeting, &self.options.law)?;
            let mut joints = joint_names(self.system, &result.joints);
            let result = result.outcome;
            let still = self.still();
            let mut change = result.kinetic_energy_after - result.kinetic_energy_before;
            for (k, &i) in meeting.iter().enumerate() {
                let u = result.contact_velocities_before[k][0];
                if u < -still {
                    let name = self.system.contacts[i].name.clone();
                    let event = self.event(EventKind::Impact, &name);
                    event.impulse.clone_from(&result.contact_impulses[k]);
                    event.energy_change = std::mem::take(&mut change);
                    event.joint_impulses = std::mem::take(&mut joints);
                    event.violations.clone_from(&result.violations);
                    if !struck.iter().any(|s| s.0 == i) {
                        struck.push((i, -u));
                    }
                }
            }
            self.state.v.clone_from(&result.velocity);
            // Who approaches now, among all that touch?
            let after = self.equations()?;
            let still = self.still();
            let mut again = false;
            for (i, contact) in after.contacts.iter().enumerate() {
                let Some(contact) = contact else { continue };
                let touches = meeting.contains(&i) || (contact.gap.abs() <= GAP && self.leaving[i]);
                if touches && contact.normal.velocity < -still {
                    again = true;
                    if !meeting.contains(&i) {
                        meeting.push(i);
                    }
                }
            }
            if again {
                if matches!(self.options.law, ImpactLaw::NewtonMatrix(_)) {
                    // An equation for all would turn back a contact that leaves; it is struck where others drive it in again.
                    let leaves =
                        |i: usize| after.contacts[i].as_ref().is_some_and(|c| c.normal.velocity > still);
                    meeting.iter().filter(|i| leaves(**i)).for_each(|&i| self.leaving[i] = true);
                    meeting.retain(|i| !leaves(*i));
                }
                continue;
            }
            let mut touching = vec![];
            for &i in &meeting {
                let u = after.contacts[i].as_ref().map_or(0.0, |c| c.normal.velocity);
                if u > still {
                    self.leaving[i] = true;
                    self.flights[i] = Some(Flight::BEGIN);
                } else {
                    self.flights[i] = None;
                    touching.push(i);
                }
            }
            if self.accumulate(&struck, &touching)? {
                return Ok(());
            }
            return self.settle(&touching, None, true);
        }
        let after = self.equations()?;
        let rate = |i: &usize| after.contacts[*i].as_ref().map_or(0.0, |c| c.normal.velocity);
        Err(Ending::NoOutcome {
            contacts: meeting.iter().map(|&i| self.system.contacts[i].name.clone()).collect(),
            velocities: meeting.iter().map(rate).collect(),
            law: self.options.law.name(),
            status: ImpactStatus::TooManyImpacts,
        })
    }

    /// Whether one of the contacts that were struck has come so near to the end of its impacts that the run goes on from
    /// there.
    fn accumulate(&mut self, struck: &[(usize, f64)], touching: &[usize]) -> Result<bool, Ending> {
        let y: Vec<f64> = self.state.q.iter().chain(&self.state.v).copied().collect();
        let mut found = None;
        for &(i, speed) in struck {
            let limit = self.chatter[i].strike(
                self.state.t,
                self.since[i],
                speed,
                y.clone(),
                self.options.accumulation_window,
            );
            found = found.or(limit.map(|limit| (i, limit)));
            self.since[i] = 0.0;
        }
        let Some((first, limit)) = found else { return Ok(false) };
        let end = self.state.t + limit.remaining;
        let n = self.state.q.len();
        // All that took part come to rest: struck in the same rhythm, the last time since the last strike of the first but one; and
        // what touches now or is closed.
        let round = limit.flight * (1.0 + 1e-6);
        let mut closed: Vec<usize> = (0..self.since.len())
            .filter(|&i| {
                let takes_part = self.since[i] <= round && self.chatter[i].rhythm() <= RHYTHM * limit.flight;
                takes_part || touching.contains(&i) || self.modes.contacts[i].is_closed()
            })
            .collect();
        // The way to the end is not jumped over where something else is due on it, or where another contact was struck while the
        // states were collected from which it is continued.
        let due = |t: f64| t <= end;
        let disturbed = self.breakpoints[self.next_break..].iter().copied().any(due)
            || (0..self.since.len())
                .any(|i| !closed.contains(&i) && self.since[i] <= LOOKED_BACK * limit.remaining);
        if !limit.lost && disturbed {
            return Ok(false);
        }
        let (q, v) = limit.y.split_at(n);
        let at = self.mechanics.equations((end, q, v), |_| true)?;
        let clear = |i: usize| {
            limit.lost
                || closed.contains(&i)
                || at.contacts[i].as_ref().is_none_or(|c| c.gap > GAP || self.leaving[i])
        };
        if end > self.options.t_end || !(0..self.since.len()).all(clear) {
            return Ok(false);
        }
        self.record_jump(end, q, v);
        let energy = self.energy_at(&self.state);
        self.since.iter_mut().for_each(|s| *s += limit.remaining);
        self.flights.fill(None);
        self.state.t = end;
        self.state.q.copy_from_slice(q);
        self.state.v.copy_from_slice(v);
        if limit.lost {
            self.end_at_once(&mut closed)?;
        }
        let old = self.modes.clone();
        let mut at_rest = Modes { joints: old.joints.clone(), contacts: old.contacts.clone() };
        for mode in &mut at_rest.contacts {
            *mode = ContactMode::Open;
        }
        for &i in &closed {
            at_rest.contacts[i] = ContactMode::Slide { direction: [0.0; 2] };
            self.leaving[i] = false;
            self.chatter[i].clear();
        }
        project(&mut self.mechanics, &mut self.state, &at_rest)?;
        let at = self.equations()?;
        for &i in &closed {
            let slip = at.contacts[i]
                .as_ref()
                .map_or(0.0, |c| c.slip.iter().map(|r| r.velocity * r.velocity).sum::<f64>().sqrt());
            if slip <= SLOW * self.still() && at.contacts[i].as_ref().is_some_and(|c| c.mu_static > 0.0) {
                at_rest.contacts[i] = ContactMode::Stick;
            }
        }
        project_velocity(&mut self.mechanics, &mut self.state, &at_rest)?;
        let name = self.system.contacts[first].name.clone();
        let energy_change = self.energy_at(&self.state) - energy;
        self.event(EventKind::Accumulation, &name).energy_change = energy_change;
        self.settle(&closed, None, true)?;
        Ok(true)
    }

    /// What is left of infinitely many impacts, as one without rebound: their percussions add up to what stops all of these contacts.
    /// Those that it does not stop leave.
    fn end_at_once(&mut self, contacts: &mut Vec<usize>) -> Result<(), Ending> {
        self.meet(contacts)?;
        let mut at = self.equations()?;
        at.contacts.iter_mut().flatten().for_each(|contact| contact.restitution = 0.0);
        contacts.retain(|i| at.contacts[*i].is_some());
        let law = &ImpactLaw::Moreau;
        let result = impact(self.system, &at, (&self.state.v, &[]), contacts, law)?.outcome;
        self.state.v.clone_from(&result.velocity);
        let after = self.equations()?;
        let leaves = |i: usize| after.contacts[i].as_ref().is_some_and(|c| c.normal.velocity > LOW);
        for &i in contacts.iter().filter(|i| leaves(**i)) {
            self.leaving[i] = true;
            self.flights[i] = Some(Flight::BEGIN);
        }
        contacts.retain(|i| !leaves(*i));
        Ok(())
    }

    /// The modes after an event, with these contacts touching. `jumped`: velocities jumped just now.
    pub(super) fn settle(
        &mut self,
        touching: &[usize],
        cause: Option<Condition>,
        jumped: bool,
    ) -> Result<(), Ending> {
        let mut touches = vec![false; self.modes.contacts.len()];
        touching.iter().for_each(|&i| touches[i] = true);
        for _ in 0..REPEATS {
            let at = self.equations()?;
            // A contact that is nowhere near has no equations.
            touches.iter_mut().zip(&at.contacts).for_each(|(touches, at)| *touches &= at.is_some());
            let decision = self.decision(&at, &touches, cause)?;
            match decision {
                Decision::Answers(answers) => {
                    if self.jam_is_chosen(&at, &mut touches, answers.len())? {
                        continue;
                    }
                    let mut answer = self.choose(answers)?;
                    if !answer.ties.is_empty() {
                        self.break_ties(&mut answer, &touches);
                    }
                    return self.adopt(answer.modes, &touches, jumped);
                }
                Decision::NoSolution => {
                    if !self.jam_among(&at, &mut touches)? {
                        return Err(Ending::NoSolution);
                    }
                }
                Decision::Unknown => return Err(Ending::Undecided),
            }
        }
        Err(Ending::Stuck)
    }

    /// Opens contacts that higher derivatives open, and tells the order that decided. What has no power series, or is
    /// not decided, stays closed and opens when its force turns negative.
    fn break_ties(&mut self, answer: &mut Answer, touches: &[bool]) {
        let list: Vec<usize> = (0..touches.len()).filter(|i| touches[*i]).collect();
        let mut options = DecidingOptions { rest_speed: self.still(), ..Default::default() };
        if self.state.q.len() > FEW {
            // Series of many coordinates are dear, and each order costs more than all before it.
            options.max_order = options.max_order.min(FEW_ORDERS);
        }
        let Ok(found) = deciding_order(self.system, &self.state, &list, &options) else { return };
        for fate in found.contacts.iter().filter(|fate| answer.ties.contains(&fate.contact)) {
            let kind = match fate.fate {
                Fate::Opens => EventKind::Open,
                Fate::Stays => EventKind::Close,
                Fate::Carried | Fate::Undecided => continue,
            };
            let was = self.modes.contacts[fate.contact];
            if fate.fate == Fate::Opens {
                answer.modes.contacts[fate.contact] = ContactMode::Open;
            }
            if !was.is_closed() {
                let name = self.system.contacts[fate.contact].name.clone();
                self.event(kind, &name).order = Some(fate.order);
            }
        }
    }

    fn decision(
        &self,
        at: &Equations,
        touches: &[bool],
        cause: Option<Condition>,
    ) -> Result<Decision, Ending> {
        decide(at, touches, self.still(), cause, &self.modes).map_err(|e| Ending::Impact(e.into()))
    }

    fn choose(&mut self, mut answers: Vec<Answer>) -> Result<Answer, Ending> {
        let count = answers.len();
        let mut pick = 0;
        if count > 1 {
            let event = self.event(EventKind::Indeterminate, "");
            event.answers = count;
            let chosen = self.options.choices.get(self.ambiguous).copied();
            self.ambiguous += 1;
            match chosen {
                Some(choice) => pick = choice.min(count - 1),
                None if self.options.indeterminate == Indeterminate::Stop => {
                    return Err(Ending::Indeterminate { answers: count });
                }
                None => {}
            }
        }
        let answer = answers.swap_remove(pick);
        if count > 1
            && let Some(event) = self.events.last_mut()
        {
            event.chosen.clone_from(&answer.modes.contacts);
        }
        Ok(answer)
    }

    /// The impact without collision of one of the contacts that touch; those that it throws off touch no longer.
    fn jam_among(&mut self, at: &Equations, touches: &mut [bool]) -> Result<bool, Ending> {
        let list: Vec<usize> = (0..touches.len()).filter(|i| touches[*i]).collect();
        if !self.jam(at, &list)? {
            return Ok(false);
        }
        let after = self.equations()?;
        let still = self.still();
        for &i in &list {
            if after.contacts[i].as_ref().is_some_and(|c| c.normal.velocity > still) {
                touches[i] = false;
                self.leaving[i] = true;
            }
        }
        Ok(true)
    }

    /// Where several accelerations satisfy the laws an impact without collision may do so too: whether it was chosen, and
    /// was there.
    fn jam_is_chosen(
        &mut self,
        at: &Equations,
        touches: &mut [bool],
        answers: usize,
    ) -> Result<bool, Ending> {
        if answers < 2 || self.options.choices.get(self.ambiguous) != Some(&answers) {
            return Ok(false);
        }
        self.event(EventKind::Indeterminate, "").answers = answers;
        if self.jam_among(at, touches)? {
            self.ambiguous += 1;
            return Ok(true);
        }
        self.events.pop();
        Ok(false)
    }

    /// The impact without collision of one of these contacts; whether there was one.
    fn jam(&mut self, at: &Equations, touching: &[usize]) -> Result<bool, Ending> {
        let Some(jam) = jam(at, &self.state.v, touching).map_err(Ending::Impact)? else { return Ok(false) };
        let kinetic = |v: &[f64]| 0.5 * at.mass.mul_vec(v).iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
        let change = kinetic(&jam.velocity) - kinetic(&self.state.v);
        self.state.v = jam.velocity;
        let joints = joint_names(self.system, &jam.joints);
        let name = self.system.contacts[jam.contact].name.clone();
        let event = self.event(EventKind::Jam, &name);
        event.impulse = jam.impulse;
        event.joint_impulses = joints;
        event.energy_change = change;
        Ok(true)
    }

    /// As [`Run::jam`] for the contacts that are closed now, with friction `factor` times as large, which tells which way
    /// a state at the very border goes; then the modes after it.
    pub(super) fn jam_now(&mut self, factor: f64) -> Result<bool, Ending> {
        let mut at = self.equations()?;
        for contact in at.contacts.iter_mut().flatten() {
            contact.mu_kinetic *= factor;
        }
        let closed: Vec<usize> =
            (0..self.modes.contacts.len()).filter(|i| self.modes.contacts[*i].is_closed()).collect();
        if !self.jam(&at, &closed)? {
            return Ok(false);
        }
        let after = self.equations()?;
        let still = self.still();
        let mut touching = vec![];
        for &i in &closed {
            if after.contacts[i].as_ref().is_some_and(|c| c.normal.velocity > still) {
                self.leaving[i] = true;
            } else {
                touching.push(i);
            }
        }
        self.settle(&touching, None, true)?;
        Ok(true)
    }

    /// The modes a little later, where those at the event itself do not tell which way it goes.
    fn look_ahead(&mut self, theta: f64, touching: &[usize]) -> Result<(), Ending> {
        let mut touches = vec![false; self.modes.contacts.len()];
        touching.iter().for_each(|&i| touches[i] = true);
        for ahead in AHEAD {
            let mut y = vec![];
            let later = (theta + ahead).min(1.0);
            self.dense.at(later, &mut y);
            let (q, v) = y.split_at(y.len() / 2);
            let t = self.dense.start + later * self.dense.length;
            let at = self.mechanics.equations((t, q, v), |_| true)?;
            if let Decision::Answers(answers) = self.decision(&at, &touches, None)?
                && answers[0].modes != self.modes
            {
                let answer = self.choose(answers)?;
                return self.adopt(answer.modes, &touches, false);
            }
        }
        // Nothing changes: the conditions go on from here.
        self.watch()
    }

    /// Takes these modes, and tells what changed.
    fn adopt(&mut self, modes: Modes, touches: &[bool], jumped: bool) -> Result<(), Ending> {
        let old = std::mem::replace(&mut self.modes, modes);
        for i in 0..old.contacts.len() {
            let (was, is) = (old.contacts[i], self.modes.contacts[i]);
            if touches[i] && is == ContactMode::Open {
                self.leaving[i] = true;
            }
            let kind = match (was, is) {
                (ContactMode::Open, ContactMode::Open) => None,
                (ContactMode::Open, _) if jumped || self.is_first() || self.is_told(i) => None,
                (ContactMode::Open, _) => Some(EventKind::Close),
                (_, ContactMode::Open) => Some(EventKind::Open),
                (ContactMode::Stick, ContactMode::Slide { .. }) => Some(EventKind::Slide),
                (ContactMode::Slide { direction }, ContactMode::Stick) if norm(&direction) > 0.0 => {
                    Some(EventKind::Stick)
                }
                (ContactMode::Slide { direction: a }, ContactMode::Slide { direction: b })
                    if a[0] * b[0] + a[1] * b[1] < 0.0 =>
                {
                    Some(EventKind::Slide)
                }
                _ => None,
            };
            if let Some(kind) = kind {
                let name = self.system.contacts[i].name.clone();
                self.event(kind, &name);
            }
        }
        for j in 0..old.joints.len() {
            let kind = match (old.joints[j], self.modes.joints[j]) {
                (JointMode::Stick, JointMode::Slide { .. }) => Some(EventKind::Slide),
                (JointMode::Slide { .. }, JointMode::Stick) => Some(EventKind::Stick),
                (JointMode::Slide { direction: a, .. }, JointMode::Slide { direction: b, .. })
                    if a[0] * b[0] + a[1] * b[1] < 0.0 =>
                {
                    Some(EventKind::Slide)
                }
                _ => None,
            };
            if let Some(kind) = kind {
                let name = self.system.joints[j].name.clone();
                self.event(kind, &name);
            }
        }
        project_velocity(&mut self.mechanics, &mut self.state, &self.modes)?;
        self.watch()
    }

    /// Whether nothing has moved yet, so that contacts that touch are where the run begins and no event.
    fn is_first(&self) -> bool {
        self.dense.length == 0.0
    }

    /// Whether the last events already tell that this contact closed just now.
    fn is_told(&self, contact: usize) -> bool {
        let now = self.events.iter().rev().take_while(|e| e.t == self.state.t);
        let name = &self.system.contacts[contact].name;
        now.filter(|e| e.kind == EventKind::Close).any(|e| e.contact == *name)
    }
}
