//! `delassus solve`: one problem from a file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use delassus_files::{Problem, read};
use delassus_solve::friction_problem::FrictionProblem;
use delassus_solve::problem::{ContactProblem, InvalidProblem};
use delassus_solve::solvers::contact::{self, ContactOptions};
use delassus_solve::solvers::{LcpSolution, Solver, Status, solve_lcp, solve_mlcp};
use serde_json::json;

/// Arguments of `solve`.
#[derive(Args)]
pub struct SolveArgs {
    /// Problem file: Siconos .dat, FCLib .hdf5 or own .json
    pub problem: PathBuf,
    /// auto, lemke, principal-pivoting, newton-min or enumerate
    #[arg(long, default_value = "auto")]
    pub solver: Solver,
    /// Largest residual that counts as solved
    #[arg(long, default_value_t = 1e-8, value_parser = tolerance)]
    pub tolerance: f64,
    /// Write the solution here, one number a line
    #[arg(long, value_name = "FILE")]
    pub impulse_out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err(format!("expected a number not below 0, found \"{text}\"")),
    }
}

/// The impulses as the unknowns of a solution.
fn solve_contacts(problem: &FrictionProblem, tolerance: f64) -> Result<LcpSolution, InvalidProblem> {
    let (w, q) = problem.local()?;
    let view = ContactProblem::new(&w, &q, &problem.laws)?;
    let s = contact::solve(&view, &ContactOptions { tolerance, ..ContactOptions::default() });
    Ok(LcpSolution {
        z: s.force,
        w: s.velocity,
        status: s.status,
        iterations: s.iterations,
        residual: s.residual,
    })
}

/// Runs the command; returns the exit code: 0 solved, 1 not solved, 2 bad input.
pub fn run(args: &SolveArgs) -> u8 {
    let problem = match read(&args.problem) {
        Ok(problem) => problem,
        Err(e) => {
            eprintln!("error: {e}");
            return 2;
        }
    };
    let start = Instant::now();
    let solution = match &problem {
        Problem::Lcp(p) => solve_lcp(p, args.solver, args.tolerance),
        Problem::Mlcp(p) => solve_mlcp(p, args.solver, args.tolerance),
        Problem::Friction(p) => match solve_contacts(p, args.tolerance) {
            Ok(solution) => solution,
            Err(e) => {
                eprintln!("error: {}: {e}", args.problem.display());
                return 2;
            }
        },
    };
    let (kind, contacts) = (problem.kind(), problem.contacts());
    let seconds = start.elapsed().as_secs_f64();
    // Where there is no solution there is nothing to write.
    if let Some(path) = args.impulse_out.as_ref().filter(|_| solution.status != Status::NoSolution) {
        let lines = solution.z.iter().fold(String::new(), |mut text, x| {
            let _ = writeln!(text, "{x:e}");
            text
        });
        if let Err(e) = std::fs::write(path, lines) {
            eprintln!("error: {}: cannot be written: {e}", path.display());
            return 2;
        }
    }
    let text = if args.json {
        let document = json!({
            "kind": kind,
            "contacts": contacts,
            "unknowns": solution.z.len(),
            "solver": args.solver,
            "status": solution.status,
            "iterations": solution.iterations,
            "seconds": seconds,
            "residual": solution.residual,
        });
        format!("{document:#}\n")
    } else {
        let what = match solution.status {
            Status::Solved => "solved",
            Status::NoSolution => "no solution exists",
            Status::MaxIterations => "not solved: the limit on iterations was reached",
            Status::Stalled | Status::Interrupted => "not solved, and not shown to have no solution",
        };
        let (n, solver) = (solution.z.len(), args.solver.name());
        format!(
            "{kind} with {n} unknowns: {what}\nresidual {:.3e}, {} iterations of {solver}, {seconds:.3e} s\n",
            solution.residual, solution.iterations
        )
    };
    // A reader that went away is no failure of the solve.
    let _ = std::io::stdout().write_all(text.as_bytes());
    u8::from(solution.status != Status::Solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every real LCP and mixed LCP file is solved to 1e-8; both folders must hold some.
    #[test]
    fn real_files() {
        let Some(folder) = std::env::var_os("DELASSUS_PROBLEMS").map(PathBuf::from) else {
            println!("skipped: DELASSUS_PROBLEMS is not set");
            return;
        };
        for kind in ["lcp", "mlcp"] {
            let mut files: Vec<PathBuf> =
                std::fs::read_dir(folder.join(kind)).unwrap().map(|f| f.unwrap().path()).collect();
            files.sort();
            assert!(!files.is_empty());
            for file in files {
                let solution = match read(&file).unwrap() {
                    Problem::Lcp(p) => solve_lcp(&p, Solver::Auto, 1e-8),
                    Problem::Mlcp(p) => solve_mlcp(&p, Solver::Auto, 1e-8),
                    Problem::Friction(_) => panic!("{}: a complementarity problem", file.display()),
                };
                println!("{}: {:?}, residual {:.1e}", file.display(), solution.status, solution.residual);
                assert_eq!(solution.status, Status::Solved, "{}", file.display());
            }
        }
    }

    #[test]
    fn exit_codes_and_output() {
        let folder = std::env::temp_dir().join(format!("delassus-solve-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let out = folder.join("z.txt");
        let args = |problem: &str, text: &str| {
            let file = folder.join(problem);
            std::fs::write(&file, text).unwrap();
            SolveArgs {
                problem: file,
                solver: Solver::Auto,
                tolerance: 1e-8,
                impulse_out: Some(out.clone()),
                json: true,
            }
        };
        assert_eq!(run(&args("lcp_a.dat", "2 0 2 2 2 2 3 0 0 7 -1 -1")), 0);
        let written = std::fs::read_to_string(&out).unwrap();
        let z: Vec<f64> = written.lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(z, vec![1.0 / 3.0, 1.0 / 7.0]);
        assert_eq!(run(&args("none.json", r#"{"kind": "lcp", "matrix": [[-1]], "vector": [-1]}"#)), 1);
        assert_eq!(run(&args("lcp_bad.dat", "2 0 2")), 2);
        // A block pressed with 2 and pulled with 3: it slides, friction is at its limit.
        assert_eq!(run(&args("fc2d_a.dat", "2 1 0 2 2 2 2 1 0 0 1 -2 3 0.5")), 0);
        let written = std::fs::read_to_string(&out).unwrap();
        let r: Vec<f64> = written.lines().map(|l| l.parse().unwrap()).collect();
        assert!((r[0] - 2.0).abs() < 1e-12 && (r[1] + 1.0).abs() < 1e-12, "{r:?}");
        assert_eq!(run(&args("fc2d_negative.dat", "2 1 0 2 2 2 2 1 0 0 1 -2 3 -0.5")), 2);
        assert_eq!(
            run(&args(
                "singular.json",
                r#"{"kind": "global", "laws": [{"law": "unilateral"}], "mass": [],
            "jacobian_transposed": [[0, 0, 1]], "force": [1], "bias": [0]}"#
            )),
            2
        );
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(tolerance("nan").is_err() && tolerance("-1").is_err() && tolerance("1e-8") == Ok(1e-8));
    }
}
