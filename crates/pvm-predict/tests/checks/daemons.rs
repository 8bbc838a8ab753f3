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

const TWO: &str = "0 send 1 0 8160\n1 recv 0 0 8160\n";

/// A datagram of 4080 bytes has packets of 1500, 1500 and 1180 bytes, of which the last one is
/// across after 3600 + 944 us. Its acknowledgement has 60 bytes and takes 96 us.
pub(crate) fn datagrams_wait_for_one_another() -> Verdict {
    let (memory, datagram) = (Time::nanoseconds(2 * 104_080), 4_544_000);
    let took = run("", "kind = \"pvm3\"", "each", TWO)?.time;
    let acknowledged = Time::nanoseconds(datagram + 96_000 + datagram);
    is("one by one", took, memory + acknowledged)?;
    // The second one's packets follow those of the first one on the first cable: 3344 us later.
    let took = run("", "kind = \"pvm3\"\nwindow = 2", "each", TWO)?.time;
    is("two at once", took, memory + Time::nanoseconds(3_344_000 + datagram))
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
