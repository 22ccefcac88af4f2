//! MJCF files that are made of others: one tree of elements from all of them.
//!
//! | element | is replaced by |
//! |---|---|
//! | `<include file>` | what stands in the root of that file |
//! | `<replicate count offset euler sep>` | a `<frame>` for each copy, names ending in its number |
//! | `<attach model body prefix>` | a `<frame>` with the body of the `<model>`, all names with the prefix |
//!
//! Whatever names a part of a replicated or attached tree (actuators, equalities, tendons, contacts) is
//! copied along with it. An attached model keeps its compiler, its classes and its assets.

use std::collections::BTreeSet;

use glam::{DQuat, DVec3};

use super::attributes::Compiler;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Element, Source};
use delassus::formula::clip;
use delassus::world::Pose;

/// Attributes that name parts of bodies.
const PARTS: [&str; 25] = [
    "body",
    "body1",
    "body2",
    "geom",
    "geom1",
    "geom2",
    "joint",
    "joint1",
    "joint2",
    "jointinparent",
    "site",
    "site1",
    "site2",
    "refsite",
    "cranksite",
    "slidersite",
    "sidesite",
    "tendon",
    "tendon1",
    "tendon2",
    "actuator",
    "target",
    "objname",
    "reftarget",
    "bodyname",
];
/// Attributes that name classes and assets.
const ASSETS: [&str; 7] = ["class", "childclass", "mesh", "material", "hfield", "texture", "meshname"];
/// Sections whose elements name parts of bodies.
const REFERRING: [&str; 5] = ["contact", "equality", "tendon", "actuator", "sensor"];
/// How many elements a file may grow to.
const MAX_ELEMENTS: usize = 1 << 18;
/// How many models may be attached in each other.
pub(super) const MAX_MODELS: usize = 64;

/// A file and all that it includes, attaches and replicates, as one tree.
pub(crate) fn expand(source: &mut Source<'_>, root: Element) -> Result<Element> {
    let mut expansion = Expansion { source, models: 1, elements: 0 };
    expansion.model(root, 0, 0)
}

struct Expansion<'s, 't> {
    source: &'s mut Source<'t>,
    /// Models so far.
    models: usize,
    /// Copies so far.
    elements: usize,
}

/// A model that can be attached.
struct Asset {
    name: String,
    root: Element,
}

impl Expansion<'_, '_> {
    /// The root of a model, its includes first.
    fn model(&mut self, mut root: Element, model: usize, depth: usize) -> Result<Element> {
        self.include(&mut root, model, &mut Vec::new(), 0)?;
        let mut compiler = Compiler::default();
        for node in root.children().filter(|n| n.tag() == "compiler") {
            compiler.read(self.source, node)?;
        }
        let mut assets = Vec::new();
        for section in root.children.iter_mut().filter(|n| n.tag() == "asset") {
            let (models, others): (Vec<_>, Vec<_>) =
                std::mem::take(&mut section.children).into_iter().partition(|c| c.tag() == "model");
            section.children = others;
            for node in models {
                assets.push(self.asset(&node, depth)?);
            }
        }
        // What refers to bodies grows with them; it stands in one list while bodies are expanded.
        let (mut bodies, mut others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut root.children).into_iter().partition(|c| c.tag() == "worldbody");
        for body in &mut bodies {
            let whole = body.clone();
            self.grow(body, &mut others, &compiler, &assets, &whole)?;
        }
        // What was attached comes first, as MuJoCo counts actuators.
        let (own, mut attached): (Vec<_>, Vec<_>) = others.into_iter().partition(|c| c.model == model);
        attached.extend(own);
        attached.extend(bodies);
        root.children = attached;
        Ok(root)
    }

