//! Bytes as a part's script and as an order of a calibration; and as a trace whose actions become
//! scripts.

#[allow(dead_code)]
#[path = "../../crates/pvm-cli/src/predict/calibrate/order.rs"]
mod calibrated;
#[allow(dead_code)]
#[path = "../../crates/pvm-cli/src/predict/script.rs"]
mod rehearsed;

use calibrated::Order;
use pvm_predict::Source as _;
use pvm_predict::source::Ranks;
use rehearsed::{BYTES_MAX, Script, sent};
use std::io::Cursor;

/// Actions of a task: a call of all ranks is very many messages.
const ACTIONS_MAX: usize = 1 << 10;

pub(crate) fn run(bytes: &[u8]) {
    if let Some(steps) = Script::from_bytes(bytes) {
        let mut script = Script::default();
        steps.iter().for_each(|step| script.push(step));
        assert_eq!(script.to_bytes(), bytes);
    }
    if let Some(order) = Order::from_bytes(bytes) {
        assert_eq!(order.to_bytes(), bytes);
    }
    let Ok(mut source) = Ranks::new(vec![Cursor::new(bytes)], 1e9) else { return };
    let matching = source.matching();
    for task in 0..source.tasks().min(64) {
        let (mut script, mut fits) = (Script::default(), true);
        for _ in 0..ACTIONS_MAX {
            let Ok(Some(action)) = source.next(task) else { break };
            fits &= sent(&action) <= BYTES_MAX;
            assert!(script.act(&action, matching));
        }
        assert_eq!(Script::from_bytes(&script.to_bytes()).is_some(), fits);
    }
}
