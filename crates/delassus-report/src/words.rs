//! The report of an analysis in words.

use delassus::analysis::{ContactReport, SystemAnalysis};
use delassus::lagrangian::{ContactState, Names};
use delassus_solve::analysis::{Analysis, FrictionCone, Method, Outcome};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::dot;
use delassus_solve::modes::{Mode, SolutionComponent};
use delassus_solve::problem::Law;

use crate::impact;
use crate::solution_list::entries;
use crate::style::{Style, count, mode_word, number};

/// `none`, `finite`, `infinite`; `unknown` where there may be solutions that are not listed, or none is
/// known and none is excluded.
pub fn solution_kind(analysis: &Analysis) -> &'static str {
    let components = &analysis.solutions.components;
    let several = is_several(analysis);
    if components.iter().any(|p| p.freedom.is_some()) {
        "infinite"
    } else if components.len() == 1 && analysis.solutions.decided && !analysis.solutions.complete && several {
        // One solution was found, and forces that can be added to it without effect.
        "infinite"
    } else if !components.is_empty() && (!analysis.is_partial() || is_one(analysis)) {
        "finite"
    } else if analysis.existence == Verdict::Refuted {
        "none"
    } else {
        "unknown"
    }
}

/// Whether several sets of forces are proved to be solutions.
fn is_several(analysis: &Analysis) -> bool {
    analysis.forces_unique == Verdict::Refuted && analysis.existence == Verdict::Proved
}

/// Whether exactly one solution is proved to exist.
fn is_one(analysis: &Analysis) -> bool {
    analysis.verdicts() == [Verdict::Proved; 3]
}

/// How many isolated solutions are shown; none where the list could be that of a continuum.
fn count_listed(result: &SystemAnalysis, analysis: &Analysis) -> usize {
    let wrong = !analysis.solutions.decided && is_several(analysis);
    if wrong || solution_kind(analysis) == "infinite" { 0 } else { entries(result, analysis).len() }
}

/// Name and size of a system.
pub fn title(names: &Names) -> String {
    let name = if names.title.is_empty() { "system" } else { &names.title };
    format!(
        "{name}: {}, {}, {}",
        count(names.coordinates.len(), "coordinate"),
        count(names.joints.len(), "joint"),
        count(names.contacts.len(), "contact"),
    )
}

/// Sentences on what was found and why.
pub fn reasons(result: &SystemAnalysis) -> Vec<String> {
    let mut out = result.notes.clone();
    for (c, k) in result.contacts.iter().zip(&result.kinematics.contacts) {
        if c.state == ContactState::Approaching {
            let (name, speed) = (&c.name, number(k.normal.velocity));
            out.push(if result.analysis.is_none() {
                format!("no finite force: contact `{name}` approaches with {speed}; an impact comes first")
            } else {
                format!("contact `{name}` approaches with {speed}, but digits cancelled: nothing is decided")
            });
        }
    }
    let Some(analysis) = &result.analysis else { return out };
    let jam = result.contacts.iter().find(|c| c.jams);
    let listed = count_listed(result, analysis);
    let several = listed > 1;
    match (solution_kind(analysis), jam) {
        ("none", _) if unreachable(result) => {
            out.push("no solution: no acceleration satisfies the constraints, whatever friction does".into())
        }
        ("none", Some(c)) => out.push(format!("no solution: {} (003 eq. 39)", jamming(c))),
        ("none", None) if incompatible(result) => out.push(
            "no solution: the joints contradict each other (000 Prop. 1 (ii), compatibility fails)".into(),
        ),
        ("none", None) => out.push("no solution: no combination of modes satisfies all laws".into()),
        ("finite" | "unknown", Some(c)) if several => out.push(format!(
            "{listed} solutions: {}, while other forces pull the contact apart (003 eq. 39)",
            jamming(c)
        )),
        ("finite" | "unknown", None) if several => {
            let end = if analysis.is_partial() {
                "were found, and there may be others"
            } else {
                "satisfy all laws"
            };
            out.push(format!("{listed} solutions {end}"));
        }
        ("infinite", _) => out.extend(indeterminate(result, analysis)),
        ("unknown", _) if !result.is_whole || listed == 1 => {}
        ("unknown", _) => out.push(undecided(result, analysis)),
        _ => {}
    }
    if analysis.solutions.complete && !analysis.solutions.decided {
        out.push(
            "some decision is too close to call in floating point: the list of solutions is not final".into(),
        );
    }
    out.extend(argument(analysis).map(str::to_string));
    if let Some(sectors) = analysis.sectors.as_ref().filter(|s| s.open > 0) {
        out.push(format!(
            "contacts at rest in space: {} of modes and directions of slip examined, {} left open",
            count(sectors.pieces, "piece"),
            sectors.open
        ));
    }
    out.extend(without_effective_mass(result));
    if result.kinematics.mass_rank < result.names.coordinates.len() {
        out.push(format!(
            "the mass matrix is singular (rank {} of {})",
            result.kinematics.mass_rank,
            result.names.coordinates.len()
        ));
    }
    out
}

