use pvm_core::io::*;
use pvm_core::*;
use pvm_wire::request::*;
use pvm_wire::*;
#[test]
fn measure() {
    let facts = HostFacts { name: "vm".into(), arch: "L".into(), signature: 1, cores: 2, speed: 1000, address: String::new(), key: Blob::default(), search: vec![] };
    let h = HostIndex(1);
    let mut m = Machine::new(Config { host: h, first: h, facts, version: String::new(), parent_pid: 1, daemon_pid: 2, restarts: 0, debugger: Blob::default() });
    let n = 1000;
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody.clone(), buffer: 0, options: 0, mask: Blob::default() };
    let spawn = SpawnRequest { file: "/bin/x".into(), args: vec![], flags: 0, place: Blob::default(), count: n, environment: vec![], whole_environment: false, directory: Blob::default(), inherited: Inherited { context: 0, output: nobody, trace } };
    let mut events = vec![
        Event::Hello { connection: 1, id: 1, role: Role::Task, program: "p".into(), reset: true, pid: 1, launched: None },
        Event::Asked { connection: 1, id: 2, request: Request::Spawn { spawn } },
    ];
    for i in 0..n as u32 { events.push(Event::Launched { tid: Tid(0x40002 + i), pid: 10 + i }); }
    for i in 0..n as u32 { events.push(Event::Hello { connection: 10 + i as u64, id: 1, role: Role::Task, program: "p".into(), reset: true, pid: 10 + i, launched: Some(Tid(0x40002 + i)) });
     events.push(Event::Asked { connection: 10 + i as u64, id: 3, request: Request::JoinGroup { group: "g".into() } }); }
    for i in 0..n as u32 { events.push(Event::Exited { tid: Tid(0x40002 + i), status: 0 }); events.push(Event::OutputEnded { tid: Tid(0x40002 + i) }); events.push(Event::Closed { connection: 10 + i as u64 }); }
    let start = std::time::Instant::now();
    let (mut bytes, mut max) = (0usize, 0usize);
    let mut kinds = std::collections::BTreeMap::<u8, usize>::new();
    for e in events {
        m.handle(Time(1), Input::Event(e));
        let mut here = 0;
        while let Some(o) = m.poll_output() {
            if let Output::Effect(e) = o { here += e.to_bytes().len(); if let Effect::Save { key, value } = &e { *kinds.entry(key.0[0]).or_default() += value.as_ref().map_or(0, |v| v.0.len()); } }
        }
        m.poll_timeout();
        bytes += here; max = max.max(here);
    }
    println!("{:?} total {bytes} max {max} {:?}", start.elapsed(), kinds.iter().map(|(k, v)| (*k as char, *v)).collect::<Vec<_>>());
}
