//! The links that carry bits. Each link is a small machine: its inputs are offered data and the
//! time, and its outputs are arrivals and the moment at which it wants to be asked again.

pub mod csma;
pub mod port;
pub mod share;
