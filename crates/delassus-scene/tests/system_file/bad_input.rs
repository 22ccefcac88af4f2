//! Every kind of bad input is refused with its line and what was expected.

use delassus::lagrangian::kinematics;
use delassus_scene::{FileError, read_system};

use super::read::ROD;
use crate::support::{each_line_is_refused, refused, with_line};

/// The rod with one line replaced, and the number of that line.
fn with(line: &str, instead: &str) -> (String, usize) {
    with_line(ROD, line, instead)
}

fn refuse(text: &str) -> FileError {
    read_system(text, &[]).expect_err("a bad file was read")
}

/// The message for a file `rod.toml`.
fn message(text: &str) -> String {
    refuse(text).render("rod.toml", text)
}

#[test]
fn each_line_is_named() {
    let cases = [
        // (line, what is written instead, message, what was expected)
        ("potential", "potential = \"m*g*yy\"", "unknown symbol `yy`", "did you mean `y`?"),
        ("potential", "potential = \"m*g*(y\"", "unexpected end", "expected an operator or `)`"),
        ("potential", "potential = \"m*g*y'\"", "`potential` depends on velocities", "positions and time"),
        ("potential", "potential = true", "`potential` is a boolean", "a formula in a string, or a number"),
        ("potential", "potential = 10^3", "", ""),
        ("kinetic", "kinetik = \"x'^2\"", "unknown key `kinetik` in [energy]", "did you mean `kinetic`?"),
        ("kinetic", "kinetic = nan", "`kinetic` is NaN", "a finite number"),
        ("m = 1.0", "m = nan", "`m` is NaN", "a finite number"),
        ("m = 1.0", "m = -inf", "`m` is -inf", "a finite number"),
        ("m = 1.0", "m = 1e999", "`m` is inf", "a finite number"),
        ("m = 1.0", "m = \"1/0\"", "this constant is infinite", "a finite number"),
        ("m = 1.0", "m = \"g\"", "unknown symbol `g`", "a parameter defined above"),
        ("m = 1.0", "m = \"x\"", "`x` is not a constant", "an expression of parameters"),
        ("m = 1.0", "m = [1]", "`m` is an array", "a number or an expression"),
        ("g = 9.81", "x = 9.81", "there is already a coordinate `x`", "a name of its own"),
        ("g = 9.81", "pi = 9.81", "the name `pi` is reserved", "another name"),
        ("g = 9.81", "cos = 9.81", "the name `cos` is reserved", "another name"),
        ("g = 9.81", "\"g 2\" = 9.81", "`g 2` is not a name", "a letter or underscore"),
        ("g = 9.81", "m = 9.81", "duplicate key", ""),
        ("coordinates", "coordinates = []", "the system has no coordinates", "the names"),
        ("coordinates", "coordinates = [\"x\", \"x\"]", "there is already a coordinate `x`", "of its own"),
        ("coordinates", "coordinates = [\"x\", \"t\"]", "the name `t` is reserved", "another name"),
        ("coordinates", "coordinates = [\"x\", 3]", "`coordinates` is an integer", "a name in a string"),
        ("coordinates", "coordinates = \"x\"", "`coordinates` is a string", "an array of names"),
        ("coordinates", "cordinates = [\"x\"]", "unknown key `cordinates` in [system]", "`coordinates`?"),
        ("name = \"Pain", "name = 3", "`name` is an integer", "expected a string"),
        ("coordinate = ", "coordinate = \"Theta\"", "unknown coordinate `Theta`", "did you mean `theta`?"),
        ("coordinate = ", "coordinate = 2", "`coordinate` is an integer", "the name of a coordinate"),
        ("value = \"0\"", "valu = \"0\"", "unknown key `valu`", "did you mean `value`?"),
        (
            "value = \"0\"",
            "value = \"1 deg\"",
            "unit `deg` in a formula",
            "units stand only behind constants",
        ),
        ("gap", "gapp = \"y\"", "unknown key `gapp`", "did you mean `gap`?"),
        ("gap", "gap = \"y - y'\"", "`gap` depends on velocities", "positions and time"),
        ("slip", "slip = \"x\"", "`slip` is a string", "an array of one or two formulas"),
        ("slip", "slip = []", "contact `tip` has 0 slips", "one (planar) or two (spatial)"),
        ("slip", "slip = [\"x\", \"y\", \"x\"]", "contact `tip` has 3 slips", "one (planar) or two"),
        ("slip", "slip = [\"x'\"]", "`slip` depends on velocities", "positions and time"),
        ("mu   =", "mu = -0.5", "the friction coefficient of contact `tip` is -0.5", "not negative"),
        ("mu   =", "mu = \"1 - mu\"", "the friction coefficient of contact `tip` is -1", "not negative"),
        ("mu   =", "mu = nan", "`mu` is NaN", "a finite number"),
        ("restitution", "restitution = 1.5", "the restitution of contact `tip` is 1.5", "from 0 to 1"),
        ("restitution", "restitution = \"y\"", "`y` is not a constant", "expression of parameters"),
        ("restitution", "mu_static = 1", "both `mu` and `mu_static` in contact `tip`", "exactly one"),
        ("restitution", "mu_kinetic = 1", "both `mu` and `mu_kinetic` in contact `tip`", "exactly one"),
        ("restitution", "velocity = \"y'\"", "both `gap` and `velocity` in contact `tip`", "exactly one"),
        (
            "restitution",
            "slip_velocity = [\"x'\"]",
            "both `slip` and `slip_velocity` in contact",
            "exactly one",
        ),
        ("name  = \"guide\"", "name = \"tip\"", "already a contact or joint `tip`", "of its own"),
        ("name  = \"guide\"", "name = \"\"", "the name is empty", "expected a name"),
        ("mu    =", "mu = -1", "the friction coefficient of joint `guide` is -1", "not negative"),
        ("t = 1", "time = 1", "unknown key `time` in [state]", "`t`, `position`, `velocity`"),
        ("t = 1", "t = \"soon\"", "unknown symbol `soon`", "a parameter defined above"),
        ("theta = ", "thta = 1", "unknown coordinate `thta`", "did you mean `theta`?"),
        ("theta = ", "theta = inf", "`theta` is inf", "a finite number"),
        ("theta = ", "theta = \"45 degrees\"", "unexpected `degrees`", "a unit (deg, rad, rpm, m"),
        ("x = -1.0", "x = {}", "`x` is a table", "a number or an expression"),
        ("existence", "existence = \"yes\"", "`existence` is `yes`", "\"proved\", \"refuted\" or"),
        ("solutions", "solutions = \"few\"", "`solutions` is `few`", "\"several\""),
        ("equals = true", "equal = true", "unknown key `equal`", "did you mean `equals`?"),
        ("[state]", "[stat]", "unknown key `stat`", "did you mean `state`?"),
        ("[energy]", "[energy", "", ""),
    ];
    each_line_is_refused(ROD, &cases, refuse);
}

