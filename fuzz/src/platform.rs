//! Bytes as a platform file.

use pvm_predict::platform::Platform;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(platform) = Platform::parse(text) {
        let line = platform.line();
        assert!(line.byte.is_finite() && line.byte >= 0.0);
    }
}