/// What the verdicts rest on.
fn argument(analysis: &Analysis) -> Option<&'static str> {
    match analysis.method {
        Method::PositiveDefinite => Some("unique: the LCP matrix is positive definite"),
        Method::PMatrix => Some("unique: the LCP matrix is a P-matrix"),
        Method::Gauss => {
            Some("the acceleration is unique: no friction and a positive definite mass (000 Prop. 3 (ii))")
        }
        Method::Rest => Some(
            "the acceleration is unique: it is zero, and forces without friction hold everything at rest",
        ),
        Method::Sectors => Some("all modes were examined, in pieces with all directions of slip"),
        Method::Found if analysis.acceleration_unique != Verdict::Proved => {
            Some("a solution was found; others were not excluded")
        }
        Method::Found | Method::AllModes | Method::None => None,
    }
}

/// Why contacts have no effective mass, with their names.
fn without_effective_mass(result: &SystemAnalysis) -> impl Iterator<Item = String> + '_ {
    let reasons = [
        (true, "no mu_jam, mu_crit, effective mass or cone where the other constraints hold the normal"),
        (false, "no effective mass and no cone where the other constraints hold a direction"),
    ];
    reasons.into_iter().filter_map(|(held, sentence)| {
        let among = |c: &FrictionCone| c.effective_mass.is_none() && c.is_held == held;
        let contacts = result.contacts.iter().filter(|c| c.cone.as_ref().is_some_and(among));
        let names: Vec<&str> = contacts.map(|c| c.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{sentence}: {}", names.join(", ")))
    })
}

fn undecided(result: &SystemAnalysis, analysis: &Analysis) -> String {
    if !analysis.solutions.components.is_empty() {
        "solutions were found, but not all of them are known".into()
    } else if analysis.existence == Verdict::Proved {
        "a solution exists by the propositions below, but none could be computed beyond rounding".into()
    } else if !result.assembly.dynamics.laws.iter().all(Law::is_polyhedral) {
        "no solution was found; contacts at rest in space leave modes that cannot all be examined".into()
    } else if analysis.solutions.complete {
        "no solution was found, but none is excluded beyond rounding".into()
    } else {
        "too many modes to examine all of them, and no solution was found".into()
    }
}

fn jamming(c: &ContactReport) -> String {
    let jam = c.cone.as_ref().and_then(|c| c.mu_jam).unwrap_or(f64::INFINITY);
    format!(
        "friction {} exceeds the jamming value {} and `{}` slides in the jamming direction",
        number(c.mu),
        number(jam),
        c.name
    )
}

/// Whether it was verified that no acceleration satisfies the constraints.
fn unreachable(result: &SystemAnalysis) -> bool {
    result.findings.iter().any(|f| f.finding.id == "admissible" && f.verified == Some(true))
}

