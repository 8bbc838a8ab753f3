//! Starting programs and other daemons.

pub(crate) mod bearer;
pub(crate) mod child;
pub(crate) mod doctor;
pub(crate) mod front;
pub(crate) mod invitation;
mod manual;
mod places;
pub(crate) mod populate;
mod push;
pub(crate) mod reach;
pub(crate) mod remote;
pub(crate) mod reply;
mod resident;
pub(crate) mod sentences;
pub(crate) mod ssh;
mod stages;
pub(crate) mod task;
pub(crate) mod token;
pub(crate) mod tunnel;
