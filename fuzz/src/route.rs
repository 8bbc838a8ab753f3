//! The data in the records of a direct route, cut anywhere.

pub(crate) fn run(input: &[u8]) {
    let Some((cut, bytes)) = input.split_first() else { return };
    let (messages, confirmed) = pvm::read_route(bytes, usize::from(*cut));
    // However it is cut, it says the same.
    assert_eq!(pvm::read_route(bytes, usize::MAX), (messages, confirmed));
    assert!(messages <= bytes.len() / 72);
}
