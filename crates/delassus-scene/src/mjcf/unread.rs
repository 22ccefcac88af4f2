//! Attributes that are not read, and what follows from that.
//!
//! What softens contacts and what tunes another solver are listed once for a file, with their consequence;
//! all else by element and name.

use crate::xml::{Node, Source};
use delassus::formula::{clip, nearest};

/// Attributes of many elements that change nothing about motion.
const HARMLESS: [&str; 9] =
    ["name", "class", "childclass", "group", "user", "rgba", "material", "nsample", "texture"];
/// Attributes with one consequence, wherever they stand.
const WITH_CONSEQUENCE: [(&[&str], &str); 3] = [
    (
        &[
            "solref",
            "solimp",
            "solreflimit",
            "solimplimit",
            "solreffriction",
            "solimpfriction",
            "solreffix",
            "solimpfix",
            "solmix",
        ],
        "`solref`, `solimp` and the like: contacts, limits, equalities and dry friction are rigid here",
    ),
    (&["margin", "gap"], "`margin`, `gap`: contacts begin where bodies touch, not before"),
    (&["cutoff"], "`cutoff` of a sensor: its values are recorded whole"),
];
/// Attributes of `<option>` and its `<flag>` that tune MuJoCo's solver, its integrator or what it computes
/// beside the motion.
const OF_THE_SOLVER: [&str; 26] = [
    "integrator",
    "cone",
    "impratio",
    "solver",
    "jacobian",
    "iterations",
    "ls_iterations",
    "noslip_iterations",
    "ccd_iterations",
    "sdf_iterations",
    "sdf_initpoints",
    "tolerance",
    "ls_tolerance",
    "noslip_tolerance",
    "ccd_tolerance",
    "sleep_tolerance",
    "warmstart",
    "refsafe",
    "eulerdamp",
    "multiccd",
    "nativeccd",
    "island",
    "energy",
    "fwdinv",
    "invdiscrete",
    "sleep",
];

/// Lists the attributes of an element that are neither read nor harmless.
pub(super) fn list_unread(source: &mut Source<'_>, node: Node<'_>, read: &[&str]) {
    let element = clip(node.tag());
    for (name, _) in &node.attributes {
        let name = name.as_str();
        if read.contains(&name) || HARMLESS.contains(&name) {
            continue;
        }
        if let Some((_, consequence)) = WITH_CONSEQUENCE.iter().find(|(names, _)| names.contains(&name)) {
            source.note(node, consequence.to_string());
            continue;
        }
        if matches!(node.tag(), "option" | "flag") && OF_THE_SOLVER.contains(&name) {
            let what = "what <option> says of MuJoCo's solver and integrator: this engine has its own";
            source.note(node, what.to_string());
            continue;
        }
        let meant = match nearest(name, read.iter().copied()) {
            Some(other) => format!(", perhaps `{other}`"),
            None => String::new(),
        };
        source.note(node, format!("`{}` of <{element}>{meant}", clip(name)));
    }
}
