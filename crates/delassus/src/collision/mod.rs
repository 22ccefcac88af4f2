//! Collision detection: where bodies touch or are about to.
//!
//! ```text
//! contacts = { gap ≤ δ_a + δ_b } ,   δ the margin of each body          (004 §1)
//! ```
//!
//! Boxes around the shapes, grown by their margins and some slack, stand in a tree; only shapes that leave
//! their box are put in again, and pairs are searched only then. Planes have no box: they are tried against
//! all others. Each pair of shapes is then measured in the axes of the first, so that places far from the
//! origin lose no digits: plane, ball, box, capsule and cylinder in closed form (`primitives.rs`,
//! `box_box.rs`), the others through `parry.rs`.

mod box_box;
mod clip;
mod contact;
mod contact_rows;
mod convex;
mod distance;
mod parry;
mod polytope;
mod primitives;
mod rims;
mod seams;
mod sweep;

pub use contact::{Contact, Features, contact_name, contact_names, pair_name};
pub use parry::convex_parts;

pub(crate) use contact_rows::{ContactRows, MAX_CONTACT_ROWS};
pub(crate) use sweep::Sweep;

use glam::{DMat3, DVec3};

use crate::world::{BodyState, Pose, Shape, ShapeKind, World, WorldState, check_shape};
use box_box::Block;
use clip::Polygon;
use distance::Distance;
use parry::{Solids, Tree};
use seams::drop_seams;
use sweep::{Mover, sweep};

/// Boxes are measured up to so many times the gap that is asked for: margins change with velocities.
const SPARE_GAP_RATIO: f64 = 2.0;

/// Finds contacts; remembers boxes and pairs from call to call.
pub struct Collider {
    proxies: Vec<Proxy>,
    poses: Vec<Pose>,
    bounds: Vec<[DVec3; 2]>,
    tree: Tree,
    solids: Solids,
    pairs: Vec<[u32; 2]>,
    silent: Vec<ShapePair>,
    plane_margin: f64,
    /// How often each shape has been somewhere else than before.
    moves: Vec<u64>,
    /// One per pair.
    measured: Vec<MeasuredPair>,
    /// One per pair, where there are shapes without closed forms: that of pairs that gave no contact.
    distances: Vec<Option<Distance>>,
}

/// The contacts of a pair of boxes, or of a box on a plane, as they were measured last: what has not moved is
/// not measured again.
#[derive(Default)]
struct MeasuredPair {
    /// Which poses of the shapes they were measured at; counted from 1.
    poses: [u64; 2],
    /// Gaps up to which contacts were looked for.
    search_gap: f64,
    /// How far the cores of the shapes are apart at least.
    apart: f64,
    contacts: Vec<Contact>,
}

/// Two bodies and a shape of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShapePair {
    pub(crate) bodies: [u32; 2],
    pub(crate) shapes: [u32; 2],
}

/// A shape of a body as collision sees it.
struct Proxy {
    body: u32,
    shape: u32,
    fixed: bool,
    kind: Kind,
    pose: Pose,
    /// A box around the shape in its axes: centre, half its edges, and a radius around it.
    centre: DVec3,
    half: DVec3,
    radius: f64,
    /// Radius of a ball around the shape, about the origin of its axes.
    bounding_radius: f64,
}

/// What there is a closed form for.
#[derive(Clone, Copy)]
enum Kind {
    Plane,
    Ball(f64),
    Block(Block),
    Cylinder { radius: f64, half_height: f64 },
    Cone { radius: f64, half_height: f64 },
    Other,
}

impl Collider {
    /// A collider for this world and no other. Shapes that make no sense ([`check_shape`]) touch nothing.
    pub fn new(world: &World) -> Self {
        let mut proxies = Vec::new();
        let mut kinds = Vec::new();
        for (b, body) in world.bodies.iter().enumerate() {
            for (s, shape) in body.shapes.iter().enumerate().filter(|(_, s)| check_shape(&s.kind).is_ok()) {
                proxies.push(Proxy::new(b as u32, s as u32, body.fixed, shape));
                kinds.push(&shape.kind);
            }
        }
        let solids = Solids::new(kinds.into_iter());
        let nowhere = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = vec![nowhere; proxies.len()];
        let poses = vec![Pose::IDENTITY; proxies.len()];
        Collider {
            moves: vec![1; proxies.len()],
            proxies,
            poses,
            bounds,
            tree: Tree::default(),
            solids,
            pairs: Vec::new(),
            silent: Vec::new(),
            plane_margin: -1.0,
            measured: Vec::new(),
            distances: Vec::new(),
        }
    }

