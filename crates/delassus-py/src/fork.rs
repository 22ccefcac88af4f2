//! Work in processes that were forked, such as those of `multiprocessing`.
//!
//! ```text
//! at home:        rayon's threads share large loops
//! after a fork:   they did not come along, and what is handed to them never returns: a thread works alone
//! ```
//!
//! A pool of rayon that consists of the calling thread survives every fork of that thread. Bits do not depend
//! on the number of threads.

use std::cell::Cell;
use std::process;
use std::sync::OnceLock;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that loaded the module, whose pool has its threads.
static HOME: OnceLock<u32> = OnceLock::new();

thread_local! {
    /// Whether this thread is a pool of its own.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Remembers the process: called when the module is loaded.
pub fn at_home() {
    HOME.get_or_init(process::id);
}

/// Whether this is another process than the one that loaded the module.
pub fn forked() -> bool {
    HOME.get().is_some_and(|home| *home != process::id())
}

/// Lets go of the interpreter for work on this thread.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    if forked() && !ALONE.get() {
        // Kept as long as the thread lives. It fails only where the thread is in a pool already.
        if let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
            std::mem::forget(pool);
        }
        ALONE.set(true);
    }
    py.detach(work)
}

/// Does work with pieces for many threads, on a thread that ends with it.
pub fn shared_out<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match fresh(0) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Does other work on a thread that ends with it.
pub fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match fresh(1) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// A pool for one piece of work in a forked process; at home there is one.
fn fresh(threads: usize) -> Option<ThreadPool> {
    if !forked() {
        return None;
    }
    ThreadPoolBuilder::new().num_threads(threads).stack_size(crate::wait::STACK).build().ok()
}
