//! The engine for a browser, compiled to WebAssembly: one call, JSON in and JSON out.
//!
//! ```text
//! page:    p = reserve(n);  memory[p..p + n] = request;  m = answer();  response = memory[response()..][..m]
//! request  {"do": "analyze" | "glance" | "run", "text": scene, "set": {parameter: value}, "t_end": seconds}
//! response {"analysis": …} | {"document": …, "arrays": …, "end": …} | {"error": {"message", "line", "column"}}
//! ```
//!
//! Three functions with a plain C interface need no binding tool. The page writes into and reads from memory
//! that the engine owns, so nothing here touches a raw pointer.

mod engine;

pub use engine::answer_text;

use std::sync::{Mutex, MutexGuard};

/// The request, then the response.
static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn buffer() -> MutexGuard<'static, Vec<u8>> {
    BUFFER.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Room for a request of so many bytes; the page writes it there.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    let mut buffer = buffer();
    buffer.clear();
    buffer.resize(length, 0);
    buffer.as_mut_ptr()
}

/// Answers the request; returns the length of the response.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let mut buffer = buffer();
    let response = answer_text(&String::from_utf8_lossy(&buffer));
    *buffer = response.into_bytes();
    buffer.len()
}

/// Where the response stands.
#[unsafe(no_mangle)]
pub extern "C" fn response() -> *const u8 {
    buffer().as_ptr()
}
