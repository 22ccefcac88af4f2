//! How time and memory of a solve grow with the number of contacts: piles of spheres that are 6, 13 and 27
//! spheres wide, with about 1,000, 10,000 and 100,000 contacts.
//!
//! `cargo run --release -p delassus-solve --example piles -- [WIDTH…]`; the number of threads is that of the
//! variable `RAYON_NUM_THREADS`, all cores without it. Memory is the most that the process has used until
//! then, the problem with it, where the system reports it.

use std::time::Instant;

use delassus_solve::contact::{ContactOptions, solve};
use delassus_solve::problem::{ContactView, residual, sphere_pile};

/// A line of `/proc/self/status`, in bytes.
fn memory(line: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find(|l| l.starts_with(line))?;
    Some(1024.0 * found.split_whitespace().nth(1)?.parse::<f64>().ok()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut widths = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<Vec<usize>, _>>()?;
    if widths.is_empty() {
        widths = vec![6, 13, 27];
    }
    let base = memory("VmRSS");
    println!(
        "{:>9} {:>10} {:>7} {:>12} {:>10}  status",
        "contacts", "seconds", "sweeps", "kB/contact", "residual"
    );
    let mut before: Option<(f64, f64)> = None;
    for wide in widths.into_iter().filter(|w| *w > 1) {
        let pile = sphere_pile(wide, 0.5)?;
        let contacts = pile.laws.len() as f64;
        let options = ContactOptions { tolerance: 1e-4, ..Default::default() };
        let mut seconds = f64::INFINITY;
        let mut found = solve(&pile, &options, None)?;
        for _ in 0..3 {
            let start = Instant::now();
            found = solve(&pile, &options, None)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let used = memory("VmHWM").zip(base).map_or(f64::NAN, |(most, base)| 1e-3 * (most - base) / contacts);
        let Some((w, q)) = pile.matrix_free()? else { continue };
        let checked = residual(&ContactView::new(&w, &q, &pile.laws)?, &found.impulse).relative;
        let growth = before.map_or(String::new(), |(n, t)| {
            format!(", grows like n^{:.2}", (seconds / t).ln() / (contacts / n).ln())
        });
        println!(
            "{contacts:>9} {seconds:>10.4} {:>7} {used:>12.2} {checked:>10.1e}  {:?}{growth}",
            found.iterations, found.status
        );
        before = Some((contacts, seconds));
    }
    Ok(())
}
