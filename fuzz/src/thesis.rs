//! Bytes as the files of some stations of the thesis: a trace is made of them, or they are refused.

use crate::sddf::check;
use pvm_trace::import;

/// Stations are separated by a byte that is in no such file.
pub(crate) fn run(bytes: &[u8]) {
    let files: Vec<&[u8]> = bytes.splitn(4, |byte| *byte == 0xff).collect();
    check(|writer| import::thesis(files, writer));
}