    /// All contacts whose gap is at most the sum of the margins of their bodies (one margin per body, m),
    /// sorted by bodies, shapes and feature, into `contacts`.
    pub fn collide(
        &mut self,
        world: &World,
        state: &WorldState,
        margin: &[f64],
        contacts: &mut Vec<Contact>,
    ) {
        contacts.clear();
        self.silent.clear();
        self.update_pairs(world, state, margin);
        // Pairs come and go: memory for twice as many as there are.
        if self.silent.capacity() < self.pairs.len() {
            self.silent.reserve(2 * self.pairs.len());
        }
        for (k, &[first, second]) in self.pairs.iter().enumerate() {
            let (i, j) = (first as usize, second as usize);
            let (a, b) = (&self.proxies[i], &self.proxies[j]);
            let max_gap = margin[a.body as usize] + margin[b.body as usize];
            if a.is_beyond(&self.poses[i], b, &self.poses[j], max_gap) {
                continue;
            }
            let start = contacts.len();
            if a.is_flat() && b.is_flat() {
                let measured = &mut self.measured[k];
                let poses = [self.moves[i], self.moves[j]];
                if measured.poses != poses || max_gap > measured.search_gap {
                    measured.poses = poses;
                    measured.measure(
                        [a, b],
                        [&self.poses[i], &self.poses[j]],
                        max_gap,
                        self.solids.polygon(),
                    );
                }
                measured.give([a, b], max_gap, contacts);
                if contacts.len() == start {
                    self.silent.push(ShapePair { bodies: [a.body, b.body], shapes: [a.shape, b.shape] });
                }
                continue;
            }
            let at = [self.poses[i], self.poses[j]];
            let before = self.distances.get(k).copied().flatten();
            if before
                .is_some_and(|before| before.stays_above(max_gap, [a, b].map(|p| p.bounding_radius), &at))
            {
                self.silent.push(ShapePair { bodies: [a.body, b.body], shapes: [a.shape, b.shape] });
                continue;
            }
            let pose = relative(&self.poses[i], &self.poses[j]);
            if touches(a, b, &pose, max_gap, self.solids.polygon(), contacts).is_some() {
                finish(a, b, [&self.poses[i], &pose], false, max_gap, start, contacts);
            } else {
                let back = relative(&self.poses[j], &self.poses[i]);
                if touches(b, a, &back, max_gap, self.solids.polygon(), contacts).is_some() {
                    finish(b, a, [&self.poses[j], &back], true, max_gap, start, contacts);
                } else {
                    let apart = self.solids.touches([i, j], &pose, max_gap, contacts);
                    self.distances[k] = (apart > max_gap).then_some(Distance { apart, at });
                    finish(a, b, [&self.poses[i], &pose], false, max_gap, start, contacts);
                }
            }
            if contacts.len() == start {
                self.silent.push(ShapePair { bodies: [a.body, b.body], shapes: [a.shape, b.shape] });
            }
        }
        drop_seams(state, contacts);
    }

    /// Pairs of shapes that were measured last and gave no contact.
    pub(crate) fn silent(&self) -> &[ShapePair] {
        &self.silent
    }

    /// The least extent of two shapes, m; a plane is infinitely thick.
    pub(crate) fn thickness(&self, pair: ShapePair) -> f64 {
        let thick =
            |k: usize| self.find(pair.bodies[k], pair.shapes[k]).map_or(0.0, |k| self.proxies[k].thickness());
        thick(0).min(thick(1))
    }

    /// Whether all shapes are balls and planes, whose overlaps are known from their centres.
    pub(crate) fn has_balls_alone(&self) -> bool {
        self.proxies.iter().all(|proxy| matches!(proxy.kind, Kind::Ball(_) | Kind::Plane))
    }

    /// The least thickness of all shapes, m.
    pub(crate) fn thinnest(&self) -> f64 {
        self.proxies.iter().map(Proxy::thickness).fold(f64::INFINITY, f64::min)
    }

    /// Shapes stand in the order of bodies and, there, in their own.
    fn find(&self, body: u32, shape: u32) -> Option<usize> {
        self.proxies.binary_search_by_key(&(body, shape), |p| (p.body, p.shape)).ok()
    }

    /// When two shapes are first nearer than `near`, where their bodies move freely from
    /// these states for a time h.
    pub(crate) fn sweep(
        &mut self,
        world: &World,
        pair: ShapePair,
        bodies: &[BodyState],
        h: f64,
        near: f64,
    ) -> Sweep {
        let [[a, s], [b, t]] = [0, 1].map(|k| [pair.bodies[k], pair.shapes[k]]);
        let (Some(i), Some(j)) = (self.find(a, s), self.find(b, t)) else { return Sweep::Undecided };
        let mover = |k: usize, body: usize| Mover {
            proxy: &self.proxies[k],
            body: &world.bodies[body],
            state: &bodies[body],
        };
        sweep(&mut self.solids, [i, j], [mover(i, a as usize), mover(j, b as usize)], h, near)
    }

