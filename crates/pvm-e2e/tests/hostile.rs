//! Garbage on every socket of a machine, while tasks of two hosts talk.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, process};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// With and without garbage, one after the other, so that what else this computer does meets both.
const WINDOW: Duration = Duration::from_millis(500);
/// Between two connections of one thread: they cost us as much as the machine.
const PAUSE: Duration = Duration::from_millis(2);

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Noise, or the beginning of something that makes sense and goes on as noise.
    fn words(&mut self) -> Vec<u8> {
        let count = (self.next() % 4000) as usize;
        let noise: Vec<u8> = (0..count).map(|_| (self.next() >> 24) as u8).collect();
        let head: Vec<u8> = match self.next() % 7 {
            // Frames: with a length that is true, too long, and the largest.
            0 => [(count as u32).to_le_bytes(), [1, 0, 0, 0]].concat(),
            1 => [(60_u32 << 20).to_le_bytes(), [1, 0, 0, 0]].concat(),
            2 => vec![0xff; 8],
            // A request's number, the two prefaces of links, a handshake of TLS.
            3 => [
                (count as u32 + 2).to_le_bytes(),
                [1, 0, 0, 0],
                [(self.next() % 140) as u8, 0, 0, 0],
            ]
            .concat(),
            4 => b"NPVMvia1".to_vec(),
            5 => b"NPVMtok1".to_vec(),
            _ => vec![22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3],
        };
        [head, noise].concat()
    }
}

/// The sockets on which somebody may say something.
#[derive(Clone)]
enum Ear {
    Link(SocketAddr),
    Local(PathBuf),
    Bell(PathBuf),
}

fn say(ear: &Ear, words: &[u8]) {
    let wait = Some(Duration::from_millis(20));
    match ear {
        Ear::Link(at) => {
            let Ok(mut stream) = TcpStream::connect_timeout(at, Duration::from_millis(500)) else {
                return;
            };
            let _ = (stream.set_write_timeout(wait), stream.set_read_timeout(wait));
            let _ = stream.write_all(words);
            let _ = stream.read(&mut [0; 64]);
        }
        Ear::Local(path) => {
            let Ok(mut stream) = UnixStream::connect(path) else { return };
            let _ = (stream.set_write_timeout(wait), stream.set_read_timeout(wait));
            let _ = stream.write_all(words);
            let _ = stream.read(&mut [0; 64]);
        }
        Ear::Bell(path) => {
            let Ok(socket) = UnixDatagram::unbound() else { return };
            let _ = socket.set_write_timeout(wait);
            let _ = socket.send_to(words, path);
        }
    }
}

fn ears(machine: &Machine) -> Vec<Ear> {
    let mut ears = Vec::new();
    for file in machine.place().files() {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "pvmd.sock" {
            ears.push(Ear::Local(file));
        } else if file.parent().is_some_and(|folder| folder.ends_with("bell")) {
            ears.push(Ear::Bell(file));
        }
    }
    let conf = machine.pvm(&["conf", "--json"]).out;
    let words = conf.split('"').filter_map(|word| word.parse().ok());
    ears.extend(words.map(Ear::Link));
    ears
}

/// The last number that was printed.
fn trips(running: &Running) -> u64 {
    running.so_far().lines().rev().find_map(|line| line.parse().ok()).unwrap_or(0)
}

fn restarts(machine: &Machine) -> String {
    let status = machine.pvm(&["status", "--json"]).out;
    let at = status.find("\"restarts\":").expect("a number of restarts");
    status[at..].split([',', '}']).next().unwrap_or_default().to_owned()
}

#[test]
fn garbage_on_every_socket_kills_nothing_and_slows_little() {
    let seconds = if pvm_e2e::long() { 60 } else { 10 };
    let machine = Machine::local(2);
    // Where a token is good, strangers get one step further.
    assert_eq!(machine.pvm(&["token"]).code(), 0);
    let mut running = machine.begin("steady.c", &[&(seconds + 2).to_string()]);
    assert!(eventually(Duration::from_secs(60), || trips(&running) > 0), "{}", machine.log());
    let ears = ears(&machine);
    let (links, bells) = (
        ears.iter().filter(|ear| matches!(ear, Ear::Link(_))).count(),
        ears.iter().filter(|ear| matches!(ear, Ear::Bell(_))).count(),
    );
    assert!(links >= 2 && bells >= 3 && ears.len() >= links + bells + 2);
    let before = restarts(&machine);
    let pids = machine.place().processes();
    let (loud, over, said) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    let mut sums = [0_u64; 2];
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let (ears, loud, over, said) = (&ears, &loud, &over, &said);
            scope.spawn(move || {
                let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (thread + 1));
                while !over.load(Ordering::Relaxed) {
                    if loud.load(Ordering::Relaxed) {
                        let ear = &ears[chance.next() as usize % ears.len()];
                        say(ear, &chance.words());
                        said.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::sleep(PAUSE);
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut noise = false;
        while Instant::now() < end && running.is_running() {
            noise = !noise;
            loud.store(noise, Ordering::Relaxed);
            let begun = trips(&running);
            std::thread::sleep(WINDOW);
            sums[usize::from(noise)] += trips(&running) - begun;
        }
        over.store(true, Ordering::Relaxed);
    });
    let output = machine.expect_success(running);
    let [quiet, noisy] = sums;
    let share = noisy as f64 / quiet.max(1) as f64;
    let said = said.load(Ordering::Relaxed);
    eprintln!(
        "{said} times garbage in {} s: traffic {:.0} % of that without",
        seconds / 2,
        share * 100.0
    );
    assert!(said > 100 && noisy > 0, "{said} {noisy} {}", output.out);
    assert_eq!(restarts(&machine), before, "a daemon died\n{}", machine.log());
    for (pid, line) in pids.iter().filter(|(_, line)| line.contains("pvmd")) {
        assert!(process::lives(*pid), "{line} died");
    }
    // The bar of ten per cent needs a computer that does nothing else.
    assert!(share > if pvm_e2e::long() { 0.9 } else { 0.3 }, "{share}");
    machine.run("exits.c", &["2"]);
    machine.halt();
}
