//! Texts: a length, and the bytes with their final NUL.

use super::Buffer;
use pvm_wire::{Kind, Run};

impl Buffer {
    /// False if the next items are surely no text: in the default encoding a text is the last of
    /// some ints, its length, and bytes behind it. Raw data do not say, and behind the end there is
    /// nothing that could be none.
    pub fn may_be_text(&self) -> bool {
        let read = self.read_size();
        if !self.encoding.has_runs() || self.reported_size() <= read {
            return true;
        }
        let length = Run { shape: Kind::Int.shape().0, count: 1 }.xdr_size();
        let mut end = 0;
        let mut runs = self.runs.iter().skip_while(|run| {
            end += run.xdr_size();
            end <= read
        });
        let mut is_next =
            |kind: Kind| runs.next().is_some_and(|run| run.shape.same_bits(kind.shape().0));
        is_next(Kind::Int) && is_next(Kind::Byte) && end == read + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Encoding;

    #[test]
    fn integers_were_read_as_a_text() {
        let mut buffer = Buffer::new(Encoding::Default);
        let mut ints = [1i32, 2, 3].map(i32::to_ne_bytes).concat();
        buffer.pack(Kind::Int, &ints).expect("room");
        buffer.pack_str(b"text\0").expect("room");
        buffer.pack(Kind::Int, &ints[..4]).expect("room");
        buffer.pack(Kind::Byte, b"of no length").expect("room");
        assert!(!buffer.may_be_text());
        buffer.unpack(Kind::Int, &mut ints).expect("data");
        assert!(buffer.may_be_text());
        assert_eq!(buffer.unpack_str(), Ok(b"text".to_vec()));
        assert!(buffer.may_be_text(), "whatever is behind it, it looks like one");
        buffer.unpack(Kind::Int, &mut ints[..4]).expect("data");
        assert!(!buffer.may_be_text());
        buffer.unpack(Kind::Byte, &mut [0; 12]).expect("data");
        assert!(buffer.may_be_text(), "there is nothing that could be none");
    }
}
