//! The mask of traced calls (`trace`), and the names of the events.

/// The events that can be chosen, in the order of their names, with their numbers in pvmtev.h.
#[rustfmt::skip]
const EVENTS: [(&str, usize); 104] = [
    ("addhosts", 0), ("addmhf", 103), ("archcode", 78), ("barrier", 1), ("bcast", 2),
    ("bufinfo", 3), ("catchout", 79), ("config", 4), ("delete", 5), ("delhosts", 6),
    ("delinfo", 94), ("delmhf", 104), ("exit", 7), ("freebuf", 8), ("freecontext", 97),
    ("gather", 90), ("getcontext", 99), ("getfds", 9), ("getinfo", 93), ("getinst", 10),
    ("getmboxinfo", 95), ("getminfo", 101), ("getmwid", 80), ("getopt", 11), ("getrbuf", 12),
    ("getsbuf", 13), ("gettid", 14), ("gettmask", 81), ("gsize", 15), ("halt", 16),
    ("hostsync", 82), ("initsend", 17), ("insert", 18), ("joingroup", 19), ("kill", 20),
    ("lookup", 21), ("lvgroup", 22), ("mcast", 23), ("mhf_invoke", 105), ("mkbuf", 24),
    ("mstat", 25), ("mytid", 26), ("newcontext", 96), ("notify", 27), ("nrecv", 28), ("packf", 83),
    ("parent", 29), ("perror", 30), ("pkbyte", 31), ("pkcplx", 32), ("pkdcplx", 33),
    ("pkdouble", 34), ("pkfloat", 35), ("pkint", 36), ("pklong", 38), ("pkshort", 40),
    ("pkstr", 42), ("pkuint", 37), ("pkulong", 39), ("pkushort", 41), ("precv", 84), ("probe", 43),
    ("psend", 85), ("pstat", 44), ("putinfo", 92), ("recv", 45), ("recvf", 46), ("reduce", 86),
    ("reg_hoster", 71), ("reg_rm", 72), ("reg_tasker", 73), ("reg_tracer", 74), ("scatter", 91),
    ("send", 47), ("sendsig", 48), ("setcontext", 98), ("setminfo", 102), ("setmwid", 87),
    ("setopt", 49), ("setrbuf", 50), ("setsbuf", 51), ("settmask", 88), ("siblings", 100),
    ("spawn", 52), ("start_pvmd", 53), ("tasks", 54), ("tickle", 55), ("tidtohost", 56),
    ("trecv", 57), ("unpackf", 89), ("upkbyte", 58), ("upkcplx", 59), ("upkdcplx", 60),
    ("upkdouble", 61), ("upkfloat", 62), ("upkint", 63), ("upklong", 65), ("upkshort", 67),
    ("upkstr", 69), ("upkuint", 64), ("upkulong", 66), ("upkushort", 68), ("user_defined", 108),
    ("version", 70),
];

/// Events of daemons, which `trace` accepts and does not list: daemons send them whatever the mask
/// is.
const UNLISTED: [&str; 3] = ["endtask", "newtask", "spntask"];

/// The events that are traced at first, and that `trace xpvm` chooses.
#[rustfmt::skip]
const INITIAL: [&str; 24] = [
    "addmhf", "barrier", "bcast", "delmhf", "exit", "joingroup", "kill", "lvgroup", "mcast",
    "mhf_invoke", "mytid", "nrecv", "parent", "precv", "probe", "psend", "recv", "recvf", "send",
    "sendsig", "siblings", "spawn", "trecv", "user_defined",
];

const COLUMNS: usize = 4;
/// `TEV_MASK_LENGTH` without the NUL; every letter has four bits above `@`.
const LETTERS: usize = 35;
const EMPTY: u8 = b'@';

/// A mask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mask([u8; LETTERS]);

impl Default for Mask {
    fn default() -> Self {
        let mut mask = Self([EMPTY; LETTERS]);
        mask.set_names(&INITIAL);
        mask
    }
}

impl Mask {
    /// Switches an event on or off; false if there is none of this name.
    pub(crate) fn set(&mut self, name: &str, on: bool) -> bool {
        let event = EVENTS.iter().find(|(known, _)| *known == name);
        if let Some(&(_, number)) = event {
            let bit = 1 << (number & 3);
            if on { self.0[number / 4] |= bit } else { self.0[number / 4] &= !bit }
        }
        event.is_some() || UNLISTED.contains(&name)
    }

    /// Switches all events on or off.
    pub(crate) fn set_all(&mut self, on: bool) {
        for (name, _) in EVENTS {
            self.set(name, on);
        }
    }

    fn set_names(&mut self, names: &[&str]) {
        for name in names {
            assert!(self.set(name, true), "the initial mask names events");
        }
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 4] >> (number & 3) & 1 == 1
    }

    /// As tasks get it.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// The table of `trace`: names down the columns, a star where they are on.
    pub(crate) fn table(&self) -> String {
        let rows = EVENTS.len().div_ceil(COLUMNS);
        let cell = |&(name, number): &(&str, usize)| {
            let star = if self.has(number) { '*' } else { ' ' };
            format!(" {star} {name:<15}")
        };
        let row = |row: usize| {
            let cells = EVENTS.iter().skip(row).step_by(rows).map(cell);
            cells.collect::<Vec<String>>().join(" ") + "\n"
        };
        (0..rows).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_original() {
        let table = Mask::default().table();
        let second = " * addmhf             gettmask           pkint              setrbuf        ";
        assert_eq!(table.lines().nth(1), Some(second));
        assert_eq!(table.lines().count(), 26);
    }

    #[test]
    fn the_text_has_four_bits_to_a_letter() {
        let mut mask = Mask::default();
        mask.set_all(false);
        assert_eq!(mask.text(), vec![b'@'; LETTERS]);
        assert!(mask.set("barrier", true) && !mask.set("foo", true));
        assert_eq!(mask.text()[0], b'B');
    }
}
