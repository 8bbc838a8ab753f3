//! The output of many tasks on one terminal: whole lines, each with its task in front.

use crate::run::writer::{STDERR, Writer};
use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, stderr, stdout};

/// ANSI colours that are readable on light and dark ground.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];
/// A line that goes on for longer is broken.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The limit for all lines that have begun; beyond it the longest one is broken.
const BEGUN_BYTES_MAX: usize = 8 << 20;
/// A mark is not longer: the colour, its end, and a task id of nine characters in brackets.
const MARK_BYTES_MAX: usize = 24;

/// The tasks whose lines are marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Marking {
    /// All lines get a mark.
    All,
    /// The lines of the tasks that our own task has spawned get a mark; its own output is passed
    /// on as it is.
    Others,
    /// No line gets a mark: all output is passed on as it is.
    Nothing,
}

/// The destination of output, and its marks.
#[derive(Debug)]
pub(crate) struct Streams {
    writer: Writer,
    marking: Marking,
    /// Our own tasks if they are not marked.
    own: Vec<Tid>,
    /// Whether the marks on standard output and on error output are coloured.
    coloured: [bool; 2],
    /// The marks of the tasks that have any.
    marks: BTreeMap<Tid, [String; 2]>,
    /// The names of ranks that stand in the marks in the place of their ids.
    names: BTreeMap<Tid, String>,
    /// The number of bytes that each task has written.
    written: BTreeMap<Tid, u64>,
    /// The lines that have begun.
    begun: BTreeMap<(Tid, u8), Vec<u8>>,
    /// The total size of those lines in bytes.
    begun_bytes: usize,
    /// Streams on which a line without a mark has begun, which must not run into a marked one.
    open: [bool; 2],
}

impl Streams {
    /// For these tasks, and others that may join them.
    pub(crate) fn new(writer: Writer, tasks: &[Tid], marking: Marking) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let coloured = [wanted && stdout().is_terminal(), wanted && stderr().is_terminal()];
        let own = if marking == Marking::Others { tasks.to_vec() } else { Vec::new() };
        let (marks, begun, open) = (BTreeMap::new(), BTreeMap::new(), [false; 2]);
        let (names, written) = (BTreeMap::new(), BTreeMap::new());
        let begun_bytes = 0;
        let mut streams = Self {
            writer,
            marking,
            own,
            coloured,
            marks,
            names,
            written,
            begun,
            begun_bytes,
            open,
        };
        if marking == Marking::All {
            // In the order in which the tasks were started, not in that of their output.
            tasks.iter().for_each(|&tid| drop(streams.mark(tid, 1)));
        }
        streams
    }

    /// Has the marks of a task show this name, of at most nine characters.
    pub(crate) fn name(&mut self, tid: Tid, name: String) {
        self.names.insert(tid, name);
    }

    /// Writes what a task wrote.
    pub(crate) fn write(&mut self, tid: Tid, stream: u8, bytes: Vec<u8>) {
        *self.written.entry(tid).or_default() += bytes.len() as u64;
        if self.marking == Marking::Nothing || self.own.contains(&tid) {
            self.open[place(stream)] = bytes.last().is_some_and(|&byte| byte != b'\n');
            return self.writer.write(stream, bytes);
        }
        let mark = self.mark(tid, stream);
        let mut begun = self.begun.remove(&(tid, stream)).unwrap_or_default();
        self.begun_bytes -= begun.len();
        begun.extend_from_slice(&bytes);
        let lines = take_lines(&mut begun, &mark);
        if !begun.is_empty() {
            self.begun_bytes += begun.len();
            self.begun.insert((tid, stream), begun);
        }
        self.emit_lines(stream, lines);
        while self.begun_bytes > BEGUN_BYTES_MAX {
            self.break_longest();
        }
    }

    /// Many tasks have begun a line and none ends it: the longest is written as it is.
    fn break_longest(&mut self) {
        let longest = self.begun.iter().max_by_key(|(_, line)| line.len());
        if let Some((&(tid, stream), _)) = longest {
            self.end_line(tid, stream);
        }
    }

    /// Writes a line that has begun as if it had ended.
    fn end_line(&mut self, tid: Tid, stream: u8) {
        let Some(line) = self.begun.remove(&(tid, stream)) else { return };
        self.begun_bytes -= line.len();
        let line = [self.mark(tid, stream).as_bytes(), &line, b"\n"].concat();
        self.emit_lines(stream, line);
    }

    /// Says something ourselves, behind what the tasks have written.
    pub(crate) fn say(&mut self, text: &str) {
        self.emit_lines(STDERR, format!("pvm: {text}\n").into_bytes());
    }

    /// The number of bytes of a task that have come.
    pub(crate) fn bytes_of(&self, tid: Tid) -> u64 {
        self.written.get(&tid).copied().unwrap_or(0)
    }

    /// A task ended: a line that it had begun is all there is of it.
    pub(crate) fn end_of(&mut self, tid: Tid) {
        for stream in [1, STDERR] {
            self.end_line(tid, stream);
        }
    }

    /// Writes all lines that have begun, and nothing any more: the writer tells when all is
    /// written.
    pub(crate) fn finish(mut self) {
        let tids: Vec<Tid> = self.begun.keys().map(|&(tid, _)| tid).collect();
        for tid in tids {
            self.end_of(tid);
        }
    }

    fn mark(&mut self, tid: Tid, stream: u8) -> String {
        let colour = COLOURS[self.marks.len() % COLOURS.len()];
        let name = self.names.get(&tid).cloned().unwrap_or_else(|| tid.to_string());
        let mark = |on| {
            if on { format!("\x1b[{colour}m[{name}]\x1b[0m ") } else { format!("[{name}] ") }
        };
        let both = self.marks.entry(tid).or_insert_with(|| self.coloured.map(mark));
        both[place(stream)].clone()
    }

    fn emit_lines(&mut self, stream: u8, mut lines: Vec<u8>) {
        if lines.is_empty() {
            return;
        }
        if std::mem::take(&mut self.open[place(stream)]) {
            lines.insert(0, b'\n');
        }
        self.writer.write(stream, lines);
    }
}

/// The largest size of a task's output once it is written: each line gets a mark.
pub(crate) fn bytes_with_marks(bytes: &[u8]) -> usize {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
    bytes.len() + lines * MARK_BYTES_MAX
}

fn place(stream: u8) -> usize {
    usize::from(stream == STDERR)
}

/// Takes the whole lines out of `begun`, each with its mark.
fn take_lines(begun: &mut Vec<u8>, mark: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let end = begun.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    for line in begun[..end].split_inclusive(|&byte| byte == b'\n') {
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(line);
    }
    begun.drain(..end);
    if begun.len() > LINE_BYTES_MAX {
        out.extend_from_slice(mark.as_bytes());
        out.append(begun);
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_and_marked() {
        let mut begun = b"one\ntw".to_vec();
        assert_eq!(take_lines(&mut begun, "[a] "), b"[a] one\n");
        begun.extend_from_slice(b"o\n\nthree");
        assert_eq!(take_lines(&mut begun, "[a] "), b"[a] two\n[a] \n");
        assert_eq!(begun, b"three");
        begun.resize(LINE_BYTES_MAX + 1, b'x');
        assert_eq!(take_lines(&mut begun, "").len(), LINE_BYTES_MAX + 2);
    }
}
