//! Records: what a task notes of its own calls, in cells of a fixed size.
//!
//! A call of the library is one record, written at its end: when it began, how long it took, what
//! it returned, and, by kind, its arguments. What happens inside of a call (a wait, a receiver of a
//! multicast, a copy) is a *part*: a record with the call's number and one more of depth, written
//! before it. Times are ticks of the task's clock; [`Scale`] turns them into nanoseconds.
//!
//! ```text
//! head      0 stamp u32   4 kind u8   5 cells u8   6 call u16
//!           8 begin u64
//!          16 length u48 (top bit: in units of 65536 ticks)   22 thread u16
//!          24 result i32  28 small u24   31 depth u4, flags u4 (bit 0: a part)
//! further   0 stamp u32   4 28 bytes, by kind
//! ```
//! Numbers are little-endian. `stamp` belongs to the ring that holds the cell; elsewhere it is 0.
//! `cells` counts the head. A reader skips kinds and further cells that it does not know.
//!
//! | kind | small | further cells |
//! |---|---|---|
//! | 1 call, 6 copy | bytes, if below 2^24 - 1; else that | then: bytes u64 at 8 |
//! | 2 wait | for what u8; flag 1: slept | slept: processor time begin u64 at 8, end u64 at 16 |
//! | 3 send, 4 receive, 7 chunk | encoding u8, way u8, hops u8; receive: flag 1 any source, 2 any tag | peer u32, tag i32, context i32, number u64, bytes u64; send, where they tell something: pieces u32 at 4, wire bytes u64 at 8 |
//! | 5 poll | 0 | source u32, tag i32, context i32 |
//! | 8 group | 0 | name u32, members u32, instance u32, root i32, tag i32, count u64 |
//! | 9 spawn | children u24 | seven i32 in each cell |
//! | 10 mark | name | value i64 at 8 |
//! | 11 state | name | none |
//! | 12 progress | name | done u64 at 8, total u64 at 16 |
//! | 13 route | step u8 | peer u32 |
//! | 14 name | class u8 | number u32, length u32, the text |
//! | 15 gap | reason u8 | lost u64 at 8 |
//! | 16 begin | 0 | parent u32, process u32, name u32 |
//! | 17 end | 0 | status i32, noted u64, lost u64 |

pub mod calls;
mod cells;
pub mod frames;
pub mod kind;
mod note;
mod scale;

pub use cells::{Cell, DecodedRecords};
pub use note::{
    CHILDREN_MAX, Class, DEPTH_MAX, Loss, NAME_BYTES_MAX, NAMES_MAX, Processor, RECORD_CELLS_MAX,
    Reason, Record, RouteKind, RouteStep, Transfer, What,
};
pub use scale::{Moment, Scale};

/// The version of the records and of [`frames`].
pub const RECORD_VERSION: u16 = 2;
