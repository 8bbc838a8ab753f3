//! The judge of histories is judged itself: by histories that can have happened one after the
//! other, and by such that cannot.
#![forbid(unsafe_code)]

use pvm_e2e::history::{Operation, check};

fn history(text: &str) -> Vec<Operation> {
    let parse = |line: &str| Operation::parse(line).unwrap_or_else(|| panic!("{line}"));
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(parse).collect()
}

#[track_caller]
fn good(text: &str) {
    check(&history(text)).expect("a history that can have happened");
}

#[track_caller]
fn bad(text: &str) {
    check(&history(text)).expect_err("a history that cannot have happened is let pass");
}

#[test]
fn calls_at_the_same_time_may_be_done_in_any_order() {
    good("0 10 put one 1 0\n 0 10 put one 2 0\n 11 12 get one 0 1");
    good("0 10 put one 1 0\n 0 10 put one 2 0\n 11 12 get one 0 2");
    good("0 10 put one 1 0\n 5 6 get one 0 -32\n 7 8 get one 0 1");
}

#[test]
fn a_value_that_was_replaced_is_not_read_again() {
    bad("0 1 put one 1 0\n 2 3 put one 2 0\n 4 5 get one 0 1");
}

#[test]
fn what_one_reader_has_seen_the_next_one_sees() {
    bad("0 1 put one 1 0\n 2 20 put one 2 0\n 3 4 get one 0 2\n 5 6 get one 0 1");
}

#[test]
fn a_put_that_was_answered_is_not_lost() {
    bad("0 1 put one 1 0\n 2 3 get one 0 -32");
}

#[test]
fn a_value_is_taken_once() {
    bad("0 1 put one 1 0\n 2 5 take one 0 1\n 2 5 take one 0 1");
    good("0 1 put one 1 0\n 2 5 take one 0 1\n 2 5 take one 0 -32");
}

#[test]
fn a_put_is_done_once() {
    bad("0 9 put one 1 0\n 1 2 take one 0 1\n 3 4 take one 0 1");
    bad("0 9 add many 1 0\n 1 2 take many 0 1\n 3 4 take many 0 1");
}

#[test]
fn the_lowest_free_index_is_given() {
    good("0 1 add many 7 0\n 2 3 add many 8 1\n 4 5 take many 0 7\n 6 7 add many 9 0");
    bad("0 1 add many 7 0\n 2 3 add many 8 1\n 4 5 take many 0 7\n 6 7 add many 9 2");
}

#[test]
fn two_members_do_not_have_one_number() {
    bad("0 5 join group 1 0\n 0 5 join group 2 0");
    good("0 5 join group 1 0\n 0 5 join group 2 1\n 6 9 leave group 1 0\n 7 10 join group 3 0");
    bad("0 5 join group 1 0\n 0 5 join group 2 1\n 8 9 leave group 1 0\n 6 7 join group 3 0");
}

#[test]
fn what_was_not_answered_may_be_done_or_not() {
    let never = u64::MAX;
    good(&format!("0 {never} put one 1 0\n 2 3 get one 0 -32\n 4 5 get one 0 1"));
    good(&format!("0 {never} put one 1 0\n 2 3 get one 0 -32\n 4 5 get one 0 -32"));
    bad(&format!("0 {never} put one 1 0\n 2 3 get one 0 1\n 4 5 get one 0 -32"));
}

/// Places that were searched already are known: otherwise this takes years.
#[test]
fn many_calls_at_once_do_not_take_for_ever() {
    let mut text = String::new();
    for round in 0..100 {
        for task in 0..6 {
            let begin = round * 10 + task;
            text += &format!("{begin} {} put one {begin} 0\n", begin + 9);
        }
    }
    good(&text);
    bad(&format!("{text}90000 90001 get one 0 3"));
}

#[test]
fn a_call_that_was_begun_counts_once() {
    let never = u64::MAX;
    let lines = format!("0 {never} put one 1 0\n0 1 put one 1 0\n2 {never} put one 2 0\n3 18446");
    let calls = Operation::of_task(&lines);
    assert_eq!(calls.iter().map(|call| call.end).collect::<Vec<_>>(), [1, never]);
}

#[test]
fn a_member_that_died_makes_room_and_not_before() {
    let mut calls = history("0 1 join group 7 0\n 4 5 join group 8 0");
    check(&calls).expect_err("its place is taken");
    calls.extend(Operation::of_end(7, 2, &["group"]));
    check(&calls).expect("it is gone");
    let mut calls = history("0 1 join group 7 0\n 4 5 join group 8 0");
    calls.extend(Operation::of_end(7, 6, &["group"]));
    check(&calls).expect_err("it was there until 6");
}
