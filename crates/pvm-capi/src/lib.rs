//! The C and Fortran interface of NeoPVM.
//!
//! PVM 3's calls (`pvm3.h`, `fpvm3.h`) and ours with handles (`neopvm.h`) are thin layers over the
//! crate `pvm`, those of `neotuple.h` over `pvm-space`. Every exported function goes through
//! `guard`; none of them lets a panic out.
//! `link.sh` makes the shared and static libraries from what this crate compiles to.
//!
//! A reader begins with `guard` (the way in), `session` (the task that this process is), `buffer`
//! and `message`. The other rooms each hold the calls of one subject.

#![allow(non_upper_case_globals, reason = "the names of exported data are PVM's")]
#![allow(
    clippy::too_many_arguments,
    reason = "the signatures are those of PVM's C and Fortran interfaces"
)]

mod aside;
mod buffer;
mod control;
mod forks;
mod format;
mod fortran;
mod globals;
mod group;
mod guard;
mod handle;
mod handler;
mod held;
mod helpers;
mod machine;
mod masks;
mod memory;
mod message;
mod options;
mod output;
mod own;
mod pack;
mod pointer;
mod probe;
mod process;
mod reduction;
mod registry;
mod say;
mod selection;
mod session;
mod slot;
mod thread;
mod timeval;
mod trace;
mod trace_tables;
mod tuple;
mod waiting;
