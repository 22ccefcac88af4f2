//! Triangles from COLLADA files (`.dae`), as far as shapes need them.
//!
//! Read are the positions of `<triangles>`, `<polylist>` and `<polygons>` of every geometry that the scene
//! places, the transformations of its nodes and the `<unit>`. As robots are used to, `<up_axis>` changes
//! nothing.

use std::collections::BTreeMap;

use glam::{DAffine3, DMat4, DQuat, DVec3};
use roxmltree::{Document, Node};

use super::{MeshError, Triangles};

/// How deep nodes may stand in each other.
const MAX_DEPTH: usize = 100;

/// Reads the triangles of all instances of geometries.
pub(super) fn parse_collada(text: &str) -> Result<Triangles, MeshError> {
    let bad = |message: String| MeshError::Unreadable { message };
    let document = Document::parse(text).map_err(|e| bad(e.to_string()))?;
    let root = document.root_element();
    let unit = root
        .descendants()
        .find(|n| is(*n, "unit"))
        .and_then(|n| n.attribute("meter"))
        .and_then(|m| m.parse::<f64>().ok())
        .filter(|m| *m > 0.0 && m.is_finite())
        .unwrap_or(1.0);
    let by_id: BTreeMap<&str, Node<'_, '_>> =
        root.descendants().filter_map(|n| Some((n.attribute("id")?, n))).collect();
    let mut reader = Reader { by_id, mesh: Triangles::default() };
    let scenes: Vec<Node<'_, '_>> = root.descendants().filter(|n| is(*n, "visual_scene")).collect();
    let start = DAffine3::from_scale(DVec3::splat(unit));
    for scene in &scenes {
        reader.node(*scene, start, 0)?;
    }
    if scenes.is_empty() {
        for geometry in root.descendants().filter(|n| is(*n, "geometry")) {
            reader.geometry(geometry, start)?;
        }
    }
    Ok(reader.mesh)
}

/// Whether a node is an element of this name, in whatever namespace.
fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

struct Reader<'a, 'i> {
    by_id: BTreeMap<&'a str, Node<'a, 'i>>,
    mesh: Triangles,
}

fn wrong<T>(node: Node<'_, '_>, expected: &'static str) -> Result<T, MeshError> {
    let line = node.document().text_pos_at(node.range().start).row as usize;
    Err(MeshError::Line { line, found: format!("<{}>", node.tag_name().name()), expected })
}

fn numbers<const N: usize>(node: Node<'_, '_>) -> Result<[f64; N], MeshError> {
    let list: Option<Vec<f64>> =
        words(node).map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
    match list.and_then(|list| <[f64; N]>::try_from(list).ok()) {
        Some(array) => Ok(array),
        None => wrong(node, "as many finite numbers as it takes"),
    }
}

fn words<'a>(node: Node<'a, '_>) -> impl Iterator<Item = &'a str> {
    node.text().unwrap_or_default().split_whitespace()
}

impl<'a, 'i> Reader<'a, 'i> {
    fn target(&self, node: Node<'a, 'i>, key: &str) -> Option<Node<'a, 'i>> {
        self.by_id.get(node.attribute(key)?.trim_start_matches('#')).copied()
    }

