//! Mechanical systems with joints, contacts and friction, which know when their answer can be trusted.
//!
//! ```text
//! M(q, t) q̈ + F(q, q̇, t) = Jᵀ λ ,     0 ≤ h_u ⊥ λ_u ≥ 0 ,     h_b = 0 ,     friction along the slips
//! ```
//!
//! with q ∈ ℝⁿ positions, M the mass matrix, F weights, springs and inertial terms, h_u the gaps of contacts,
//! h_b the joints, J their gradients and λ their forces.
//!
//! # Move bodies
//!
//! A [`World`](world::World) holds rigid bodies, joints and surfaces; a
//! [`Simulation`](simulation::Simulation) owns one with its state and moves it. A spring and a damper pull a
//! crate to x = 1 m against friction:
//!
//! ```
//! use delassus::prelude::*;
//! let mut scene = Scene::default();
//! scene.add(Body::ground());
//! let block = scene.add(Body::block("crate", 2.0, DVec3::splat(0.1)).at(DVec3::new(0.0, 0.0, 0.1)));
//! scene.world.surfaces.push(Surface::friction(0.3));
//! let mut sim = Simulation::new(scene, StepOptions::default())?;
//! while sim.time() < 1.0 {
//!     let now = sim.body(block)?;
//!     sim.set_force(block, DVec3::X * (50.0 * (1.0 - now.position().x) - 10.0 * now.velocity.x))?;
//!     sim.step()?;
//! }
//! sim.contacts().iter().for_each(|c| println!("{}: {} N, normal force {}", c.name, c.force, c.unique));
//! # let weight: f64 = sim.contacts().iter().map(|c| c.normal_force).sum();
//! # assert!((weight - 2.0 * 9.81).abs() < 1e-3 && sim.body("crate")?.position().x > 0.8);
//! # Ok::<(), SimulationError>(())
//! ```
//!
//! Files (TOML, URDF, MJCF) are read by the crate `delassus-scene`:
//! `delassus_scene::load_simulation("rover.toml")`.
//!
//! # Ask whether there is an answer
//!
//! A [`System`](lagrangian::System) holds energies, forces, contacts and joints as formulas of q, q̇ and t.
//! The rod of Painlevé, 2 kg and 2 m long, slides on its tip with more friction than 5/3: no acceleration and
//! no force satisfy the laws.
//!
//! ```
//! use delassus::prelude::*;
//! let (l, theta) = (1.0, std::f64::consts::FRAC_PI_4);
//! let kinetic = AnyFormula::derivatives_only(|a| a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2] / 3.0);
//! let mut rod = System::new("rod", &["x", "y", "theta"], kinetic);
//! rod.potential = Some(AnyFormula::derivatives_only(|at| 2.0 * 9.81 * at.q[1]));
//! let gap = AnyFormula::derivatives_only(move |at| at.q[1] - l * at.q[2].sin());
//! let slip = AnyFormula::derivatives_only(move |at| at.q[0] - l * at.q[2].cos());
//! let tip = Contact::frictionless("tip", Measure::Displacement(gap)).with_friction(2.0);
//! rod.contacts.push(Contact { slip: vec![Measure::Displacement(slip)], ..tip });
//! let state = State { t: 0.0, q: vec![0.0, l * theta.sin(), theta], v: vec![-1.0, 0.0, 0.0] };
//! let found = analyze_at(&rod, &state)?.analysis.ok_or("an impact comes first")?;
//! assert_eq!(found.existence, Verdict::Refuted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Closures have derivatives but no intervals and power series; [`formula!`] and texts have them all.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`prelude`] | what most programs need |
//! | [`simulation`] | a world in motion: step, read, set, save and restore |
//! | [`world`] | rigid bodies, shapes, joints, surfaces, and their state |
//! | [`collision`] | gaps, normals and points of contact between shapes |
//! | [`stepping`] | time stepping of a world, impulses over a step |
//! | [`lagrangian`] | systems of formulas, their mass matrix, gradients and bias terms |
//! | [`formula`](mod@formula) | formulas over numbers, derivatives, intervals and power series |
//! | [`events`] | event-driven integration of a system |
//! | [`analysis`] | existence, uniqueness and all solutions at a state; safe intervals of parameters |
//!
//! Solvers and theorems about matrices are in the crate `delassus-solve`.
//!
//! Sources: 000 Blumentals, Brogliato, Bertails-Descoubes 2016; 001 Brogliato 2013; 002 Lötstedt 1982;
//! 003 Peiret, Kövecses, Font-Llagunes 2019; 004 Negrut, Serban 2016.
#![forbid(unsafe_code)]

pub use glam;

pub mod analysis;
pub mod collision;
pub mod events;
pub mod formula;
pub mod lagrangian;
pub mod prelude;
pub mod simulation;
pub mod stepping;
pub mod world;

#[cfg(test)]
#[allow(dead_code, reason = "the tests of `delassus-solve` use the rest")]
#[path = "../../delassus-solve/tests/support/random.rs"]
mod random;

/// The code of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