/// Whether the rows of the joints alone have no acceleration in common.
fn incompatible(result: &SystemAnalysis) -> bool {
    let d = &result.assembly.dynamics;
    let rows: Vec<usize> = d.offsets()[..d.laws.len()]
        .iter()
        .zip(&d.laws)
        .filter(|(_, l)| l.is_bilateral())
        .map(|(o, _)| *o)
        .collect();
    let j = d.jacobian.select_rows(&rows);
    let gamma: Vec<f64> = rows.iter().map(|&i| -d.bias[i]).collect();
    let a = j.pseudo_solve(&gamma);
    let scale = delassus_solve::linalg::max_abs(&gamma).max(f64::MIN_POSITIVE);
    j.mul_vec(&a).iter().zip(&gamma).any(|(x, g)| (x - g).abs() > 1e-9 * scale)
}

/// Whether an interval is more than a point.
fn is_wide([low, high]: [f64; 2]) -> bool {
    low.is_infinite() || high.is_infinite() || high - low > 1e-9 * (1.0 + low.abs().min(high.abs()))
}

fn indeterminate(result: &SystemAnalysis, analysis: &Analysis) -> Vec<String> {
    let names = delassus::analysis::constraint_names(&result.names, &result.assembly);
    let offsets = result.assembly.dynamics.offsets();
    let loose: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(k, _)| {
            (offsets[*k]..offsets[k + 1]).any(|i| analysis.intervals.get(i).is_some_and(|x| is_wide(*x)))
        })
        .map(|(_, n)| n.as_str())
        .collect();
    let mut out = Vec::new();
    if !loose.is_empty() {
        let proved = if analysis.forces_unique == Verdict::Refuted { "" } else { "up to rounding, " };
        out.push(format!("{proved}the forces are one choice of infinitely many at: {}", loose.join(", ")));
    }
    if analysis.acceleration_unique == Verdict::Refuted {
        out.push("the acceleration is not determined".into());
    }
    out
}

/// Whether neither forces nor acceleration are known to have several values.
fn is_determined(analysis: &Analysis) -> bool {
    analysis.forces_unique != Verdict::Refuted && analysis.acceleration_unique != Verdict::Refuted
}

fn tint(style: Style, v: Verdict) -> String {
    match v {
        Verdict::Proved => style.good("proved"),
        Verdict::Refuted => style.bad("refuted"),
        Verdict::Unknown => style.caution("unknown"),
    }
}

