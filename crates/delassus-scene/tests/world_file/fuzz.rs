//! Any text is a world or an error: worlds with pieces cut out, doubled, exchanged or replaced by others.

use delassus_scene::read_world;
use proptest::prelude::*;

use super::read::BRICK;

/// What may stand in the place of something else.
const PIECES: [&str; 28] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "1e-308",
    "[]",
    "[0, 0, 0]",
    "[1e200, 1e200, 1e200]",
    "[[1, 2, 3]]",
    "{}",
    "\"\"",
    "\"*\"",
    "\"world\"",
    "\"ball\"",
    "\"1/0\"",
    "\"45 deg\"",
    "\"mesh\"",
    "\"convex\"",
    "\"gear\"",
    "\"distance\"",
    "\"universal\"",
    "true",
    "type",
    "anchors",
    "[[joint]]",
    "[[body.shape]]",
    "\u{fc}",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    match read_world(text, None, &[]) {
        Ok(file) => {
            let finite =
                file.state.bodies.iter().all(|b| b.pose.position.is_finite() && b.pose.rotation.is_finite());
            prop_assert!(finite, "{text}");
            for body in file.world.bodies.iter().filter(|b| !b.fixed) {
                prop_assert!(
                    body.mass > 0.0 && body.inertia.min_element() > 0.0 && body.inertia.is_finite(),
                    "{text}"
                );
            }
            prop_assert_eq!(file.state.coordinates.len(), file.world.joints.len());
        }
        Err(error) => {
            prop_assert!(error.place.as_ref().is_none_or(|place| place.span.end <= text.len()));
            prop_assert!(!error.render("w.toml", text).is_empty());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn mutated_values(line in 0..80_usize, piece in 0..PIECES.len(), more in 0..80_usize, other in 0..PIECES.len()) {
        let mut lines: Vec<String> = BRICK.lines().map(str::to_string).collect();
        for (line, piece) in [(line, piece), (more, other)] {
            let n = lines.len();
            let line = &mut lines[line % n];
            *line = match line.split_once('=') {
                Some((key, _)) => format!("{key} = {}", PIECES[piece]),
                None => PIECES[piece].to_string(),
            };
        }
        check(&lines.join("\n"))?;
    }

    #[test]
    fn mutated_lines(from in 0..80_usize, to in 0..80_usize, cut in 0..80_usize) {
        let mut lines: Vec<&str> = BRICK.lines().collect();
        let n = lines.len();
        lines.swap(from % n, to % n);
        lines.remove(cut % n);
        check(&lines.join("\n"))?;
    }

    #[test]
    fn mutated_bytes(at in 0..2000_usize, length in 0..20_usize, piece in 0..PIECES.len()) {
        let bytes = BRICK.as_bytes();
        let start = at % bytes.len();
        let end = (start + length).min(bytes.len());
        let text = [&bytes[..start], PIECES[piece].as_bytes(), &bytes[end..]].concat();
        check(&String::from_utf8_lossy(&text))?;
    }

    /// Huge and tiny numbers leave the range of double precision somewhere; then the file is refused.
    #[test]
    fn extreme_numbers(e in prop::collection::vec(-320..308_i32, 9)) {
        let text = format!(
            "[world]\n[[body]]\nname = \"b\"\nmass = 1e{}\nposition = [1e{}, 1e{}, 0]\nvelocity = [1e{}, 0, 0]\n\
             [[body.shape]]\ntype = \"box\"\nhalf_extents = [1e{}, 1e{}, 1e{}]\nposition = [1e{}, 0, 1e{}]\n",
            e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]
        );
        check(&text)?;
    }
}
