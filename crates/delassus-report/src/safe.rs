//! Safe intervals of a parameter as text and as JSON.

use delassus::analysis::{End, Question, Safe, SafeInterval, SafeMethod};
use delassus::lagrangian::Names;
use serde_json::{Map, Value, json};

use crate::style::{Style, number};
use crate::words::title;

fn contains(interval: &SafeInterval, x: f64) -> bool {
    interval.lo <= x && x <= interval.hi
}

/// The document of `delassus safe --json`.
pub fn safe_document(question: &Question<'_>, found: &Safe) -> Value {
    let interval = found.interval;
    let end = |e: End| match e {
        End::Range => "range",
        End::Boundary => "boundary",
    };
    let for_all: Map<String, Value> =
        question.for_all.iter().map(|(n, r)| ((*n).to_owned(), json!(r))).collect();
    json!({
        "parameter": question.over,
        "present": found.present,
        "within": found.within,
        "for_all": for_all,
        "any_slip": question.any_slip,
        "certified": interval.is_some_and(|i| i.method == SafeMethod::IntervalArithmetic),
        "method": interval.map(|i| match i.method {
            SafeMethod::IntervalArithmetic => "interval-arithmetic",
            SafeMethod::Sampled => "sampled",
        }),
        "interval": interval.map(|i| [i.lo, i.hi]),
        "ends": interval.map(|i| i.ends.map(end)),
        "contains_present": interval.is_some_and(|i| contains(&i, found.present)),
        "boxes": found.boxes,
        "given_up": found.given_up,
    })
}

/// A number with enough digits that the last step shows, rounded towards the inside.
fn inward(x: f64, up: bool) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let unit = 10f64.powi(x.abs().log10().floor() as i32 - 7);
    let scaled = x / unit;
    let whole = if up { scaled.ceil() } else { scaled.floor() };
    let digits = (7 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{:.digits$}", whole * unit);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn given_up(found: &Safe) -> &'static str {
    if found.given_up {
        "  some steps took too many boxes and were given up: there may be more\n"
    } else {
        ""
    }
}

/// The report of `delassus safe`.
pub fn safe_text(names: &Names, question: &Question<'_>, found: &Safe, style: Style) -> String {
    let name = question.over;
    let mut out = format!("{}\n", style.bold(&title(names)));
    let [from, to] = found.within.map(number);
    let Some(interval) = found.interval else {
        let verdict = style.bad("NOTHING CERTIFIED");
        out += &format!("{verdict}  no value of {name} from {from} to {to} is known to be safe\n");
        return out + given_up(found);
    };
    let (lo, hi) = (inward(interval.lo, true), inward(interval.hi, false));
    match interval.method {
        SafeMethod::IntervalArithmetic => {
            out += &format!("{}  {lo} ≤ {name} ≤ {hi}\n", style.good("CERTIFIED"));
            out += "  exactly one acceleration and one set of forces, for every load: proved by interval arithmetic\n";
        }
        SafeMethod::Sampled => {
            out += &format!("{}  {lo} ≤ {name} ≤ {hi}\n", style.caution("SAMPLED"));
            out +=
                "  exactly one acceleration at each value that was tried; nothing is proved between them\n";
        }
    }
    for (other, [a, b]) in question.for_all {
        out += &format!("  for all {other} from {} to {}\n", number(*a), number(*b));
    }
    if question.any_slip {
        out += "  for all directions of sliding\n";
    }
    for (end, value) in interval.ends.iter().zip([&lo, &hi]) {
        if *end == End::Range {
            out += &format!("  {value} is the end of the range that was looked at\n");
        }
    }
    out += given_up(found);
    if !contains(&interval, found.present) {
        let present = number(found.present);
        out +=
            &format!("  {}\n", style.caution(&format!("the present value {name} = {present} lies outside")));
    }
    out
}
