//! Files that describe a system (`[system]`), its parameters and a state.
//!
//! ```
//! let text = r#"
//! [system]
//! coordinates = ["y"]
//! [parameters]
//! m = 2.0
//! weight = "m*9.81"
//! [energy]
//! kinetic = "m*y'^2/2"
//! potential = "weight*y"
//! [[contact]]
//! name = "floor"
//! gap = "y"
//! [state.velocity]
//! y = -1.0
//! "#;
//! let file = delassus_scene::read_system(text, &[("m", "3")])?;
//! let at = delassus::lagrangian::kinematics(&file.system, &file.state)?;
//! assert_eq!(at.mass[(0, 0)], 3.0);
//! assert_eq!(at.contacts[0].normal.velocity, -1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod impact;
mod safe;

pub use safe::{SafeTextError, check_paving_of, pave_text, paving_proof_of, safe_interval_of};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use delassus_solve::impact::ImpactLaw;

use crate::diagnostic::{FileError, FileErrorKind, Result};
use crate::document::{SceneKind, name, parameters, parse, scene_table, split_overrides};
use crate::expect::{Expect, ExpectedValue, expect, expected_values};
use crate::toml_table::{Table, Value};
use delassus::analysis::AnalyzeError;
use delassus::formula::{AnyFormula, Expression, ExpressionError, Symbols, clip, constant, nearest};
use delassus::lagrangian::{
    Contact, ExactState, Family, Force, FormulaId, Impulse, Joint, Measure, State, System, Variable,
};
use impact::impact_law;

/// The largest number of coordinates; matrices of the size are dense.
pub const MAX_COORDINATES: usize = 500;
/// The key of `[simulation]` that is a number, so that it can be set from outside.
const T_END: &str = "t_end";
/// How many coordinates a message names.
const MAX_NAMED_COORDINATES: usize = 8;

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct SystemFile {
    /// The system, parameters put in.
    pub system: System,
    /// The state at which it is analyzed.
    pub state: State,
    /// The same state as it is written, where that is rational.
    pub exact_state: ExactState,
    /// Parameters with their values, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    /// The outcome that the file itself expects, for tests.
    pub expect: Option<Expect>,
    /// Values that the file expects in the JSON of `run`.
    pub expect_run: Vec<ExpectedValue>,
    /// How to move it, as far as the file gives it.
    pub simulation: SystemSimulation,
    /// The law of impact, where the file gives one; a matrix follows the order of the contacts in the system.
    pub impact_law: Option<ImpactLaw>,
    /// Where each formula stands.
    spans: BTreeMap<FormulaId, Range<usize>>,
}

/// How a file moves a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemSimulation {
    /// End, s.
    pub t_end: Option<f64>,
    /// Times at which forces or constraints may jump, s.
    pub breakpoints: Vec<f64>,
    /// Whether the impact law is applied at the start to contacts that touch and approach.
    pub impact_at_start: bool,
}

impl SystemFile {
    /// The bytes of the file where a formula stands; `None` where the file does not give it.
    pub fn locate(&self, formula: FormulaId) -> Option<Range<usize>> {
        self.spans.get(&formula).cloned()
    }

    /// An error of evaluation or of the state, at the place of the formula that is to blame. `text` is the
    /// text that was read.
    pub fn explain(&self, error: impl Into<AnalyzeError>, text: &str) -> FileError {
        let error = error.into();
        let span = error.formula().and_then(|id| self.locate(id));
        FileError::new(text, span, FileErrorKind::Evaluation(error))
    }
}

/// Reads a system. `overrides` are (parameter, value) with values as in the file: numbers, or expressions of
/// the parameters above, with a unit or without; the last for a name counts.
pub fn read_system(text: &str, overrides: &[(&str, &str)]) -> Result<SystemFile> {
    Ok(system_of(read_text(text, overrides, &[])?))
}

/// The system of a text that is parsed already, with its header.
pub(super) fn system_at(
    text: &str,
    root: &Table<'_>,
    header: &Table<'_>,
    overrides: &[(&str, &str)],
) -> Result<SystemFile> {
    Ok(system_of(read(text, root, header, overrides, &[])?))
}

