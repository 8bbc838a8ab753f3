//! Jobs: what one `spawn ->` started, and where its output goes.

use crate::console::arrival::Wrote;
use crate::console::traces::{EventForms, Traces};
use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;

/// A line that goes on for longer is broken.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The jobs that have not finished.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    jobs: BTreeMap<i32, Job>,
    /// The forms of events of traced jobs.
    known: EventForms,
    last: i32,
}

/// The destination of a job's output.
#[derive(Debug)]
pub(crate) enum Sink {
    /// To the console.
    Console,
    /// Into a file.
    File(File),
    /// Nowhere: a traced job without `->`.
    Nowhere,
}

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    sink: Sink,
    /// The destination of its trace, if it is traced.
    trace: Option<(Sink, Traces)>,
    /// Its tasks that have not ended, in the order in which they came, with the lines they have
    /// begun.
    tasks: Vec<(Tid, Vec<u8>)>,
    /// The output of its last task has ended.
    ended: bool,
}

impl Jobs {
    /// The number of the next job. A traced job takes two, as in PVM.
    pub(crate) fn number(&mut self, traced: bool) -> i32 {
        let number = self.last + 1;
        self.last += if traced { 2 } else { 1 };
        number
    }

    /// Opens a job.
    pub(crate) fn open(&mut self, number: i32, sink: Sink, trace: Option<Sink>) {
        let trace = trace.map(|sink| (sink, Traces::default()));
        self.jobs.insert(number, Job { sink, trace, tasks: Vec::new(), ended: false });
    }

    /// Takes trace events; gives what the console is to print.
    pub(crate) fn take_trace(&mut self, number: i32, words: &[i32]) -> Vec<u8> {
        let job = self.jobs.get_mut(&number);
        let Some((sink, traces)) = job.and_then(|job| job.trace.as_mut()) else {
            return Vec::new();
        };
        let text = traces.text(&mut self.known, words);
        let mut shown: Vec<u8> = (traces.take_begun().iter().filter_map(|task| task.parse().ok()))
            .map(|task: i32| {
                format!("[{number}] libpvmtrc: Task TID=0x{task:x} Connected to Console\n")
            })
            .collect::<String>()
            .into_bytes();
        shown.extend(match sink {
            Sink::File(_) => pass(number, sink, text.into_bytes()),
            Sink::Console | Sink::Nowhere => {
                text.lines().flat_map(|line| format!("[T{number}] {line}\n").into_bytes()).collect()
            }
        });
        shown.extend(self.finish(number).into_bytes());
        shown
    }

    /// These tasks belong to the job; a job without tasks is none.
    pub(crate) fn started(&mut self, number: i32, tids: &[Tid]) {
        if tids.is_empty() {
            self.jobs.remove(&number);
        }
        for &tid in tids {
            self.find(number, tid);
        }
    }

    /// Each job as `jobs` names it, with its tasks.
    pub(crate) fn list(&self) -> impl Iterator<Item = (String, Vec<Tid>)> {
        self.jobs.iter().map(|(number, job)| {
            let mark = if job.trace.is_some() { 'T' } else { ' ' };
            (format!("{mark}{number}:"), job.tasks.iter().map(|&(tid, _)| tid).collect())
        })
    }

    /// The line that the task has begun, if the job is known; a new task is noted.
    fn find(&mut self, number: i32, tid: Tid) -> Option<&mut Vec<u8>> {
        let job = self.jobs.get_mut(&number)?;
        let place = job.tasks.iter().position(|&(known, _)| known == tid).unwrap_or_else(|| {
            job.tasks.push((tid, Vec::new()));
            job.tasks.len() - 1
        });
        Some(&mut job.tasks[place].1)
    }

