use super::holders::strike_out;
use super::*;
use crate::credit::KEPT_BYTES;

fn open(bytes: usize) -> Result<(SegmentId, Arc<Mapping>), Code> {
    Ok((7, Arc::new(Mapping::of_a_test(bytes).map_err(|_| Code::NoMem)?)))
}

#[test]
fn a_slab_is_used_again_only_when_its_readers_are_done() {
    let pool = Pool::new();
    let me = Tid(0x40002);
    let mut slab = pool.take(100_000, open).expect("memory");
    slab.write(5, b"data");
    let descriptor = slab.hold_for(me).expect("room");
    let mapping = slab.slot().mapping.clone();
    let offset = slab.slot().offset;
    let view = SlabView::new(mapping.clone(), me, descriptor, 9).expect("inside");
    drop(slab);
    assert_eq!(pool.in_flight(), 1);
    let mut out = [0; 4];
    view.read(5, &mut out);
    assert_eq!(&out, b"data");
    drop(view);
    assert_eq!(pool.in_flight(), 0);
    let again = pool.take(100_000, |_| panic!("a slot is free")).expect("memory");
    assert_eq!(again.slot().offset % 4096, offset % 4096);
}

#[test]
fn a_slab_that_is_read_each_time_can_be_sent_for_ever_and_stays_where_it_is() {
    let pool = Pool::new();
    let mut slab = pool.take(100_000, open).expect("memory");
    let (mapping, address) = (slab.slot().mapping.clone(), slab.address(0, 1));
    let mut unread = Vec::new();
    for round in 0..5 * HOLDERS {
        let descriptor = slab.hold_for(Tid(0x40002)).expect("earlier ones are read");
        let view = SlabView::new(mapping.clone(), Tid(0x40002), descriptor, 9).expect("inside");
        // A few readers are slow, and places between those of the others stay taken.
        if round % 500 == 7 {
            unread.push(view);
        } else {
            drop(view);
        }
        assert_eq!(slab.address(0, 1), address);
        assert_eq!(slab.is_unread(), unread.is_empty(), "{round}");
    }
    let more = (unread.len()..slab.slot().holders).map(|_| slab.hold_for(Tid(0x40003)));
    assert!(more.collect::<Vec<_>>().iter().all(Option::is_some));
    assert_eq!(slab.hold_for(Tid(0x40003)), None, "so many read");
    let struck = unread.pop().map(drop);
    assert!(struck.is_some() && slab.hold_for(Tid(0x40003)).is_some());
    assert_eq!(slab.hold_for(Tid(0x40003)), None);
}

#[test]
fn a_large_slot_is_not_given_to_a_larger_message_of_its_class() {
    let pool = Pool::new();
    drop(pool.take(2_000_000, open).expect("memory"));
    assert!(pool.take(3_000_000, open).expect("memory").capacity() >= 3_000_000);
    assert!(pool.take(1_500_000, |_| panic!("one is free")).is_ok());
}

#[test]
fn two_large_slots_of_a_message_that_goes_to_and_fro_are_not_made_anew() {
    let pool = Pool::new();
    let take = || pool.take(8_000_000, open).expect("memory");
    let (one, other) = (take(), take());
    drop((one, other));
    let free = || pool.take(8_000_000, |_| panic!("two are free")).expect("memory");
    drop((free(), free()));
    assert_eq!(pool.surplus(), []);
    let (first, second, third) = (take(), take(), take());
    drop((first, second, third));
    assert_eq!(pool.surplus().len(), 1, "a third one is not kept");
}

#[test]
fn what_is_kept_of_all_sizes_is_bounded() {
    let pool = Pool::new();
    for size in [1_000_000, 3_000_000, 12_000_000, 30_000_000, 40_000_000] {
        drop((pool.take(size, open).expect("memory"), pool.take(size, open).expect("memory")));
        assert!(pool.opened() <= KEPT_BYTES + (1 << 20), "{} of {size}", pool.opened());
    }
    assert!(pool.opened() >= 8_000_000, "the small ones are kept");
}

#[test]
fn a_dead_reader_is_struck_out() {
    let pool = Pool::new();
    let mut slab = pool.take(10, open).expect("memory");
    let mapping = slab.slot().mapping.clone();
    slab.hold_for(Tid(1)).expect("room");
    slab.hold_for(Tid(2)).expect("room");
    assert!(!strike_out(&mapping, Some(Tid(1))));
    assert!(!slab.is_unread());
    strike_out(&mapping, Some(Tid(2)));
    assert!(strike_out(&mapping, None) && slab.is_unread());
}

#[test]
fn descriptors_that_lie_name_nothing() {
    let (_, mapping) = open(3 * PAGE).expect("memory");
    let good = Descriptor { segment: 7, holder: 0, offset: PAGE as u64 };
    assert_eq!(Descriptor::from_slice(&good.to_array()), Some(good));
    let view = |d, size| SlabView::new(mapping.clone(), Tid(1), d, size).is_some();
    assert!(view(good, 2 * PAGE as u64));
    assert!(!view(good, 2 * PAGE as u64 + 1) && !view(good, u64::MAX));
    assert!(!view(Descriptor { offset: 0, ..good }, 1));
    assert!(!view(Descriptor { offset: u64::MAX, ..good }, 1));
    assert!(!view(Descriptor { holder: HOLDERS as u32, ..good }, 1));
}