fn system_of(contents: Contents) -> SystemFile {
    let constant = |e: &Expression| e.constant().unwrap_or(f64::NAN);
    let state = State {
        t: constant(&contents.t),
        q: contents.q.iter().map(constant).collect(),
        v: contents.v.iter().map(constant).collect(),
    };
    let exact = |e: &Expression| e.written().unwrap_or_else(|| f64::NAN.into());
    let exact_state = ExactState {
        t: exact(&contents.t),
        q: contents.q.iter().map(exact).collect(),
        v: contents.v.iter().map(exact).collect(),
    };
    let parameters = contents.parameters.into_iter().map(|(name, e)| (name, constant(&e))).collect();
    SystemFile {
        system: contents.system,
        state,
        exact_state,
        parameters,
        expect: contents.expect,
        expect_run: contents.expect_run,
        simulation: contents.simulation,
        impact_law: contents.law,
        spans: contents.spans,
    }
}

/// Reads a system in which the parameters named in `free` have no fixed value.
pub fn read_family(text: &str, overrides: &[(&str, &str)], free: &[&str]) -> Result<Family> {
    let contents = read_text(text, overrides, free)?;
    // Whatever depends on a free parameter is a variable too, in the order of the file.
    let variables = contents
        .parameters
        .into_iter()
        .filter(|(name, value)| free.contains(&name.as_str()) || value.constant().is_none())
        .map(|(name, value)| Variable { free: free.contains(&name.as_str()), name, value })
        .collect();
    Ok(Family { system: contents.system, variables, t: contents.t, q: contents.q, v: contents.v })
}

/// The contents of a file, numbers as expressions of the free parameters.
struct Contents {
    system: System,
    t: Expression,
    q: Vec<Expression>,
    v: Vec<Expression>,
    parameters: Vec<(String, Expression)>,
    expect: Option<Expect>,
    expect_run: Vec<ExpectedValue>,
    simulation: SystemSimulation,
    law: Option<ImpactLaw>,
    spans: BTreeMap<FormulaId, Range<usize>>,
}

/// Tables of a file that describes a system.
const TABLES: [&str; 11] = [
    "system",
    "parameters",
    "energy",
    "force",
    "impulse",
    "contact",
    "joint",
    "impact",
    "state",
    "simulation",
    "expect",
];

fn read_text(text: &str, overrides: &[(&str, &str)], free: &[&str]) -> Result<Contents> {
    let document = parse(text)?;
    let root = Table::root(text, &document);
    match scene_table(&root)? {
        (SceneKind::System, header) => read(text, &root, &header, overrides, free),
        (SceneKind::World, header) => header.error(FileErrorKind::NotASystem),
    }
}

fn read(
    text: &str,
    root: &Table<'_>,
    header: &Table<'_>,
    overrides: &[(&str, &str)],
    free: &[&str],
) -> Result<Contents> {
    root.only(&TABLES)?;
    header.only(&["name", "coordinates"])?;
    let mut symbols = Symbols::default();
    coordinates(header, &mut symbols)?;
    let [options, overrides] = split_overrides(root, overrides, &[T_END])?;
    let parameters = parameters(text, root, &overrides, free, &mut symbols)?;

    let mut reader = Reader { symbols, spans: BTreeMap::new(), names: BTreeSet::new() };
    let system = reader.system(root, header, free)?;
    let (t, [q, v]) = reader.state(root)?;
    // What a file expects is meant for its own values of the parameters.
    let (mut expected, mut expect_run, mut law) = (None, vec![], None);
    let mut simulation = SystemSimulation::default();
    if free.is_empty() {
        law = impact_law(root, &system.contacts, &reader.symbols)?;
        expected = expect(root, &reader.symbols, &["run"])?;
        if let Some(table) = root.table("expect", "[expect]")? {
            expect_run = expected_values(&table, "run", "[[expect.run]]", &reader.symbols)?;
        }
        simulation = read_simulation(root, &reader.symbols)?;
    }
    if let Some((name, set)) = options.last() {
        let (name, value) = (name.to_string(), clip(set));
        let fail = |error: ExpressionError| {
            FileError::new(text, None, FileErrorKind::Override { name, value, kind: error.kind })
        };
        simulation.t_end = Some(constant(set, &reader.symbols).map_err(fail)?);
    }
    let spans = reader.spans;
    Ok(Contents { system, t, q, v, parameters, expect: expected, expect_run, simulation, law, spans })
}

