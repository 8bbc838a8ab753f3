//! A run that is split over workers: their number changes nothing.

use proptest::prelude::*;
use pvm_predict::platform::{Placement, Platform};
use pvm_predict::report::{Event, Report, Unwatched, Watcher};
use pvm_predict::source::{Pattern, Ranks, Shape};
use pvm_predict::{Alone, Crew, Error, Time, model};
use std::io::Cursor;
use std::sync::Barrier;

/// Threads that wait for one another.
struct Threads(usize, Barrier);

impl Threads {
    fn new(count: usize) -> Self {
        Self(count, Barrier::new(count))
    }
}

impl Crew for Threads {
    fn all(&self, work: &(dyn Fn(usize, usize) + Sync)) {
        std::thread::scope(|scope| {
            (1..self.0).for_each(|worker| drop(scope.spawn(move || work(worker, self.0))));
            work(0, self.0);
        });
    }

    fn meet(&self) {
        self.1.wait();
    }
}

/// All that a watcher sees, by task: what several tasks do has no order in time.
#[derive(Default, PartialEq, Debug)]
struct Seen(Vec<(u32, String)>);

impl Watcher for Seen {
    fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        let (Event::Sent { task, .. } | Event::Received { task, .. }) = event;
        self.0.push((task, format!("{event:?}")));
        Ok(())
    }

    fn goes_on(&mut self, _: u64) -> bool {
        true
    }
}

#[derive(Clone, Debug)]
struct Case {
    platform: Platform,
    shape: Shape,
    tasks: u32,
    bytes: u64,
    seed: u64,
}

fn run(case: &Case, crew: &dyn Crew) -> (Result<Report, String>, Seen) {
    let Case { platform, shape, tasks, bytes, seed } = case;
    let computing = Time::microseconds(30);
    let mut source =
        Pattern::new(*shape, *tasks, 1, *bytes, computing).expect("the pattern has such tasks");
    let mut seen = Seen::default();
    let report = model::packet::run_with(&mut source, platform, *seed, (crew, &mut seen));
    seen.0.sort_by_key(|(task, _)| *task);
    (report.map_err(|error| error.to_string()), seen)
}

fn network() -> impl Strategy<Value = String> {
    let topology = prop_oneof![
        Just(""),
        Just("topology = \"ring\"\n"),
        Just("topology = \"hypercube\"\n"),
        Just("topology = \"torus\"\nshape = \"5x5x4\"\n"),
        Just("topology = \"mesh\"\nshape = \"20x5\"\n"),
        Just("topology = \"fat-tree\"\n"),
        Just("forwarding = \"cut-through\"\n"),
        Just("burst = \"5 kB\"\n"),
    ];
    let latency = prop_oneof![Just("0 s"), Just("700 ns"), Just("25 us")];
    (topology, latency).prop_map(|(topology, latency)| {
        format!(
            "[network]\nkind = \"switch\"\nrate = \"1 Gb/s\"\nlatency = \"{latency}\"\n{topology}"
        )
    })
}

fn transport() -> impl Strategy<Value = String> {
    let tcp = prop_oneof![Just("reno"), Just("cubic"), Just("bbr")];
    let tcp = (tcp, prop_oneof![Just(0), Just(37)]).prop_map(|(congestion, confirmation)| {
        format!(
            "loss = 0.002\n[transport]\nkind = \"tcp\"\ncongestion = \"{congestion}\"\n\
             confirmation = \"{confirmation} B\"\n"
        )
    });
    prop_oneof![
        3 => tcp,
        1 => Just("[transport]\nkind = \"rdma\"\n".to_owned()),
        1 => Just("loss = 0.002\n[transport]\nkind = \"pvm3\"\nroute = \"direct\"\n".to_owned()),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        Just(Shape::Ring),
        Just(Shape::Star),
        Just(Shape::Tree),
        Just(Shape::Exchange),
        Just(Shape::Star),
    ];
    let place = prop_oneof![3 => Just(Placement::Each), 1 => Just(Placement::Blocks(2)),
        1 => Just(Placement::Round(40))];
    let numbers = (40u32..80, prop_oneof![Just(0u64), Just(700), Just(6_000)], 1u64..1000);
    (network(), transport(), shape, place, numbers).prop_map(
        |(network, transport, shape, place, (tasks, bytes, seed))| {
            let text = format!("{network}{transport}[host]\njitter = \"2 us\"\ncores = 1\n");
            let mut platform =
                Platform::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            platform.place = place;
            Case { platform, shape, tasks, bytes, seed }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn the_number_of_workers_changes_nothing(case in case()) {
        let alone = run(&case, &Alone);
        prop_assert!(alone.0.is_ok(), "{:?}", alone.0);
        let workers = 2 + case.tasks as usize % 2;
        prop_assert!(alone == run(&case, &Threads::new(workers)), "{workers} workers differ");
    }
}

/// Parts of a program with a barrier and a standstill end alike, and name the same task.
#[test]
fn a_standstill_is_told_whatever_the_number_of_workers() {
    let platform = Platform::parse(
        "[network]\nkind = \"switch\"\nrate = \"1 Gb/s\"\n[transport]\nkind = \"tcp\"\n",
    );
    let platform = platform.expect("it is sound");
    let text: String =
        (0..64).map(|task| format!("{task} recv {} 0 10\n", (task + 1) % 64)).collect();
    let told = |crew: &dyn Crew| {
        let mut source = Ranks::new(vec![Cursor::new(&text)], 1e9).expect("lines of ranks");
        let run = model::packet::run_with(&mut source, &platform, 1, (crew, &mut Unwatched));
        run.expect_err("nobody sends").to_string()
    };
    let alone = told(&Alone);
    assert!(alone.contains("standstill: 64 tasks wait"), "{alone}");
    assert_eq!(told(&Threads::new(2)), alone);
}