    /// Whether two shapes are nearer than `near` at these poses.
    pub(crate) fn is_near(&mut self, pair: ShapePair, bodies: &[BodyState], near: f64) -> bool {
        let at = |k: usize| self.find(pair.bodies[k], pair.shapes[k]);
        let (Some(i), Some(j)) = (at(0), at(1)) else { return false };
        let pose = |k: usize| bodies[self.proxies[k].body as usize].pose.compose(&self.proxies[k].pose);
        let pose = relative(&pose(i), &pose(j));
        let mut found = false;
        self.solids.separations([i, j], &pose, near, &mut |gap, _| found |= gap <= near);
        found
    }

    /// Moves the boxes that have to be moved, and looks for pairs if there were any.
    fn update_pairs(&mut self, world: &World, state: &WorldState, margin: &[f64]) {
        let mut moved = false;
        for (k, proxy) in self.proxies.iter().enumerate() {
            let body = proxy.body as usize;
            let delta = margin[body];
            let pose = state.bodies[body].pose.compose(&proxy.pose);
            if !has_bits_of(&pose, &self.poses[k]) {
                self.moves[k] += 1;
                self.poses[k] = pose;
            }
            if matches!(proxy.kind, Kind::Plane) {
                if delta > self.plane_margin {
                    self.plane_margin = 2.0 * delta;
                    moved = true;
                }
                continue;
            }
            let [low, high] = proxy.bounds(&self.poses[k], delta);
            let [fat_low, fat_high] = self.bounds[k];
            if low.cmpge(fat_low).all() && high.cmple(fat_high).all() {
                continue;
            }
            // Slack: what a body at rest relative to its size may creep before its neighbours are looked for
            // again.
            let slack = if proxy.fixed { delta } else { delta + 0.05 * (high - low).min_element() };
            self.bounds[k] = [low - slack, high + slack];
            self.tree.put(k as u32, self.bounds[k]);
            moved = true;
        }
        if !moved {
            return;
        }
        let (proxies, pairs) = (&self.proxies, &mut self.pairs);
        pairs.clear();
        let mut pair = |i: u32, j: u32| {
            let (i, j) = (i.min(j), i.max(j));
            let (a, b) = (&proxies[i as usize], &proxies[j as usize]);
            let bodies = [a.body as usize, b.body as usize];
            let skip = a.body == b.body || (a.fixed && b.fixed);
            if !skip && world.no_contact.binary_search(&bodies).is_err() {
                pairs.push([i, j]);
            }
        };
        self.tree.pairs(&mut pair);
        for (k, plane) in proxies.iter().enumerate().filter(|(_, p)| matches!(p.kind, Kind::Plane)) {
            let normal = self.poses[k].rotation * DVec3::Z;
            for (other, [low, high]) in self.bounds.iter().enumerate() {
                if matches!(proxies[other].kind, Kind::Plane) {
                    continue;
                }
                let (middle, half) = ((*low + *high) * 0.5, (*high - *low) * 0.5);
                let height = normal.dot(middle - self.poses[k].position) - half.dot(normal.abs());
                // A plane that moves is tried against everything.
                if !plane.fixed || height <= self.plane_margin {
                    pair(k as u32, other as u32);
                }
            }
        }
        let order = |k: u32| (proxies[k as usize].body, proxies[k as usize].shape);
        pairs.sort_unstable_by_key(|&[i, j]| {
            let ((a, s), (b, t)) = (order(i), order(j));
            (a, b, s, t)
        });
        if self.measured.len() < pairs.len() {
            self.measured.resize_with(pairs.len(), MeasuredPair::default);
        }
        self.measured.iter_mut().for_each(|pair| (pair.poses, pair.search_gap) = ([0; 2], 0.0));
        if !self.proxies.iter().all(|proxy| proxy.is_flat() || matches!(proxy.kind, Kind::Ball(_))) {
            let most = self.pairs.len().max(self.distances.len());
            self.distances.clear();
            self.distances.resize(most, None);
        }
    }
}

