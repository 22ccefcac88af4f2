//! Verdicts, their certificates, and the propositions of the papers.

mod arches;
mod forgery;
mod noise;
mod p000;
mod p001;
mod p002;
mod p003;
mod propositions;
mod random;
