//! Did-you-mean: the known name nearest to an unknown one.

/// The longest part of a name that messages repeat.
const CLIP: usize = 40;

/// The candidate within edit distance 2 (and less than a full rewrite) of `name`, or equal to it in another
/// case; the nearest, the first of equals.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let length = name.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = candidate.chars().count();
        // Three edits apart by length alone: no need to look.
        if other.abs_diff(length) > 2 || length > 200 {
            continue;
        }
        let distance =
            if candidate.to_lowercase() == name.to_lowercase() { 0 } else { edits(name, candidate) };
        if distance <= 2
            && distance < length.max(other)
            && best.is_none_or(|(d, _)| distance < d)
            && candidate != name
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_string())
}

/// Levenshtein distance: insertions, deletions and replacements of characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// `name` cut to a length that fits in a message.
pub fn clip(name: &str) -> String {
    match name.char_indices().nth(CLIP) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        assert_eq!(nearest("yy", ["x", "y", "theta"]), Some("y".into()));
        assert_eq!(nearest("Theta", ["x", "theta"]), Some("theta".into()));
        assert_eq!(nearest("thta", ["x", "theta"]), Some("theta".into()));
        assert_eq!(nearest("T", ["t", "x"]), Some("t".into()));
        assert_eq!(nearest("a", ["b", "c"]), None);
        assert_eq!(nearest("potential", ["kinetic"]), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn long_names_are_clipped() {
        assert_eq!(clip("short"), "short");
        assert_eq!(clip(&"ü".repeat(1000)).chars().count(), CLIP + 1);
    }
}
