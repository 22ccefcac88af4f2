//! Reading a document, with messages that name the place.

use serde_json::Value;

use crate::fault::Fault;

/// The entry of an object.
pub fn field<'a>(value: &'a Value, key: &str) -> Result<&'a Value, Fault> {
    value.get(key).ok_or_else(|| Fault::Form(format!("expected an object with the key `{key}`")))
}

/// The entry of an object, read by a function; errors name it.
pub fn read<'a, T>(
    value: &'a Value,
    key: &str,
    how: impl FnOnce(&'a Value) -> Result<T, Fault>,
) -> Result<T, Fault> {
    how(field(value, key)?).map_err(|e| inside(key, e))
}

/// The elements of a list.
pub fn items(value: &Value) -> Result<&[Value], Fault> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| Fault::Form(format!("expected a list, found {}", short(value))))
}

/// A list, each element read by a function.
pub fn list<T>(value: &Value, how: impl Fn(&Value) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    numbered(items(value)?).map(|(i, x)| how(x).map_err(|e| at("", i, e))).collect()
}

/// A list of so many.
pub fn list_of<T>(
    value: &Value,
    count: usize,
    how: impl Fn(&Value) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let all = list(value, how)?;
    if all.len() == count {
        Ok(all)
    } else {
        Err(Fault::Form(format!("expected {count} elements, found {}", all.len())))
    }
}

/// Elements with their places.
pub fn numbered(values: &[Value]) -> impl Iterator<Item = (usize, &Value)> {
    values.iter().enumerate()
}

/// A word.
pub fn word(value: &Value) -> Result<&str, Fault> {
    value.as_str().ok_or_else(|| Fault::Form(format!("expected a word, found {}", short(value))))
}

/// A number of things, below a limit.
pub fn index(value: &Value, limit: usize) -> Result<usize, Fault> {
    let found = value.as_u64().and_then(|x| usize::try_from(x).ok()).filter(|x| *x < limit);
    found.ok_or_else(|| {
        Fault::Form(format!(
            "expected an integer from 0 to {}, found {}",
            limit.saturating_sub(1),
            short(value)
        ))
    })
}

/// Adds a key to the place of an error.
pub fn inside(key: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Form(text) if text.starts_with('[') => Fault::Form(format!("{key}{text}")),
        Fault::Form(text) if starts_with_place(&text) => Fault::Form(format!("{key}.{text}")),
        Fault::Form(text) => Fault::Form(format!("{key}: {text}")),
        other => other,
    }
}

/// Adds an element of a list to the place of an error.
pub fn at(key: &str, index: usize, fault: Fault) -> Fault {
    inside(&format!("{key}[{index}]"), fault)
}

/// Whether a message begins with a place: a key and a colon, a dot or a bracket.
fn starts_with_place(text: &str) -> bool {
    let key: String = text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
    matches!(text[key.len()..].chars().next(), Some(':' | '.' | '[')) && !key.is_empty()
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}
