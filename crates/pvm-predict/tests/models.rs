//! Each model against closed forms, and the test of those tests: errors that are planted are found.
//! `cargo test -p pvm-predict --features planted --test models -- --nocapture` shows what finds
//! which.

#[path = "checks/csma.rs"]
mod csma;
#[path = "checks/daemons.rs"]
mod daemons;
#[path = "checks/exchanges.rs"]
mod exchanges;
#[path = "checks/fabric.rs"]
mod fabric;
#[path = "checks/flow.rs"]
mod flow;
#[path = "checks/kernel.rs"]
mod kernel;
#[path = "checks/line.rs"]
mod line;
#[path = "checks/place.rs"]
mod place;
#[path = "checks/port.rs"]
mod port;
#[path = "checks/tcp.rs"]
mod tcp;
#[path = "checks/thesis.rs"]
mod thesis;

use pvm_predict::model;
use pvm_predict::platform::Platform;
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::Ranks;
use std::fmt::Debug;
use std::io::Cursor;

/// The result of a check.
type Verdict = Result<(), String>;
/// A check, and its name.
type Check = (&'static str, fn() -> Verdict);

fn is<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Verdict {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, not {expected:?}")) }
}

/// A run of a program at depth `packet`, whose times sum up.
fn packets(platform: &Platform, text: &str) -> Result<Report, String> {
    let source = Ranks::new(vec![Cursor::new(text)], 1e9);
    let mut source = source.map_err(|error| error.to_string())?;
    let run = model::packet::run(&mut source, platform, 1, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    match report.stations.iter().find(|station| station.total() != station.execution) {
        Some(station) => Err(format!("times do not sum up: {station:?}")),
        None => Ok(report),
    }
}

fn near(what: &str, got: f64, expected: f64, within: f64) -> Verdict {
    let error = (got - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    if error <= within { Ok(()) } else { Err(format!("{what}: {got:.5}, not {expected:.5}")) }
}

const CHECKS: &[Check] = &[
    ("one station has the cable", csma::one_station_has_the_cable),
    ("the shortest frame", csma::the_shortest_frame),
    ("two collide and back off", csma::two_collide_and_back_off),
    ("collisions of two", csma::collisions_of_two),
    ("efficiency as published", csma::efficiency_as_published),
    ("everybody to everybody, every shape", exchanges::everybody_to_everybody_on_every_shape),
    ("permutations without a meeting", exchanges::permutations_without_a_meeting),
    ("the first dimension goes first", exchanges::the_first_dimension_goes_first),
    ("a bus carries all in turn", exchanges::a_bus_carries_all_in_turn),
    ("a switch cuts through", fabric::a_switch_cuts_through),
    ("each link of a route takes its time", fabric::each_link_of_a_route_takes_its_time),
    ("the lowest bit goes first", fabric::the_lowest_bit_goes_first),
    ("a fat tree carries all that crosses it", fabric::a_fat_tree_carries_all_that_crosses_it),
    ("a bus carries one frame at a time", fabric::a_bus_carries_one_frame_at_a_time),
    ("a packet is cut into cells", fabric::a_packet_is_cut_into_cells),
    ("cells of two packets alternate", fabric::cells_of_two_packets_alternate),
    ("a lost cell takes its packet with it", fabric::a_lost_cell_takes_its_packet_with_it),
    ("a token ring as published", fabric::a_token_ring_as_published),
    ("a token that nobody wants comes in time", fabric::a_token_that_nobody_wants_comes_in_time),
    ("a token on a ring without length waits", fabric::a_token_on_a_ring_without_length_waits),
    ("a crossbar as published", fabric::a_crossbar_as_published),
    ("a connection takes its time", fabric::a_connection_takes_its_time),
    ("datagrams wait for one another", daemons::datagrams_wait_for_one_another),
    ("a message of pvm 3", daemons::a_message_of_pvm_3_as_its_daemons_send_it),
    ("a lost datagram is sent again", daemons::a_lost_datagram_is_sent_again),
    ("a card sends short messages at once", daemons::a_card_sends_short_messages_at_once),
    ("messages of a card by size", daemons::messages_of_a_card_by_size),
    ("records by size", daemons::records_by_size),
    ("a long message asks first", daemons::a_long_message_asks_first),
    ("tasks take turns at their daemon", daemons::tasks_take_turns_at_their_daemon),
    ("records have bytes and take time", daemons::records_have_bytes_and_take_time),
    ("daemons beat while tasks compute", daemons::daemons_beat_while_tasks_compute),
    ("three share the way in", flow::three_share_the_way_in),
    ("a flow takes what others leave", flow::a_flow_takes_what_others_leave),
    ("all share one cable", flow::all_share_one_cable),
    ("a sender waits for its buffer", flow::a_sender_waits_for_its_buffer),
    ("a byte behind a full buffer crosses once", flow::a_byte_behind_a_full_buffer_crosses_once),
    ("rows of the table have their links", flow::rows_of_the_table_have_their_links),
    ("a ring is the same on lines", flow::a_ring_is_the_same_on_lines),
    ("the published table", line::the_published_table),
    ("messages follow one another", line::messages_follow_one_another),
    ("tasks share the cores of their host", place::tasks_share_the_cores_of_their_host),
    ("a message stays on its host", place::a_message_stays_on_its_host),
    ("jitter differs by seed alone", place::jitter_differs_by_seed_alone),
    ("factors change what they name", place::factors_change_what_they_name),
    ("frames follow one another", port::frames_follow_one_another),
    ("a burst passes free", port::a_burst_passes_free),
    ("a bucket has a bottom", port::a_bucket_has_a_bottom),
    ("a queue has a bound", port::a_queue_has_a_bound),
    ("a late timer costs tokens", port::a_late_timer_costs_tokens),
    ("a bucket makes up for a late timer", port::a_bucket_makes_up_for_a_late_timer),
    ("a message crosses two cables", tcp::a_message_crosses_two_cables),
    ("an empty message arrives", tcp::an_empty_message_arrives),
    ("slow start doubles", tcp::slow_start_doubles),
    ("an idle connection begins anew", tcp::an_idle_connection_begins_anew),
    ("nagle waits for a delayed acknowledgement", tcp::nagle_waits_for_a_delayed_acknowledgement),
    ("nagle under a pace ends", tcp::nagle_under_a_pace_ends),
    ("every second segment is acknowledged", tcp::every_second_segment_is_acknowledged),
    ("a full buffer holds the writer", tcp::a_full_buffer_holds_the_writer),
    ("throughput under loss", tcp::throughput_under_loss),
    ("a bucket is not a switch", tcp::a_bucket_is_not_a_switch),
    ("three into one", tcp::three_into_one),
    ("timers go off at ticks", tcp::timers_go_off_at_ticks),
    ("the rest of a write waits for the queue", tcp::the_rest_of_a_write_waits_for_the_queue),
    ("buffers follow the window", tcp::buffers_follow_the_window),
    ("a route fills no queue", tcp::a_route_fills_no_queue),
    ("a long write hears late of its first segment", tcp::a_long_write_hears_late),
    ("what waits is not sent again", tcp::what_waits_is_not_sent_again),
    ("a stream as the kernel sends it", kernel::a_stream_as_the_kernel_sends_it),
    ("requests as the kernel sends them", kernel::request_and_answer_as_the_kernel_sends_them),
    ("short requests as the kernel sends them", kernel::short_requests_as_the_kernel_sends_them),
    ("three to one as the kernel sends them", kernel::three_to_one_as_the_kernel_sends_them),
    (
        "rounds of three to one as the kernel sends them",
        kernel::rounds_of_three_to_one_as_the_kernel_sends_them,
    ),
    ("all to all as the kernel sends them", kernel::all_to_all_as_the_kernel_sends_them),
    ("a message of three packets", thesis::a_message_of_three_packets),
    ("a receive in two parts", thesis::a_receive_in_two_parts),
    ("a faster cable", thesis::a_faster_cable),
    ("a server serves one", thesis::a_server_serves_one),
    ("an acknowledgement has its time", thesis::an_acknowledgement_has_its_time),
    ("a multicast is sent once", thesis::a_multicast_is_sent_once),
    ("a message to oneself", thesis::a_message_to_oneself),
    ("bytes that are over stay", thesis::bytes_that_are_over_stay),
    ("those that wait collide", thesis::those_that_wait_collide),
    ("swaps in pairs by bbr", kernel::swaps_in_pairs_as_the_kernel_sends_them),
    // The longest one.
    ("all to all by bbr", kernel::all_to_all_by_bbr_as_the_kernel_sends_them),
];

#[test]
fn every_model_holds() {
    let wrong: Vec<String> = CHECKS
        .iter()
        .filter_map(|(name, check)| check().err().map(|why| format!("{name}: {why}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(feature = "planted")]
#[test]
fn planted_errors_are_found() {
    use pvm_predict::planted::{Bug, plant};
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        plant(Some(*bug));
        let found = CHECKS.iter().find_map(|(name, check)| match std::panic::catch_unwind(check) {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(format!("{name}: {why}")),
            Err(_) => Some(format!("{name}: a panic")),
        });
        plant(None);
        match found {
            Some(found) => println!("{bug:?}: {found}"),
            None => missed.push(*bug),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
