//! Long work on a thread of its own, while the calling thread looks for Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::fork::alone;

/// How long a call goes on without a look for Ctrl-C.
pub const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);
/// Memory for calls within calls, as much as a main thread has.
pub const STACK: usize = 8 << 20;

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
