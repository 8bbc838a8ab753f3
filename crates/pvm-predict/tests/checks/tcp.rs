//! TCP over a switch and over token buckets, against times that can be added up by hand.

use super::{Verdict, is, near};
use pvm_predict::platform::Platform;
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::Ranks;
use pvm_predict::{Time, model};
use std::io::Cursor;

/// A switch of 10 Mb/s whose frames have no more than their packets, and a TCP without headers: a
/// segment of 1000 bytes takes 800 us on each of two cables.
fn run(network: &str, transport: &str, text: &str) -> Result<Report, String> {
    let file = format!(
        "[network]\nkind = \"switch\"\nrate = \"10 Mb/s\"\nframe = \"0 B\"\nshortest = \"0 B\"\n\
         {network}\n\
         [transport]\nkind = \"tcp\"\nsegment = \"1000 B\"\nheader = \"0 B\"\n{transport}\n"
    );
    let file = if file.contains("tick") { file } else { file + "tick = \"0 s\"\n" };
    let platform = Platform::parse(&file).map_err(|error| error.to_string())?;
    let source = Ranks::new(vec![Cursor::new(text)], 1e9);
    let mut source = source.map_err(|error| error.to_string())?;
    let report = model::packet::run(&mut source, &platform, 1, &mut Unwatched);
    let report = report.map_err(|error| error.to_string())?;
    for station in &report.stations {
        is("its times sum up", station.total(), station.execution)?;
    }
    is("the path sums up", report.path.total(), report.time)?;
    Ok(report)
}

fn time(network: &str, transport: &str, text: &str) -> Result<Time, String> {
    run(network, transport, text).map(|report| report.time)
}

/// Store and forward: three segments, each a cable behind the other.
pub(crate) fn a_message_crosses_two_cables() -> Verdict {
    let text = "0 send 1 0 3000\n1 recv 0 0 3000\n";
    let took = time("latency = \"5 us\"", "congestion = \"reno\"", text)?;
    is("it takes", took, Time::microseconds(4 * 800 + 10))
}

/// Programs send messages without data, to say that they are ready. One takes a byte of its
/// connection, 0.8 us on each cable; its receiver goes on, and is told of no bytes.
pub(crate) fn an_empty_message_arrives() -> Verdict {
    let text = "0 send 1 0 0\n1 recv 0 0 0\n1 send 0 0 0\n0 recv 1 0 0\n";
    let report = run("", "congestion = \"reno\"", text)?;
    is("there and back", report.time, Time::nanoseconds(4 * 800))?;
    let sent = report.stations[0].sent;
    is("messages and bytes", (sent.messages, sent.bytes), (1, 0))
}

/// Slow start over a long way: a window of 2 segments, then 4, 8, 16 ... each a time there and back
/// of 200 ms. Segments are acknowledged at once, so each one makes the window one larger.
pub(crate) fn slow_start_doubles() -> Verdict {
    let transport = "congestion = \"reno\"\ninitial_window = 2\ndelayed_ack = \"0 s\"\nsend_buffer \
                     = \"100 MB\"";
    for (segments, rounds) in [(2, 0), (6, 1), (14, 2), (30, 3), (62, 4)] {
        let text = format!("0 send 1 0 {0}\n1 recv 0 0 {0}\n", segments * 1000);
        let took = time("latency = \"50 ms\"", transport, &text)?.seconds();
        // The last round's segments follow one another, at the second cable's end.
        let last = 2u64.pow(rounds as u32 + 1);
        let expected = 0.1 + f64::from(rounds) * 0.2 + (last + 1) as f64 * 800e-6;
        near(&format!("{segments} segments"), took, expected, 0.02)?;
    }
    Ok(())
}

/// Two messages with a pause: a connection that was idle begins with the initial window, unless it
/// does not.
pub(crate) fn an_idle_connection_begins_anew() -> Verdict {
    let text =
        "0 send 1 0 62000\n0 compute 60000000000\n0 send 1 0 62000\n1 recv 0 0 0\n1 recv 0 0 0\n";
    let at = |restart: &str| {
        let transport =
            format!("congestion = \"reno\"\ninitial_window = 2\nidle_restart = {restart}");
        time("latency = \"50 ms\"", &transport, text).map(|time| time.seconds() - 60.0)
    };
    let (anew, kept) = (at("true")?, at("false")?);
    // Four rounds of slow start there and back against one.
    if kept < 0.35 && anew > kept + 0.5 {
        Ok(())
    } else {
        Err(format!("with restart {anew:.3} s, without {kept:.3} s"))
    }
}

/// Two tasks that answer one another for 20 s.
fn a_conversation() -> String {
    let mut text = String::new();
    for _ in 0..20 {
        text += "0 send 1 0 10\n0 recv 1 0 10\n0 compute 1000000000\n";
        text += "1 recv 0 0 10\n1 send 0 0 10\n";
    }
    text
}

/// Two small messages at once, behind it. An end that answers lets an acknowledgement wait for its
/// answer.
const TWO: &str = "0 send 1 0 10\n0 send 1 0 10\n1 recv 0 0 10\n1 recv 0 0 10\n";

