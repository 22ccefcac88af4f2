//! Texts that must be refused: one harness for all readers.

use delassus_scene::{FileError, read_xml};

/// A reader that must refuse the text that it is given.
pub type Refuse = fn(&str) -> FileError;

/// The text with the first line that starts so replaced, and the number of that line.
#[track_caller]
pub fn with_line(text: &str, start: &str, instead: &str) -> (String, usize) {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no line {start}"));
    lines[at] = instead;
    (lines.join("\n"), at + 1)
}

/// The text is refused at this line, with all of these words in the message.
#[track_caller]
pub fn refused(text: &str, line: usize, words: &[&str], refuse: Refuse) {
    let error = refuse(text);
    let rendered = error.render("test", text);
    assert_eq!(error.place.map(|place| place.line), Some(line), "{text}\n{rendered}");
    assert!(rendered.starts_with(&format!("error: test:{line}:")), "{rendered}");
    assert!(words.iter().all(|word| rendered.contains(word)), "{text}\n{rendered}");
}

/// A line of a good text, what is written instead of it, the message, and what was expected.
pub type BadLine = (&'static str, &'static str, &'static str, &'static str);

/// Each of these lines alone makes a good text bad.
#[track_caller]
pub fn each_line_is_refused(good: &str, cases: &[BadLine], refuse: Refuse) {
    for (line, instead, message, help) in cases {
        let (text, number) = with_line(good, line, instead);
        refused(&text, number, &[message, help], refuse);
    }
}

/// A part of a good model, what is written instead of it, the line of the error, and its message.
pub type BadPart = (&'static str, &'static str, usize, &'static str);

/// Each of these parts alone makes a good model bad. What is no XML at all has no line of its own.
#[track_caller]
pub fn each_part_is_refused(good: &str, cases: &[BadPart]) {
    for (from, to, line, message) in cases {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let error = read_xml(&text, None).expect_err(to);
        let rendered = error.render("test", &text);
        assert!(rendered.contains(message), "{to}: {rendered}");
        if *message != "XML" {
            assert_eq!(error.place.map(|p| p.line), Some(*line), "{rendered}");
        }
    }
}
