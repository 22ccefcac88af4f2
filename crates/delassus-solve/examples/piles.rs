//! How the time of a solve grows with the number of contacts: piles of spheres that are 6, 13 and 27 spheres wide, with
//! about 1,000, 10,000 and 100,000 contacts.
//!
//! `cargo run --release -p delassus-solve --example piles -- [WIDTH…]`; the number of threads is that of the variable
//! `RAYON_NUM_THREADS`, all cores without it.

use std::time::Instant;

use delassus_solve::friction_problem::{Form, FrictionProblem};
use delassus_solve::problem::ContactProblem;
use delassus_solve::residual::residual;
use delassus_solve::solvers::friction::{FrictionOptions, solve};
use delassus_solve::sphere_pile::sphere_pile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut widths = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<Vec<usize>, _>>()?;
    if widths.is_empty() {
        widths = vec![6, 13, 27];
    }
    println!("{:>9} {:>10} {:>9} {:>10}  status", "contacts", "seconds", "sweeps", "residual");
    let mut before: Option<(f64, f64)> = None;
    for wide in widths.into_iter().filter(|w| *w > 1) {
        let pile = sphere_pile(wide, 0.5)?;
        let (delassus, free_velocity) = pile.local()?;
        let pile = FrictionProblem::new(pile.laws, Form::Local { delassus, free_velocity })?;
        let options = FrictionOptions { tolerance: 1e-4, ..Default::default() };
        let mut seconds = f64::INFINITY;
        let mut found = solve(&pile, &options, None)?;
        for _ in 0..3 {
            let start = Instant::now();
            found = solve(&pile, &options, None)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let Form::Local { delassus, free_velocity } = &pile.form else { continue };
        let judged =
            residual(&ContactProblem::new(delassus, free_velocity, &pile.laws)?, &found.impulse).relative;
        let contacts = pile.laws.len() as f64;
        let growth = before.map_or(String::new(), |(n, t)| {
            format!(", grows like n^{:.2}", (seconds / t).ln() / (contacts / n).ln())
        });
        println!(
            "{contacts:>9} {seconds:>10.4} {:>9} {judged:>10.1e}  {:?}{growth}",
            found.iterations, found.status
        );
        before = Some((contacts, seconds));
    }
    Ok(())
}
