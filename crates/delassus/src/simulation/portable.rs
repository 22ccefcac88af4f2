//! A simulation that goes on elsewhere: in another process, from plain numbers.

use super::{Simulation, SimulationError, Snapshot, check_dt};
use crate::stepping;
use crate::stepping::{StepOptions, Stepper};

/// What was set since the last step, and must be linearized before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// Nothing.
    Nothing,
    /// Targets of motors, forces of actuators, loads.
    Targets,
    /// Velocities of bodies.
    Velocities,
    /// Positions of bodies.
    Positions,
}

impl Changed {
    /// All, the least first.
    pub const ALL: [Changed; 4] =
        [Changed::Nothing, Changed::Targets, Changed::Velocities, Changed::Positions];
}

impl Snapshot {
    /// What [`Simulation::resume`] takes, as plain numbers that can be sent elsewhere: the state of the
    /// stepper, the length of its last step, and what was set since.
    pub fn portable(&self) -> (&stepping::Snapshot, f64, Changed) {
        (&self.stepper, self.options.dt, self.changed)
    }
}

impl Simulation {
    /// What moves the world: for recorders that need more than a [`super::Frame`] says.
    pub fn stepper(&self) -> &Stepper {
        &self.stepper
    }

    /// Goes on from a state of a simulation of the same world with the same inputs and options, which was
    /// made elsewhere ([`Snapshot::portable`]). The report of its last step is not known.
    pub fn resume(
        &mut self,
        saved: stepping::Snapshot,
        dt: f64,
        changed: Changed,
    ) -> Result<(), SimulationError> {
        check_dt(dt)?;
        let options = StepOptions { dt, ..*self.stepper.options() };
        self.stepper = Stepper::resume(self.stepper.world().clone(), saved.clone(), options)?;
        self.before = (saved, dt);
        (self.report, self.forces, self.changed) = (None, None, changed);
        Ok(())
    }
}
