//! Routes through daemons, datagrams, cards with access to memory, and records, against times that
//! can be added up by hand.

use super::{Verdict, is, packets};
use pvm_predict::Time;
use pvm_predict::platform::{Placement, Platform};
use pvm_predict::report::Report;

/// A switch of 10 Mb/s whose frames have no more than their packets: a byte takes 0.8 us on each of
/// two cables. Through memory a message takes 100 us, and a byte 1 ns.
fn run(network: &str, transport: &str, place: &str, text: &str) -> Result<Report, String> {
    let file = format!(
        "[network]\nkind = \"switch\"\nrate = \"10 Mb/s\"\nframe = \"0 B\"\nshortest = \"0 \
         B\"\n{network}\n[host]\nmemory_latency = \"100 us\"\nmemory_rate = \"1 \
         GB/s\"\n[transport]\n{transport}\n"
    );
    let mut platform = Platform::parse(&file).map_err(|error| error.to_string())?;
    platform.place = Placement::parse(place)?;
    packets(&platform, text)
}

/// With 32 bytes of a message's head, two full datagrams.
const TWO: &str = "0 send 1 0 8096\n1 recv 0 0 8096\n";

/// A datagram of 4080 bytes has packets of 1500, 1500 and 1148 bytes, of which the last one is
/// across after 3600 + 918.4 us. Its acknowledgement has 44 bytes and takes 70.4 us. The daemons of
/// PVM 3.4.6 send these packets, one datagram at a time (seen on their cable).
pub(crate) fn datagrams_wait_for_one_another() -> Verdict {
    let (memory, datagram) = (Time::nanoseconds(2 * 104_064), 4_518_400);
    let took = run("", "kind = \"pvm3\"", "each", TWO)?.time;
    let acknowledged = Time::nanoseconds(datagram + 70_400 + datagram);
    is("one by one", took, memory + acknowledged)?;
    // The second one's packets follow those of the first one on the first cable: 3318.4 us later.
    let took = run("", "kind = \"pvm3\"\nwindow = 2", "each", TWO)?.time;
    is("two at once", took, memory + Time::nanoseconds(3_318_400 + datagram))
}

/// The last packet of a message of 65 536 bytes has 588 bytes, behind 16 full datagrams, and an
/// answer of 8 bytes is a packet of 84: so it was seen on the cable between two daemons of PVM
/// 3.4.6.
pub(crate) fn a_message_of_pvm_3_as_its_daemons_send_it() -> Verdict {
    let text = "0 send 1 0 65536\n0 recv 1 0 8\n1 recv 0 0 65536\n1 send 0 0 8\n";
    let took = run("", "kind = \"pvm3\"", "each", text)?.time;
    let memory = 2 * 104_064 + 2 * 100_008;
    let datagrams = 16 * (4_518_400 + 70_400) + 2 * 588 * 800;
    is("it takes", took, Time::nanoseconds(memory + datagrams + 2 * 84 * 800))
}

/// With a fifth of all packets lost, all messages come, in their order, and once each.
pub(crate) fn a_lost_datagram_is_sent_again() -> Verdict {
    let (mut text, count) = (String::new(), 20);
    text.extend((0..count).map(|n| format!("0 send 1 0 {}\n", 1 + n * 700)));
    text.extend((0..count).map(|n| format!("1 recv 0 0 {}\n", 1 + n * 700)));
    for window in [1, 4] {
        let transport = format!("kind = \"pvm3\"\nwindow = {window}\ntimeout = \"20 ms\"");
        let report = run("loss = 0.2", &transport, "each", &text)?;
        is("messages", report.stations[1].received.messages, count)?;
        if report.lost == 0 || report.resent == 0 {
            return Err(format!("{} lost, {} resent", report.lost, report.resent));
        }
    }
    Ok(())
}

const CARD: &str = "kind = \"rdma\"\nsegment = \"1000 B\"\nheader = \"10 B\"\neager = \"2000 \
                    B\"\npost = \"5 us\"\nregistration = \"100 us\"\nregistration_rate = \"1 \
                    GB/s\"";

/// Two packets of 1010 bytes, on two cables, 5 us after the call.
pub(crate) fn a_card_sends_short_messages_at_once() -> Verdict {
    let took = run("", CARD, "each", "0 send 1 0 2000\n1 recv 0 0 2000\n")?.time;
    is("it takes", took, Time::microseconds(5 + 3 * 808))
}

/// 5 us, and 103 us to register 3000 bytes; 16 us to ask; 103 us at the receiver; 16 us to answer;
/// then three packets.
pub(crate) fn a_long_message_asks_first() -> Verdict {
    let took = run("", CARD, "each", "0 send 1 0 3000\n1 recv 0 0 3000\n")?.time;
    is("it takes", took, Time::microseconds(5 + 103 + 16 + 103 + 16 + 4 * 808))
}

