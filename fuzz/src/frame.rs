//! A stream of bytes from a socket, cut anywhere: the first byte says into how long pieces.

use pvm_wire::FrameBuffer;

const LIMIT: usize = 4096;

pub(crate) fn run(bytes: &[u8]) {
    let Some((&step, stream)) = bytes.split_first() else { return };
    let mut buffer = FrameBuffer::new(LIMIT);
    let mut taken = 0;
    for piece in stream.chunks(usize::from(step).max(1)) {
        buffer.push(piece);
        loop {
            match buffer.next_frame() {
                Ok(Some((_, payload))) => {
                    assert!(payload.len() <= LIMIT);
                    taken += payload.len();
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    assert!(taken <= stream.len());
}