    /// Replaces every `<include>` in an element.
    fn include(
        &mut self,
        element: &mut Element,
        model: usize,
        seen: &mut Vec<String>,
        depth: usize,
    ) -> Result<()> {
        element.model = model;
        let children = std::mem::take(&mut element.children);
        for mut child in children {
            if child.tag() != "include" {
                self.include(&mut child, model, seen, depth)?;
                element.children.push(child);
                continue;
            }
            let name = self.source.required(&child, "file", "the name of a file")?.to_string();
            if depth > 50 || seen.contains(&name) {
                let found = format!("`{name}` again");
                return self.source.attribute(&child, "file", &found, "a file that is not included already");
            }
            seen.push(name.clone());
            let mut root = self.open(&child, &name)?;
            root.bring(&child.range(), model);
            self.include(&mut root, model, seen, depth + 1)?;
            element.children.append(&mut root.children);
        }
        Ok(())
    }

    /// A file that an element names: beside the file that was asked for, or beside the one that names it.
    fn open(&mut self, node: &Element, name: &str) -> Result<Element> {
        let folders = [self.source.folder_of(0), self.source.folder_of(node.file)];
        let paths: Vec<_> = folders.into_iter().flatten().map(|folder| folder.join(name)).collect();
        if paths.is_empty() {
            return self.source.attribute(
                node,
                "file",
                name,
                "a model read from a file, so that there is a folder",
            );
        }
        for path in paths {
            if let Some(root) = self.source.open(&path, node)? {
                return match root.tag() {
                    "mujoco" | "mujocoinclude" => Ok(root),
                    tag => {
                        let (element, expected) = (clip(tag), "<mujoco> as the root of an included file");
                        self.source.fail(&root, WorldErrorKind::Element { element, expected })
                    }
                };
            }
        }
        self.source.attribute(node, "file", &format!("`{name}`"), "the name of a file that can be read")
    }

    fn asset(&mut self, node: &Element, depth: usize) -> Result<Asset> {
        let file = self.source.required(node, "file", "the name of a file")?.to_string();
        if depth > 20 || self.models >= MAX_MODELS {
            return self.source.attribute(
                node,
                "file",
                &format!("`{file}`"),
                "at most 64 models in each other",
            );
        }
        let mut root = self.open(node, &file)?;
        let (number, own) = (self.models, root.attribute("model").unwrap_or_default().to_string());
        self.models += 1;
        self.source.models.push(root.file);
        root.bring(&node.range(), number);
        let root = self.model(root, number, depth + 1)?;
        Ok(Asset { name: node.attribute("name").map_or(own, str::to_string), root })
    }