    /// Takes what a task wrote; gives what the console is to print. `marked` is `PvmShowTids`.
    pub(crate) fn take(&mut self, number: i32, tid: Tid, what: Wrote, marked: bool) -> Vec<u8> {
        let Some(begun) = self.find(number, tid) else { return Vec::new() };
        let mut lines = Vec::new();
        let mut ended = false;
        match what {
            Wrote::New => {}
            Wrote::Bytes(bytes) => {
                begun.extend_from_slice(&bytes);
                lines = whole_lines(begun);
            }
            Wrote::End => {
                ended = true;
                if !begun.is_empty() {
                    lines.push(std::mem::take(begun));
                }
            }
        }
        let mut text = Vec::new();
        for line in lines {
            if marked {
                text.extend_from_slice(format!("[{number}:{tid}] ").as_bytes());
            }
            text.extend_from_slice(&line);
            text.push(b'\n');
        }
        if ended && marked {
            text.extend_from_slice(format!("[{number}:{tid}] EOF\n").as_bytes());
        }
        let mut shown = self.pass(number, text);
        if ended {
            shown.extend(self.end(number, tid).into_bytes());
        }
        shown
    }

    fn pass(&mut self, number: i32, text: Vec<u8>) -> Vec<u8> {
        let sink = self.jobs.get_mut(&number).map(|job| &mut job.sink);
        sink.map_or_else(Vec::new, |sink| pass(number, sink, text))
    }

    fn end(&mut self, number: i32, tid: Tid) -> String {
        let Some(job) = self.jobs.get_mut(&number) else { return String::new() };
        job.tasks.retain(|&(task, _)| task != tid);
        job.ended = job.tasks.is_empty();
        self.finish(number)
    }

    /// Forgets a job that has ended, and whose trace is complete.
    fn finish(&mut self, number: i32) -> String {
        let Some(job) = self.jobs.get(&number).filter(|job| job.ended) else {
            return String::new();
        };
        let complete = match &job.trace {
            Some((_, traces)) if traces.is_open() => return String::new(),
            Some(_) => format!("[{number}] libpvmtrc: Trace File Complete\n"),
            None => String::new(),
        };
        self.jobs.remove(&number);
        complete + &format!("[{number}] finished\n")
    }
}

/// Writes to a file; gives what the console is to print.
fn pass(number: i32, sink: &mut Sink, text: Vec<u8>) -> Vec<u8> {
    match sink {
        Sink::Console => text,
        Sink::File(file) => match file.write_all(&text) {
            Ok(()) => Vec::new(),
            // A full disk must not make output disappear: it is shown here instead.
            Err(error) => [format!("[{number}] {error}\n").into_bytes(), text].concat(),
        },
        Sink::Nowhere => Vec::new(),
    }
}

/// Takes the whole lines out, without their ends.
fn whole_lines(begun: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    if let Some(end) = begun.iter().rposition(|&byte| byte == b'\n') {
        lines.extend(begun[..end].split(|&byte| byte == b'\n').map(<[u8]>::to_vec));
        begun.drain(..=end);
    }
    if begun.len() > LINE_BYTES_MAX {
        lines.push(std::mem::take(begun));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_shown_line_by_line_until_the_last_task_ends() {
        let mut jobs = Jobs::default();
        let (a, b) = (Tid(0x40002), Tid(0x40003));
        let number = jobs.number(false);
        jobs.open(number, Sink::Console, None);
        jobs.started(number, &[a]);
        let bytes = |text: &str| Wrote::Bytes(text.as_bytes().to_vec());
        assert_eq!(jobs.take(1, a, bytes("one\ntw"), true), b"[1:t40002] one\n");
        assert_eq!(jobs.take(1, b, Wrote::New, true), b"");
        assert_eq!(jobs.list().next().unwrap(), (" 1:".to_owned(), vec![a, b]));
        assert_eq!(jobs.take(1, a, Wrote::End, true), b"[1:t40002] tw\n[1:t40002] EOF\n");
        assert_eq!(jobs.take(1, b, bytes("x\n"), false), b"x\n");
        assert_eq!(jobs.take(1, b, Wrote::End, true), b"[1:t40003] EOF\n[1] finished\n");
        assert_eq!(jobs.list().count(), 0);
        assert_eq!(jobs.take(1, b, bytes("late\n"), true), b"");
        assert_eq!((jobs.number(true), jobs.number(false)), (2, 4));
    }
}
