//! The group server of PVM 3, by name only: old scripts start it, and groups belong to the machine
//! now. It has nothing to do and says so by succeeding.
#![forbid(unsafe_code)]

fn main() {}
