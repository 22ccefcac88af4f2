//! The motions of one joint: those that it leaves free, and one per row that it locks.
//!
//! ```text
//! g_j·s_i = 0 ,   g_j·d_k = δ_jk
//! ```
//!
//! g_j are the bilateral rows of the joint, s_i its free motions, d_k the motion that changes row k alone.

use glam::DVec3;

use super::super::joint_frames::{Frames, Function};
use super::super::{Joint, JointKind};
use super::Twist;

/// The free motions s and the motions d of the locked rows of a joint, each as the velocity of the origin of
/// B and the rotation of B against A.
pub(super) fn motions_of(
    joint: &Joint,
    frames: &Frames,
    last: f64,
    free: &mut [Twist],
    locked: &mut [Twist],
) {
    let lock = joint.kind.locked();
    let thread = match joint.kind {
        JointKind::Screw { pitch } => Some(frames.thread(joint, pitch, last)),
        _ => None,
    };
    let (mut turns, mut n, mut j) = ([DVec3::ZERO; 3], 0, 0);
    frames.lock(&lock, &mut |Function { along, about, .. }, _| {
        if about == DVec3::ZERO {
            locked[j] = [along, DVec3::ZERO];
            j += 1;
        } else {
            turns[n] = about;
            n += 1;
        }
    });
    // Rotations with w·Ω = 0 for the locked ones, and those with w_j·Ω = δ_jk.
    let scaled = |v: DVec3, square: f64| if square > 0.0 { v / square } else { DVec3::ZERO };
    let [a, b, c] = turns;
    let mut open = [DVec3::ZERO; 3];
    let duals = match n {
        0 => {
            open = frames.axes[1].to_cols_array_2d().map(DVec3::from_array);
            [DVec3::ZERO; 3]
        }
        1 => {
            let (x, y) = a.normalize_or(DVec3::X).any_orthonormal_pair();
            (open[0], open[1]) = (x, y);
            [scaled(a, a.length_squared()), DVec3::ZERO, DVec3::ZERO]
        }
        2 => {
            let across = a.cross(b);
            let square = across.length_squared();
            open[0] = across.normalize_or(DVec3::X);
            [scaled(b.cross(across), square), scaled(across.cross(a), square), DVec3::ZERO]
        }
        _ => {
            let volume = a.dot(b.cross(c));
            let scale = if volume == 0.0 { 0.0 } else { 1.0 / volume };
            [b.cross(c), c.cross(a), a.cross(b)].map(|v| scale * v)
        }
    };
    // Along a thread a rotation takes its displacement with it.
    let follow = |turn: DVec3| match &thread {
        Some(Function { along, about, .. }) => [-about.dot(turn) * *along, turn],
        None => [DVec3::ZERO, turn],
    };
    for dual in &duals[..n] {
        locked[j] = follow(*dual);
        j += 1;
    }
    if let Some(Function { along, .. }) = thread {
        locked[j] = [along, DVec3::ZERO];
    }
    let slides =
        (0..3).filter(|&k| !lock[k] && thread.is_none()).map(|k| [frames.axes[0].col(k), DVec3::ZERO]);
    let rotations = open[..3 - n].iter().map(|turn| follow(*turn));
    free.iter_mut().zip(slides.chain(rotations)).for_each(|(s, motion)| *s = motion);
}
