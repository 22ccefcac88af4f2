//! `[[control]]`: what actuators are given over time.
//!
//! ```toml
//! [[control]]
//! actuator = "elbow"          # a joint with a motor, `joint#2` for the second of several
//! times  = [0, 0.5, 2]        # or value = "0.3*sin(2*t)"
//! values = [0, 0.4, 0.1]
//! linear = true               # change evenly between the times, not at once
//! ```

use super::action::of_time;
use crate::control::{Activation, ControlTable, UNBOUNDED, control};
use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::toml_table::{Table, Value};
use delassus::formula::{AnyFormula, Symbols, clip, nearest};
use delassus::world::{World, actuators};

const ACTUATOR: &str = "the name of a joint that has a motor";
const TIMES: &str = "times that increase, in a list";
const VALUES: &str = "as many values as there are times";

/// Gives the actuators of a world what the file sets.
pub(super) fn apply(root: &Table<'_>, symbols: &Symbols, world: &mut World) -> Result<()> {
    let all = actuators(world);
    let mut controlled = vec![false; all.len()];
    for table in root.tables("control", "[[control]]")? {
        table.only(&["actuator", "value", "times", "values", "linear"])?;
        let named = table.require("actuator", ACTUATOR)?;
        let name = named.string(ACTUATOR)?;
        let Some(found) = all.iter().position(|actuator| actuator.name == name) else {
            let suggestion = nearest(name, all.iter().map(|actuator| actuator.name.as_str()));
            return named.world_error(WorldErrorKind::UnknownActuator { name: clip(name), suggestion });
        };
        if std::mem::replace(&mut controlled[found], true) {
            let owner = format!("control of `{}`", clip(name));
            return named.error(FileErrorKind::DuplicateName { owner });
        }
        let input = match table.either("value", "times")? {
            Some(value) if value.key == "value" => of_time(&value, symbols)?,
            Some(times) => over_time(&table, name, &times, symbols)?,
            None => of_time(&table.require("value", "a formula of t, or `times` and `values`")?, symbols)?,
        };
        world.joints[all[found].joint].actions[all[found].action].kind.set_input(input);
    }
    Ok(())
}

/// A control by its values at some times.
fn over_time(table: &Table<'_>, name: &str, times: &Value<'_>, symbols: &Symbols) -> Result<AnyFormula> {
    let list = |value: &Value<'_>, expected| -> Result<Vec<f64>> {
        value.items(expected)?.iter().map(|item| item.quantity(symbols)).collect()
    };
    let at = list(times, TIMES)?;
    let length = |value: &Value<'_>, found, expected| {
        value.world_error(WorldErrorKind::Length { key: value.key.clone(), found, expected })
    };
    if at.is_empty() || at.windows(2).any(|pair| pair[0] >= pair[1]) {
        return length(times, at.len(), TIMES);
    }
    let given = table.require("values", VALUES)?;
    let values = list(&given, VALUES)?;
    if values.len() != at.len() {
        return length(&given, values.len(), VALUES);
    }
    let linear = table.get("linear").map_or(Ok(false), |value| value.flag())?;
    let one = ControlTable::new(at, vec![(name.to_string(), values)], linear);
    Ok(control(Some(&one), name, 0.0, UNBOUNDED, (Activation::None, 0.0)))
}
