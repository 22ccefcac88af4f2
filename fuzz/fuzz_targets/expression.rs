//! Any text is an expression or an error whose place lies inside of the text; an expression evaluates over
//! numbers and over hyper-dual numbers.
#![no_main]

use delassus::formula::{AnyFormula, Expression, HyperDual, Point, Symbols, constant};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut symbols = Symbols::default();
    let known =
        [symbols.add_coordinate("x"), symbols.add_coordinate("theta"), symbols.add_parameter("m", 1.5)];
    assert!(known.iter().all(Result::is_ok), "names of the target");
    let _ = constant(text, &symbols);
    match Expression::parse(text, &symbols) {
        Ok(expression) => {
            let (q, v, t) = ([0.3, -1.2], [2.0, 0.5], 0.7);
            let formula = AnyFormula::new(expression);
            let _ = formula.value(&Point { q: &q, v: &v, t });
            let [hyper_q, hyper_v] = [q, v].map(|pair| pair.map(HyperDual::constant));
            let _ = formula.hyper(&Point { q: &hyper_q, v: &hyper_v, t: HyperDual::constant(t) });
        }
        Err(error) => {
            assert!(
                error.span.start <= error.span.end && error.span.end <= text.len(),
                "place outside of the text"
            );
            let _ = (error.to_string(), error.kind.help());
        }
    }
});
