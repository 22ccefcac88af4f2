//! Height fields and ellipsoids of MJCF files.

use glam::DVec3;

use super::Model;
use super::attributes::Element;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::mesh_file::{Heights, read_heights};
use crate::xml::{Node, finite_numbers};
use delassus::formula::clip;
use delassus::world::ShapeKind;

/// How far the polyhedron of an ellipsoid leaves it, as part of the half axes: its corners lie outside by so
/// much, the middles of its faces inside.
pub(super) const ELLIPSOID_ERROR: f64 = 0.0023;

impl<'a> Model<'a> {
    /// The height field that a geom names.
    pub(super) fn hfield(&mut self, element: Element<'a>) -> Result<ShapeKind> {
        let Some((name, node)) = self.defaults.get(element, "hfield") else {
            return self.source.attribute(element.node, "hfield", "missing", "the name of an <hfield>");
        };
        let Some(&asset) = self.assets.hfields.get(name) else {
            return self.source.attribute(node, "hfield", &format!("`{name}`"), "the name of an <hfield>");
        };
        let size: [f64; 4] = self.source.numbers(asset, "size", [0.0; 4])?;
        if size[..3].iter().any(|x| *x <= 0.0) {
            let found = asset.attribute("size").unwrap_or("missing");
            return self.source.attribute(asset, "size", found, "four numbers, the first three positive");
        }
        let heights = match asset.attribute("file") {
            Some(file) => self.heights_file(asset, file)?,
            None => self.heights_inline(asset)?,
        };
        let Heights { rows, columns, values } = heights;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let range = values.iter().copied().fold(-f64::INFINITY, f64::max) - low;
        let places = (0..rows * columns).map(|k| (rows - 1 - k / columns) * columns + k % columns);
        let scaled = |at: usize| (values[at] - low) / if range > 0.0 { range } else { 1.0 };
        let heights = places.map(|at| size[2] * scaled(at)).collect();
        let extent = [2.0 * size[0], 2.0 * size[1]];
        Ok(ShapeKind::Heightfield { heights, size: [columns, rows], extent })
    }

    /// Heights that stand in the file itself; none are flat.
    fn heights_inline(&self, asset: Node<'a>) -> Result<Heights> {
        let [rows, columns] = [self.grid(asset, "nrow")?, self.grid(asset, "ncol")?];
        let count = rows * columns;
        let Some(text) = asset.attribute("elevation") else {
            return Ok(Heights { rows, columns, values: vec![0.0; count] });
        };
        match finite_numbers(text).filter(|list| list.len() == count) {
            Some(values) => Ok(Heights { rows, columns, values }),
            None => {
                let expected = "a number for every row and column";
                self.source.attribute(asset, "elevation", &format!("`{}`", clip(text)), expected)
            }
        }
    }

    /// Heights of a picture, or of a file of numbers.
    fn heights_file(&self, asset: Node<'a>, file: &str) -> Result<Heights> {
        let wrong = |reason| self.source.fail(asset, WorldErrorKind::Mesh { file: clip(file), reason });
        self.found_file(asset, file, read_heights).or_else(wrong)
    }

    fn grid(&self, asset: Node<'a>, name: &'static str) -> Result<usize> {
        let [n] = self.source.numbers(asset, name, [0.0])?;
        if (2.0..=4096.0).contains(&n) && n.fract() == 0.0 {
            return Ok(n as usize);
        }
        let found = asset.attribute(name).unwrap_or("missing");
        self.source.attribute(asset, name, found, "a whole number from 2 to 4096")
    }
}

/// Points of a polyhedron close to the ellipsoid with these half axes: an icosahedron whose triangles are cut
/// into four three times, its corners moved onto a sphere.
pub(super) fn ellipsoid_points(half: DVec3) -> Vec<DVec3> {
    let golden = (1.0 + 5_f64.sqrt()) / 2.0;
    let mut points = Vec::new();
    for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        points.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    for _ in 0..3 {
        // Neighbours are at the least distance, up to a third more once triangles differ.
        let unit: Vec<DVec3> = points.iter().map(|p| p.normalize()).collect();
        let mut least = f64::INFINITY;
        for (i, p) in unit.iter().enumerate() {
            least = unit[..i].iter().fold(least, |l, q| l.min(p.distance(*q)));
        }
        let mut middles = Vec::new();
        for (i, p) in unit.iter().enumerate() {
            let near = unit[..i].iter().filter(|q| p.distance(**q) < 1.4 * least);
            middles.extend(near.map(|q| (*p + *q).normalize()));
        }
        points = unit;
        points.append(&mut middles);
    }
    points.iter().map(|p| p.normalize() * half * (1.0 + ELLIPSOID_ERROR)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use delassus::world::convex_hull;

    #[test]
    fn the_polyhedron_of_a_ball_stays_within_its_error() {
        let points = ellipsoid_points(DVec3::ONE);
        assert_eq!(points.len(), 642);
        let hull = convex_hull(&points).unwrap();
        assert_eq!(hull.len(), 1280);
        for t in hull {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let n = (b - a).cross(c - a).normalize();
            assert!((1.0 - n.dot(a)).abs() <= ELLIPSOID_ERROR, "{}", n.dot(a));
        }
    }
}
