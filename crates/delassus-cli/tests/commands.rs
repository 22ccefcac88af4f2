//! The commands as a user types them.

use std::collections::BTreeSet;

use serde_json::json as value;

use crate::{Temporary, delassus, json, root};

fn stdout(args: &[&str]) -> String {
    String::from_utf8(delassus(args).stdout).unwrap()
}

fn scene(name: &str) -> String {
    root().join("scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn rod_is_explained_in_words() {
    let text = stdout(&["analyze", &scene("painleve-rod.toml")]);
    assert!(text.contains("NO SOLUTION"), "{text}");
    assert!(
        text.contains(
            "no solution: friction 2 exceeds the jamming value 1.66667 and `tip` slides in the jamming direction \
             (003 eq. 39)"
        ),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "plain when piped");
    assert_eq!(delassus(&["analyze", &scene("painleve-rod.toml")]).status.code(), Some(1));
}

#[test]
fn parameters_can_be_set() {
    let (code, doc) = json(&["analyze", &scene("painleve-rod.toml"), "--json", "--set", "mu=1.6"]);
    assert_eq!((code, &doc["solutions"]["kind"]), (0, &value!("finite")));
    let (_, doc) = json(&["analyze", &scene("painleve-rod.toml"), "--json", "--set", "mu = 3/2"]);
    assert_eq!(doc["contacts"][0]["mu"], 1.5);
}

#[test]
fn json_has_the_keys_that_others_rely_on() {
    let (_, doc) = json(&["analyze", &scene("ladder.toml"), "--json"]);
    for pointer in [
        "/n",
        "/bilateral",
        "/unilateral",
        "/existence",
        "/acceleration_unique",
        "/forces_unique",
        "/solutions/kind",
        "/solutions/list/0/acceleration/theta",
        "/solutions/list/0/contacts/floor/normal",
        "/solutions/list/0/contacts/floor/tangential/0",
        "/solutions/list/0/contacts/floor/mode",
        "/solutions/list/0/joints/wall",
        "/solutions/minimum_norm/contacts/floor",
        "/solutions/minimum_norm/joints/wall",
        "/contacts/0/name",
        "/contacts/0/mu",
        "/contacts/0/mu_jam",
        "/contacts/0/mu_crit",
        "/contacts/0/e_jam/0",
        "/contacts/0/locking_angle_deg",
        "/contacts/0/jams",
        "/contacts/0/cone/0/0",
        "/friction_bounds/000.prop12",
        "/kinetic_angles_deg/wall|floor",
        "/matrices/mass/0/0",
        "/matrices/delassus/1/1",
        "/matrices/constrained_delassus/0/0",
        "/matrices/lcp_matrix/1/1",
        "/matrices/lcp_vector/1",
        "/certificates",
    ] {
        assert!(doc.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn check_counts_redundancy() {
    let twice = Temporary::new(
        "twice.toml",
        b"[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
          [[joint]]\nname = \"a\"\nvalue = \"y\"\n[[joint]]\nname = \"b\"\nvalue = \"2*y\"\n",
    );
    let (code, doc) = json(&["check", twice.path(), "--json"]);
    assert_eq!((code, &doc["joint_rank"], &doc["redundant_joints"]), (0, &value!(1), &value!(1)));
    assert!(stdout(&["check", twice.path()]).contains("joints redundant: 1 independent of 2"));
    let (_, doc) = json(&["analyze", twice.path(), "--json"]);
    assert_eq!((&doc["acceleration_unique"], &doc["forces_unique"]), (&value!("proved"), &value!("refuted")));
}

#[test]
fn an_impact_is_announced() {
    let falling = Temporary::new(
        "ball.toml",
        b"[system]\ncoordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\n\
          [state.velocity]\ny = -2.0\n",
    );
    let (code, doc) = json(&["analyze", falling.path(), "--json"]);
    assert_eq!((code, &doc["contacts"][0]["state"]), (1, &value!("approaching")));
    assert!(stdout(&["analyze", falling.path()]).contains("approaches with -2; an impact comes first"));
}

#[test]
fn outcomes_of_an_impact_are_told_with_what_is_wrong() {
    // A point mass in a wedge: Newton's law with e = (1, 0) pulls and makes energy, Moreau's does not.
    let wedge = Temporary::new(
        "wedge.toml",
        b"[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
          [[contact]]\nname = \"wall\"\ngap = \"x\"\nrestitution = 1.0\n\
          [[contact]]\nname = \"slope\"\ngap = \"0.8*x + 0.6*y\"\n\
          [state.velocity]\nx = -1.0\ny = 1.0\n",
    );
    let (code, doc) = json(&["analyze", wedge.path(), "--json"]);
    assert_eq!(code, 1);
    let laws = &doc["impact"]["laws"];
    assert_eq!(laws["moreau"]["violations"], value!([]));
    assert_eq!(laws["moreau"]["kinetic_energy_after"], 1.0);
    let newton = laws["newton"]["violations"].as_array().unwrap();
    assert_eq!((&newton[0]["condition"], &newton[0]["contact"]), (&value!("adhesion"), &value!("slope")));
    assert!((newton[1]["gain"].as_f64().unwrap() - 0.388_888_888_888_889).abs() < 1e-12);
    assert_eq!(doc["impact"]["orders"]["complete"], true);
    let text = stdout(&["analyze", wedge.path()]);
    for expected in ["`slope` would have to pull: -3.88889", "energy out of nothing: 0.388889", "sequence"] {
        assert!(text.contains(expected), "{text}");
    }
    // One contact: the energetic law instead of a sequence, and no orders.
    let ball = Temporary::new(
        "ball.toml",
        b"[system]\ncoordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\n\
          [[contact]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 0.5\n[state.velocity]\ny = -2.0\n",
    );
    let (_, doc) = json(&["analyze", ball.path(), "--json"]);
    assert_eq!(doc["impact"]["laws"]["energetic"]["velocity"]["y"], 1.0);
    assert_eq!(
        (&doc["impact"]["orders"], &doc["impact"]["laws"]["sequence"]),
        (&value!(null), &value!(null))
    );
    let (_, doc) = json(&["analyze", ball.path(), "--json", "--velocity-tolerance", "3"]);
    assert_eq!(doc["impact"], value!(null));
}

#[test]
fn singular_mass_is_allowed_and_reported() {
    let light = Temporary::new(
        "light.toml",
        b"[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"3*y\"\n\
          [[contact]]\nname = \"floor\"\ngap = \"y\"\n",
    );
    let (code, doc) = json(&["analyze", light.path(), "--json"]);
    assert_eq!((code, &doc["mass_rank"], &doc["forces_unique"]), (0, &value!(1), &value!("proved")));
    assert_eq!(doc["solutions"]["list"][0]["contacts"]["floor"]["normal"], 3.0);
    assert_eq!(doc["matrices"]["delassus"], value!(null));
}

#[test]
fn sixteen_planar_contacts_and_more_than_can_be_enumerated() {
    // A bar on many feet, at rest with friction: too many modes to list, but a solution is found.
    let mut text = String::from(
        "[system]\ncoordinates = [\"x\", \"y\", \"r\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2 + r'^2/24\"\npotential = \"9.81*y\"\n",
    );
    for k in 0..16 {
        let at = k as f64 / 15.0 - 0.5;
        text +=
            &format!("[[contact]]\nname = \"foot{k}\"\ngap = \"y + ({at})*r\"\nslip = [\"x\"]\nmu = 0.3\n");
    }
    let file = Temporary::new("feet.toml", text.as_bytes());
    let (code, doc) = json(&["analyze", file.path(), "--json"]);
    assert_eq!((code, &doc["existence"]), (0, &value!("proved")));
    assert_eq!(doc["solutions"]["complete"], false);
    let sum: f64 = doc["solutions"]["list"][0]["contacts"]
        .as_object()
        .unwrap()
        .values()
        .map(|c| c["normal"].as_f64().unwrap())
        .sum();
    assert!((sum - 9.81).abs() < 1e-8, "{sum}");
}

#[test]
fn help_and_version_are_answers() {
    for args in [["--help"], ["--version"]] {
        let out = delassus(&args);
        assert_eq!(out.status.code(), Some(0));
        assert!(!out.stdout.is_empty());
    }
    assert_eq!(delassus(&[]).status.code(), Some(2));
    assert_eq!(delassus(&["fly"]).status.code(), Some(2));
}

/// The words of a text that begin with two dashes.
fn options_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| word.len() > 2 && word.starts_with("--") && !word.starts_with("---")).collect()
}

/// Each option of a command is explained in its section of the book, and what the book calls an option is
/// one.
#[test]
fn the_book_has_all_options_and_no_others() {
    let book = std::fs::read_to_string(root().join("book/src/commands.md")).unwrap();
    let mut sections = book.split("\n## `delassus ");
    let for_all = options_in(sections.next().unwrap());
    let sections: Vec<(&str, &str)> =
        sections.map(|text| (text.split([' ', '`']).next().unwrap(), text)).collect();
    let helps: Vec<String> = sections.iter().map(|(name, _)| stdout(&[name, "--help"])).collect();
    let of_help = |help: &str| -> BTreeSet<String> {
        let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
        // The text behind an option may name others.
        let first =
            |line: &'_ str| line.split_whitespace().find(|word| word.starts_with("--")).map(str::to_string);
        lines.filter_map(first).collect()
    };
    let all: BTreeSet<String> = helps.iter().flat_map(|help| of_help(help)).collect();
    // Every command has a section.
    let commands = stdout(&["--help"]);
    let listed = commands.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed =
        listed.take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().next().unwrap());
    for command in listed.filter(|command| *command != "help") {
        assert!(sections.iter().any(|(name, _)| *name == command), "no section for {command}");
    }
    for ((name, text), help) in sections.iter().zip(&helps) {
        let explained = options_in(text);
        for option in of_help(help) {
            let short = option == "--output" && text.contains("-o ");
            let known = short || ["--help", "--version"].contains(&option.as_str());
            assert!(
                known || explained.contains(option.as_str()) || for_all.contains(option.as_str()),
                "the book does not explain {option} of {name}"
            );
        }
        for option in explained {
            assert!(all.contains(option), "{option} in the section on {name} is no option of any command");
        }
    }
}

#[test]
fn try_shows_a_scene_and_lists_the_others() {
    let text = stdout(&["try"]);
    assert!(text.contains("NO SOLUTION") && text.contains("delassus try ladder"), "{text}");
    let out = delassus(&["try", "nonsense"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("painleve-rod"));
    // Every scene there is, by its name.
    for entry in std::fs::read_dir(root().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        let line = format!("  delassus try {}\n", path.file_stem().unwrap().to_str().unwrap());
        assert!(text.contains(&line), "{line}");
    }
}

#[test]
fn try_moves_a_world() {
    let (code, doc) = json(&["try", "incline", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(doc["ending"], "done");
    let folder = Temporary::new("empty", b"");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_delassus"))
        .args(["try", "incline"])
        .current_dir(std::path::Path::new(folder.path()).parent().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("written to incline.toml; change it and run: delassus run incline.toml"), "{text}");
    assert!(text.contains("energy"), "the report of the run: {text}");
}

#[test]
fn try_leaves_the_scene_behind_and_never_overwrites() {
    let mine = Temporary::new("ladder.toml", b"mine");
    let folder = std::path::Path::new(mine.path()).parent().unwrap();
    let run = |name: &str| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_delassus"))
            .args(["try", name])
            .current_dir(folder)
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(run("ladder").contains("left as it is"));
    assert_eq!(std::fs::read(mine.path()).unwrap(), b"mine");
    assert!(run("painleve-klein").contains("written to painleve-klein.toml"));
    assert!(folder.join("painleve-klein.toml").exists());
}

/// A point between two walls that may hold its weight or let it fall: x and y, friction μ at both walls.
fn between_walls(mu: &str, weight: &str) -> Temporary {
    let wall = |name: &str, gap: &str| {
        format!("[[contact]]\nname = \"{name}\"\ngap = \"{gap}\"\nslip = [\"y\"]\nmu = {mu}\n")
    };
    let text = format!(
        "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
         potential = \"{weight}*y\"\n{}{}",
        wall("left", "x"),
        wall("right", "-x")
    );
    Temporary::new("walls.toml", text.as_bytes())
}

#[test]
fn forces_of_different_motions_share_nothing_and_have_their_own_intervals() {
    // Held: each wall presses with at least a half of the weight over μ. Falling with 1 − 2 μ N: anything
    // less.
    let doc = json(&["analyze", between_walls("0.5", "1").path(), "--json"]).1;
    assert_eq!(doc["acceleration_unique"], "refuted");
    assert_eq!(doc["solutions"]["unique_part"], value!(null));
    let of = |entry: &serde_json::Value| entry["intervals"]["contacts"]["left"]["normal"].clone();
    assert_eq!(of(&doc["solutions"]), value!([0.0, null]));
    let list = doc["solutions"]["list"].as_array().unwrap();
    let of_mode = |mode: &str| {
        let entry = list.iter().find(|x| x["contacts"]["left"]["mode"] == mode).unwrap();
        of(entry)
    };
    assert_eq!((of_mode("stick"), of_mode("slide")), (value!([1.0, null]), value!([0.0, 1.0])));
    // One acceleration, any pressure: what all share is that none is left of it.
    let doc = json(&["analyze", between_walls("0.5", "0").path(), "--json"]).1;
    assert_eq!((&doc["acceleration_unique"], &doc["forces_unique"]), (&value!("proved"), &value!("refuted")));
    assert_eq!(doc["solutions"]["unique_part"]["contacts"], value!({"left": 0.0, "right": 0.0}));
}

#[test]
fn one_solution_of_several_has_no_part_that_all_share() {
    // x = y by the joint: 3 x'' − 2 = 2 (N + R), x'' ≥ 0. Open with x'' = 2/3, or held by N = 1, R = −2.
    let text = "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n[energy]\n\
        kinetic = \"3*x'^2 - 6*x'*y' + 4.5*y'^2 + z'^2/2\"\n\
        [[force]]\ncoordinate = \"x\"\nvalue = \"1\"\n[[force]]\ncoordinate = \"y\"\nvalue = \"1\"\n\
        [[joint]]\nname = \"rod\"\nvalue = \"y - x\"\n\
        [[contact]]\nname = \"wall\"\ngap = \"2*x\"\nslip = [\"2*x\", \"z\"]\nmu = 3\n";
    let file = Temporary::new("held.toml", text.as_bytes());
    let (text, doc) = (stdout(&["analyze", file.path()]), json(&["analyze", file.path(), "--json"]).1);
    assert_ne!(doc["acceleration_unique"], "proved");
    assert_eq!(doc["solutions"]["unique_part"], value!(null));
    assert_ne!(doc["solutions"]["kind"], "finite", "{text}");
}

#[test]
fn the_headline_counts_what_is_listed() {
    // A guide with friction that holds or slides: its friction is part of an entry.
    for (mu, weight) in [("2", "1"), ("1", "1"), ("0.5", "1"), ("2", "0")] {
        let text = format!(
            "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
             potential = \"{weight}*y - x/2\"\n\
             [[joint]]\nname = \"guide\"\nvalue = \"x - y\"\nslip = [\"x + y\"]\nmu = {mu}\n\
             [[contact]]\nname = \"floor\"\ngap = \"y\"\nslip = [\"x\"]\nmu = {mu}\n"
        );
        let file = Temporary::new("guide.toml", text.as_bytes());
        let (text, doc) = (stdout(&["analyze", file.path()]), json(&["analyze", file.path(), "--json"]).1);
        let list = doc["solutions"]["list"].as_array().unwrap();
        let blocks = text.lines().filter(|l| l.starts_with("solution")).count();
        assert_eq!(blocks, list.len(), "{text}");
        for (k, entry) in list.iter().enumerate() {
            assert!(entry["joint_friction"]["guide"].is_array(), "{entry:#}");
            assert!(!list[..k].contains(entry), "{entry:#}");
        }
        if doc["solutions"]["kind"] == "finite" && list.len() > 1 {
            assert!(text.contains(&format!("{} SOLUTIONS", list.len())), "{text}");
            assert!(text.contains(&format!("{} solutions", list.len())), "{text}");
        }
    }
}

#[test]
fn a_normal_that_others_hold_has_no_numbers_but_a_reason() {
    let file = Temporary::new(
        "box.toml",
        b"[world]\n[[body]]\nname = \"ground\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n\
          [[body]]\nname = \"brick\"\nmass = 0.3\nposition = [0.1, 0.7, 0.1]\neuler_deg = [0, 0, 31]\n\
          [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.17, 0.1]\n\
          [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.5\n",
    );
    let doc = json(&["analyze", file.path(), "--json"]).1;
    let contacts = doc["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 4);
    for contact in contacts {
        for key in ["mu_jam", "mu_crit", "effective_mass", "cone", "locking_angle_deg"] {
            assert_eq!(contact[key], value!(null), "{key}");
        }
    }
    let reasons = doc["reasons"].to_string();
    assert!(reasons.contains("mu_crit") && reasons.contains("hold the normal"), "{reasons}");
    assert!(stdout(&["analyze", file.path()]).contains("mu_jam –   mu_crit –"));
}