    /// Replaces every `<replicate>` and `<attach>` in a body.
    fn grow(
        &mut self,
        body: &mut Element,
        others: &mut Vec<Element>,
        compiler: &Compiler,
        assets: &[Asset],
        whole: &Element,
    ) -> Result<()> {
        let children = std::mem::take(&mut body.children);
        for mut child in children {
            match child.tag() {
                "replicate" => {
                    self.grow(&mut child, others, compiler, assets, whole)?;
                    let copies = self.replicate(&child, others, compiler)?;
                    body.children.extend(copies);
                }
                "attach" => {
                    let frame = self.attach(&child, others, assets, whole)?;
                    body.children.push(frame);
                }
                _ => {
                    self.grow(&mut child, others, compiler, assets, whole)?;
                    body.children.push(child);
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, node: &Element, copies: usize, of: &Element) -> Result<()> {
        self.elements = self.elements.saturating_add(copies.saturating_mul(size(of)));
        if self.elements <= MAX_ELEMENTS {
            return Ok(());
        }
        let (element, expected) = (clip(node.tag()), "copies of at most 262144 elements in all");
        self.source.fail(node, WorldErrorKind::Element { element, expected })
    }

    /// The copies of a `<replicate>`, each in a frame.
    fn replicate(
        &mut self,
        node: &Element,
        others: &mut [Element],
        compiler: &Compiler,
    ) -> Result<Vec<Element>> {
        let [count] = self.source.numbers(node, "count", [0.0])?;
        if !(count >= 1.0 && count.fract() == 0.0 && count <= MAX_ELEMENTS as f64) {
            let found = node.attribute("count").unwrap_or("missing");
            return self.source.attribute(node, "count", found, "how many copies, a whole number from 1");
        }
        let count = count as usize;
        self.count(node, count, node)?;
        let offset = DVec3::from(self.source.numbers(node, "offset", [0.0; 3])?);
        let euler = DVec3::from(self.source.numbers(node, "euler", [0.0; 3])?);
        let step = Pose { position: offset, rotation: compiler.euler_rotation(euler.to_array()) };
        let separator = node.attribute("sep").unwrap_or_default();
        let width = count.to_string().len();
        let names = names_in(node);
        let mut place = Pose::IDENTITY;
        let (mut copies, mut suffixes) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for i in 0..count {
            let suffix = format!("{separator}{i:0width$}");
            let mut copy = node.clone();
            copy.tag = "frame".to_string();
            let class =
                node.attribute("childclass").map(|class| ("childclass".to_string(), class.to_string()));
            copy.attributes = class.into_iter().collect();
            // Each rotation from its own angles, so that nothing adds up.
            place.rotation = compiler.euler_rotation((euler * i as f64).to_array());
            place_at(&mut copy, &place);
            copy.children.iter_mut().for_each(|child| rename(child, &names, "", &suffix));
            place = place.compose(&step);
            copies.push(copy);
            suffixes.push(suffix);
        }
        for section in others.iter_mut().filter(|s| REFERRING.contains(&s.tag())) {
            for child in std::mem::take(&mut section.children) {
                if !refers(&child, &names) {
                    section.children.push(child);
                    continue;
                }
                self.count(node, count, &child)?;
                for suffix in &suffixes {
                    let mut copy = child.clone();
                    rename(&mut copy, &names, "", suffix);
                    if let Some(name) = child.attribute("name").filter(|name| !names.contains(*name)) {
                        copy.set("name", format!("{name}{suffix}"));
                    }
                    section.children.push(copy);
                }
            }
        }
        Ok(copies)
    }

    /// The frame of an `<attach>`.
    fn attach(
        &mut self,
        node: &Element,
        others: &mut Vec<Element>,
        assets: &[Asset],
        whole: &Element,
    ) -> Result<Element> {
        let prefix = self.source.required(node, "prefix", "what names begin with")?.to_string();
        let body = node.attribute("body").or(node.attribute("frame"));
        let missing = |key: &str, found: &str, expected| self.source.attribute(node, key, found, expected);
        let mut frame = node.instead("frame");
        let Some(model) = node.attribute("model") else {
            let Some(part) = body.and_then(|name| find(whole, name, None)) else {
                return missing("body", body.unwrap_or("missing"), "a body of this model");
            };
            let (part, class) = (part.0.clone(), part.1.map(str::to_string));
            self.count(node, 1, &part)?;
            let mut copy = part;
            let names = names_in(&node_with(&copy));
            rename(&mut copy, &names, &prefix, "");
            class.into_iter().for_each(|class| frame.set("childclass", class));
            frame.children.push(copy);
            return Ok(frame);
        };
        let Some(asset) = assets.iter().find(|asset| asset.name == model) else {
            return missing("model", model, "the name of a <model> of <asset>");
        };
        let bodies = asset.root.children().filter(|c| c.tag() == "worldbody");
        let mut class = None;
        let mut parts: Vec<Element> = match body {
            None => bodies.flat_map(|b| b.children().cloned()).collect(),
            Some(name) => match bodies.into_iter().find_map(|b| find(b, name, None)) {
                Some((part, around)) => {
                    class = around.map(str::to_string);
                    vec![part.clone()]
                }
                None => return missing("body", name, "a body of the attached model"),
            },
        };
        self.count(node, 1, &asset.root)?;
        frame.children.append(&mut parts);
        let names = names_in(&frame);
        let all = |element: &mut Element| prefix_all(element, &prefix);
        frame.children.iter_mut().for_each(all);
        frame.set("childclass", format!("{prefix}{}", class.as_deref().unwrap_or("main")));
        for section in asset.root.children() {
            let mut copy = section.clone();
            match section.tag() {
                "default" => {
                    copy.set("class", section.attribute("class").unwrap_or("main").to_string());
                    prefix_all(&mut copy, &prefix);
                }
                "asset" => {
                    copy.children.iter_mut().for_each(|child| {
                        prefix_all(child, &prefix);
                        of_main(child, &prefix);
                    });
                }
                "compiler" => {}
                tag if REFERRING.contains(&tag) => {
                    copy.children.retain(|child| refers_only(child, &names));
                    copy.children.iter_mut().for_each(|child| {
                        prefix_all(child, &prefix);
                        of_main(child, &prefix);
                    });
                }
                _ => continue,
            }
            others.push(copy);
        }
        Ok(frame)
    }
}

/// How many elements there are in one, itself included.
fn size(element: &Element) -> usize {
    1 + element.children().map(size).sum::<usize>()
}

fn node_with(child: &Element) -> Element {
    let mut node = child.instead("frame");
    node.children.push(child.clone());
    node
}

/// A class for what has none: the main one of an attached model.
fn of_main(element: &mut Element, prefix: &str) {
    if !element.has_attribute("class") {
        element.set("class", format!("{prefix}main"));
    }
}

/// `pos` and `quat` of an element.
fn place_at(element: &mut Element, pose: &Pose) {
    let (p, q): (DVec3, DQuat) = (pose.position, pose.rotation);
    element.set("pos", format!("{:?} {:?} {:?}", p.x, p.y, p.z));
    element.set("quat", format!("{:?} {:?} {:?} {:?}", q.w, q.x, q.y, q.z));
}

/// Names of all parts of bodies in an element.
fn names_in(element: &Element) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for child in element.children() {
        names.extend(child.attribute("name").map(str::to_string));
        names.append(&mut names_in(child));
    }
    names
}

/// Whether an element or one in it names one of these.
fn refers(element: &Element, names: &BTreeSet<String>) -> bool {
    element.attributes.iter().any(|(key, value)| PARTS.contains(&key.as_str()) && names.contains(value))
        || element.children().any(|child| refers(child, names))
}

/// Whether an element names nothing but these.
fn refers_only(element: &Element, names: &BTreeSet<String>) -> bool {
    // Tendons and actuators are not parts of bodies, and come along.
    let own = |key: &str| key.starts_with("tendon") || key == "actuator";
    element.attributes.iter().all(|(key, value)| {
        !PARTS.contains(&key.as_str()) || own(key) || value == "world" || names.contains(value)
    }) && element.children().all(|child| refers_only(child, names))
}

/// Gives new names to parts, wherever they are named.
fn rename(element: &mut Element, names: &BTreeSet<String>, prefix: &str, suffix: &str) {
    for (key, value) in &mut element.attributes {
        if (key == "name" || PARTS.contains(&key.as_str())) && names.contains(value) {
            *value = format!("{prefix}{value}{suffix}");
        }
    }
    element.children.iter_mut().for_each(|child| rename(child, names, prefix, suffix));
}

/// Puts a prefix before every name in an element.
fn prefix_all(element: &mut Element, prefix: &str) {
    if !element.has_attribute("name") && matches!(element.tag(), "mesh" | "hfield") {
        // A mesh without a name is called like its file.
        let stem = element.attribute("file").map(|file| super::file_stem(file).to_string());
        stem.into_iter().for_each(|stem| element.set("name", stem));
    }
    for (key, value) in &mut element.attributes {
        let key = key.as_str();
        if key == "name" || ASSETS.contains(&key) || PARTS.contains(&key) && value != "world" {
            *value = format!("{prefix}{value}");
        }
    }
    element.children.iter_mut().for_each(|child| prefix_all(child, prefix));
}

/// A body or frame by its name, and the class around it.
fn find<'e>(
    element: &'e Element,
    name: &str,
    class: Option<&'e str>,
) -> Option<(&'e Element, Option<&'e str>)> {
    for child in element.children().filter(|c| matches!(c.tag(), "body" | "frame")) {
        if child.attribute("name") == Some(name) {
            return Some((child, class));
        }
        let inner = child.attribute("childclass").or(class);
        if let Some(found) = find(child, name, inner) {
            return Some(found);
        }
    }
    None
}
