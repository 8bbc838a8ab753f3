//! Two tasks bounce a message: `cargo run --release --example echo [BYTES] [ROUNDS]` with a machine
//! running (`pvmd &`). The first spawns the second, which is the same program.

use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::request::{Inherited, Reply, Request, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Address, Blob, Code, Context, Encoding, Kind, Tag, Tid};
use std::time::Instant;

const DONE: i32 = 1;
const BALL: i32 = 2;

fn main() -> Result<(), Code> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let bytes: usize = numbers.next().unwrap_or(8);
    let rounds: usize = numbers.next().unwrap_or(100_000);
    let task = Task::enrol(b"echo", true)?;
    if task.welcome().parent > 0 {
        return echo(task, Tid::from_c_int(task.welcome().parent));
    }
    let other = spawn(task)?;
    let start = Instant::now();
    let mut data = vec![7; bytes];
    for _ in 0..rounds {
        let mut buffer = Buffer::new(Encoding::Raw);
        buffer.pack(Kind::Byte, &data)?;
        task.send(&mut buffer, Address { to: other, tag: Tag(BALL), context: Context(0) })?;
        let pattern = Pattern { context: 0, source: Some(other), tag: Some(BALL) };
        let back = task.receive_blocking(&pattern, Deadline::Never)?;
        back.ok_or(Code::SysErr)?.unpack(Kind::Byte, &mut data)?;
    }
    let one_way = start.elapsed().as_secs_f64() / rounds as f64 / 2.0;
    println!("{bytes} bytes: {:.3} us one way", one_way * 1e6);
    let done = Address { to: other, tag: Tag(DONE), context: Context(0) };
    task.send(&mut Buffer::new(Encoding::Raw), done)?;
    task.leave()
}

fn spawn(task: &Task) -> Result<Tid, Code> {
    let program = std::env::current_exe().map_err(|_| Code::NoFile)?;
    let nowhere = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace =
        TraceOptions { target: nowhere.clone(), buffer: 0, options: 0, mask: Blob::default() };
    let spawn = SpawnRequest {
        file: program.to_string_lossy().into_owned().into(),
        args: std::env::args().skip(1).map(Blob::from).collect(),
        flags: 0,
        place: Blob::default(),
        count: 1,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output: nowhere, trace },
    };
    match task.request(&Request::Spawn { spawn })? {
        Reply::Spawned { outcomes, .. } if outcomes.len() == 1 && outcomes[0] > 0 => {
            Ok(Tid::from_c_int(outcomes[0]))
        }
        _ => Err(Code::NoTask),
    }
}

fn echo(task: &Task, parent: Tid) -> Result<(), Code> {
    let any = Pattern { context: 0, source: Some(parent), tag: None };
    let mut data = Vec::new();
    loop {
        let ball = task.receive_blocking(&any, Deadline::Never)?;
        let mut ball = ball.ok_or(Code::SysErr)?;
        if ball.envelope().tag == DONE {
            return task.leave();
        }
        data.resize(ball.data_size(), 0);
        ball.unpack(Kind::Byte, &mut data)?;
        let mut buffer = Buffer::new(Encoding::Raw);
        buffer.pack(Kind::Byte, &data)?;
        task.send(&mut buffer, Address { to: parent, tag: Tag(BALL), context: Context(0) })?;
    }
}
