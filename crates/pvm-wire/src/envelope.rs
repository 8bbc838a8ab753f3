//! The envelope that every message has besides its data.

use crate::{Address, Blob, DecodeError, Encoding, Layout, Reader, Run, RunList, Tid, Wire};

/// The addresses, the encoding and the sizes of a message.
///
/// ```text
/// offset 0      4      8      12        16        17      18     20         24
///        src    dst    tag    context   encoding  layout  flags  run_count  wait_id
///        28     32         40          48         56
///        (0)    data_size  first_run   sequence
/// ```
/// All numbers are little-endian. Because of `first_run`, a message with one run needs no list
/// behind the data. In a message without a run list, `first_run` may give the type of all items
/// (`pvm_psend`), so that a host with another layout can read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// The sending task.
    pub src: Tid,
    /// The receiving task.
    pub dst: Tid,
    /// The tag, not negative in what programs send.
    pub tag: i32,
    /// The context.
    pub context: i32,
    /// The encoding of the data.
    pub encoding: Encoding,
    /// The data format of the sender.
    pub layout: Layout,
    /// See [`Envelope::SPREAD`]; unknown bits are ignored.
    pub flags: u16,
    /// The number of runs in the list behind the data. With 0 or 1 run there is no list.
    pub run_count: u32,
    /// `pvm_setminfo`'s wait id.
    pub wait_id: i32,
    /// Bytes of data, without the run list.
    pub data_size: u64,
    /// The first run as [`Run::to_word`], 0 for none.
    pub first_run: u64,
    /// Counts the messages from `src` to `dst`, for traces and checks.
    pub sequence: u64,
}

impl Envelope {
    /// Bytes of the form above.
    pub const SIZE: usize = 56;
    /// No flag.
    pub const NO_FLAGS: u16 = 0;
    /// The message is for several tasks of another host: `dst` is that host, `sequence` counts
    /// the receivers, whose ids and numbers come behind the body (see [`crate::spread`]).
    pub const SPREAD: u16 = 1;

    /// Makes the envelope of an empty message from `src` to an address.
    pub const fn new(src: Tid, address: Address) -> Self {
        Self {
            src,
            dst: address.to,
            tag: address.tag.0,
            context: address.context.0,
            encoding: Encoding::Default,
            layout: Layout::NATIVE,
            flags: Self::NO_FLAGS,
            run_count: 0,
            wait_id: 0,
            data_size: 0,
            first_run: 0,
            sequence: 0,
        }
    }

    /// Sets the fields that describe the body.
    #[inline(always)]
    pub fn describe(&mut self, encoding: Encoding, data_size: usize, runs: &RunList) {
        self.encoding = encoding;
        self.data_size = data_size as u64;
        let all_alike = runs.len() == 1 && runs.size() == data_size;
        let listed = encoding.has_runs();
        self.run_count = if listed { runs.len() as u32 } else { 0 };
        self.first_run = if listed || all_alike { runs.get(0).map_or(0, Run::to_word) } else { 0 };
    }

    /// True for a message to several tasks of another host.
    #[inline(always)]
    pub const fn is_spread(&self) -> bool {
        self.flags & Self::SPREAD != 0
    }

    /// Bytes of the run list behind the data.
    #[inline(always)]
    pub const fn run_list_size(&self) -> u64 {
        if self.run_count > 1 { self.run_count as u64 * 8 } else { 0 }
    }

    /// Bytes of data and run list.
    #[inline(always)]
    pub const fn body_size(&self) -> u64 {
        self.data_size.saturating_add(self.run_list_size())
    }

    /// The fixed form.
    pub fn to_array(&self) -> [u8; Self::SIZE] {
        let mut a = [0; Self::SIZE];
        a[0..4].copy_from_slice(&self.src.0.to_le_bytes());
        a[4..8].copy_from_slice(&self.dst.0.to_le_bytes());
        a[8..12].copy_from_slice(&self.tag.to_le_bytes());
        a[12..16].copy_from_slice(&self.context.to_le_bytes());
        a[16] = self.encoding as u8;
        a[17] = self.layout as u8;
        a[18..20].copy_from_slice(&self.flags.to_le_bytes());
        a[20..24].copy_from_slice(&self.run_count.to_le_bytes());
        a[24..28].copy_from_slice(&self.wait_id.to_le_bytes());
        a[32..40].copy_from_slice(&self.data_size.to_le_bytes());
        a[40..48].copy_from_slice(&self.first_run.to_le_bytes());
        a[48..56].copy_from_slice(&self.sequence.to_le_bytes());
        a
    }

    /// Reads and checks the fixed form.
    pub fn from_array(a: &[u8; Self::SIZE]) -> Result<Self, DecodeError> {
        let u16_at = |i: usize| u16::from_le_bytes([a[i], a[i + 1]]);
        let u32_at = |i: usize| u32::from_le_bytes([a[i], a[i + 1], a[i + 2], a[i + 3]]);
        let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
        Ok(Self {
            src: Tid(u32_at(0)),
            dst: Tid(u32_at(4)),
            tag: u32_at(8).cast_signed(),
            context: u32_at(12).cast_signed(),
            encoding: Encoding::from_number(a[16].into()).ok_or(DecodeError::Range)?,
            layout: Layout::from_number(a[17]).ok_or(DecodeError::Range)?,
            flags: u16_at(18),
            run_count: u32_at(20),
            wait_id: u32_at(24).cast_signed(),
            data_size: u64_at(32),
            first_run: u64_at(40),
            sequence: u64_at(48),
        })
    }