/// Nagle: the second small message waits for the acknowledgement of the first one, which waits for
/// an answer, 40 ms: the answer of the last round came within the second before, so the tasks are
/// still in a conversation.
pub(crate) fn nagle_waits_for_a_delayed_acknowledgement() -> Verdict {
    let at = |text: &str, transport: &str| {
        let transport = format!("congestion = \"reno\"\n{transport}");
        time("", &transport, text).map(Time::seconds)
    };
    let (before, whole) = (a_conversation(), a_conversation() + TWO);
    let took = |transport: &str| Ok::<_, String>(at(&whole, transport)? - at(&before, transport)?);
    let (off, on) = (took("nagle = false")?, took("nagle = true")?);
    near("with Nagle and delayed acknowledgements", on, 0.04, 0.02)?;
    let quick = took("nagle = true\ndelayed_ack = \"0 s\"")?;
    if off < 0.001 && quick < 0.001 {
        Ok(())
    } else {
        Err(format!("without Nagle {off:.5} s, with acknowledgements at once {quick:.5} s"))
    }
}

/// With a pace, what Nagle holds back was asked for again and again at one moment: the run never
/// ended.
pub(crate) fn nagle_under_a_pace_ends() -> Verdict {
    let text = "0 send 1 0 10\n0 send 1 0 1010\n1 recv 0 0 0\n1 recv 0 0 0\n";
    let took = time("", "congestion = \"bbr\"\nnagle = true", text)?;
    if took < Time::microseconds(50_000) { Ok(()) } else { Err(format!("{took}")) }
}

/// The second of two full segments is acknowledged at once: with a window of two, a stream never
/// waits 40 ms.
pub(crate) fn every_second_segment_is_acknowledged() -> Verdict {
    let text = "0 send 1 0 200000\n1 recv 0 0 0\n";
    let transport = "congestion = \"reno\"\ninitial_window = 2\nreceive_buffer = \"2 kB\"";
    let took = time("", transport, text)?.seconds();
    // Two segments cross, the second one is answered: 3 x 800 us for each two.
    if took < 0.35 { Ok(()) } else { Err(format!("{took:.3} s")) }
}

/// A write of more than the buffer waits until the rest fits.
pub(crate) fn a_full_buffer_holds_the_writer() -> Verdict {
    let text = "0 send 1 0 100000\n1 recv 0 0 0\n";
    let report = run("", "congestion = \"reno\"\nsend_buffer = \"40 kB\"", text)?;
    // 60 kB have to be acknowledged: 60 segments of 800 us, and a few until the first one is.
    near("the writer ends", report.stations[0].execution.seconds(), 0.0495, 0.04)
}

/// A loss halves the window: the mean of 1 / sqrt(p) law (Mathis and others, 1997), 1.22 segments
/// in a time there and back, within a third.
pub(crate) fn throughput_under_loss() -> Verdict {
    let loss = 0.01;
    let text = "0 send 1 0 4000000\n1 recv 0 0 0\n";
    let transport = "congestion = \"reno\"\ndelayed_ack = \"0 s\"\nsend_buffer = \"100 MB\"";
    let network = format!("latency = \"25 ms\"\nloss = {loss}\nqueue = \"10 MB\"");
    let report = run(&network, transport, text)?;
    let rate = 4000.0 / report.time.seconds();
    let law = 1.22 / (0.1 * f64::sqrt(loss));
    near("segments a second", rate, law, 0.33)?;
    if report.lost == 0 { Err("nothing was lost".to_owned()) } else { Ok(()) }
}

/// Linux' tbf: half the time there and back of one segment is half of what the bucket makes the
/// next one wait.
pub(crate) fn a_bucket_is_not_a_switch() -> Verdict {
    let mut text = String::new();
    for _ in 0..50 {
        text += "0 send 1 0 1000\n0 recv 1 0 1000\n1 recv 0 0 1000\n1 send 0 0 1000\n";
    }
    let transport = "congestion = \"reno\"";
    let bucket = time("burst = \"1000 B\"", transport, &text)?.seconds() / 100.0;
    let switch = time("", transport, &text)?.seconds() / 100.0;
    near("a switch", switch, 1600e-6, 0.001)?;
    near("a bucket", bucket, 400e-6, 0.04)
}

/// All of three streams into one port share it, and nothing is lost for good.
pub(crate) fn three_into_one() -> Verdict {
    let text = "0 send 3 0 300000\n1 send 3 0 300000\n2 send 3 0 300000\n\
                3 recv 0 0 0\n3 recv 1 0 0\n3 recv 2 0 0\n";
    for congestion in ["reno", "cubic", "bbr"] {
        let transport = format!("congestion = \"{congestion}\"");
        let took = time("queue = \"1 MB\"", &transport, text)?.seconds();
        near(congestion, took, 0.72, 0.02)?;
    }
    let report = run("queue = \"8 kB\"", "congestion = \"reno\"", text)?;
    if report.lost > 0 && report.resent >= report.lost {
        Ok(())
    } else {
        Err(format!("{} lost, {} sent anew", report.lost, report.resent))
    }
}

