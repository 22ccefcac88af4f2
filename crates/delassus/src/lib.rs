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

mod accumulation;
pub mod analyze;
pub mod assemble;
pub mod close_loops;
pub mod collide;
mod collocation;
pub mod contact;
mod diagnostic;
pub mod dual_series;
mod event_bounds;
mod event_change;
mod event_conditions;
mod event_decide;
pub mod event_driven;
mod event_flight;
mod event_impact;
mod event_impulse;
mod event_loop;
mod event_mechanics;
mod event_project;
mod event_record;
mod event_search;
mod event_solve;
mod event_start;
mod event_turn;
mod expect;
pub mod expression;
pub mod family;
pub mod file;
mod file_impact;
pub mod formula;
pub mod higher_derivatives;
pub mod hull;
pub mod impact_report;
pub mod interval;
mod interval_contact;
mod interval_matrix;
pub mod joint;
mod joint_algebra;
pub mod joint_rows;
mod keyed_impulses;
pub mod kinematics;
pub mod mass;
pub mod mesh_file;
mod mjcf;
mod mjcf_body;
mod mjcf_element;
mod mjcf_joint;
mod mjcf_link;
pub mod mobility;
mod motor_braking;
pub mod number;
mod pairs;
mod pairs_block;
mod pairs_clip;
mod pairs_hull;
mod parry_pairs;
mod parse;
pub mod part_bodies;
mod relative;
pub mod rigid;
pub mod safe;
pub mod series;
mod series_motion;
mod stage;
pub mod step_control;
mod step_forces;
mod step_impact;
mod step_moment;
mod step_part;
mod step_report;
mod step_unique;
mod step_wants;
pub mod stepper;
mod suggest;
pub mod system;
mod table;
mod urdf;
pub mod velocity_bound;
pub mod world;
pub mod world_analyze;
pub mod world_check;
mod world_error;
pub mod world_file;
mod world_file_action;
mod world_file_body;
mod world_file_joint;
mod world_file_shape;
mod world_formulas;
mod world_rows;
pub mod world_system;
mod world_values;
mod world_vectors;
pub mod xml;

/// The code of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
