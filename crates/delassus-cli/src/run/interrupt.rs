//! Ctrl-C: the step under way is finished, everything is written, and the run ends.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C end the run after the step under way; a second Ctrl-C does not wait.
pub fn catch_ctrl_c() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    if let Err(e) = ctrlc::set_handler(handler) {
        eprintln!("note: Ctrl-C will not save: {e}");
    }
}

/// Whether Ctrl-C was pressed.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
