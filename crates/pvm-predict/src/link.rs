//! What carries bits. Each link is a small machine: it is told what is offered and what time it is,
//! and says what has arrived and when it wants to be asked again.

pub mod csma;
pub mod port;
pub mod share;
