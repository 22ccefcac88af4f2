//! Performance profiles (Dolan and Moré 2002): how often a solver is within a factor of the best.
//!
//! ρ_s(τ) = |{p : t_ps ≤ τ · min_s t_ps}| / |problems|, t_ps the time of solver s on problem p, infinite
//! where s does not solve p. ρ_s(1) is the share of problems on which s is the quickest; the value at the
//! right end is the share that it solves at all.

use super::canvas::{Colour, Picture};
use super::chart::{Curve, curves};
use super::plot::{Axis, Scale};

/// Colors that can be distinguished with any color vision (Okabe and Ito).
const COLOURS: [Colour; 7] =
    [[0, 0, 0], [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [213, 94, 0], [86, 180, 233]];

/// The steps (τ, ρ) of each solver's profile from the times by problem, then by solver; `None` is a failure.
pub fn profile_steps(times: &[Vec<Option<f64>>]) -> Vec<Vec<[f64; 2]>> {
    let solvers = times.first().map_or(0, Vec::len);
    // A clock may show the same instant twice.
    let best = |row: &[Option<f64>]| row.iter().flatten().fold(f64::INFINITY, |a, b| a.min(*b)).max(1e-12);
    let one = |solver: usize| {
        let ratio = |row: &Vec<Option<f64>>| Some((row[solver]? / best(row)).max(1.0));
        let mut ratios: Vec<f64> = times.iter().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let mut steps: Vec<[f64; 2]> = Vec::new();
        for (k, tau) in ratios.into_iter().enumerate() {
            let share = (k + 1) as f64 / times.len() as f64;
            match steps.last_mut() {
                Some(last) if last[0] == tau => last[1] = share,
                _ => steps.push([tau, share]),
            }
        }
        steps
    };
    (0..solvers).map(one).collect()
}

/// The profiles of named solvers over a logarithmic axis.
pub fn profile_picture(title: &str, names: &[&str], profiles: &[Vec<[f64; 2]>]) -> Picture {
    let largest = profiles.iter().flatten().fold(2.0_f64, |a, step| a.max(step[0]));
    // A margin at the right, so that the last step is seen.
    let hi = 1.04 * largest.log10();
    let x = Axis { label: "factor τ of the best time".to_string(), lo: 0.0, hi, scale: Scale::Log };
    let y = Axis { label: "share of problems solved".to_string(), lo: 0.0, hi: 1.02, scale: Scale::Plain };
    let list: Vec<Curve> = names
        .iter()
        .zip(profiles)
        .enumerate()
        .map(|(k, (name, steps))| Curve {
            colour: COLOURS[k % COLOURS.len()],
            name: name.to_string(),
            points: staircase(steps, hi),
        })
        .collect();
    curves(title, &x, &y, &list)
}

/// The points of ρ over log₁₀ τ, from τ = 1 to the end of the axis.
fn staircase(steps: &[[f64; 2]], hi: f64) -> Vec<[f64; 2]> {
    let mut points = vec![[0.0, 0.0]];
    let mut share = 0.0;
    for [tau, next] in steps {
        let at = tau.log10();
        points.push([at, share]);
        points.push([at, *next]);
        share = *next;
    }
    points.push([hi, share]);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three problems, two solvers. Ratios of the first: 1, 1, none; of the second: 2, 4, 1.
    #[test]
    fn by_hand() {
        let times =
            [vec![Some(1.0), Some(2.0)], vec![Some(0.5), Some(2.0)], vec![None, Some(3.0)], vec![None, None]];
        let found = profile_steps(&times);
        assert_eq!(found[0], vec![[1.0, 0.5]]);
        assert_eq!(found[1], vec![[1.0, 0.25], [2.0, 0.5], [4.0, 0.75]]);
        let points = staircase(&found[1], 1.0);
        let two = 2f64.log10();
        assert_eq!(points[..5], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.25], [two, 0.25], [two, 0.5]]);
        assert_eq!(points.last(), Some(&[1.0, 0.75]));
    }

    #[test]
    fn nothing_solved() {
        assert_eq!(profile_steps(&[vec![None, None]]), vec![Vec::<[f64; 2]>::new(); 2]);
        assert_eq!(profile_steps(&[vec![Some(0.0), Some(0.0)]]), vec![vec![[1.0, 1.0]]; 2]);
        assert!(profile_steps(&[]).is_empty());
        let svg = profile_picture("none", &["a", "b"], &[vec![], vec![]]).svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    /// Decades on a long axis, and their double and fivefold on a short one.
    #[test]
    fn ticks_are_numbers_not_logarithms() {
        let words = |largest: f64| profile_picture("", &["a"], &[vec![[largest, 1.0]]]).svg();
        for text in [">1<", ">10<", ">100<", ">1000<", ">10000<", ">1e5<"] {
            assert!(words(2e5).contains(text), "{text}");
        }
        assert!(words(8.0).contains(">2<") && words(8.0).contains(">5<") && !words(8.0).contains(">10<"));
    }
}