/// The time of packets of 1000 bytes, of which the last one has the rest, on two cables one after
/// the other; `head` is more in each.
fn across(bytes: u64, head: u64) -> Time {
    let (full, rest) = ((bytes - 1) / 1000, (bytes - 1) % 1000 + 1);
    let second = if full == 0 { rest + head } else { 1000 + head };
    Time::nanoseconds(800 * (full * (1000 + head) + rest + head + second))
}

/// A card: up to `eager` bytes `post` and the packets, beyond that two registrations, a question
/// and an answer, of which each crosses two cables.
pub(crate) fn messages_of_a_card_by_size() -> Verdict {
    for bytes in [1, 999, 1_000, 1_001, 2_000, 2_001, 3_500, 100_000] {
        let text = format!("0 send 1 0 {bytes}\n1 recv 0 0 {bytes}\n");
        let asks = Time::nanoseconds(2 * (100_000 + bytes) + 2 * 16_000);
        let asks = if bytes > 2_000 { asks } else { Time::ZERO };
        let expected = Time::microseconds(5) + asks + across(bytes, 10);
        is(&format!("{bytes} bytes"), run("", CARD, "each", &text)?.time, expected)?;
    }
    Ok(())
}

/// Records of 1000 bytes with 22 more each, at 1 us a byte at both ends.
pub(crate) fn records_by_size() -> Verdict {
    let tcp = "kind = \"tcp\"\ncongestion = \"reno\"\nsegment = \"1000 B\"\nheader = \"0 B\"\ntick \
               = \"0 s\"\nrecord_size = \"1000 B\"\nrecord = \"22 B\"\ncipher = \"1 MB/s\"";
    for bytes in [1u64, 978, 979, 1_000, 1_001, 5_000, 9_000] {
        let text = format!("0 send 1 0 {bytes}\n1 recv 0 0 {bytes}\n");
        let travel = across(bytes + 22 * bytes.div_ceil(1_000), 0);
        let expected = Time::microseconds(2 * bytes) + travel;
        is(&format!("{bytes} bytes"), run("", tcp, "each", &text)?.time, expected)?;
    }
    Ok(())
}

/// Tasks 0 and 1 are on one host, 2 and 3 on another one. A short message of task 1 waits for what
/// the connection holds, and not for the whole of a long one.
pub(crate) fn tasks_take_turns_at_their_daemon() -> Verdict {
    let text = "0 send 2 0 200000\n1 compute 1000000\n1 send 3 0 100\n2 recv 0 0 200000\n3 recv 1 \
                0 100\n";
    let transport = "kind = \"tcp\"\nroute = \"daemons\"\nturn = \"4 kB\"\nsend_buffer = \"20 kB\"";
    let report = run("", transport, "block:2", text)?;
    let (long, short) = (report.time, report.stations[3].execution);
    // 200 kB take 160 ms, 24 kB take 20 ms.
    if short < Time::microseconds(30_000) && long > Time::microseconds(160_000) {
        Ok(())
    } else {
        Err(format!("the short message took {short}, the long one {long}"))
    }
}

/// 1956 bytes in records of 1000, each with 22 more: two segments of 1000, and two times 1.956 ms
/// to encrypt and to decrypt them.
pub(crate) fn records_have_bytes_and_take_time() -> Verdict {
    let tcp = "kind = \"tcp\"\ncongestion = \"reno\"\nsegment = \"1000 B\"\nheader = \"0 B\"\ntick \
               = \"0 s\"\nrecord_size = \"1000 B\"\nrecord = \"22 B\"\ncipher = \"1 MB/s\"";
    let text = "0 send 1 0 1956\n1 recv 0 0 1956\n";
    is("it takes", run("", tcp, "each", text)?.time, Time::microseconds(3 * 800 + 2 * 1_956))?;
    // Through memory nothing is encrypted.
    let near = run("", tcp, "block:2", text)?.time;
    is("on one host", near, Time::nanoseconds(101_956))
}

/// Beats go on as long as tasks compute, do not make them slower, and end with them; tasks that
/// wait for ever are told all the same.
pub(crate) fn daemons_beat_while_tasks_compute() -> Verdict {
    let text = "0 compute 10000000000\n1 compute 1\n";
    for (route, place) in [("direct", "each"), ("daemons", "each")] {
        let tcp = format!("kind = \"tcp\"\nroute = \"{route}\"\nbeat = \"180 ms\"");
        let report = run("", &tcp, place, text)?;
        is("time", report.time, Time::microseconds(10_000_000))?;
        // Of each direction 55 beats; each has a frame and its acknowledgement on two cables.
        if !(400..2_000).contains(&report.events) {
            return Err(format!("{route}: {} events", report.events));
        }
        let stuck = run("", &tcp, place, "0 recv 1 0 1\n1 compute 1\n");
        match stuck {
            Err(why) if why.contains("standstill") => (),
            other => return Err(format!("{other:?}")),
        }
    }
    is("without beats", run("", "kind = \"tcp\"", "each", text)?.events, 0)
}
