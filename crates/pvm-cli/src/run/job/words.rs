//! The words between the ranks of a job and its keeper: messages between tasks of the machine.
//!
//! The other side is `personalities/common/src/keeper.c`; the numbers of tags stand there, too.

use super::cluster::{Cluster, RANKS_MAX};
use super::ranks::Ranks;
use crate::failure::Failure;
use crate::threads;
use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::path::PathBuf;

/// From the keeper.
const TABLE: i32 = 1;
const ANSWER: i32 = 2;
/// To a rank that has left or ends the job: it may end now, for no news of its end can come before
/// its word.
const HEARD: i32 = 3;
/// To the keeper.
const ENTERED: i32 = 16;
const LEFT: i32 = 17;
const FATAL: i32 = 18;
const FORKED: i32 = 19;
const START: i32 = 20;
const EXITED: i32 = 21;
const KILL: i32 = 22;
/// From the machine: a task that the keeper has asked about has ended.
const ENDED: i32 = 33;
/// `PvmTaskExit`.
const TASK_EXIT: i32 = 1;
/// The memory with the job's counter: its value, and two words for the ranks that wait until it is
/// set to 0.
const COUNTER: u32 = 1;
const COUNTER_BYTES: u64 = 24;
/// Longer texts are cut.
const TEXT_BYTES_MAX: usize = 4096;

/// The words of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RankMessage {
    /// It has found its keeper; it will leave by this call, if that is said.
    Entered {
        /// Empty where a rank may end as it likes.
        last_call: String,
    },
    /// It has done its part.
    Left,
    /// It ends the job.
    Fatal {
        /// To exit with.
        code: i32,
        /// The reason.
        text: String,
    },
    /// It has forked the other ranks of its cluster.
    Forked {
        /// In the order of their ranks.
        tids: Vec<Tid>,
    },
    /// These ranks are to be killed, and that is no failure.
    Kill {
        /// The tasks.
        tids: Vec<Tid>,
    },
    /// The first rank has the other clusters started: those of the file, or these.
    Start {
        /// The clusters; that of the first rank itself comes first.
        clusters: Option<Vec<Cluster>>,
    },
    /// A rank that it has forked ended, as `waitpid` tells it.
    Exited {
        /// The task.
        tid: Tid,
        /// The exit status.
        status: i32,
    },
    /// The machine says that a forked rank has ended; how, only its parent can tell.
    Ended {
        /// The task.
        tid: Tid,
    },
}

/// A message and its sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    /// The task that sent the word.
    pub(crate) from: Tid,
    /// The word.
    pub(crate) word: RankMessage,
}

/// The keeper as a task of the machine, with the contexts of its job.
#[derive(Debug)]
pub(super) struct Line {
    task: &'static Task,
    /// For what programs send, and for what libraries and the keeper send.
    contexts: [i32; 2],
}

impl Line {
    /// Becomes a task: of the machine behind this socket, or of the one that the environment names.
    pub(super) fn open(socket: Option<&PathBuf>) -> Result<Self, Failure> {
        let sockets = socket.map_or_else(pvm::locate::sockets, |socket| vec![socket.clone()]);
        let refused = |code| Failure::refused("the keeper of a job could not become a task", code);
        let task = Task::enrol_at(&sockets, b"pvm run --as", false).map_err(refused)?;
        let context = || match task.request(&Request::NewContext).map_err(refused)? {
            Reply::Number { value } => Ok(value),
            _ => Err(Failure::unexpected("a new context")),
        };
        let contexts = [context()?, context()?];
        task.expose(COUNTER, COUNTER_BYTES, true).map_err(refused)?;
        Ok(Self { task, contexts })
    }

    /// The variable in a rank's environment that names its job and its number.
    pub(super) fn variable(
        &self,
        interface: &str,
        place: (usize, usize),
        count: u32,
        wanted: u32,
    ) -> String {
        let ([user, own], keeper, (cluster, first)) = (self.contexts, self.task.tid().0, place);
        format!("1:{keeper:x}:{user}:{own}:{cluster}:{first}:{count}:{wanted}:{interface}")
    }

    /// Starts to listen.
    pub(super) fn listen(
        &self,
        tell: impl Fn(Heard) -> bool + Send + 'static,
    ) -> Result<(), Failure> {
        let (task, context) = (self.task, self.contexts[1]);
        let pattern = Pattern { context, source: None, tag: None };
        threads::start(move || {
            // It ends with the machine, which others notice, or with this process.
            while let Ok(Some(mut buffer)) = task.receive_blocking(&pattern, Deadline::Never) {
                let from = buffer.envelope().src;
                let word = read(&mut buffer).ok();
                if !word.is_none_or(|word| tell(Heard { from, word })) {
                    break;
                }
            }
        })
        .map(drop)
    }

    /// Asks the machine for the ends of these tasks. Only their parent knows how they end, and it
    /// may be stopped.
    pub(super) fn watch(&self, tids: &[Tid]) -> Result<(), Code> {
        let (context, tids) = (self.contexts[1], tids.to_vec());
        let (kind, cancel, tag, count) = (TASK_EXIT, false, ENDED, 0);
        let notify = Request::Notify { kind, cancel, context, tag, count, tids };
        self.task.request(&notify).map(drop)
    }