/// `[simulation]`: how to move the system.
fn read_simulation(root: &Table<'_>, symbols: &Symbols) -> Result<SystemSimulation> {
    let mut simulation = SystemSimulation::default();
    let Some(table) = root.table("simulation", "[simulation]")? else { return Ok(simulation) };
    table.only(&[T_END, "breakpoints", "impact_at_start"])?;
    simulation.impact_at_start = table.get("impact_at_start").map_or(Ok(false), |v| v.flag())?;
    simulation.t_end = table.get(T_END).map(|v| v.constant(symbols)).transpose()?;
    for value in table.get("breakpoints").map_or(Ok(vec![]), |v| v.items("an array of times"))? {
        simulation.breakpoints.push(value.constant(symbols)?);
    }
    Ok(simulation)
}

fn coordinates(header: &Table<'_>, symbols: &mut Symbols) -> Result<()> {
    const EXPECTED: &str = "an array of names, e.g. [\"x\", \"y\"]";
    let list = header.require("coordinates", EXPECTED)?;
    let items = list.items(EXPECTED)?;
    if items.is_empty() {
        return list.error(FileErrorKind::NoCoordinates);
    }
    if items.len() > MAX_COORDINATES {
        let (found, limit) = (items.len(), MAX_COORDINATES);
        return list.error(FileErrorKind::TooManyCoordinates { found, limit });
    }
    for item in &items {
        if let Err(error) = symbols.add_coordinate(item.string("a name in a string")?) {
            return item.error(FileErrorKind::Name(error));
        }
    }
    Ok(())
}

struct Reader {
    symbols: Symbols,
    spans: BTreeMap<FormulaId, Range<usize>>,
    /// Names of contacts and joints, which share one list.
    names: BTreeSet<String>,
}

impl Reader {
    fn system(&mut self, root: &Table<'_>, header: &Table<'_>, free: &[&str]) -> Result<System> {
        let Some(energy) = root.table("energy", "[energy]")? else {
            let (table, expected) = ("the file".to_string(), "an [energy] table with `kinetic`");
            return header.error(FileErrorKind::MissingKey { key: "energy", table, expected });
        };
        energy.only(&["kinetic", "potential"])?;
        let kinetic =
            energy.require("kinetic", "the kinetic energy, a formula of positions and velocities")?;
        let kinetic = self.keep(FormulaId::Kinetic, &kinetic, kinetic.formula(&self.symbols)?);
        let potential = match energy.get("potential") {
            None => None,
            Some(v) => Some(self.keep(FormulaId::Potential, &v, v.position_formula(&self.symbols)?)),
        };
        Ok(System {
            name: header.get("name").map_or(Ok(""), |v| v.string("a string"))?.to_string(),
            coordinates: self.symbols.coordinates.clone(),
            kinetic,
            potential,
            forces: self.forces(root)?,
            contacts: self.contacts(root)?,
            joints: self.joints(root)?,
            // A time or a size that depends on a free parameter is not known.
            impulses: if free.is_empty() { self.impulses(root)? } else { vec![] },
        })
    }

    /// Notes where a formula stands.
    fn keep(&mut self, id: FormulaId, value: &Value<'_>, formula: Expression) -> AnyFormula {
        self.spans.insert(id, value.span.clone());
        AnyFormula::new(formula)
    }

    /// The index of a coordinate, or an error at the place where it is named.
    fn coordinate(&self, name: &str, text: &str, span: Range<usize>) -> Result<usize> {
        let names = &self.symbols.coordinates;
        if let Some(i) = names.iter().position(|c| c == name) {
            return Ok(i);
        }
        let mut known: Vec<String> = names.iter().take(MAX_NAMED_COORDINATES).map(|n| clip(n)).collect();
        if names.len() > MAX_NAMED_COORDINATES {
            known.push("…".to_string());
        }
        let kind = FileErrorKind::UnknownCoordinate {
            name: clip(name),
            known: known.join(", "),
            suggestion: nearest(name, names.iter().map(String::as_str)),
        };
        Err(FileError::new(text, Some(span), kind))
    }

