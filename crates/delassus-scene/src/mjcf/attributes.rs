//! Attributes of MJCF elements: default classes, numbers, orientations.
//!
//! An attribute that an element does not give comes from its default class: `class`, else the `childclass` of
//! the nearest body around it, else the root; a class inherits from the class around it.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};

use super::unread::list_unread;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Node, Source, finite_numbers, how_many};
use delassus::formula::{clip, nearest};
use delassus::world::Pose;

/// Attributes that orient an element.
const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];
/// How deep classes and bodies may stand in each other.
pub(super) const MAX_DEPTH: usize = 200;

/// Default classes; the first is the root.
pub(super) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
    names: BTreeMap<&'a str, usize>,
}

#[derive(Default)]
struct Class<'a> {
    parent: Option<usize>,
    elements: Vec<Node<'a>>,
}

/// An element with the class that fills in its attributes, and the tags under which classes speak of it where
/// that is not its own.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) node: Node<'a>,
    class: usize,
    tags: &'static [&'static str],
}

/// Attributes of `<compiler>` that are read, or that change nothing about motion.
const COMPILER: [&str; 19] = [
    "angle",
    "coordinate",
    "meshdir",
    "assetdir",
    "autolimits",
    "eulerseq",
    "inertiafromgeom",
    "inertiagrouprange",
    "boundmass",
    "boundinertia",
    "balanceinertia",
    "settotalmass",
    "fitaabb",
    "texturedir",
    "convexhull",
    "usethread",
    "discardvisual",
    "strippath",
    "fusestatic",
];

/// `<compiler>`: how numbers are meant.
#[derive(Clone)]
pub(super) struct Compiler {
    /// Radians per unit of angle.
    pub(super) angle: f64,
    /// Axes of Euler angles: x, y, z about axes that rotate along, X, Y, Z about fixed ones.
    pub(super) euler: [char; 3],
    /// Whether a range is a limit by itself.
    pub(super) autolimits: bool,
    /// Whether mass comes from geoms: always, never, or where there is no `<inertial>`.
    pub(super) inertia_from_geom: Option<bool>,
    /// Geoms of these groups have mass.
    pub(super) mass_groups: [f64; 2],
    /// Least mass and least principal moment of a body.
    pub(super) least: [f64; 2],
    /// Whether moments that break the triangle inequality become their mean.
    pub(super) balance: bool,
    /// The mass that the whole model gets.
    pub(super) total_mass: Option<f64>,
    /// Whether primitives are fitted to the box around a mesh, and not to its box of inertia.
    pub(super) fit_aabb: bool,
    /// Where meshes are, seen from the file.
    pub(super) mesh_folder: String,
}

impl Default for Compiler {
    fn default() -> Self {
        Compiler {
            angle: 1_f64.to_radians(),
            euler: ['x', 'y', 'z'],
            autolimits: true,
            inertia_from_geom: None,
            mass_groups: [0.0, 5.0],
            least: [0.0; 2],
            balance: false,
            total_mass: None,
            fit_aabb: false,
            mesh_folder: String::new(),
        }
    }
}

