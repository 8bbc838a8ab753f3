//! Messages of ints and texts, between daemons and the tasks that do a part of their work.
//!
//! Packed as `pvm_pkint` and `pvm_pkstr` do in the default encoding: a text is its length with the
//! 0 at its end, then its bytes.

use pvm_wire::{
    Address, Blob, Body, Code, Context, Cursor, Encoding, Envelope, Kind, Message, RunList, Tag,
    Tid, foreign,
};

/// A message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    data: Vec<u8>,
    runs: RunList,
}

impl Parcel {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn int(mut self, value: i32) -> Self {
        self.data.extend(value.to_ne_bytes());
        self.runs.push(Kind::Int, 1);
        self
    }

    /// A length or a count.
    pub(crate) fn count(self, count: usize) -> Self {
        self.int(i32::try_from(count).expect("what fits a frame can be counted"))
    }

    pub(crate) fn ints(self, values: &[i32]) -> Self {
        values.iter().fold(self, |parcel, &value| parcel.int(value))
    }

    pub(crate) fn tid(self, tid: Tid) -> Self {
        self.int(tid.as_c_int())
    }

    pub(crate) fn text(self, text: &[u8]) -> Self {
        // A C text ends at its first 0.
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        let mut parcel = self.count(text.len() + 1);
        parcel.data.extend_from_slice(text);
        parcel.data.push(0);
        parcel.runs.push(Kind::Byte, text.len() + 1);
        parcel
    }

    /// A count, then that many texts.
    pub(crate) fn texts(self, texts: &[Blob]) -> Self {
        texts.iter().fold(self.count(texts.len()), |parcel, text| parcel.text(&text.0))
    }

    /// The message: from whom, with what tag, and the number that its answer will carry.
    pub(crate) fn message(self, from: Tid, to: Tid, tag: i32, wait: i32) -> Message {
        let Self { data: mut body, runs } = self;
        let mut envelope = Envelope::new(from, Address::new(to, Tag(tag), Context::FIRST));
        envelope.wait_id = wait;
        envelope.describe(Encoding::Default, body.len(), &runs);
        if runs.len() > 1 {
            body.extend(runs.iter().flat_map(|run| run.to_word().to_le_bytes()));
        }
        Message { envelope, body: Blob(body) }
    }
}

/// A message that is being read. Whatever it lacks is [`Code::BadMsg`].
#[derive(Debug)]
pub(crate) struct Opened {
    data: Vec<u8>,
    runs: RunList,
    encoding: Encoding,
    cursor: Cursor,
}

impl Opened {
    pub(crate) fn new(message: &Message) -> Result<Self, Code> {
        // As in PVM only what every machine can read counts.
        if !message.is_sound() || message.envelope.encoding != Encoding::Default {
            return Err(Code::BadMsg);
        }
        let mut envelope = message.envelope;
        let size = usize::try_from(envelope.data_size).map_err(|_| Code::BadMsg)?;
        let (data, list) = message.body.0.split_at_checked(size).ok_or(Code::BadMsg)?;
        let mut runs = envelope.runs(list).map_err(|_| Code::BadMsg)?;
        let data = foreign::make_native(&mut envelope, &mut runs, data.to_vec())?;
        Ok(Self { data, runs, encoding: envelope.encoding, cursor: Cursor::new() })
    }

    fn read(&mut self, kind: Kind, out: &mut [u8]) -> Result<(), Code> {
        let body = Body { data: &self.data, runs: &self.runs, encoding: self.encoding };
        self.cursor.read(body, kind, out).map_err(|_| Code::BadMsg)
    }

    /// Bytes that are left, as `pvm_bufinfo` counts them.
    fn left(&self) -> usize {
        let body = Body { data: &self.data, runs: &self.runs, encoding: self.encoding };
        body.reported_size().saturating_sub(self.cursor.done())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    pub(crate) fn int(&mut self) -> Result<i32, Code> {
        let mut bytes = [0; 4];
        self.read(Kind::Int, &mut bytes)?;
        Ok(i32::from_ne_bytes(bytes))
    }

    pub(crate) fn tid(&mut self) -> Result<Tid, Code> {
        self.int().map(Tid::from_c_int)
    }

    /// A count of things that take at least four bytes each.
    pub(crate) fn count(&mut self) -> Result<usize, Code> {
        let count = usize::try_from(self.int()?).map_err(|_| Code::BadMsg)?;
        if count > self.left() / 4 { Err(Code::BadMsg) } else { Ok(count) }
    }

    pub(crate) fn ints(&mut self, count: usize) -> Result<Vec<i32>, Code> {
        (0..count).map(|_| self.int()).collect()
    }

    pub(crate) fn text(&mut self) -> Result<Blob, Code> {
        let size = usize::try_from(self.int()?).map_err(|_| Code::BadMsg)?;
        if size > self.left() {
            return Err(Code::BadMsg);
        }
        let mut text = vec![0; size];
        self.read(Kind::Byte, &mut text)?;
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(size);
        text.truncate(end);
        Ok(Blob(text))
    }

    pub(crate) fn texts(&mut self) -> Result<Vec<Blob>, Code> {
        let count = self.count()?;
        (0..count).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Message {
        let parcel = Parcel::new().int(-7).text(b"h1").texts(&["a".into(), Blob::default()]);
        parcel.ints(&[1, 2]).message(Tid(0x40001), Tid(0x40002), 9, 5)
    }

    #[test]
    fn what_was_written_is_read_in_order() {
        let message = written();
        assert!(message.is_sound());
        assert_eq!((message.envelope.tag, message.envelope.wait_id), (9, 5));
        let mut opened = Opened::new(&message).expect("sound");
        assert_eq!(opened.int(), Ok(-7));
        assert_eq!(opened.text(), Ok("h1".into()));
        assert_eq!(opened.texts(), Ok(vec!["a".into(), Blob::default()]));
        assert_eq!(opened.ints(2), Ok(vec![1, 2]));
        assert!(opened.is_at_end());
        assert_eq!(opened.int(), Err(Code::BadMsg));
    }

    #[test]
    fn counts_and_lengths_that_lie_are_refused() {
        let open =
            |parcel: Parcel| Opened::new(&parcel.message(Tid(1), Tid(2), 0, 0)).expect("sound");
        assert_eq!(open(Parcel::new().int(i32::MAX)).texts(), Err(Code::BadMsg));
        assert_eq!(open(Parcel::new().int(-1).int(0)).count(), Err(Code::BadMsg));
        assert_eq!(open(Parcel::new().int(9).text(b"abc")).text(), Err(Code::BadMsg));
        let mut cut = written();
        cut.body.0.pop();
        assert!(Opened::new(&cut).is_err());
    }
}
