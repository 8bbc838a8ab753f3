//! Memory is bounded, whatever is sent to whom who does not read.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Place, Running, eventually, process};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// No process may have more at any moment, its own data and shared memory together.
const RESIDENT_KIB_MAX: u64 = 400 << 10;
/// No test here needs longer; `NEOPVM_PILE_MB` may ask for much.
const LIMIT: Duration = Duration::from_secs(600);

/// The largest of each process so far, in KiB: anonymous, shared memory, files.
#[derive(Default)]
struct Peaks(BTreeMap<String, [u64; 3]>);

impl Peaks {
    fn look(&mut self, machine: &Machine) {
        for (pid, line) in machine.place().processes() {
            let now = process::memory_kib(pid);
            let name: Vec<&str> = line.split(' ').take(2).collect();
            let name = name.join(" ").rsplit('/').next().unwrap_or_default().to_owned();
            let peak = self.0.entry(format!("{name} [{pid}]")).or_default();
            for (peak, now) in peak.iter_mut().zip(now) {
                *peak = now.max(*peak);
            }
        }
    }

    fn check(&self) {
        for (name, [own, shared, files]) in &self.0 {
            eprintln!("{name}: RssAnon {own} KiB, RssShmem {shared} KiB, RssFile {files} KiB");
        }
        for (name, [own, shared, _]) in &self.0 {
            assert!(own + shared < RESIDENT_KIB_MAX, "{name} has {} KiB", own + shared);
        }
    }
}

fn go(machine: &Machine) {
    std::fs::write(machine.place().home().join("go"), "1\n").expect("a file");
}