    fn forces(&mut self, root: &Table<'_>) -> Result<Vec<Force>> {
        let mut forces = Vec::new();
        for (i, table) in root.tables("force", "[[force]]")?.into_iter().enumerate() {
            table.only(&["coordinate", "value"])?;
            let on = table.require("coordinate", "the coordinate it acts on")?;
            let name = on.string("the name of a coordinate in a string")?;
            let coordinate = self.coordinate(name, on.text, on.span)?;
            let value = table.require("value", "the generalized force, a formula")?;
            let formula = value.formula(&self.symbols)?;
            forces.push(Force { coordinate, value: self.keep(FormulaId::Force(i), &value, formula) });
        }
        Ok(forces)
    }

    fn impulses(&self, root: &Table<'_>) -> Result<Vec<Impulse>> {
        let mut impulses = Vec::new();
        for table in root.tables("impulse", "[[impulse]]")? {
            table.only(&["time", "coordinate", "value"])?;
            let time = table.require("time", "when it acts, s")?.constant(&self.symbols)?;
            let on = table.require("coordinate", "the coordinate it acts on")?;
            let name = on.string("the name of a coordinate in a string")?;
            let coordinate = self.coordinate(name, on.text, on.span)?;
            let value = table.require("value", "the impulse, N·s or N·m·s")?.constant(&self.symbols)?;
            impulses.push(Impulse { time, coordinate, value });
        }
        Ok(impulses)
    }

    fn contacts(&mut self, root: &Table<'_>) -> Result<Vec<Contact>> {
        let mut contacts = Vec::new();
        for (i, table) in root.tables("contact", "[[contact]]")?.into_iter().enumerate() {
            table.only(&[
                "name",
                "gap",
                "velocity",
                "slip",
                "slip_velocity",
                "mu",
                "mu_static",
                "mu_kinetic",
                "restitution",
            ])?;
            let table = self.named(table, "contact")?;
            let normal = self.measure(&table, "gap", FormulaId::ContactNormal(i))?;
            let slip = self.slips(&table, |k| FormulaId::ContactSlip(i, k))?;
            let [mu_static, mu_kinetic] = self.contact_friction(&table, i, !slip.is_empty())?;
            let mut restitution = 0.0;
            if let Some(value) = table.get("restitution") {
                // It does not enter the forces at an instant; where it depends on a free parameter it is not
                // known.
                restitution = value.parametric(&self.symbols)?.constant().unwrap_or(0.0);
                if !(0.0..=1.0).contains(&restitution) {
                    let owner = table.title.clone();
                    return value.error(FileErrorKind::Restitution { owner, value: restitution });
                }
                self.spans.insert(FormulaId::ContactRestitution(i), value.span.clone());
            }
            let name = name(&table)?;
            contacts.push(Contact { name, normal, slip, mu_static, mu_kinetic, restitution });
        }
        Ok(contacts)
    }

    fn contact_friction(&mut self, table: &Table<'_>, i: usize, slips: bool) -> Result<[AnyFormula; 2]> {
        let ids = [FormulaId::ContactMuStatic(i), FormulaId::ContactMuKinetic(i)];
        table.either("mu", "mu_static")?;
        table.either("mu", "mu_kinetic")?;
        if table.get("mu_static").is_some() || table.get("mu_kinetic").is_some() {
            table.require("mu_static", "both `mu_static` and `mu_kinetic`, or `mu` alone")?;
            table.require("mu_kinetic", "both `mu_static` and `mu_kinetic`, or `mu` alone")?;
            return Ok([
                self.friction(table, "mu_static", &ids[..1], slips)?,
                self.friction(table, "mu_kinetic", &ids[1..], slips)?,
            ]);
        }
        let mu = self.friction(table, "mu", &ids, slips)?;
        Ok([mu.clone(), mu])
    }

    fn joints(&mut self, root: &Table<'_>) -> Result<Vec<Joint>> {
        let mut joints = Vec::new();
        for (i, table) in root.tables("joint", "[[joint]]")?.into_iter().enumerate() {
            table.only(&["name", "value", "velocity", "slip", "slip_velocity", "mu"])?;
            let table = self.named(table, "joint")?;
            let value = self.measure(&table, "value", FormulaId::JointValue(i))?;
            let slip = self.slips(&table, |k| FormulaId::JointSlip(i, k))?;
            let mu = self.friction(&table, "mu", &[FormulaId::JointMu(i)], !slip.is_empty())?;
            joints.push(Joint { name: name(&table)?, value, slip, mu });
        }
        Ok(joints)
    }

