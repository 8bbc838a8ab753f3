use super::memory::REGION_CELLS;
use super::*;
use crate::segment;
use crate::ticks;
use pvm_wire::record::{Cell, DecodedRecords, Scale, What};

fn record(number: u64) -> Record {
    Record { result: number as i32, ..Record::call(7, number, 3) }
}

/// A record of three cells.
fn long(number: u64) -> Record {
    let children = vec![number as i32; 14];
    Record { what: What::Spawn { children }, ..record(number) }
}

fn decode(cells: &[Cell]) -> Vec<Record> {
    DecodedRecords::new(cells).map(|record| record.expect("whole")).collect()
}

fn all(reader: &mut Reader) -> (Vec<Record>, u64) {
    let mut cells = Vec::new();
    let drained = reader.drain((usize::MAX, usize::MAX), false, &mut cells);
    let records = decode(&cells);
    assert_eq!(records.len(), drained.taken);
    (records, drained.lost)
}

fn mapped() -> (Arc<Mapping>, Activity) {
    let fd = segment::create_sparse(SEGMENT_SIZE, FIRST_SIZE).expect("memory");
    let ring = Arc::new(Mapping::new(&fd, SEGMENT_SIZE, false).expect("mapped"));
    let host = Arc::new(Mapping::of_a_test(Activity::SIZE).expect("memory"));
    (ring, Activity::new(host))
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no memory files")]
fn what_is_noted_is_read_once_and_in_order() {
    let (mapping, host) = mapped();
    let recorder = Recorder::new(mapping.clone(), host);
    let before = ticks::nanoseconds();
    for i in 0..50 {
        let what = if i % 3 == 0 { long(i).what } else { record(i).what };
        recorder.put(&Record { begin: recorder.now(), what, ..record(i) });
    }
    let mut reader = Reader::new(mapping);
    let (seen, lost) = all(&mut reader);
    assert!(seen.iter().map(|record| record.result).eq(0..50) && lost == 0);
    let drained = reader.drain((usize::MAX, usize::MAX), false, &mut Vec::new());
    let (from, to) = drained.span.expect("begun");
    let scale = Scale::new(from, to);
    // The two clocks were looked at one after the other; a task can be interrupted between.
    assert!(seen.iter().all(|record| scale.nanoseconds(record.begin) + 50_000_000 > before));
    assert_eq!(all(&mut reader), (Vec::new(), 0));
    assert_eq!(reader.counts(), (50, 0));
}

/// A reader that lost its core between its look at the clocks and its look at the ring took out
/// records behind both of its moments: their times were guessed, and began after their own parts.
#[test]
#[cfg_attr(miri, ignore = "Miri knows no memory files")]
fn records_were_taken_out_that_lay_behind_the_moments_of_their_block() {
    let (mapping, host) = mapped();
    let recorder = Recorder::new(mapping.clone(), host);
    let is_done = AtomicBool::new(false);
    let mut reader = Reader::new(mapping);
    let (mut seen, mut behind) = (0, None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                recorder.put(&Record { begin: recorder.now(), ..record(1) });
            }
        });
        while seen < 20_000 && behind.is_none() {
            let mut cells = Vec::new();
            let drained = reader.drain((usize::MAX, usize::MAX), false, &mut cells);
            let (_, to) = drained.span.expect("begun");
            let records = decode(&cells);
            seen += records.len();
            behind = records.into_iter().find(|record| record.begin > to.ticks);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(behind, None);
}

#[test]
fn a_full_ring_grows_and_then_counts_what_it_drops() {
    let recorder = Recorder::on_heap(4, 2);
    (0..11).for_each(|i| recorder.put(&record(i)));
    let mut reader = recorder.reader();
    let (seen, lost) = all(&mut reader);
    // Four lie in the first region, four more in the second, whose size is what may be unread.
    assert!(seen.iter().map(|record| record.result).eq(0..8));
    assert_eq!(lost, 3);
    recorder.put(&long(9));
    assert_eq!(all(&mut reader).0, [long(9)]);
}

#[test]
fn a_claim_that_others_had_made_and_had_read_dropped_its_record() {
    assert!(has_room(305, 306, 1, 4096) && has_room(0, u64::MAX, 1, 4));
    assert!(has_room(3, 0, 1, 4) && !has_room(4, 0, 1, 4) && !has_room(3, 0, 2, 4));
}

