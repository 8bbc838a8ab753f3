//! Messages that come to the console from the machine while it waits for a line.

use crate::console::traces::is_trace;
use pvm_wire::Tid;

/// The tag of the notices about new hosts.
pub(crate) const HOSTS_TAG: i32 = 1;
/// Tags above this one belong to jobs: the tag of a job is this and its number.
pub(crate) const JOBS_TAG: i32 = 3;

/// Something that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// About the output of a task of a job.
    Output {
        /// The job's number.
        job: i32,
        /// The task.
        tid: Tid,
        /// The news about the output.
        what: Wrote,
    },
    /// Trace events of a task of a job.
    Trace {
        /// The job's number.
        job: i32,
        /// The events, four bytes at a time.
        words: Vec<i32>,
    },
    /// Hosts were added.
    HostsAdded(Vec<Tid>),
    /// The daemon is gone.
    Lost,
}

/// The content of a message about output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrote {
    /// The task exists.
    New,
    /// The task wrote this.
    Bytes(Vec<u8>),
    /// The task will write no more.
    End,
}

/// The meaning of a message with this tag, whose ints and then bytes `read` takes out one by one.
///
/// The machine sends output as PVM 3 does: the task, then a count of bytes and the bytes; 0 for the
/// end; -1 where a task was asked for and -2 where it has begun.
pub(crate) fn decode(tag: i32, read: &mut dyn Unpack) -> Option<Arrival> {
    let first = read.int()?;
    if tag == HOSTS_TAG {
        let tids = (0..first).map_while(|_| read.int()).map(Tid::from_c_int);
        return Some(Arrival::HostsAdded(tids.collect()));
    }
    let job = tag.checked_sub(JOBS_TAG).filter(|job| *job > 0)?;
    if is_trace(first) {
        // A traced job has two tags, as in PVM; this is the second.
        let rest = std::iter::from_fn(|| read.int());
        let words = std::iter::once(first).chain(rest).collect();
        return Some(Arrival::Trace { job: job - 1, words });
    }
    let what = match read.int()? {
        0 => Wrote::End,
        count if count > 0 => Wrote::Bytes(read.bytes(count.unsigned_abs() as usize)?),
        _ => Wrote::New,
    };
    Some(Arrival::Output { job, tid: Tid::from_c_int(first), what })
}

/// Takes a message apart.
pub(crate) trait Unpack {
    /// The next int, if there is one.
    fn int(&mut self) -> Option<i32>;
    /// The next `count` bytes, if there are as many.
    fn bytes(&mut self, count: usize) -> Option<Vec<u8>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Items(Vec<i32>, &'static [u8]);

    impl Unpack for Items {
        fn int(&mut self) -> Option<i32> {
            (!self.0.is_empty()).then(|| self.0.remove(0))
        }
        fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
            (count == self.1.len()).then(|| self.1.to_vec())
        }
    }

    #[test]
    fn messages_of_the_machine_are_understood_and_others_are_dropped() {
        let output = |what| Some(Arrival::Output { job: 2, tid: Tid(0x40002), what });
        let tag = JOBS_TAG + 2;
        let about = |count, bytes| decode(tag, &mut Items(vec![0x40002, count], bytes));
        assert_eq!(about(3, b"hi\n"), output(Wrote::Bytes(b"hi\n".to_vec())));
        assert_eq!(about(0, b""), output(Wrote::End));
        assert_eq!(about(-2, b""), output(Wrote::New));
        assert_eq!(about(9, b"short"), None);
        assert_eq!(decode(tag, &mut Items(vec![1], b"")), None);
        let trace = decode(tag, &mut Items(vec![-7, 3, -8], b""));
        assert_eq!(trace, Some(Arrival::Trace { job: 1, words: vec![-7, 3, -8] }));
        assert_eq!(decode(-7, &mut Items(vec![1, 2], b"")), None);
        let hosts = decode(HOSTS_TAG, &mut Items(vec![2, 0x80000, 0xc0000], b""));
        assert_eq!(hosts, Some(Arrival::HostsAdded(vec![Tid(0x80000), Tid(0xc0000)])));
    }
}