/// Timers go off at ticks: an acknowledgement that waits for 40 ms goes 40 to 44 ms later, at a
/// tick.
pub(crate) fn timers_go_off_at_ticks() -> Verdict {
    let text = a_conversation() + TWO;
    let at = |tick: &str| {
        let transport = format!("congestion = \"reno\"\nnagle = true\ntick = \"{tick}\"");
        time("", &transport, &text).map(|time| time.seconds() - 20.0)
    };
    // 20 s and what went before are no multiple of 7 ms.
    for (tick, least, most) in [("7 ms", 42e-3, 49.1e-3), ("100 ms", 100e-3, 200.1e-3)] {
        let took = at(tick)?;
        if took < least || took > most {
            return Err(format!("ticks of {tick}: {took:.5} s, not {least} to {most}"));
        }
    }
    Ok(())
}

/// The rest of a write waits while the connection has something in the host's queue. Meanwhile
/// another message comes between: it goes 1.6 ms after the begin, for 2.4 ms, and the rest of 500
/// bytes behind it.
pub(crate) fn the_rest_of_a_write_waits_for_the_queue() -> Verdict {
    let text = "0 send 1 0 2500\n0 send 2 0 3000\n1 recv 0 0 0\n2 recv 0 0 0\n";
    let transport = "congestion = \"reno\"\ntick = \"0 s\"\n[host]\ncomputers = 1";
    let report = run("", transport, text)?;
    is("the rest is there", report.stations[1].execution, Time::microseconds(4_000 + 2 * 400))
}

/// A probe of the end does not send again what still waits in the host's own queue.
pub(crate) fn what_waits_is_not_sent_again() -> Verdict {
    let text = "0 send 2 0 60000\n0 send 1 0 2000\n1 recv 0 0 0\n2 recv 0 0 0\n";
    let transport = "congestion = \"reno\"\ninitial_window = 100\ndelayed_ack = \"0 s\"";
    let report = run("", transport, text)?;
    is("sent again", report.resent, 0)
}

/// Buffers that grow: a window that stayed at its first 64 KB would take 12 s for 8 MB over a way
/// of 100 ms there and back. In slow start it doubles with each of these times, and the buffers
/// follow it.
pub(crate) fn buffers_follow_the_window() -> Verdict {
    let text = "0 send 1 0 8000000\n1 recv 0 0 8000000\n";
    let network = "latency = \"25 ms\"\nqueue = \"10 MB\"\nburst = \"10 MB\"";
    let at = |transport: &str| {
        let transport = format!("congestion = \"reno\"\n{transport}");
        time(network, &transport, text).map(Time::seconds)
    };
    let (grown, wide) = (at("tuned = true")?, at("send_buffer = \"100 MB\"")?);
    if wide <= grown && grown < 2.0 * wide {
        Ok(())
    } else {
        Err(format!("{grown:.3} s, with large buffers {wide:.3} s"))
    }
}

/// A route whose bytes under way are bounded: its queue holds what goes out in 50 ms, so its writer
/// ends that long before its message is there, or a little sooner where it is blind to the last
/// looks. Without the bound it ends at once.
pub(crate) fn a_route_fills_no_queue() -> Verdict {
    let text = "0 send 1 0 2000000\n1 recv 0 0 2000000\n";
    let report = run("queue = \"10 MB\"", "congestion = \"reno\"\nbounded = true", text)?;
    let before = (report.time - report.stations[0].execution).seconds();
    near("the whole", report.time.seconds(), 1.6, 0.01)?;
    if (0.01..0.06).contains(&before) { Ok(()) } else { Err(format!("{before:.4} s before")) }
}

/// The second of two messages begins with a segment that goes alone through a bucket. bbr takes its
/// time for the rate of the network: so many segments go into a queue of 70 that most of those
/// beyond are lost. If the end hears of the first one after 200 us only, the queue holds them, and
/// each message takes 800 us a segment.
pub(crate) fn a_long_write_hears_late() -> Verdict {
    let text = "0 send 1 0 400000\n1 recv 0 0 0\n1 send 0 0 1\n0 recv 1 0 1\n0 compute \
                1000000000\n0 send 1 0 400000\n1 recv 0 0 0\n";
    let network = "latency = \"2 us\"\nqueue = \"70 kB\"\nburst = \"1000 B\"";
    let at = |alone: &str| {
        let transport = format!("congestion = \"bbr\"\ntrain = 1\n{alone}");
        run(network, &transport, text)
    };
    let tenths = ["\"200 us\""; 10].join(", ");
    let (at_once, late) = (at("")?, at(&format!("alone = [{tenths}]"))?);
    near("the whole", late.time.seconds(), 1.0 + 2.0 * 400.0 * 800e-6, 0.01)?;
    if at_once.lost > 3 * late.lost && at_once.time > late.time {
        return Ok(());
    }
    Err(format!("{} of {} are lost", late.lost, at_once.lost))
}
