//! The speed of a host: arithmetic, memory, and memory while all cores want it.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Steps of arithmetic, and the walks over memory.
pub(super) const STEPS: u64 = 20_000_000;
const WALKS: u32 = 4;
/// Memory that fits no cache of its own, and cores that walk at once at most.
const WORDS: usize = 4 << 20;
pub(super) const CORES_MAX: usize = 16;

/// Five numbers: picoseconds of a step of arithmetic, picoseconds of a byte of memory alone and
/// with all cores, cores, what a record of a trace costs in picoseconds; and two that name the
/// computer.
pub(super) fn work() -> Vec<u64> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let [high, low] = computer();
    let together = walks(cores.min(CORES_MAX));
    vec![arithmetic(), walks(1), together, cores as u64, pvm::record_cost_ps(), high, low]
}

/// A chain of multiplications: none begins before the one in front of it is done.
fn arithmetic() -> u64 {
    let begin = Instant::now();
    let mut value = black_box(1.000_000_1_f64);
    for _ in 0..STEPS {
        value = value * 0.999_999_9 + 1e-7;
    }
    black_box(value);
    picoseconds(begin, STEPS)
}

/// As many threads walk over memory of their own, all at once; the time of the slowest.
fn walks(threads: usize) -> u64 {
    let gate = Barrier::new(threads);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(|| walk(&gate))).collect();
        all.into_iter().filter_map(|thread| thread.join().ok()).max().unwrap_or(0)
    })
}

fn walk(gate: &Barrier) -> u64 {
    let mut words = vec![1u64; WORDS];
    gate.wait();
    let begin = Instant::now();
    for walk in 0..WALKS {
        words.iter_mut().for_each(|word| *word = word.wrapping_mul(3) + u64::from(walk));
        black_box(&mut words);
    }
    picoseconds(begin, WORDS as u64 * 8 * u64::from(WALKS))
}

fn picoseconds(begin: Instant, count: u64) -> u64 {
    u64::try_from(begin.elapsed().as_nanos() * 1000 / u128::from(count)).unwrap_or(u64::MAX)
}

/// Hosts that are namespaces of one computer have one kernel, which names its boot.
fn computer() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).unwrap_or_default();
    [(number >> 64) as u64, number as u64]
}