/// Waits for a line of the program, looking at all memory meanwhile.
fn until(machine: &Machine, running: &mut Running, line: &str, peaks: &mut Peaks) {
    let end = Instant::now() + LIMIT;
    while !running.so_far().contains(line) {
        assert!(
            running.is_running() && Instant::now() < end,
            "no `{line}`: {}{}{}",
            running.so_far(),
            running.errors_so_far(),
            machine.log()
        );
        peaks.look(machine);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Megabytes of the large test: a gigabyte, ten in the long version, or what is asked for.
fn megabytes() -> u64 {
    let asked = std::env::var("NEOPVM_PILE_MB").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or_else(|| if pvm_e2e::long() { 10_240 } else { 1024 })
}

fn pile(mode: &str) {
    let machine = Machine::start();
    let before = process::segments(machine.parent());
    let megabytes = megabytes();
    let mut running = machine.begin("pile.c", &[mode, &megabytes.to_string(), "1024"]);
    let mut peaks = Peaks::default();
    until(&machine, &mut running, "sent", &mut peaks);
    go(&machine);
    until(&machine, &mut running, "done", &mut peaks);
    eprintln!("{megabytes} MB to a task that sleeps: {}", running.so_far().replace('\n', ", "));
    peaks.check();
    // All that was for the pile is given back but what a sender keeps for its next messages.
    let returned = eventually(Duration::from_secs(60), || {
        process::segments(machine.parent()).1 <= before.1 + (48 << 10)
    });
    let after = process::segments(machine.parent());
    assert!(returned, "memory stays: {before:?} KiB before, {after:?} after");
    assert_eq!(process::deleted_files(machine.parent()), 0, "files stay");
    running.write("\n");
    machine.expect_success(running);
    machine.halt();
}

/// The number that a task prints in a line of its own: `NAME NUMBER` behind the mark of its output.
fn told(out: &str, name: &str) -> i32 {
    let line = out.lines().find_map(|line| line.split_once("] ")?.1.strip_prefix(name));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{name}: {out}"))
}

#[test]
fn a_message_that_finds_no_room_stays_and_others_pass_it() {
    let machine = Machine::start();
    let out = machine.run("cramped.c", &["large"]).out;
    let told = |name: &str| told(&out, name);
    // PvmNoMem, twice: a receive that waits does not wait for room, one that looks says so, too.
    assert_eq!((told("refused "), told("again ")), (-10, -10), "{out}");
    assert_eq!((told("probed "), told("other ")), (1, 77), "{out}");
    // With room it comes whole, and before what was sent behind it.
    assert_eq!((told("bytes "), told("tag ")), (4 + (30 << 20), 2), "{out}");
    assert_eq!((told("good "), told("late ")), (30 << 20, 78), "{out}");
    machine.halt();
}

#[test]
fn a_lane_that_finds_no_room_is_told_and_goes_on_with_room() {
    let machine = Machine::start();
    let out = machine.run("cramped.c", &["rings"]).out;
    assert_eq!(told(&out, "refused "), -10, "{out}");
    assert!((1..40_000).contains(&told(&out, "before ")), "{out}");
    assert_eq!(told(&out, "good "), 40_000, "{out}");
    machine.halt();
}

#[test]
fn a_message_that_was_out_of_reach_and_looked_at_is_not_written_over() {
    let machine = Machine::start();
    let out = machine.run("cramped.c", &["look"]).out;
    // Whoever has no room for the list, which tells the size, is not ended by that.
    assert_eq!((told(&out, "refused "), told(&out, "probed ")), (-10, 1), "{out}");
    assert_eq!(told(&out, "wrong "), 0, "{out}");
    assert!(told(&out, "bytes ") > 1_600_000, "{out}");
    machine.halt();
}

#[test]
fn a_task_that_waits_is_idle_while_it_cannot_reach_a_lane() {
    let machine = Machine::start();
    let out = machine.run("cramped.c", &["few"]).out;
    let told = |name: &str| told(&out, name);
    assert_eq!((told("refused "), told("found "), told("late ")), (-10, 1, 77), "{out}");
    // Milliseconds of a core in a second.
    assert!(told("busy ") < 100, "{out}");
    machine.halt();
}

#[test]
fn who_may_write_no_long_files_is_told_and_not_ended() {
    let place = Place::new();
    let machine = Machine::start_with(place, &[("PVM_SLAB_MB", "16".as_ref())]);
    let out = machine.run("cramped.c", &["files"]).out;
    let sent = told(&out, "sent ");
    assert!((4..100).contains(&sent) && told(&out, "code ") < 0, "{out}");
    assert!(out.contains(&format!("read {sent}\n")), "{out}");
    machine.halt();
}

#[test]
fn who_has_no_memory_for_more_is_told_and_keeps_what_it_has() {
    let machine = Machine::start();
    let output = machine.run("cramped.c", &["hoard"]);
    let told = |name: &str| output.number(name);
    assert!(told("code ") < 0.0 && told("sent ") > 10.0, "{}", output.out);
    assert_eq!(told("read "), told("sent "), "{}", output.out);
    machine.halt();
}

#[test]
fn more_than_memory_may_hold_waits_on_disk_and_every_byte_arrives() {
    pile("load");
}

#[test]
fn a_wanted_message_is_hidden_behind_no_number_of_others() {
    pile("hidden");
}

#[test]
fn what_a_task_of_another_host_does_not_read_waits_on_its_hosts_disk() {
    let machine = Machine::local(2);
    let megabytes = (megabytes() / 2).to_string();
    let mut running = machine.begin("pile.c", &["hidden", &megabytes, "1024", "away"]);
    let mut peaks = Peaks::default();
    until(&machine, &mut running, "sent", &mut peaks);
    go(&machine);
    until(&machine, &mut running, "done", &mut peaks);
    eprintln!("{megabytes} MB to another host: {}", running.so_far().replace('\n', ", "));
    peaks.check();
    running.write("\n");
    machine.expect_success(running);
    machine.halt();
}

#[test]
fn beyond_a_million_unread_messages_a_send_waits() {
    let machine = Machine::start();
    let mut running = machine.begin("pile.c", &["small", "2000000"]);
    let mut peaks = Peaks::default();
    until(&machine, &mut running, "at 800000", &mut peaks);
    // It comes to rest before the end.
    let mut seen = running.so_far();
    loop {
        std::thread::sleep(Duration::from_secs(2));
        peaks.look(&machine);
        let now = running.so_far();
        if std::mem::replace(&mut seen, now.clone()) == now {
            break;
        }
    }
    assert!(!seen.contains("at 1200000"), "no limit: {seen}");
    go(&machine);
    until(&machine, &mut running, "done", &mut peaks);
    peaks.check();
    running.write("\n");
    machine.expect_success(running);
    machine.halt();
}

#[test]
fn a_task_that_asks_for_it_waits_instead_of_spilling() {
    let machine = Machine::start();
    let mut running = machine.begin("pile.c", &["policy", "block", "1024"]);
    let mut peaks = Peaks::default();
    until(&machine, &mut running, "sending", &mut peaks);
    std::thread::sleep(Duration::from_secs(2));
    peaks.look(&machine);
    assert!(running.is_running() && !running.so_far().contains("sent"), "{}", running.so_far());
    assert_eq!(process::deleted_files(machine.parent()), 0, "it spills");
    go(&machine);
    machine.expect_success(running);
    peaks.check();
    machine.halt();
}

#[test]
fn a_task_that_asks_for_it_is_told_that_there_is_no_credit() {
    let machine = Machine::start();
    let output = machine.run("pile.c", &["policy", "error", "1024"]);
    assert!(output.out.contains("then -27"), "{}", output.out);
    machine.halt();
}

#[test]
fn of_two_that_wait_for_each_other_one_is_told_and_all_messages_arrive() {
    let machine = Machine::start();
    let running = machine.begin("pile.c", &["deadlock", "90", "1024", "block"]);
    let output = machine.expect_success(running);
    assert!(output.number("gave way ") > 0.0, "{}", output.out);
    machine.halt();
}

#[test]
fn a_look_did_not_end_while_a_sender_went_on() {
    let machine = Machine::start();
    machine.run("streamed.c", &[]);
    machine.halt();
}

#[test]
fn a_send_beside_a_thread_that_has_not_called_yet_was_taken_for_stuck() {
    let machine = Machine::start();
    let running = machine.begin("latereader.c", &["90", "1024"]);
    machine.expect_success(running);
    machine.halt();
}

/// A small file system for spilled messages; needs root.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn new(place: &Place) -> Option<Self> {
        let folder = place.home().join("small");
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=96m", "none"]).arg(&folder);
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_to_the_send_and_hinders_nobody_else() {
    let place = Place::new();
    let Some(disk) = SmallDisk::new(&place) else {
        eprintln!("skipped: only root can mount a small file system");
        return;
    };
    let machine = Machine::start_with(place, &[("PVM_SPILL_DIR", disk.0.as_os_str())]);
    let output = machine.run("pile.c", &["full", "400", "1024"]);
    assert!(output.out.contains("then -27"), "{}", output.out);
    machine.halt();
}

#[test]
fn a_full_sender_sleeps_between_the_messages_that_it_takes_in() {
    let machine = Machine::start_with(Place::new(), &[("PVM_SLAB_MB", "16".as_ref())]);
    let output = machine.run("full.c", &[]);
    eprintln!("{}", output.out.trim_end());
    machine.halt();
}