#[test]
fn threads_note_side_by_side_and_nothing_is_lost_or_torn() {
    let recorder = Recorder::on_heap(1 << 6, 7);
    let mut reader = recorder.reader();
    let each = if cfg!(miri) { 20 } else { 1000 };
    let mut next = [0; 3];
    std::thread::scope(|scope| {
        for thread in 0..3u16 {
            let recorder = &recorder;
            scope.spawn(move || {
                for i in 0..each {
                    let what = if i % 5 == 0 { long(i).what } else { record(i).what };
                    recorder.put(&Record { thread, length: i, what, ..record(i) });
                    if i % 64 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        while next.iter().sum::<u64>() < 3 * each {
            let (records, lost) = all(&mut reader);
            assert_eq!(lost, 0);
            for record in records {
                let number = record.length;
                assert_eq!(record.result as u64, number, "torn");
                assert_eq!(number, next[usize::from(record.thread)], "out of order");
                next[usize::from(record.thread)] += 1;
            }
            std::thread::yield_now();
        }
    });
    assert_eq!(next, [each; 3]);
}

#[test]
fn a_claim_of_a_task_that_was_killed_hides_nothing_behind_it() {
    let recorder = Recorder::on_heap(8, 2);
    recorder.put(&record(0));
    recorder.claim(3).expect("room");
    recorder.put(&record(1));
    let mut reader = recorder.reader();
    assert_eq!(all(&mut reader), (vec![record(0)], 0), "it may still be filled");
    let mut cells = Vec::new();
    let drained = reader.drain((usize::MAX, usize::MAX), true, &mut cells);
    assert_eq!((decode(&cells), drained.lost), (vec![record(1)], 1));
    recorder.claim(1).expect("room");
    let drained = reader.drain((usize::MAX, usize::MAX), true, &mut cells);
    assert_eq!((drained.taken, drained.lost), (0, 2));
}

#[test]
fn a_process_that_outlived_its_task_and_went_on_claiming_held_the_reader_for_ever() {
    let recorder = Recorder::on_heap(8, 1);
    let claims = &recorder.memory.header().claims.0.reserved;
    let enough = crate::sync::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !enough.load(Ordering::Relaxed) {
                claims.fetch_add(1, Ordering::Relaxed);
            }
        });
        while claims.load(Ordering::Relaxed) < 100 {
            std::thread::yield_now();
        }
        let mut reader = recorder.reader();
        let looks = (0..100).map(|_| {
            let drained = reader.drain((usize::MAX, usize::MAX), true, &mut Vec::new());
            (drained.taken, drained.lost)
        });
        let (taken, lost) = looks.last().expect("a look");
        enough.store(true, Ordering::Relaxed);
        assert!(taken == 0 && lost <= 400, "{lost}");
    });
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no memory files")]
fn a_reader_that_came_later_did_not_know_what_the_task_was_called() {
    let fd = segment::create_sparse(SEGMENT_SIZE, FIRST_SIZE).expect("memory");
    let mapping =
        || Arc::new(crate::segment::Mapping::new(&fd, SEGMENT_SIZE, false).expect("maps"));
    let recorder = Recorder::in_memory(RingMemory::Shared(mapping()), Source::Kernel, None);
    let name = |number: u32, text: &[u8]| {
        let (class, text) = (pvm_wire::record::Class::State, text.to_vec());
        Record { what: What::Name { class, number, text }, ..record(0) }
    };
    let names: Vec<Record> = (1..=3).map(|n| name(n, &[b'x'; 100][..n as usize * 30])).collect();
    recorder.put_for_all(&names[0]);
    recorder.put(&record(1));
    recorder.put_for_all(&names[1]);
    let mut cells = Vec::new();
    let all = (usize::MAX, usize::MAX);
    assert_eq!(Reader::new(mapping()).drain(all, false, &mut cells).taken, 3);
    recorder.put_for_all(&names[2]);
    let later = Reader::new(mapping());
    assert_eq!(decode(&later.names()), names);
    // What finds no cells there any more is in the ring alone, and a number that lies reads no
    // farther.
    let long = name(4, &[b'y'; 4096]);
    (0..100).for_each(|_| recorder.put_for_all(&long));
    assert_eq!(decode(&later.names()).len(), 3 + 8192 / long.cells());
    recorder.memory.header().names.0.store(u64::MAX, Ordering::Relaxed);
    assert_eq!(later.names().len(), 8192);
    recorder.put_for_all(&long);
}

#[test]
fn a_reader_that_is_replaced_goes_on_and_what_the_first_one_lost_is_known() {
    let recorder = Recorder::on_heap(4, 3);
    (0..6).for_each(|i| recorder.put(&record(i)));
    let mut first = recorder.reader();
    let mut cells = Vec::new();
    first.drain((5, usize::MAX), false, &mut cells);
    first.pass(3);
    drop(first);
    let mut second = recorder.reader();
    assert_eq!(second.counts(), (5, 3));
    assert_eq!(all(&mut second).0, [record(5)]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no memory files")]
fn rings_of_a_host_share_a_budget_and_give_it_back() {
    let (mapping, host) = mapped();
    host.rings().store(HOST_BYTES - 3 * (1 << 20), Ordering::Relaxed);
    let recorder = Recorder::new(mapping.clone(), host.clone());
    let many = 3 * REGION_CELLS as u64;
    (0..many).for_each(|i| recorder.put(&record(i)));
    assert_eq!(all(&mut recorder.reader()).1, REGION_CELLS as u64, "2 MiB more, not 4");
    assert_eq!(host.rings().load(Ordering::Relaxed), HOST_BYTES - (1 << 20));
    assert_eq!(grown_bytes(&mapping), 2 << 20);
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no memory files")]
fn scribbled_rings_cost_nothing_but_their_records() {
    let (mapping, host) = mapped();
    let recorder = Recorder::new(mapping.clone(), host);
    for filler in [0xff, 0x80, 1, 0x7f] {
        mapping.write(0, &vec![filler; FIRST_SIZE]);
        let mut reader = Reader::new(mapping.clone());
        let mut cells = Vec::new();
        for ended in [false, true] {
            reader.drain((1000, 1000), ended, &mut cells);
            assert!(cells.len() <= 2 * (1000 + 255));
        }
        reader.fullness();
        (0..100).for_each(|i| recorder.put(&record(i)));
    }
}