#[test]
fn what_is_missing_is_named() {
    let without = |line: &str| with(line, "").0;
    let cases = [
        (without("kinetic"), 11, "missing key `kinetic` in [energy]"),
        (without("coordinates"), 1, "missing key `coordinates` in [system]"),
        (without("coordinate ="), 15, "missing key `coordinate` in [[force]] number 1"),
        (without("value = \"0\""), 15, "missing key `value` in [[force]] number 1"),
        (without("name = \"tip\""), 19, "missing key `name` in [[contact]] number 1"),
        (without("gap"), 19, "neither `gap` nor `velocity` in contact `tip`"),
        (without("value = \"x -"), 26, "neither `value` nor `velocity` in joint `guide`"),
        (without("slip = "), 23, "contact `tip` has friction but no slip"),
        (without("path = \"/contacts/0/jams"), 46, "missing key `path`"),
        (with("mu   =", "mu_static = 1").0, 19, "missing key `mu_kinetic` in contact `tip`"),
        (with("mu   =", "mu_kinetic = 1").0, 19, "missing key `mu_static` in contact `tip`"),
        ("[system]\ncoordinates = [\"x\"]\n".to_string(), 1, "missing key `energy`"),
        (String::new(), 1, "expected a [system] or a [world] table"),
        ("[parameters]\nm = 1\n".to_string(), 1, "expected a [system] or a [world] table"),
        (
            "# a world\n[world]\ngravity = [0, 0, -9.81]\n".to_string(),
            2,
            "expected a [system] table, found a [world]",
        ),
        ("system = 3".to_string(), 1, "`system` is an integer"),
        (
            "[system]\ncoordinates=['x']\n[contact]\ngap='x'\n[energy]\nkinetic=1".to_string(),
            3,
            "array of tables",
        ),
    ];
    for (text, line, message) in cases {
        refused(&text, line, &[message], refuse);
    }
}

