//! Worlds as text, put together from bodies, joints and surfaces that many tests need.

/// Weight along −z.
pub const WEIGHT: &str = "[world]\ngravity = [0, 0, -9.81]\n";

/// A fixed plane through the origin with its normal along z.
pub const FLOOR: &str = "[[body]]\nname = \"floor\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n";

/// A pendulum of length 1 m with a bob of 1 kg and 0.1 kg m², at rest on the level of its hinge:
/// θ̈ = g cos θ/1.1.
pub const PENDULUM: &str = "[world]\n[[body]]\nname = \"bob\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [1, 0, 0]\n\
    [[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"world\", \"bob\"]\nanchor = [0, 0, 0]\naxis = [0, 1, 0]\n";

/// A world with weight and a floor, and what else it holds.
pub fn on_floor(rest: &[&str]) -> String {
    format!("{WEIGHT}{FLOOR}{}", rest.concat())
}

/// A body of one shape: the text of the shape without its table.
pub fn body(name: &str, mass: f64, shape: &str, position: [f64; 3], velocity: [f64; 3]) -> String {
    format!(
        "[[body]]\nname = {name:?}\nmass = {mass:?}\nposition = {position:?}\nvelocity = {velocity:?}\n\
         [[body.shape]]\n{shape}\n"
    )
}

pub fn sphere(name: &str, mass: f64, radius: f64, position: [f64; 3], velocity: [f64; 3]) -> String {
    body(name, mass, &format!("type = \"sphere\"\nradius = {radius:?}"), position, velocity)
}

pub fn cuboid(name: &str, mass: f64, half: [f64; 3], position: [f64; 3], velocity: [f64; 3]) -> String {
    body(name, mass, &format!("type = \"box\"\nhalf_extents = {half:?}"), position, velocity)
}

/// A revolute joint about y.
pub fn hinge(name: &str, bodies: [&str; 2], anchor: [f64; 3]) -> String {
    format!(
        "[[joint]]\nname = {name:?}\ntype = \"revolute\"\nbodies = {bodies:?}\nanchor = {anchor:?}\naxis = [0, 1, 0]\n"
    )
}

/// Friction and restitution of all pairs of bodies.
pub fn surfaces(mu: f64, restitution: f64) -> String {
    format!("[[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu:?}\nrestitution = {restitution:?}\n")
}

/// A ball of 1 kg and a radius of 0.5 m that slides with 2 m/s along a skew direction, and rolls in the end;
/// then the floor.
pub fn sliding_ball() -> String {
    let ball = sphere("ball", 1.0, 0.5, [0.0, 0.0, 0.5], [1.2, 1.6, 0.0]);
    [WEIGHT, &ball, &surfaces(0.2, 0.0), FLOOR].concat()
}