impl MeasuredPair {
    /// Measures the contacts of a box with a box or with a plane at these poses, up to a gap or farther.
    fn measure(&mut self, [a, b]: [&Proxy; 2], poses: [&Pose; 2], max_gap: f64, polygon: &mut Polygon) {
        if max_gap > self.search_gap {
            self.search_gap = SPARE_GAP_RATIO * max_gap;
        }
        let (search_gap, out) = (self.search_gap, &mut self.contacts);
        out.clear();
        let pose = relative(poses[0], poses[1]);
        if let Some(apart) = touches(a, b, &pose, search_gap, polygon, out) {
            self.apart = apart;
            finish(a, b, [poses[0], &pose], false, search_gap, 0, out);
            return;
        }
        let back = relative(poses[1], poses[0]);
        if let Some(apart) = touches(b, a, &back, search_gap, polygon, out) {
            self.apart = apart;
            finish(b, a, [poses[1], &back], true, search_gap, 0, out);
        }
    }

    /// The contacts up to a gap, as if they had been measured up to that alone.
    fn give(&self, [a, b]: [&Proxy; 2], max_gap: f64, contacts: &mut Vec<Contact>) {
        if self.apart <= max_gap + a.radius + b.radius {
            contacts.extend(self.contacts.iter().filter(|contact| contact.gap <= max_gap));
        }
    }
}

fn has_bits_of(a: &Pose, b: &Pose) -> bool {
    // One after the other: what moves differs in the first numbers.
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let (p, q, r, s) = (&a.position, &b.position, &a.rotation, &b.rotation);
    (same(p.x, q.x) && same(p.y, q.y) && same(p.z, q.z))
        && (same(r.x, s.x) && same(r.y, s.y) && same(r.z, s.z) && same(r.w, s.w))
}

impl Proxy {
    fn new(body: u32, shape: u32, fixed: bool, what: &Shape) -> Proxy {
        let around = |points: &mut dyn Iterator<Item = DVec3>| {
            let nothing = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            let [low, high] = points.fold(nothing, |[low, high], p| [low.min(p), high.max(p)]);
            ((low + high) * 0.5, (high - low) * 0.5)
        };
        let (mut centre, mut radius_around) = (DVec3::ZERO, 0.0);
        let (kind, half) = match &what.kind {
            ShapeKind::Plane => (Kind::Plane, DVec3::INFINITY),
            &ShapeKind::Sphere { radius } => {
                radius_around = radius;
                (Kind::Ball(radius), DVec3::ZERO)
            }
            &ShapeKind::Box { half_extents: half } => (Kind::Block(Block { half, radius: 0.0 }), half),
            &ShapeKind::Capsule { radius, half_height } => {
                let half = DVec3::new(0.0, 0.0, half_height);
                radius_around = radius;
                (Kind::Block(Block { half, radius }), half)
            }
            &ShapeKind::Cylinder { radius, half_height } => {
                (Kind::Cylinder { radius, half_height }, DVec3::new(radius, radius, half_height))
            }
            &ShapeKind::Cone { radius, half_height } => {
                (Kind::Cone { radius, half_height }, DVec3::new(radius, radius, half_height))
            }
            ShapeKind::Convex { points } => {
                let half;
                (centre, half) = around(&mut points.iter().copied());
                (Kind::Other, half)
            }
            ShapeKind::Mesh { vertices, .. } => {
                let half;
                (centre, half) = around(&mut vertices.iter().copied());
                (Kind::Other, half)
            }
            ShapeKind::Heightfield { heights, extent, .. } => {
                let half;
                (centre, half) = around(&mut heights.iter().map(|&z| DVec3::new(0.0, 0.0, z)));
                (Kind::Other, half + DVec3::new(0.5 * extent[0], 0.5 * extent[1], 0.0))
            }
        };
        let bounding_radius = centre.length() + half.length() + radius_around;
        Proxy {
            body,
            shape,
            fixed,
            kind,
            pose: what.pose,
            centre,
            half,
            radius: radius_around,
            bounding_radius,
        }
    }

    /// Whether it is a plane or a box, sharp or rounded.
    fn is_flat(&self) -> bool {
        matches!(self.kind, Kind::Plane | Kind::Block(_))
    }

    /// The least extent, m; infinite for a plane.
    fn thickness(&self) -> f64 {
        2.0 * (self.half.min_element() + self.radius)
    }

    /// Whether the balls around two shapes, or around one over a plane, are farther apart than `max_gap`:
    /// most pairs whose boxes overlap are.
    fn is_beyond(&self, pose: &Pose, other: &Proxy, there: &Pose, max_gap: f64) -> bool {
        let d = there.position - pose.position;
        match (self.kind, other.kind) {
            (Kind::Plane, _) => {
                d.dot(pose.rotation * DVec3::Z) > (other.bounding_radius + max_gap) * (1.0 + 1e-12)
            }
            (_, Kind::Plane) => {
                -d.dot(there.rotation * DVec3::Z) > (self.bounding_radius + max_gap) * (1.0 + 1e-12)
            }
            _ => {
                let far = self.bounding_radius + other.bounding_radius + max_gap;
                // Rounding must not lose a contact at exactly this distance.
                d.length_squared() > far * far * (1.0 + 1e-12)
            }
        }
    }

