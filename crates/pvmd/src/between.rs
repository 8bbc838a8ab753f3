//! The messages between the parent and the daemon of one host, over their socket pair.
//!
//! Frames upwards carry the number of an event, frames downwards the number of the event whose
//! effects they are; 0 where there is no event.

use crate::launch::token::Token;
use pvm_core::io::{Effect, Event};
use pvm_wire::{Blob, HostIndex, Tid, choice, record};

/// The version that this program and its records speak. A later program speaks every earlier
/// version that its notes of release name; one that cannot says [`Down::Unfit`], and the old one
/// goes on.
pub(crate) const VERSION: u16 = 2;

choice! {
    /// From the parent to the daemon.
    pub enum Up {
        /// Records that earlier daemons saved. They come first, as many frames as it takes.
        4 => Records {
            /// Keys and values.
            records: Vec<(Blob, Blob)>,
        },
        /// All records are there: begin.
        1 => Begin {
            /// The data that the daemon needs.
            begin: Begin,
        },
        /// Something happened.
        2 => Happened {
            /// The event.
            event: Event,
        },
        /// The parent ends in order: tell the peers and go.
        3 => Quit {
            /// The machine lives no longer than this parent (`--bound`).
            machine: bool,
        },
    }

    /// From the daemon to the parent.
    pub enum Down {
        /// The effects of an event, or of news of the daemon's links.
        1 => Effects {
            /// In the order in which they apply.
            effects: Vec<Effect>,
        },
        /// Some of the effects of an event; none applies before the rest has come.
        4 => Part {
            /// The next ones.
            effects: Vec<Effect>,
        },
        /// The starter of the host may be told that it is there.
        2 => Ready {
            /// The line to print; if empty, the path of the local socket.
            line: String,
        },
        /// This host has a place in the machine.
        3 => Host {
            /// Its index.
            host: HostIndex,
        },
        /// First of all: which program this is.
        5 => Version {
            /// NeoPVM's version.
            version: String,
            /// The confinement of the daemon, in words.
            guard: String,
        },
        /// This program cannot go on with what the parent has.
        6 => Unfit {
            /// The reason.
            reason: String,
        },
    }
}

record! {
    /// The machine that a host is to join.
    pub struct Invited {
        /// The addresses of its inviter.
        pub addresses: Vec<String>,
        /// The fingerprint of the key that answers there.
        pub fingerprint: Blob,
        /// The inviter is on this computer.
        pub local: bool,
        /// The address through which hosts are reached that cannot be called, or empty.
        pub via: String,
        /// The token that lets it in; none if the inviter knows its key.
        pub token: Option<Token>,
        /// Seconds until this host ends if it is not let in; 0 for the usual time.
        pub patience: u32,
    }

    /// The data with which a daemon is started.
    pub struct Begin {
        /// The parent's [`VERSION`].
        pub between: u16,
        /// The protocol that the parent and the tasks speak.
        pub protocol: u16,
        /// The parent.
        pub parent_pid: u32,
        /// The number of daemons that this host has lost.
        pub restarts: u32,
        /// Name of the host as asked for on the command line, or empty.
        pub name: String,
        /// The host's folder.
        pub folder: Blob,
        /// The options of this host in a host file.
        pub options: String,
        /// The machine to join; none for a first host.
        pub join: Option<Invited>,
        /// Processes of tasks that this host has started, which end if the parent dies.
        pub processes: Vec<(Tid, u32)>,
        /// Nanoseconds from the zero of the monotonic clock to 1970, read once.
        pub clock: u64,
    }
}
