//! Linear algebra: dense, sparse and block matrices, their factorizations, and exact rational arithmetic.
//!
//! ```text
//! A x = b ,   A = L U ,   A = Q Λ Qᵀ ,   rank A ,   A⁺
//! ```
//!
//! Dense factorizations come from faer. Block matrices and their LU are our own: they take no memory once
//! their pattern is known and give the same bits for any number of threads.

mod block_lu;
mod block_matrix;
mod dictionary;
mod elimination;
mod envelope;
mod exact_polyhedron;
mod fraction;
mod gram_cholesky;
mod interval;
mod matrix;
mod parallel;
mod principal_lu;
mod rational;
pub mod small;
mod sparse;
mod union_find;

pub use block_matrix::BlockMatrix;
pub use envelope::Envelope;
pub use fraction::Fraction;
pub use gram_cholesky::GramCholesky;
pub use interval::Interval;
pub use matrix::{Matrix, RowSpace, axpy, dot, max_abs, norm, rank_tolerance};
pub use rational::{P_MATRIX_MAX, RationalMatrix, rational};
pub use sparse::Sparse;
pub use union_find::UnionFind;

pub(crate) use block_lu::BlockLu;
pub(crate) use block_matrix::{Block, Islands, mul, zero_block};
pub(crate) use dictionary::{Dictionary, equilibrate, power_of_two_below};
pub(crate) use exact_polyhedron::Polyhedron;
pub(crate) use parallel::{CHUNK, each_with_sums, fill, inside, sum};
pub(crate) use principal_lu::{Lu, solve_on};
pub(crate) use rational::{Int, Tableau, integers, whole};