    /// Sends the table of ranks to all of them.
    pub(super) fn tell_table(&self, ranks: &Ranks) -> Result<(), Code> {
        let mut buffer = table(ranks)?;
        self.task.multicast(&mut buffer, &ranks.tids(), Tag(TABLE), Context(self.contexts[1]))
    }

    /// Answers a request to start clusters; no reason where they are started.
    pub(super) fn answer(&self, to: Tid, reason: Option<&str>) -> Result<(), Code> {
        let mut buffer = Buffer::new(Encoding::Default);
        pack(&mut buffer, &[i32::from(reason.is_some())])?;
        pack_text(&mut buffer, reason.unwrap_or_default())?;
        let (tag, context) = (Tag(ANSWER), Context(self.contexts[1]));
        self.task.send(&mut buffer, Address { to, tag, context })
    }

    /// Confirms to a rank that its last message has come. A rank that has gone meanwhile needs no
    /// answer.
    pub(super) fn heard(&self, to: Tid) {
        let (tag, context) = (Tag(HEARD), Context(self.contexts[1]));
        let mut nothing = Buffer::new(Encoding::Default);
        let _ = self.task.send(&mut nothing, Address { to, tag, context });
    }

    /// The job is over. The machine frees the contexts of a task that leaves. To ask for it took
    /// two answers more, each up to half a second on a busy computer, while the user waited.
    pub(super) fn close(&self) {
        // A machine that has ended cannot be left.
        let _ = self.task.leave();
    }
}

fn table(ranks: &Ranks) -> Result<Buffer, Code> {
    let mut buffer = Buffer::new(Encoding::Default);
    let counts = ranks.cluster_sizes();
    let (hosts, places) = ranks.places();
    pack(&mut buffer, &[length(ranks.len()), length(counts.len()), length(hosts.len())])?;
    pack(&mut buffer, &counts)?;
    pack(&mut buffer, &ranks.tids().iter().map(|tid| tid.as_c_int()).collect::<Vec<_>>())?;
    pack(&mut buffer, &places)?;
    hosts.iter().try_for_each(|host| pack_text(&mut buffer, host))?;
    Ok(buffer)
}

fn length(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn pack(buffer: &mut Buffer, numbers: &[i32]) -> Result<(), Code> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    buffer.pack(Kind::Int, &bytes)
}

fn pack_text(buffer: &mut Buffer, text: &str) -> Result<(), Code> {
    let bytes = text.bytes().filter(|&byte| byte != 0).chain([0]);
    buffer.pack_str(&bytes.collect::<Vec<_>>())
}

fn number(buffer: &mut Buffer) -> Result<i32, Code> {
    let mut bytes = [0; 4];
    buffer.unpack(Kind::Int, &mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}

/// A number of things that follow.
fn count(buffer: &mut Buffer) -> Result<usize, Code> {
    let count = usize::try_from(number(buffer)?).map_err(|_| Code::BadMsg)?;
    if count > RANKS_MAX { Err(Code::BadMsg) } else { Ok(count) }
}

fn text(buffer: &mut Buffer) -> Result<String, Code> {
    let mut bytes = buffer.unpack_str()?;
    bytes.truncate(TEXT_BYTES_MAX);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A message that makes no sense is dropped.
fn read(buffer: &mut Buffer) -> Result<RankMessage, Code> {
    match buffer.envelope().tag {
        ENTERED => Ok(RankMessage::Entered { last_call: text(buffer)? }),
        LEFT => Ok(RankMessage::Left),
        FATAL => Ok(RankMessage::Fatal { code: number(buffer)?, text: text(buffer)? }),
        FORKED => Ok(RankMessage::Forked { tids: tids(buffer)? }),
        KILL => Ok(RankMessage::Kill { tids: tids(buffer)? }),
        START => start(buffer),
        // Only the machine sends in its name.
        ENDED if buffer.envelope().src == Tid::NOTICE_SOURCE => {
            Ok(RankMessage::Ended { tid: Tid::from_c_int(number(buffer)?) })
        }
        EXITED => Ok(RankMessage::Exited {
            tid: Tid::from_c_int(number(buffer)?),
            status: number(buffer)?,
        }),
        _ => Err(Code::BadMsg),
    }
}

fn tids(buffer: &mut Buffer) -> Result<Vec<Tid>, Code> {
    (0..count(buffer)?).map(|_| number(buffer).map(Tid::from_c_int)).collect()
}

fn start(buffer: &mut Buffer) -> Result<RankMessage, Code> {
    let of_the_file = number(buffer)? != 0;
    if of_the_file {
        return Ok(RankMessage::Start { clusters: None });
    }
    let clusters = (0..count(buffer)?).map(|_| {
        let ranks = u32::try_from(count(buffer)?).map_err(|_| Code::BadMsg)?;
        let shares = number(buffer)? != 0;
        let some = |text: String| (!text.is_empty()).then_some(text);
        let host = some(text(buffer)?);
        let program = some(text(buffer)?).map(PathBuf::from);
        Ok(Cluster { ranks, shares, host, program, ..Cluster::default() })
    });
    Ok(RankMessage::Start { clusters: Some(clusters.collect::<Result<_, Code>>()?) })
}