/// The whole report.
pub fn analysis_text(result: &SystemAnalysis, style: Style) -> String {
    let mut out = format!("{}\n\n", style.bold(&title(&result.names)));
    let headline = match result.analysis.as_ref().map(solution_kind) {
        None => style.bad("IMPACT"),
        Some(_) if result.analysis.as_ref().is_some_and(|a| a.existence == Verdict::Unknown) => {
            style.caution("UNDECIDED")
        }
        Some("none") => style.bad("NO SOLUTION"),
        Some("infinite") if result.analysis.as_ref().is_some_and(is_determined) => {
            style.caution("A SOLUTION")
        }
        Some("infinite") if result.analysis.as_ref().is_some_and(|a| a.forces_unique == Verdict::Proved) => {
            style.caution("ACCELERATION NOT UNIQUE")
        }
        Some("infinite") => style.caution("FORCES NOT UNIQUE"),
        Some(_) => match result.analysis.as_ref().map_or(0, |a| count_listed(result, a)) {
            0 => style.caution("SOLUTIONS EXIST"),
            1 if result.analysis.as_ref().is_some_and(is_one) => style.good("ONE SOLUTION"),
            1 => style.caution("A SOLUTION"),
            n if result.analysis.as_ref().is_some_and(Analysis::is_partial) => {
                style.caution(&format!("{n} SOLUTIONS FOUND"))
            }
            n => style.caution(&format!("{n} SOLUTIONS")),
        },
    };
    out += &format!("  {headline}\n");
    for reason in reasons(result) {
        out += &format!("  {reason}\n");
    }
    if let Some(a) = &result.analysis {
        let part = if a.method == Method::Sectors { "piece" } else { "mode" };
        let how = if a.solutions.complete { count(a.solutions.modes as usize, part) } else { String::new() };
        let exactly = if a.is_exact() { ", in the numbers as written" } else { "" };
        let how = if how.is_empty() { how } else { style.dim(&format!("   all {how} examined{exactly}")) };
        out += &format!("\n  existence            {}{how}\n", tint(style, a.existence));
        out += &format!("  acceleration unique  {}\n", tint(style, a.acceleration_unique));
        out += &format!("  forces unique        {}\n", tint(style, a.forces_unique));
        let listed = entries(result, a);
        for (index, (component, _)) in listed.iter().enumerate() {
            let which = if listed.len() > 1 { format!(" {}", index + 1) } else { String::new() };
            out += &solution(result, a, component, &which, style);
        }
    }
    out += &impact::text(result, style);
    if !result.names.contacts.is_empty() {
        out += &format!("\n{}\n", style.bold("contacts"));
        let width = result.contacts.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
        for c in &result.contacts {
            out += &contact_line(c, result, width);
        }
    }
    if !result.kinetic_angles.is_empty() && result.kinetic_angles.len() <= 15 {
        out += &format!("\n{}\n", style.bold("kinetic angles"));
        for a in &result.kinetic_angles {
            out += &format!("  {} | {}   {}°\n", a.first, a.second, number(a.angle.to_degrees()));
        }
    }
    let held = certificates(result, style);
    if !held.is_empty() {
        out += &format!("\n{}\n{held}", style.bold("propositions that hold"));
    }
    let rubs = result.assembly.dynamics.laws.iter().any(|l| l.mu() > 0.0);
    for b in result.friction_bounds.iter().filter(|b| rubs && b.bound.is_finite()) {
        out += &format!(
            "\n{}   below {} everywhere, sliding as now, the answer exists and is unique ({})\n",
            style.bold("friction"),
            number(b.bound),
            b.id
        );
    }
    out
}

/// `holds`, `fails`, `not-applicable` or `undecided`.
pub fn outcome_word(o: Outcome) -> &'static str {
    match o {
        Outcome::Holds => "holds",
        Outcome::Fails => "fails",
        Outcome::NotApplicable => "not-applicable",
        Outcome::Undecided => "undecided",
    }
}

/// What a proposition says: it knows constraints by number, people by name.
pub(crate) fn named_meaning(meaning: &str, names: &[String]) -> String {
    let mut parts = meaning.split("constraint ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse().ok().and_then(|k: usize| names.get(k)) {
            Some(name) => out += &format!("`{name}`{}", &part[digits..]),
            None => out += &format!("constraint {part}"),
        }
    }
    out
}

/// The propositions whose hypotheses hold, with their conclusions and whether these were checked.
fn certificates(result: &SystemAnalysis, style: Style) -> String {
    let mut out = String::new();
    let names = delassus::analysis::constraint_names(&result.names, &result.assembly);
    for f in result.findings.iter().filter(|f| f.finding.outcome == Outcome::Holds) {
        let seal = match f.verified {
            Some(true) => style.good("verified"),
            Some(false) => style.caution("to rounding"),
            None => String::new(),
        };
        let meaning = named_meaning(&f.finding.meaning, &names);
        out += format!("  {:<14} {meaning}   {seal}", f.finding.id).trim_end();
        out.push('\n');
    }
    out
}