impl Compiler {
    /// What one `<compiler>` says.
    pub(super) fn read(&mut self, source: &mut Source<'_>, node: Node<'_>) -> Result<()> {
        list_unread(source, node, &COMPILER);
        for (name, text) in &node.attributes {
            let name = name.as_str();
            let bad = |expected| source.attribute(node, name, &format!("`{text}`"), expected);
            let flag = || three_words(source, node, name, text);
            match name {
                "angle" => {
                    self.angle = match text.as_str() {
                        "degree" => 1_f64.to_radians(),
                        "radian" => 1.0,
                        _ => return bad("degree or radian"),
                    }
                }
                "coordinate" if text != "local" => return bad("local"),
                // The more special one counts.
                "assetdir" if node.has_attribute("meshdir") => {}
                "meshdir" | "assetdir" => self.mesh_folder = text.to_string(),
                "autolimits" => self.autolimits = flag()?.unwrap_or(true),
                "inertiafromgeom" => self.inertia_from_geom = flag()?,
                "balanceinertia" => self.balance = flag()?.unwrap_or(false),
                "fitaabb" => self.fit_aabb = flag()?.unwrap_or(false),
                "inertiagrouprange" => self.mass_groups = source.numbers(node, name, [0.0; 2])?,
                "boundmass" => [self.least[0]] = source.numbers(node, name, [0.0])?,
                "boundinertia" => [self.least[1]] = source.numbers(node, name, [0.0])?,
                "settotalmass" => {
                    let [mass] = source.numbers(node, name, [0.0])?;
                    self.total_mass = (mass > 0.0).then_some(mass);
                }
                "eulerseq" => {
                    let letters: Vec<char> = text.chars().collect();
                    match <[char; 3]>::try_from(letters) {
                        Ok(letters) if letters.iter().all(|c| "xyzXYZ".contains(*c)) => {
                            self.euler = letters;
                        }
                        _ => return bad("three of x, y, z, X, Y and Z"),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The rotation of three angles in the unit of the file.
    pub(super) fn euler_rotation(&self, angles: [f64; 3]) -> DQuat {
        let mut whole = DQuat::IDENTITY;
        for (letter, angle) in self.euler.into_iter().zip(angles) {
            let axis = match letter.to_ascii_lowercase() {
                'x' => DVec3::X,
                'y' => DVec3::Y,
                _ => DVec3::Z,
            };
            let rotation = DQuat::from_axis_angle(axis, angle * self.angle);
            whole = if letter.is_ascii_lowercase() { whole * rotation } else { rotation * whole };
        }
        whole.normalize()
    }
}

impl<'a> Defaults<'a> {
    pub(super) fn new() -> Self {
        Defaults { classes: vec![Class::default()], names: BTreeMap::from([("main", 0)]) }
    }

    /// Reads a `<default>` and those in it.
    pub(super) fn read(
        &mut self,
        source: &Source<'_>,
        node: Node<'a>,
        parent: Option<usize>,
        depth: usize,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            return too_deep(source, node);
        }
        let index = match (parent, node.attribute("class")) {
            // That of an attached model inherits nothing.
            (None, Some(name)) if node.model > 0 => {
                let next = self.classes.len();
                let index = *self.names.entry(name).or_insert(next);
                if index == next {
                    self.classes.push(Class::default());
                }
                index
            }
            // The root may be written in several parts, with or without its name.
            (None, name) => {
                name.map(|name| self.names.insert(name, 0));
                0
            }
            (Some(_), None) => return source.attribute(node, "class", "missing", "the name of the class"),
            (Some(parent), Some(name)) => {
                if self.names.contains_key(name) {
                    return source.attribute(node, "class", &format!("`{name}` again"), "a name of its own");
                }
                self.names.insert(name, self.classes.len());
                self.classes.push(Class { parent: Some(parent), elements: Vec::new() });
                self.classes.len() - 1
            }
        };
        for element in node.children() {
            match element.tag() {
                "default" => self.read(source, element, Some(index), depth + 1)?,
                _ => self.classes[index].elements.push(element),
            }
        }
        Ok(())
    }

    /// Every element of every class.
    pub(super) fn elements(&self) -> Vec<Node<'a>> {
        self.classes.iter().flat_map(|class| class.elements.iter().copied()).collect()
    }

    /// The class that an attribute names, or the one of the element around.
    pub(super) fn class(
        &self,
        source: &Source<'_>,
        node: Node<'a>,
        key: &'static str,
        around: usize,
    ) -> Result<usize> {
        let Some(name) = node.attribute(key) else { return Ok(around) };
        match self.names.get(name) {
            Some(&class) => Ok(class),
            None => {
                let suggestion = nearest(name, self.names.keys().copied());
                let found = match suggestion {
                    Some(other) => format!("`{name}`, which is no class; perhaps `{other}`"),
                    None => format!("`{name}`, which is no class"),
                };
                source.attribute(node, key, &found, "the class of a <default>")
            }
        }
    }

    /// An element under its own tag, in the class around it.
    pub(super) fn element(&self, source: &Source<'_>, node: Node<'a>, around: usize) -> Result<Element<'a>> {
        self.element_as(source, node, around, &[])
    }

    /// An element of which classes speak under other tags.
    pub(super) fn element_as(
        &self,
        source: &Source<'_>,
        node: Node<'a>,
        around: usize,
        tags: &'static [&'static str],
    ) -> Result<Element<'a>> {
        Ok(Element { node, class: self.class(source, node, "class", around)?, tags })
    }

    /// The element itself, then what its classes say of it.
    pub(super) fn levels(&self, element: Element<'a>) -> Vec<Node<'a>> {
        let mut levels = vec![element.node];
        let mut class = Some(element.class);
        while let Some(index) = class {
            let spoken = self.classes[index].elements.iter().rev();
            let tag = element.node.tag();
            let is_meant = |e: &&Node<'a>| match element.tags {
                [] => e.tag() == tag,
                tags => tags.contains(&e.tag()),
            };
            levels.extend(spoken.filter(is_meant));
            class = self.classes[index].parent;
        }
        levels
    }

    /// An attribute, and the element that gives it.
    pub(super) fn get(&self, element: Element<'a>, name: &str) -> Option<(&'a str, Node<'a>)> {
        self.levels(element).into_iter().find_map(|node| Some((node.attribute(name)?, node)))
    }

    /// At least `least` and at most `most` numbers.
    pub(super) fn list(
        &self,
        source: &Source<'_>,
        element: Element<'a>,
        name: &str,
        [least, most]: [usize; 2],
    ) -> Result<Option<Vec<f64>>> {
        let Some((text, node)) = self.get(element, name) else { return Ok(None) };
        match finite_numbers(text).filter(|list| (least..=most).contains(&list.len())) {
            Some(list) => Ok(Some(list)),
            None => source.attribute(node, name, &format!("`{text}`"), how_many(least)),
        }
    }