#[test]
fn the_message_looks_like_a_compiler() {
    let (text, _) = with("potential", "potential = \"m*g*yy\"");
    assert_eq!(
        message(&text),
        "error: rod.toml:13:18: unknown symbol `yy`\n   \
         |\n13 | potential = \"m*g*yy\"\n   \
         |                  ^^ expected a coordinate (x, y, theta), a parameter or a function; did you mean `y`?\n"
    );
    // With an escape in the string the whole value is meant; columns count characters, not bytes.
    let (text, _) = with("potential", "potential = \"m*g*yy\\u0020\"");
    assert!(message(&text).starts_with("error: rod.toml:13:13: unknown symbol `yy`"));
    let (text, _) = with("potential", "\"p\u{f6}tential\" = \"m*\u{b5}\"");
    assert!(message(&text).starts_with("error: rod.toml:13:1: unknown key `p\u{f6}tential`"));
    let (text, _) = with("slip = ", "slip = [\"x*\u{3b8}\"]");
    assert!(
        message(&text).starts_with("error: rod.toml:22:12: unknown symbol `\u{3b8}`"),
        "{}",
        message(&text)
    );
    // In a string of several lines the line inside it is meant.
    let (text, line) = with("potential", "potential = \"\"\"\nm*g*\n  yy\"\"\"");
    assert!(message(&text).starts_with(&format!("error: rod.toml:{}:3: unknown", line + 2)));
}

#[test]
fn overrides_are_checked() {
    let set = |name: &str, value: &str| {
        let error = read_system(ROD, &[(name, value)]).expect_err("a bad override was taken");
        assert!(error.place.is_none());
        error.render("rod.toml", ROD)
    };
    let unknown = set("mm", "1");
    assert!(unknown.contains("cannot set `mm`: unknown parameter") && unknown.contains("did you mean `m`?"));
    assert!(set("m", "2*").contains("cannot set `m` to `2*`: unexpected end of the expression; expected"));
    assert!(set("m", "nan").contains("unknown symbol `nan`"));
    assert!(set("l", "g").contains("unknown symbol `g`"));
    assert!(set("m", "10^400").contains("infinite"));
}

#[test]
fn errors_of_evaluation_are_located() {
    let cases = [
        ("potential", "potential = \"m*g*sqrt(y - 9)\"", "the potential energy is NaN at this state"),
        (
            "kinetic",
            "kinetic = \"-m*(x'^2 + y'^2 + theta'^2)\"",
            "the mass matrix has the negative eigenvalue",
        ),
        ("gap", "gap = \"abs(x)\"", "the gap (or velocity) of contact `tip` has no finite derivatives"),
        ("gap", "velocity = \"x'^2\"", "is given by a velocity that is not linear"),
        ("mu   =", "mu = \"x - 1\"", "the static friction of contact `tip` is -1 at this state"),
        ("value = \"0\"", "value = \"1/x\"", "the force on `theta` is inf at this state"),
    ];
    for (line, instead, message) in cases {
        let (text, number) = with(line, instead);
        let file = read_system(&text, &[]).unwrap_or_else(|e| panic!("{}", e.render("rod.toml", &text)));
        let error = file.explain(kinematics(&file.system, &file.state).unwrap_err(), &text);
        let rendered = error.render("rod.toml", &text);
        assert!(rendered.starts_with(&format!("error: rod.toml:{number}:")), "{rendered}");
        assert!(rendered.contains(message), "{rendered}");
    }
}

#[test]
fn ten_megabytes_of_brackets_give_a_short_message() {
    let system = "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"";
    let texts = [
        "[".repeat(10_000_000),
        system.to_string() + &"(".repeat(10_000_000) + "\"",
        system.to_string() + &"(".repeat(900_000) + "\"",
        "x".repeat(20_000_000),
        // The same in smaller: what these could exhaust is the stack, not the memory.
        "a = ".to_string() + &"[".repeat(1_000_000),
        "\"".to_string() + &"k".repeat(1_000_000) + "\" = 1\n[system]",
        "a.".repeat(500_000) + "b = 1",
        "[".to_string() + &"a.".repeat(500_000) + "b]",
        "a={a=".repeat(200_000),
        "[[a]]\n".repeat(100_000),
        "\n".repeat(1_000_000) + "[system",
    ];
    for text in texts {
        let rendered = message(&text);
        assert!(rendered.len() < 1000, "{} bytes", rendered.len());
    }
}
