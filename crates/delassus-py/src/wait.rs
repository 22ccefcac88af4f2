//! Where work is done: on the calling thread, or, where it is long, on a thread of its own while the calling
//! thread looks for Ctrl-C.
//!
//! ```text
//! at home:        rayon's threads share large loops
//! after a fork:   they did not come along, and what is handed to them never returns: a thread works alone
//! ```
//!
//! A pool of rayon that consists of the calling thread survives every fork of that thread. Bits do not depend
//! on the number of threads.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How long a call goes on without a look for Ctrl-C.
pub const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);
/// Memory for calls within calls, as much as a main thread has.
const STACK: usize = 8 << 20;

/// What the work and the thread that waits for it share.
#[derive(Clone, Default)]
pub struct Shared {
    /// Set on Ctrl-C: the work may end.
    pub interrupt: Arc<AtomicBool>,
    /// How much is done.
    pub done: Arc<AtomicUsize>,
}

/// Does the work and waits for it. On Ctrl-C, and where `progress` raises, the call ends at once; the work
/// ends where it next looks at `shared`. `progress` is called with what is done, ten times a second.
pub fn waiting<T: Send + 'static>(
    py: Python<'_>,
    shared: &Shared,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    waiting_for(py, shared, progress, move || alone(work))
}

/// The same for work that chooses its threads by itself.
pub fn waiting_for<T: Send + 'static>(
    py: Python<'_>,
    shared: &Shared,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let task = move || drop(sender.send(catch_unwind(AssertUnwindSafe(work))));
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(task)
        .map_err(|e| PyRuntimeError::new_err(format!("no thread could be started: {e}")))?;
    loop {
        let found = py
            .detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(BETWEEN_SIGNALS));
        match found {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(bug)) => resume_unwind(bug),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread of the call has ended"));
            }
            Err(RecvTimeoutError::Timeout) => {
                let looked = py.check_signals().and_then(|()| match progress {
                    Some(show) => show.call1(py, (shared.done.load(Ordering::Relaxed),)).map(|_| ()),
                    None => Ok(()),
                });
                if let Err(stop) = looked {
                    shared.interrupt.store(true, Ordering::Relaxed);
                    return Err(stop);
                }
            }
        }
    }
}

/// The process that loaded the module, whose pool has its threads.
static HOME: OnceLock<u32> = OnceLock::new();

thread_local! {
    /// Whether this thread is a pool of its own.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Remembers the process: called when the module is loaded.
pub fn at_home() {
    HOME.get_or_init(std::process::id);
}

/// Whether this is another process than the one that loaded the module.
pub fn forked() -> bool {
    HOME.get().is_some_and(|home| *home != std::process::id())
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
    ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build().ok()
}
