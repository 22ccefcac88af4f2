//! Mechanical systems with contacts, joints and friction, from formulas to the contact problem.
//!
//! ```text
//! M(q, t) q̈ + F(q, q̇, t) = Jᵀ λ ,     0 ≤ h_u ⊥ λ_u ≥ 0 ,     h_b = 0 ,     friction along the slips
//! ```
//!
//! A [`System`](system::System) holds energies, forces, contacts and joints as formulas; they come from a file
//! ([`file::read_system`]), from text ([`expression::Expression`]) or from Rust ([`formula::AnyFormula`]).
//! [`kinematics::kinematics`] differentiates them at a [`State`](system::State), exactly, and gives the matrices
//! and vectors of the equation above.
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

/// The code of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
