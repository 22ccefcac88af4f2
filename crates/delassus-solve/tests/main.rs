//! Integration tests of `delassus-solve`, in one binary, by the modules that they test.

mod analysis;
mod contact;
mod exact;
mod impacts;
mod lcp;
mod modes;
mod support;
