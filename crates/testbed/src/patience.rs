//! Waiting for what has no call to wait for it.

use std::time::{Duration, Instant};

/// Looks again and again until `condition` holds; false if it does not within `limit`.
pub fn eventually(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
