//! The page as text.

use serde_json::{Map, Value, json};

use crate::arrays::Arrays;
use crate::motion::Motion;

/// The viewer as `cargo xtask web` builds it.
const VIEWER: &str = include_str!("viewer.html");
/// Where the data of a page stand in it, and its title.
const DATA_MARK: &str = "<!--delassus-data-->";
const TITLE_MARK: &str = "<!--delassus-title-->";

/// A page: what is shown, by keys that the viewer knows, and arrays of numbers beside it.
pub struct Page {
    title: String,
    document: Map<String, Value>,
    motions: Vec<Value>,
    arrays: Arrays,
}

impl Page {
    /// A page with a title and nothing else.
    pub fn new(title: &str) -> Page {
        Page { title: title.into(), document: Map::new(), motions: vec![], arrays: Arrays::default() }
    }

    /// Shows something under a key.
    pub fn put(&mut self, key: &str, value: Value) {
        self.document.insert(key.into(), value);
    }

    /// Arrays that what is shown refers to.
    pub fn arrays(&mut self) -> &mut Arrays {
        &mut self.arrays
    }

    /// Shows a motion, beside those that there are.
    pub fn add_motion(&mut self, name: &str, motion: &Motion) {
        let mut entry = motion.document(&mut self.arrays);
        entry["name"] = json!(name);
        self.motions.push(entry);
    }

    /// What the viewer reads: the document, and the arrays as they stand in a page.
    pub fn parts(&self) -> (Value, String) {
        let mut document = self.document.clone();
        document.insert("title".into(), json!(self.title));
        document.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        document.insert("motions".into(), json!(self.motions));
        (document.into(), self.arrays.packed())
    }

    /// The file.
    pub fn to_html(&self) -> String {
        let (document, arrays) = self.parts();
        // Nothing in JSON but a string holds this sign, and there it may be written so: the script cannot be
        // ended, nor a remark begun, by a name.
        let text = document.to_string().replace('<', "\\u003c");
        let data = format!(
            "<script type=\"application/json\" id=\"delassus-document\">{text}</script>\n\
             <script type=\"text/plain\" id=\"delassus-arrays\">{arrays}</script>"
        );
        VIEWER.replacen(TITLE_MARK, &escaped(&self.title), 1).replacen(DATA_MARK, &data, 1)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        let name = "</script><script>alert(1)</script><!-- & \u{2028}";
        let mut page = Page::new(name);
        page.put("name", json!(name));
        let html = page.to_html();
        assert!(!html.contains("<script>alert"));
        let begin = html.find("id=\"delassus-document\">").unwrap() + "id=\"delassus-document\">".len();
        let end = begin + html[begin..].find("</script>").unwrap();
        let read: Value = serde_json::from_str(&html[begin..end]).unwrap();
        assert_eq!((&read["name"], &read["title"]), (&json!(name), &json!(name)));
    }

    #[test]
    fn the_viewer_has_a_place_for_data_and_loads_nothing() {
        assert!(VIEWER.contains(DATA_MARK) && VIEWER.contains(TITLE_MARK));
        assert!(VIEWER.len() < 1_000_000, "{} bytes", VIEWER.len());
        for outside in ["src=\"http", "href=\"http", "@import", "src=\"/", "src=\"."] {
            assert!(!VIEWER.contains(outside), "{outside}");
        }
    }
}