    /// Box in the world around the shape at a pose, grown by a margin.
    fn bounds(&self, pose: &Pose, margin: f64) -> [DVec3; 2] {
        let mut half = DVec3::splat(self.radius + margin);
        if self.half != DVec3::ZERO {
            let rotation = DMat3::from_quat(pose.rotation).transpose();
            let extent = |row: DVec3| self.half.dot(row.abs());
            half += DVec3::new(extent(rotation.x_axis), extent(rotation.y_axis), extent(rotation.z_axis));
        }
        let centre = pose.point(self.centre);
        [centre - half, centre + half]
    }
}

/// The pose of b seen from a: the difference first, so that far from the origin no digits are lost.
fn relative(a: &Pose, b: &Pose) -> Pose {
    let rotation = (a.rotation.conjugate() * b.rotation).normalize();
    Pose { position: a.local_point(b.position), rotation }
}

/// Pushes the contacts of a pair that has a closed form in this order, and returns how far the cores of two
/// boxes are apart at least; `None` where there is no closed form.
fn touches(
    a: &Proxy,
    b: &Proxy,
    pose: &Pose,
    max_gap: f64,
    polygon: &mut Polygon,
    out: &mut Vec<Contact>,
) -> Option<f64> {
    match (a.kind, b.kind) {
        (Kind::Plane, Kind::Plane) => {}
        (Kind::Plane, Kind::Ball(r)) => primitives::on_plane(0, DVec3::ZERO, r, pose, out),
        (Kind::Plane, Kind::Block(block)) => primitives::plane_block(block.half, block.radius, pose, out),
        (Kind::Plane, Kind::Cylinder { radius, half_height }) => {
            primitives::plane_disc(0, half_height, radius, 1.0, pose, out);
            primitives::plane_disc(4, -half_height, radius, -1.0, pose, out);
        }
        (Kind::Plane, Kind::Cone { radius, half_height }) => {
            primitives::on_plane(4, DVec3::new(0.0, 0.0, half_height), 0.0, pose, out);
            primitives::plane_disc(0, -half_height, radius, -1.0, pose, out);
        }
        (Kind::Ball(r), Kind::Ball(s)) => primitives::ball_ball([r, s], pose, out),
        (Kind::Block(block), Kind::Ball(r)) => {
            primitives::block_ball(block.half, [block.radius, r], pose, out);
        }
        (Kind::Cylinder { radius, half_height }, Kind::Ball(r)) => {
            primitives::cylinder_ball(radius, half_height, r, pose, out);
        }
        (Kind::Block(first), Kind::Block(second)) => {
            return Some(box_box::blocks(&first, &second, pose, max_gap, polygon, out));
        }
        _ => return None,
    }
    Some(f64::NEG_INFINITY)
}

/// Fills in what follows from core points and features, drops gaps above `max_gap`, and sorts. `world` is the
/// pose of the first shape, `pose` that of the second seen from it.
fn finish(
    a: &Proxy,
    b: &Proxy,
    [world, pose]: [&Pose; 2],
    flipped: bool,
    max_gap: f64,
    start: usize,
    contacts: &mut Vec<Contact>,
) {
    let mut kept = start;
    for k in start..contacts.len() {
        let mut contact = contacts[k];
        let (gap, normal, point) = contact.gap_and_point_at(&Pose::IDENTITY, pose);
        if !(gap <= max_gap && point.is_finite()) {
            continue;
        }
        contact.gap = gap;
        contact.normal = world.rotation * normal;
        contact.point = world.point(point);
        contact.core = [a.pose.point(contact.core[0]), b.pose.point(contact.core[1])];
        contact.features = contact.features.rotated(a.pose.rotation, b.pose.rotation);
        contact.bodies = [a.body, b.body];
        contact.shapes = [a.shape, b.shape];
        if flipped {
            contact.bodies.swap(0, 1);
            contact.shapes.swap(0, 1);
            contact.core.swap(0, 1);
            contact.radius.swap(0, 1);
            contact.features = contact.features.flipped();
            contact.normal = -contact.normal;
        }
        contacts[kept] = contact;
        kept += 1;
    }
    contacts.truncate(kept);
    contacts[start..].sort_unstable_by_key(|contact| contact.feature);
}