    fn node(&mut self, node: Node<'a, 'i>, around: DAffine3, depth: usize) -> Result<(), MeshError> {
        if depth > MAX_DEPTH {
            return wrong(node, "at most 100 nodes in each other");
        }
        let mut at = around;
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "matrix" => {
                    let m: [f64; 16] = numbers(child)?;
                    at *= DAffine3::from_mat4(DMat4::from_cols_array(&m).transpose());
                }
                "translate" => at *= DAffine3::from_translation(DVec3::from_array(numbers(child)?)),
                "scale" => at *= DAffine3::from_scale(DVec3::from_array(numbers(child)?)),
                "rotate" => {
                    let [x, y, z, degrees] = numbers(child)?;
                    let axis = DVec3::new(x, y, z).normalize_or_zero();
                    let rotation = DQuat::from_axis_angle(axis, degrees.to_radians());
                    if axis != DVec3::ZERO {
                        at *= DAffine3::from_quat(rotation);
                    }
                }
                _ => {}
            }
        }
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "node" => self.node(child, at, depth + 1)?,
                "instance_node" => {
                    if let Some(other) = self.target(child, "url") {
                        self.node(other, at, depth + 1)?;
                    }
                }
                "instance_geometry" => match self.target(child, "url") {
                    Some(geometry) => self.geometry(geometry, at)?,
                    None => return wrong(child, "the url of a geometry"),
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn geometry(&mut self, geometry: Node<'a, 'i>, at: DAffine3) -> Result<(), MeshError> {
        for part in geometry.descendants().filter(Node::is_element) {
            if matches!(part.tag_name().name(), "triangles" | "polylist" | "polygons") {
                self.part(part, at)?;
            }
        }
        Ok(())
    }

    /// One list of polygons, each cut into a fan.
    fn part(&mut self, part: Node<'a, 'i>, at: DAffine3) -> Result<(), MeshError> {
        let inputs: Vec<Node<'a, 'i>> = part.children().filter(|n| is(*n, "input")).collect();
        let offset =
            |n: &Node<'_, '_>| n.attribute("offset").and_then(|o| o.parse::<usize>().ok()).unwrap_or(0);
        let stride = 1 + inputs.iter().map(offset).max().unwrap_or(0);
        let Some(vertex) = inputs.iter().find(|n| n.attribute("semantic") == Some("VERTEX")) else {
            return wrong(part, "an <input> of semantic VERTEX");
        };
        let positions = self.target(*vertex, "source").and_then(|vertices| {
            let input = vertices.children().find(|n| n.attribute("semantic") == Some("POSITION"))?;
            self.target(input, "source")?.children().find(|n| is(*n, "float_array"))
        });
        let Some(positions) = positions else { return wrong(*vertex, "the source of positions") };
        let list: Option<Vec<f64>> =
            words(positions).map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let Some(list) = list.filter(|list| list.len().is_multiple_of(3)) else {
            return wrong(positions, "finite numbers, three for every corner");
        };
        let first = self.mesh.vertices.len();
        let corners = list.len() / 3;
        self.mesh.vertices.extend(list.chunks_exact(3).map(|c| at.transform_point3(DVec3::from_slice(c))));
        let counts: Option<Vec<usize>> = part
            .children()
            .find(|n| is(*n, "vcount"))
            .map(|n| words(n).map(|w| w.parse().ok()).collect())
            .unwrap_or_else(|| Some(Vec::new()));
        let Some(counts) = counts else { return wrong(part, "numbers of corners in <vcount>") };
        let mirrored = at.matrix3.determinant() < 0.0;
        for p in part.children().filter(|n| is(*n, "p")) {
            let all: Option<Vec<usize>> = words(p).map(|w| w.parse().ok()).collect();
            let index =
                all.map(|all| all.into_iter().skip(offset(vertex)).step_by(stride).collect::<Vec<_>>());
            let Some(index) = index.filter(|list| list.iter().all(|i| *i < corners)) else {
                return wrong(p, "numbers of corners that are there");
            };
            let whole = [index.len()];
            let lengths: &[usize] = match part.tag_name().name() {
                "polygons" => &whole,
                "polylist" => &counts,
                _ => &[],
            };
            let mut rest = &index[..];
            let triangles = vec![3; if is(part, "triangles") { index.len() / 3 } else { 0 }];
            for &n in lengths.iter().chain(&triangles) {
                let Some((polygon, others)) = rest.split_at_checked(n) else {
                    return wrong(p, "as many corners as <vcount> says");
                };
                rest = others;
                for k in 2..polygon.len() {
                    let mut t = [polygon[0], polygon[k - 1], polygon[k]].map(|i| (first + i) as u32);
                    if mirrored {
                        t.swap(1, 2);
                    }
                    self.mesh.triangles.push(t);
                }
            }
        }
        Ok(())
    }
}