    /// The table of a contact or joint, titled by its name, which must be its own.
    fn named<'a>(&mut self, mut table: Table<'a>, kind: &str) -> Result<Table<'a>> {
        let value = table.require("name", "a name in a string")?;
        let name = name(&table)?;
        if name.is_empty() {
            return value.error(FileErrorKind::EmptyName);
        }
        table.title = format!("{kind} `{}`", clip(&name));
        if self.names.contains(&name) {
            let owner = format!("contact or joint `{}`", clip(&name));
            return value.error(FileErrorKind::DuplicateName { owner });
        }
        self.names.insert(name);
        Ok(table)
    }

    /// A displacement under its own key, or a velocity under `velocity`.
    fn measure(&mut self, table: &Table<'_>, key: &'static str, id: FormulaId) -> Result<Measure> {
        let Some(value) = table.either(key, "velocity")? else {
            let (first, second, table_title) = (key, "velocity", table.title.clone());
            return table.error(FileErrorKind::Neither { first, second, table: table_title });
        };
        Ok(if value.key == key {
            Measure::Displacement(self.keep(id, &value, value.position_formula(&self.symbols)?))
        } else {
            Measure::Velocity(self.keep(id, &value, value.formula(&self.symbols)?))
        })
    }

    fn slips(&mut self, table: &Table<'_>, id: impl Fn(usize) -> FormulaId) -> Result<Vec<Measure>> {
        let Some(list) = table.either("slip", "slip_velocity")? else { return Ok(Vec::new()) };
        let items = list.items("an array of one or two formulas")?;
        if items.is_empty() || items.len() > 2 {
            let (owner, found) = (table.title.clone(), items.len());
            return list.error(FileErrorKind::SlipCount { owner, found });
        }
        let mut slips = Vec::new();
        for (k, item) in items.iter().enumerate() {
            slips.push(if list.key == "slip" {
                Measure::Displacement(self.keep(id(k), item, item.position_formula(&self.symbols)?))
            } else {
                Measure::Velocity(self.keep(id(k), item, item.formula(&self.symbols)?))
            });
        }
        Ok(slips)
    }

    /// The friction coefficient under a key, which stands for these formulas; zero where it is not given.
    fn friction(
        &mut self,
        table: &Table<'_>,
        key: &str,
        ids: &[FormulaId],
        slips: bool,
    ) -> Result<AnyFormula> {
        let Some(given) = table.get(key) else { return Ok(AnyFormula::new(0.0)) };
        let mu = given.formula(&self.symbols)?;
        let owner = table.title.clone();
        match mu.constant() {
            Some(value) if value < 0.0 => {
                return given.error(FileErrorKind::NegativeFriction { owner, value });
            }
            Some(0.0) => {}
            _ if !slips => return given.error(FileErrorKind::FrictionWithoutSlip { owner }),
            _ => {}
        }
        for &id in ids {
            self.spans.insert(id, given.span.clone());
        }
        Ok(AnyFormula::new(mu))
    }

    /// t, and q and v, as expressions of the free parameters.
    fn state(&self, root: &Table<'_>) -> Result<(Expression, [Vec<Expression>; 2])> {
        let zeros = vec![Expression::from(0.0); self.symbols.coordinates.len()];
        let (mut t, mut q, mut v) = (Expression::from(0.0), zeros.clone(), zeros);
        let Some(table) = root.table("state", "[state]")? else { return Ok((t, [q, v])) };
        table.only(&["t", "position", "velocity"])?;
        if let Some(value) = table.get("t") {
            t = value.parametric(&self.symbols)?;
        }
        for (key, title, values) in
            [("position", "[state.position]", &mut q), ("velocity", "[state.velocity]", &mut v)]
        {
            let entries = table.table(key, title)?.map_or(Vec::new(), |table| table.entries());
            for (span, entry) in entries {
                let i = self.coordinate(&entry.key, entry.text, span)?;
                values[i] = entry.parametric(&self.symbols)?;
            }
        }
        Ok((t, [q, v]))
    }
}