fn solution(
    result: &SystemAnalysis,
    analysis: &Analysis,
    component: &SolutionComponent,
    which: &str,
    style: Style,
) -> String {
    let heading = match &component.freedom {
        None => format!("solution{which}"),
        Some(f) => {
            let freedom = count(f.bounds.cols(), "dimension");
            format!("solutions{which}: {freedom} of freedom, least norm shown")
        }
    };
    let heading = if analysis.is_partial() { format!("{heading}, of those found") } else { heading };
    let mut out = format!("\n{}\n", style.bold(&heading));
    let d = &result.assembly.dynamics;
    let offsets = d.offsets();
    let interval = |at: usize| {
        let wide = component.intervals.get(at).filter(|range| is_wide(**range));
        wide.map_or(String::new(), |[low, high]| {
            let within = if analysis.is_partial() { "at least within" } else { "in" };
            style.dim(&format!(" {within} [{}, {}]", number(*low), number(*high)))
        })
    };
    let mut line = |name: &str, mode: String, at: usize, law: &Law| {
        let mut text =
            format!("  {name:<12} {mode:<6} force {}{}", number(component.force[at]), interval(at));
        for t in at + 1..at + law.dim() {
            let what = if t - at <= 2 { "friction" } else { "moment" };
            text += &format!("   {what} {}{}", number(component.force[t]), interval(t));
        }
        out += text.trim_end();
        out.push('\n');
    };
    for (k, j) in result.names.joints.iter().enumerate() {
        line(j, "joint".into(), offsets[k], &d.laws[k]);
    }
    for (c, state) in result.names.contacts.iter().zip(&result.assembly.contacts) {
        if let ContactState::Active(k) = state {
            let mode = match (component.modes[*k], d.laws[*k]) {
                // Without friction there is nothing to stick or slide against.
                (Mode::Slide, Law::Unilateral) => "closed".into(),
                (m, _) => mode_word(m).to_owned(),
            };
            line(c, mode, offsets[*k], &d.laws[*k]);
        }
    }
    let a: Vec<String> = result
        .names
        .coordinates
        .iter()
        .zip(&component.acceleration)
        .map(|(c, x)| format!("{c}'' {}", number(*x)))
        .collect();
    for (i, chunk) in a.chunks(6).enumerate() {
        out += &format!("  {:<12} {}\n", if i == 0 { "acceleration" } else { "" }, chunk.join("   "));
    }
    out
}

fn contact_line(c: &ContactReport, result: &SystemAnalysis, width: usize) -> String {
    let at = result.contacts.iter().position(|x| std::ptr::eq(x, c)).unwrap_or(0);
    let k = &result.kinematics.contacts[at];
    let state = match c.state {
        ContactState::Apart => format!("apart, gap {}", number(k.gap)),
        ContactState::Parting => format!("parting with {}", number(k.normal.velocity)),
        ContactState::Approaching => {
            format!("approaching with {}: needs an impact", number(k.normal.velocity))
        }
        ContactState::Active(_) => match &c.slip {
            Some(_) => {
                let v: Vec<f64> = k.slip.iter().map(|r| r.velocity).collect();
                format!("sliding with {}", number(dot(&v, &v).sqrt()))
            }
            None if k.slip.is_empty() => "touching".into(),
            None => "at rest".into(),
        },
    };
    let mut out = format!("  {:<width$}  {state}", c.name);
    if let Some(cone) = &c.cone {
        let none = if cone.is_held { "–" } else { "∞" };
        let or = |x: Option<f64>| x.map_or(none.into(), number);
        out += &format!("   mu {}   mu_jam {}   mu_crit {}", number(c.mu), or(cone.mu_jam), or(cone.mu_crit));
        if let Some(angle) = cone.locking_angle {
            out += &format!("   locking angle {}°", number(angle.to_degrees()));
        }
        if c.jams {
            out += "   JAMS";
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_have_their_names_and_names_are_left_alone() {
        let names = ["foot".to_owned(), "constraint 0 of <b>".to_owned()];
        for (meaning, named) in [
            ("constraint 0 jams and constraint 1, too", "`foot` jams and `constraint 0 of <b>`, too"),
            ("constraint 1 jams", "`constraint 0 of <b>` jams"),
            ("constraint 2 jams: every constraint 12", "constraint 2 jams: every constraint 12"),
            ("no constraint is there", "no constraint is there"),
        ] {
            assert_eq!(named_meaning(meaning, &names), named);
        }
    }
}
