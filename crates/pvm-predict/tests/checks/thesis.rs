//! The model of the thesis against times that can be added up by hand.

use super::{Verdict, is};
use pvm_predict::blame::Phase;
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::Stations;
use pvm_predict::{Error, Rate, Time, model};

/// Each station's file.
pub(crate) fn run(files: &[&str], megabits: u32) -> Result<Report, Error> {
    let mut source = Stations::new(files.iter().map(|file| file.as_bytes()));
    model::thesis::run(&mut source, Rate::megabits(megabits), 1, &mut Unwatched)
}

fn sound(files: &[&str], megabits: u32) -> Result<Report, String> {
    run(files, megabits).map_err(|error| error.to_string())
}

/// A time in tenths of microseconds.
fn tenths(count: u64) -> Time {
    Time(count * 100_000)
}

/// Figure 4.1: 4032 bytes. The first packet is there after 375 + 300 + 1200 us, TCP works 300 us,
/// the last packet is there after two more, of 1200 and 921.6 us.
pub(crate) fn a_message_of_three_packets() -> Verdict {
    let report = sound(&["s 500 4032 0 1\nc 7 0 0 0", "r 100 4032 0 1"], 10)?;
    let [sender, receiver] = &report.stations[..] else { return Err("two stations".to_owned()) };
    is("the sender ends", sender.execution, Time::microseconds(507))?;
    is("the receiver ends", receiver.execution, tenths(39_966))?;
    is("it was blocked", receiver.blocked.total(), tenths(39_966 - 1_000))?;
    is("of that the host", receiver.blocked.of(Phase::Host), tenths(9_750))?;
    is("of that the wire", receiver.blocked.of(Phase::Wire), tenths(12_000 + 17_216))?;
    is("the sender's net", sender.net, tenths(33_216))?;
    is("the sender's TCP", sender.transport, Time::microseconds(300))?;
    is("the receiver's TCP", receiver.transport, Time::microseconds(300))
}

/// The header is read first: the rest finds a stub, and TCP has worked for the message already.
pub(crate) fn a_receive_in_two_parts() -> Verdict {
    let report = sound(&["s 375 48 0 1", "r 188 16 0 1\nr 142 32 0 1"], 10)?;
    let receiver = &report.stations[1];
    let woke = 3_750 + 3_000 + 704 + 3_000;
    is("the receiver ends", receiver.execution, tenths(woke + 1_880 + 1_420))?;
    is("it was blocked", receiver.blocked.total(), tenths(woke))?;
    is("its TCP", receiver.transport, Time::microseconds(300))
}

/// 0.08 us a byte instead of 0.8.
pub(crate) fn a_faster_cable() -> Verdict {
    let report = sound(&["s 375 1460 0 1", "r 0 1460 0 1"], 100)?;
    is("the receiver ends", report.time, Time::microseconds(375 + 300 + 120 + 300))
}

/// The second write waits for the server, and its station does not.
pub(crate) fn a_server_serves_one() -> Verdict {
    let report = sound(&["s 0 1460 0 1\ns 400 1460 0 1", "r 0 1460 0 1\nr 0 1460 0 1"], 10)?;
    is("the sender ends", report.stations[0].execution, Time::microseconds(775))?;
    // 375 + 300 + 1200 and 300 of the receiver: it reads, asks for the acknowledgement and for
    // more. The second packet is there at 375 + 1500 + 1500, and the acknowledgement was before it
    // or behind it.
    let second = 3_750 + 15_000 + 15_000;
    let behind = report.time.since(tenths(second + 3_000));
    if behind > tenths(512) { Err(format!("{behind} too late")) } else { Ok(()) }
}

/// The acknowledgement is a shortest frame: it keeps the cable busy when another packet wants it.
pub(crate) fn an_acknowledgement_has_its_time() -> Verdict {
    // Station 1 has its message at 2175 us and acknowledges for 51.2 us. Station 2 offers its
    // packet within.
    let files = ["s 0 1460 0 1", "r 0 1460 0 1", "c 1510 0 0 0\ns 0 1460 2 3", "r 0 1460 2 3"];
    let report = sound(&files, 10)?;
    let began = 21_750 + 512;
    is("the other receiver ends", report.stations[3].execution, tenths(began + 12_000 + 3_000))
}

/// One frame reaches all receivers.
pub(crate) fn a_multicast_is_sent_once() -> Verdict {
    let report = sound(&["m 375 1460 0 1 2", "r 0 1460 0 1", "r 5 1460 0 2"], 10)?;
    is("one ends", report.stations[1].execution, Time::microseconds(2175))?;
    is("the other ends", report.stations[2].execution, Time::microseconds(2180))?;
    is("the sender's net", report.stations[0].net, Time::microseconds(1200))
}

/// A message to oneself passes neither TCP nor cable.
pub(crate) fn a_message_to_oneself() -> Verdict {
    let report = sound(&["s 400 100 0 0\nr 50 60 0 0\nr 50 40 0 0"], 10)?;
    let station = &report.stations[0];
    is("it ends", station.execution, Time::microseconds(500))?;
    is("its TCP", station.transport, Time::ZERO)?;
    is("its own messages", Time(station.own.messages), Time(1))
}

/// Bytes that a receive leaves over are taken by the next one, over the border of messages.
pub(crate) fn bytes_that_are_over_stay() -> Verdict {
    let report = sound(&["s 375 10 0 1\ns 375 20 0 1", "r 0 4 0 1\nr 0 16 0 1\nr 0 10 0 1"], 10)?;
    is("bytes came", Time(report.stations[0].sent.bytes), Time(30))
}

/// Two hold frames back while a third one sends, and collide behind it.
pub(crate) fn those_that_wait_collide() -> Verdict {
    let files = [
        "s 0 1460 0 3",
        "c 500 0 0 0\ns 0 1460 1 3",
        "c 600 0 0 0\ns 0 1460 2 3",
        "r 0 1460 0 3\nr 0 1460 1 3\nr 0 1460 2 3",
    ];
    let report = sound(&files, 10)?;
    if report.collisions < Some(1) { Err("no collision".to_owned()) } else { Ok(()) }
}
