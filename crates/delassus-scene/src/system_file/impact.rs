//! The law of impact in a scene file.
//!
//! ```text
//! u_N⁺ = −E u_N⁻        E (contacts × contacts): `restitution_matrix` of `[impact]`  (001 eq. 76, 77)
//! ```
//!
//! `law` names one of the others. Rows and columns of E follow `contacts`, or the order of the file.

use delassus_solve::impact::ImpactLaw;
use delassus_solve::linalg::Matrix;

use crate::diagnostic::{FileErrorKind, Result};
use crate::toml_table::{Table, Value, unknown_word};
use delassus::formula::{Symbols, clip, nearest};
use delassus::lagrangian::Contact;

/// Names that a message lists.
const NAMED: usize = 8;

/// The law of impact that a file asks for.
pub(super) fn impact_law(
    root: &Table<'_>,
    contacts: &[Contact],
    symbols: &Symbols,
) -> Result<Option<ImpactLaw>> {
    const LAWS: &str = "\"moreau\", \"newton\", \"poisson\", \"energetic\" or \"sequence\"";
    let Some(table) = root.table("impact", "[impact]")? else { return Ok(None) };
    table.only(&["law", "restitution_matrix", "contacts"])?;
    let mut law = None;
    if let Some(value) = table.get("law") {
        law = Some(value.named::<ImpactLaw>(LAWS)?);
        if law != Some(ImpactLaw::Newton) && table.get("restitution_matrix").is_some() {
            let word = value.string(LAWS)?;
            return unknown_word(&value, word, "\"newton\" beside a `restitution_matrix`");
        }
    }
    let order = match table.get("contacts") {
        None => (0..contacts.len()).collect(),
        Some(value) => {
            table.require("restitution_matrix", "a matrix whose rows and columns follow `contacts`")?;
            order(&value, contacts)?
        }
    };
    match table.get("restitution_matrix") {
        None => Ok(law),
        Some(value) => {
            let mut e = Matrix::zeros(contacts.len(), contacts.len());
            for (row, &i) in square(&value, contacts, symbols)?.iter().zip(&order) {
                for (x, &j) in row.iter().zip(&order) {
                    e[(i, j)] = *x;
                }
            }
            Ok(Some(ImpactLaw::NewtonMatrix(e)))
        }
    }
}

fn listed(contacts: &[Contact]) -> String {
    let mut names: Vec<&str> = contacts.iter().take(NAMED).map(|c| c.name.as_str()).collect();
    if contacts.len() > NAMED {
        names.push("…");
    }
    names.join(", ")
}

/// The numbers of all contacts in the order of the list.
fn order(value: &Value<'_>, contacts: &[Contact]) -> Result<Vec<usize>> {
    let mut order = vec![];
    for item in value.items("an array of the names of all contacts")? {
        let name = item.string("the name of a contact in a string")?;
        let Some(i) = contacts.iter().position(|c| c.name == name) else {
            let suggestion = nearest(name, contacts.iter().map(|c| c.name.as_str()));
            let known = listed(contacts);
            return item.error(FileErrorKind::UnknownContact { name: clip(name), known, suggestion });
        };
        if order.contains(&i) {
            let owner = format!("contact `{}` in `contacts`", clip(name));
            return item.error(FileErrorKind::DuplicateName { owner });
        }
        order.push(i);
    }
    count(value, "names", order.len(), contacts)?;
    Ok(order)
}

/// The rows of a matrix with a row and a column for each contact.
fn square(value: &Value<'_>, contacts: &[Contact], symbols: &Symbols) -> Result<Vec<Vec<f64>>> {
    let rows = value.items("an array of rows, each an array of numbers")?;
    count(value, "rows", rows.len(), contacts)?;
    let mut all = vec![];
    for row in rows {
        let items = row.items("a row: an array of numbers")?;
        count(&row, "columns", items.len(), contacts)?;
        all.push(items.iter().map(|item| item.constant(symbols)).collect::<Result<Vec<f64>>>()?);
    }
    Ok(all)
}

fn count(value: &Value<'_>, what: &'static str, found: usize, contacts: &[Contact]) -> Result<()> {
    if found == contacts.len() {
        return Ok(());
    }
    let (key, names) = (clip(&value.key), listed(contacts));
    value.error(FileErrorKind::PerContact { key, what, found, expected: contacts.len(), names })
}
