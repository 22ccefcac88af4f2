//! Controllers of joints.
//!
//! ```text
//! f = clamp(gain · u(t) + offset − stiffness c − damping ċ , force_range) ,   u within control_range
//! ```
//!
//! c is the coordinate of a joint. A motor has neither stiffness nor damping; a controller of positions has
//! the gain of its stiffness, one of velocities that of its damping.

use crate::formula::{AnyFormula, Point};

/// A controller that acts along a coordinate of a joint.
#[derive(Clone, Debug)]
pub struct Servo {
    /// Its name; empty where it has none.
    pub name: String,
    /// u, a function of time.
    pub control: AnyFormula,
    /// Least and largest u.
    pub control_range: [f64; 2],
    /// What a unit of u gives, N or N m.
    pub gain: f64,
    /// What it gives without a control, N or N m.
    pub offset: f64,
    /// N/m or N m/rad.
    pub stiffness: f64,
    /// N s/m or N m s/rad.
    pub damping: f64,
    /// Least and largest force or moment; infinite where there is no limit.
    pub force_range: [f64; 2],
}

impl Servo {
    /// gain · u + offset at a time.
    pub fn push(&self, t: f64) -> f64 {
        let [low, high] = self.control_range;
        // A comparison with what is not a number fails, and the number stays for the checks that refuse it.
        let u = self.control.value(&Point { q: &[], v: &[], t });
        self.gain
            * if u < low {
                low
            } else if u > high {
                high
            } else {
                u
            }
            + self.offset
    }
}
