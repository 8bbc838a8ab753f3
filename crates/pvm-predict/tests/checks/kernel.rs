//! The transport alone beside the kernel's own TCP: messages between four network namespaces whose
//! cables were shaped by tbf (10 Mb/s, burst 1600, limit 256000), without segmentation offload
//! (`gso_max_segs 1`). The seconds are medians of seven runs of `benchmarks/predict/judge.sh`,
//! 26 November 2026, Linux 6.18, two cores, other programs beside.

use super::{Verdict, near};
use pvm_predict::model;
use pvm_predict::platform::Platform;
use pvm_predict::report::Unwatched;
use pvm_predict::source::Ranks;
use std::fmt::Write;
use std::io::Cursor;

const PLATFORM: &str = r#"
[network]
kind = "switch"
rate = "10 Mb/s"
latency = "10 us"
burst = "1600 B"
queue = "256 kB"
frame = "14 B"
shortest = "0 B"
[host]
send = "10 us"
receive = "10 us"
computers = 1
[transport]
kind = "tcp"
train = 1
congestion = "#;

fn compare(text: &str, within: f64, seen: &[(&str, f64)]) -> Verdict {
    for (congestion, real) in seen {
        let platform = Platform::parse(&format!("{PLATFORM}\"{congestion}\"\n"));
        let platform = platform.map_err(|error| error.to_string())?;
        let source = Ranks::new(vec![Cursor::new(text)], 1e9);
        let mut source = source.map_err(|error| error.to_string())?;
        let report = model::packet::run(&mut source, &platform, 1, &mut Unwatched);
        let report = report.map_err(|error| error.to_string())?;
        near(congestion, report.time.seconds(), *real, within)?;
    }
    Ok(())
}

/// One message of 8 MB.
pub(crate) fn a_stream_as_the_kernel_sends_it() -> Verdict {
    let text = "0 send 1 0 8000000\n1 recv 0 0 8000000\n";
    compare(text, 0.01, &[("reno", 6.703323), ("cubic", 6.705933), ("bbr", 6.705440)])
}

/// Request and answer, 1 MiB each: three times.
pub(crate) fn request_and_answer_as_the_kernel_sends_them() -> Verdict {
    let text = "0 send 1 0 1048576\n0 recv 1 0 1048576\n".repeat(3)
        + &"1 recv 0 0 1048576\n1 send 0 0 1048576\n".repeat(3);
    compare(&text, 0.01, &[("reno", 5.271658), ("cubic", 5.268538), ("bbr", 5.282412)])
}

/// Request and answer, 64 KB each: five times. Part of the real time is that of Python on a
/// computer with other work.
pub(crate) fn short_requests_as_the_kernel_sends_them() -> Verdict {
    let text = "0 send 1 0 65536\n0 recv 1 0 65536\n".repeat(5)
        + &"1 recv 0 0 65536\n1 send 0 0 65536\n".repeat(5);
    compare(&text, 0.025, &[("reno", 0.543806), ("cubic", 0.543029), ("bbr", 0.546058)])
}

/// Three send 1 MB to one.
pub(crate) fn three_to_one_as_the_kernel_sends_them() -> Verdict {
    let sends =
        (0..3).fold(String::new(), |text, task| text + &format!("{task} send 3 0 1000000\n"));
    let text = (0..3).fold(sends, |text, task| text + &format!("3 recv {task} 0 1000000\n"));
    compare(&text, 0.01, &[("reno", 2.517823), ("cubic", 2.512542), ("bbr", 2.523564)])
}

/// Each sends 64 KB to each other one: ten rounds. With bbr the real runs took 1.87 to 2.45 s, and
/// the model's take 1.68 s: that case is not met.
pub(crate) fn all_to_all_as_the_kernel_sends_them() -> Verdict {
    let mut text = String::new();
    for _ in 0..10 {
        for (own, step) in (0..4).flat_map(|own| (1..4).map(move |step| (own, step))) {
            let _ = writeln!(text, "{own} send {} 0 65536", (own + step) % 4);
        }
        for (own, step) in (0..4).flat_map(|own| (1..4).map(move |step| (own, step))) {
            let _ = writeln!(text, "{own} recv {} 0 65536", (own + 4 - step) % 4);
        }
    }
    compare(&text, 0.05, &[("reno", 1.720438), ("cubic", 1.732204)])
}
