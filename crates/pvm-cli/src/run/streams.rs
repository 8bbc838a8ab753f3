//! The output of many tasks on one terminal: whole lines, each with its task in front.

use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Result, Write, stderr, stdout};

const STDERR: u8 = 2;
/// ANSI colours that are readable on light and dark ground.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];
/// A line that goes on for longer is broken.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Where output goes and how it is marked.
#[derive(Debug)]
pub(crate) struct Streams {
    /// None where output is passed on as it is.
    marks: Option<BTreeMap<Tid, [String; 2]>>,
    /// The lines that have begun.
    begun: BTreeMap<(Tid, u8), Vec<u8>>,
}

impl Streams {
    /// For these tasks.
    pub(crate) fn new(tasks: &[Tid], prefixed: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let coloured = [wanted && stdout().is_terminal(), wanted && stderr().is_terminal()];
        let colours = COLOURS.iter().cycle();
        let marks = tasks.iter().zip(colours).map(|(&tid, &colour)| {
            let mark = |on| if on { format!("\x1b[{colour}m[{tid}]\x1b[0m ") } else { plain(tid) };
            (tid, coloured.map(mark))
        });
        Self { marks: prefixed.then(|| marks.collect()), begun: BTreeMap::new() }
    }

    /// Writes what a task wrote.
    pub(crate) fn write(&mut self, tid: Tid, stream: u8, bytes: &[u8]) -> Result<()> {
        let Some(marks) = &self.marks else { return emit(stream, bytes) };
        let mark = mark(marks, tid, stream);
        let begun = self.begun.entry((tid, stream)).or_default();
        begun.extend_from_slice(bytes);
        let out = take_lines(begun, &mark);
        emit(stream, &out)
    }

    /// A task ended: a line that it had begun is all there is of it.
    pub(crate) fn end_of(&mut self, tid: Tid) {
        for stream in [1, STDERR] {
            let Some(line) = self.begun.remove(&(tid, stream)) else { continue };
            let Some(marks) = &self.marks else { continue };
            if !line.is_empty() {
                let line = [mark(marks, tid, stream).as_bytes(), &line, b"\n"].concat();
                // Whoever read it is gone, and everything else with it.
                let _ = emit(stream, &line);
            }
        }
    }

    /// All lines that have begun.
    pub(crate) fn flush(&mut self) {
        let tids: Vec<Tid> = self.begun.keys().map(|&(tid, _)| tid).collect();
        for tid in tids {
            self.end_of(tid);
        }
    }
}

fn plain(tid: Tid) -> String {
    format!("[{tid}] ")
}

fn mark(marks: &BTreeMap<Tid, [String; 2]>, tid: Tid, stream: u8) -> String {
    let place = usize::from(stream == STDERR);
    // A task of these tasks, which we did not start ourselves.
    marks.get(&tid).map_or_else(|| plain(tid), |both| both[place].clone())
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

fn emit(stream: u8, bytes: &[u8]) -> Result<()> {
    if stream == STDERR {
        stderr().lock().write_all(bytes)
    } else {
        let mut out = stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }
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
