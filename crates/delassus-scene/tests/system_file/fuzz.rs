//! No text makes the reader panic, and every message can be printed.

use delassus::lagrangian::kinematics;
use delassus_scene::read_system;
use proptest::prelude::*;

use super::read::ROD;

fn survive(text: &str) {
    match read_system(text, &[]) {
        Ok(file) => {
            if let Err(error) = kinematics(&file.system, &file.state) {
                let _ = file.explain(error, text).render("file", text);
            }
        }
        Err(error) => {
            let rendered = error.render("file", text);
            assert!(rendered.starts_with("error: file"), "{rendered}");
            assert!(rendered.len() < 2000, "{} bytes", rendered.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    /// Pieces of the valid file, some lost, some doubled, some exchanged, some spoiled.
    #[test]
    fn mutated_files(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, 0..4u8, "\\PC{0,3}"), 1..5)) {
        let mut text: Vec<char> = ROD.chars().collect();
        for (at, length, kind, insert) in edits {
            let start = at.index(text.len() + 1);
            let end = (start + length).min(text.len());
            match kind {
                0 => drop(text.drain(start..end)),
                1 => {
                    let piece = text[start..end].to_vec();
                    text.splice(start..start, piece);
                }
                2 => text[start..end].reverse(),
                _ => drop(text.splice(start..start, insert.chars())),
            }
        }
        survive(&text.into_iter().collect::<String>());
    }

    /// Tokens of the format in any order.
    #[test]
    fn shuffled_tokens(tokens in prop::collection::vec(prop::sample::select(vec![
        "[", "]", "[[", "]]", "\n", "=", "\"", "'", "{", "}", ",", "system", "coordinates", "energy", "kinetic",
        "contact", "state", "position", "x", "x'", "^2", "1e9", "nan", "(", ")", ".", "\"x\"", "[\"x\"]", "é",
    ]), 0..60)) {
        survive(&tokens.concat());
        survive(&("[system]\ncoordinates=[\"x\"]\n[energy]\nkinetic=\"x'^2\"\n".to_string() + &tokens.concat()));
    }
}