    /// As many numbers as asked for.
    pub(super) fn numbers<const N: usize>(
        &self,
        source: &Source<'_>,
        element: Element<'a>,
        name: &str,
    ) -> Result<Option<[f64; N]>> {
        let list = self.list(source, element, name, [N, N])?;
        Ok(list.and_then(|list| <[f64; N]>::try_from(list).ok()))
    }

    /// One number.
    pub(super) fn number(
        &self,
        source: &Source<'_>,
        element: Element<'a>,
        name: &str,
        default: f64,
    ) -> Result<f64> {
        Ok(self.numbers(source, element, name)?.map_or(default, |[x]| x))
    }

    /// One number that is not negative.
    pub(super) fn nonnegative(
        &self,
        source: &Source<'_>,
        element: Element<'a>,
        name: &str,
        default: f64,
    ) -> Result<f64> {
        let value = self.number(source, element, name, default)?;
        if value >= 0.0 {
            return Ok(value);
        }
        let node = self.get(element, name).map_or(element.node, |(_, node)| node);
        source.attribute(node, name, &value.to_string(), "a number that is not negative")
    }

    /// `true` or `false`, or `None` for `auto`.
    pub(super) fn flag(&self, source: &Source<'_>, element: Element<'a>, name: &str) -> Result<Option<bool>> {
        match self.get(element, name) {
            None => Ok(None),
            Some((text, node)) => three_words(source, node, name, text),
        }
    }

    /// `pos` and one of the attributes that orient.
    pub(super) fn pose(
        &self,
        source: &Source<'_>,
        compilers: &[Compiler],
        element: Element<'a>,
    ) -> Result<Pose> {
        let position = self.numbers(source, element, "pos")?.map_or(DVec3::ZERO, DVec3::from_array);
        for node in self.levels(element) {
            let given: Vec<&str> = ORIENTATIONS.into_iter().filter(|o| node.has_attribute(o)).collect();
            match given[..] {
                [] => {}
                [one] => {
                    let rotation = rotation(source, &compilers[node.model], node, one)?;
                    return Ok(Pose { position, rotation });
                }
                [first, second, ..] => {
                    let expected = "one way to turn the element";
                    return source.attribute(node, second, &format!("beside `{first}`"), expected);
                }
            }
        }
        Ok(Pose { position, rotation: DQuat::IDENTITY })
    }
}

/// `true`, `false` or `auto`.
pub(super) fn three_words(
    source: &Source<'_>,
    node: Node<'_>,
    name: &str,
    text: &str,
) -> Result<Option<bool>> {
    match text {
        "true" | "enable" => Ok(Some(true)),
        "false" | "disable" => Ok(Some(false)),
        "auto" => Ok(None),
        _ => source.attribute(node, name, &format!("`{text}`"), "true, false or auto"),
    }
}

/// Bodies, frames or classes that stand in each other too deep to be meant.
pub(super) fn too_deep<T>(source: &Source<'_>, node: Node<'_>) -> Result<T> {
    let element = clip(node.tag());
    source.fail(node, WorldErrorKind::Element { element, expected: "at most 200 elements in each other" })
}

/// The rotation of one attribute.
fn rotation(source: &Source<'_>, compiler: &Compiler, node: Node<'_>, name: &str) -> Result<DQuat> {
    let no_direction = || source.fail(node, WorldErrorKind::NoDirection { key: name.to_string() });
    match name {
        "quat" => {
            let [w, x, y, z] = source.numbers(node, name, [0.0; 4])?;
            // Scaled first: the square of a small or large number leaves the range.
            let scale = [w, x, y, z].iter().fold(0.0_f64, |s, v| s.max(v.abs()));
            if scale == 0.0 {
                return no_direction();
            }
            Ok(DQuat::from_xyzw(x / scale, y / scale, z / scale, w / scale).normalize())
        }
        "axisangle" => {
            let [x, y, z, angle] = source.numbers(node, name, [0.0; 4])?;
            match direction(DVec3::new(x, y, z)) {
                Some(axis) => Ok(DQuat::from_axis_angle(axis, angle * compiler.angle)),
                None => no_direction(),
            }
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = source.numbers(node, name, [0.0; 6])?;
            let across = |x: DVec3| direction(DVec3::new(d, e, f)).and_then(|y| direction(y - x * x.dot(y)));
            match direction(DVec3::new(a, b, c)).and_then(|x| Some((x, across(x)?))) {
                Some((x, y)) => Ok(DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize()),
                None => no_direction(),
            }
        }
        "zaxis" => match direction(DVec3::from_array(source.numbers(node, name, [0.0; 3])?)) {
            Some(z) => Ok(DQuat::from_rotation_arc(DVec3::Z, z)),
            None => no_direction(),
        },
        _ => {
            let angles: [f64; 3] = source.numbers(node, name, [0.0; 3])?;
            Ok(compiler.euler_rotation(angles))
        }
    }
}

/// A unit vector; `None` for zero.
pub(super) fn direction(v: DVec3) -> Option<DVec3> {
    // Scaled first: the square of a small or large number leaves the range.
    (v / v.abs().max_element()).try_normalize()
}