    /// Returns the run list of a body that has no list behind its data, because it has at most one
    /// run.
    ///
    /// # Errors
    /// The run does not describe exactly `data_size` bytes, or there are several.
    #[inline(always)]
    pub fn only_run(&self) -> Result<Option<Run>, DecodeError> {
        let run = match (self.encoding.has_runs(), self.run_count) {
            (true, 0) if self.data_size == 0 => return Ok(None),
            (false, _) if self.first_run == 0 => return Ok(None),
            (true, 1) | (false, _) => Run::from_word(self.first_run)?,
            _ => return Err(DecodeError::Range),
        };
        // A count has 56 bits, so this does not overflow.
        let size = run.count as u64 * run.shape.size() as u64;
        if run.count > 0 && size == self.data_size {
            Ok(Some(run))
        } else {
            Err(DecodeError::Range)
        }
    }

    /// The run list of a body, given the bytes behind the data.
    ///
    /// # Errors
    /// The list does not describe exactly `data_size` bytes.
    #[inline(always)]
    pub fn runs(&self, list: &[u8]) -> Result<RunList, DecodeError> {
        let size = usize::try_from(self.data_size).map_err(|_| DecodeError::Range)?;
        if !self.encoding.has_runs() {
            return match self.first_run {
                0 => Ok(RunList::new()),
                run => RunList::from_words(std::iter::once(run), size),
            };
        }
        match self.run_count {
            0 if size == 0 => Ok(RunList::new()),
            0 => Err(DecodeError::Range),
            1 => RunList::from_words(std::iter::once(self.first_run), size),
            n if list.len() == n as usize * 8 => {
                let words = list
                    .chunks_exact(8)
                    .map(|c| u64::from_le_bytes(c.try_into().expect("chunks of eight")));
                RunList::from_words(words, size)
            }
            _ => Err(DecodeError::Short),
        }
    }
}

impl Wire for Envelope {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_array());
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = input.bytes(Self::SIZE)?;
        Self::from_array(bytes.try_into().map_err(|_| DecodeError::Short)?)
    }
}

crate::record! {
    /// A whole message in ordinary memory, as daemons pass messages on.
    pub struct Message {
        /// The envelope.
        pub envelope: Envelope,
        /// The data, then the run list.
        pub body: Blob,
    }
}

impl Message {
    /// Makes a message with one run of ints, as every notice is.
    pub fn of_ints(envelope: Envelope, ints: &[i32]) -> Self {
        let mut runs = RunList::new();
        runs.push(crate::Kind::Int, ints.len());
        let body: Vec<u8> = ints.iter().flat_map(|i| i.to_ne_bytes()).collect();
        let mut envelope = envelope;
        envelope.describe(Encoding::Default, body.len(), &runs);
        Self { envelope, body: Blob(body) }
    }

    /// True if the body is as long as the envelope says and the runs describe exactly the data.
    pub fn is_sound(&self) -> bool {
        self.body.0.len() as u64 == self.envelope.body_size()
            && usize::try_from(self.envelope.data_size)
                .ok()
                .and_then(|n| self.body.0.get(n..))
                .is_some_and(|list| self.envelope.runs(list).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Tag};

    #[test]
    fn the_only_run_is_what_the_list_says() {
        let sizes = [0, 1, 4, 8, 12];
        let words =
            [0, 1, 3 << 56, 3 << 56 | 2, 1 << 56 | 8, 6 << 56 | 1, 77 << 56 | 1, u64::MAX >> 4];
        for encoding in [Encoding::Default, Encoding::Raw] {
            for (run_count, data_size, first_run) in (0..3)
                .flat_map(|n| sizes.map(|size| (n, size)))
                .flat_map(|(n, size)| words.map(|word| (n, size, word)))
            {
                let about = Envelope::new(Tid(1), Address::new(Tid(2), Tag(3), Context::FIRST));
                let about = Envelope { encoding, run_count, data_size, first_run, ..about };
                let list = about.runs(&[]);
                let expected = list.as_ref().map(|list| list.get(0)).map_err(|_| ());
                assert_eq!(about.only_run().map_err(|_| ()), expected, "{about:?}");
                if let (Ok(list), Ok(run)) = (list, expected) {
                    let mut alike = RunList::new();
                    alike.set(run);
                    assert_eq!(alike, list);
                }
            }
        }
    }

    #[test]
    fn the_fixed_form_comes_back_and_is_checked() {
        let mut envelope =
            Envelope::new(Tid(0x40001), Address::new(Tid(0x80002), Tag(-7), Context(3)));
        envelope.sequence = u64::MAX - 1;
        envelope.data_size = 1 << 40;
        assert_eq!(Envelope::from_array(&envelope.to_array()), Ok(envelope));
        let mut wrong = envelope.to_array();
        wrong[16] = 9;
        assert_eq!(Envelope::from_array(&wrong), Err(DecodeError::Range));
    }

    #[test]
    fn a_message_of_ints_is_sound_and_a_cut_one_is_not() {
        let mut message =
            Message::of_ints(Envelope::new(Tid(1), Address::untagged(Tid(2))), &[1, -2, 3]);
        assert!(message.is_sound());
        message.body.0.pop();
        assert!(!message.is_sound());
    }
}
