//! TLS 1.3 records (RFC 8446, section 5), sealed and opened with keys from a handshake that
//! somebody else has made.

use crate::sys::undumped::Undumped;
use pvm_wire::route::{Cipher, RecordKey};
use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};

/// Most data in one record.
pub(crate) const DATA_MAX: usize = 16 << 10;
/// In front of the data: kind, version, length.
const HEADER: usize = 5;
/// Behind the data: the inner kind and the tag.
const TRAILER: usize = 17;
const APPLICATION_DATA: u8 = 23;
/// With one key no more records than this are sealed (RFC 8446, section 5.5: 2^24.5 full ones).
pub(crate) const RECORDS_MAX: u64 = 1 << 24;

/// A record that was not sealed by the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Forged;

/// One direction.
#[derive(Debug)]
struct Direction {
    key: LessSafeKey,
    iv: [u8; 12],
    sequence: u64,
}

impl Direction {
    fn new(secret: &RecordKey) -> Option<Self> {
        let algorithm = match secret.cipher {
            Cipher::Aes128 => &AES_128_GCM,
            Cipher::Aes256 => &AES_256_GCM,
            Cipher::ChaCha20 => &CHACHA20_POLY1305,
        };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, &secret.key.0).ok()?);
        let iv = secret.iv.0.as_slice().try_into().ok()?;
        Some(Self { key, iv, sequence: secret.sequence })
    }

    /// A nonce is used once: the number goes up with each.
    fn nonce(&mut self) -> Nonce {
        let mut nonce = self.iv;
        for (byte, number) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= number;
        }
        self.sequence += 1;
        Nonce::assume_unique_for_key(nonce)
    }
}

/// Seals the data that this end sends.
#[derive(Debug)]
pub(crate) struct Sealer(Undumped<Direction>);

impl Sealer {
    /// With this key; none if it is no key.
    pub(crate) fn new(secret: &RecordKey) -> Option<Self> {
        Undumped::new(|| Direction::new(secret)).map(Self)
    }

    /// The number of records that this key has sealed.
    pub(crate) fn records(&self) -> u64 {
        self.0.sequence
    }

    /// Appends a record of `size` bytes, at most [`DATA_MAX`], that `fill` puts there.
    pub(crate) fn seal(&mut self, out: &mut Sealed, size: usize, fill: impl FnOnce(&mut [u8])) {
        debug_assert!(size <= DATA_MAX);
        let length = ((size + TRAILER) as u16).to_be_bytes();
        let header = [APPLICATION_DATA, 3, 3, length[0], length[1]];
        let record = out.room(HEADER + size + TRAILER);
        record[..HEADER].copy_from_slice(&header);
        let (inner, tag) = record[HEADER..].split_at_mut(size + 1);
        fill(&mut inner[..size]);
        inner[size] = APPLICATION_DATA;
        let (nonce, aad) = (self.0.nonce(), Aad::from(header));
        // Sealing fails only for data of 64 GiB. Nothing goes out unsealed.
        if let Ok(sealed) = self.0.key.seal_in_place_separate_tag(nonce, aad, inner) {
            tag.copy_from_slice(sealed.as_ref());
            out.end += HEADER + size + TRAILER;
        }
    }
}

/// Sealed records on their way to the socket. The memory is kept and never cleared: all in it is
/// sealed or was written over.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    bytes: Vec<u8>,
    end: usize,
}

impl Sealed {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), end: 0 }
    }

    /// The records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// They are sent.
    pub(crate) const fn clear(&mut self) {
        self.end = 0;
    }

    fn room(&mut self, size: usize) -> &mut [u8] {
        let end = self.end + size;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.end..end]
    }
}

/// Opens the records that the other end has sent.
#[derive(Debug)]
pub(crate) struct Opener(Undumped<Direction>);

impl Opener {
    /// With this key; none if it is no key.
    pub(crate) fn new(secret: &RecordKey) -> Option<Self> {
        Undumped::new(|| Direction::new(secret)).map(Self)
    }

    /// The first record in `bytes`, if it is there as a whole: its data, and how many bytes it
    /// took.
    ///
    /// # Errors
    /// It was not sealed by the other end, or is no record of data.
    pub(crate) fn open<'a>(
        &mut self,
        bytes: &'a mut [u8],
    ) -> Result<Option<(&'a [u8], usize)>, Forged> {
        let Some(header) = bytes.first_chunk::<HEADER>().copied() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let known = header[..3] == [APPLICATION_DATA, 3, 3];
        if !known || !(TRAILER..=DATA_MAX + TRAILER + 255).contains(&length) {
            return Err(Forged);
        }
        let Some(sealed) = bytes.get_mut(HEADER..HEADER + length) else { return Ok(None) };
        let (nonce, aad) = (self.0.nonce(), Aad::from(header));
        let opened = self.0.key.open_in_place(nonce, aad, sealed).map_err(|_| Forged)?;
        // Zeros may stand behind the inner kind.
        let end = opened.iter().rposition(|byte| *byte != 0).ok_or(Forged)?;
        if opened[end] != APPLICATION_DATA {
            return Err(Forged);
        }
        Ok(Some((&opened[..end], HEADER + length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::route::Secret;

    fn secret(cipher: Cipher, seed: u8) -> RecordKey {
        let size = if cipher == Cipher::Aes128 { 16 } else { 32 };
        let key = Secret((0..size).map(|n| n * 7 + seed).collect());
        RecordKey { cipher, key, iv: Secret(vec![seed; 12]), sequence: 2 }
    }

    #[test]
    fn records_come_back_however_the_stream_is_cut() {
        for cipher in [Cipher::Aes128, Cipher::Aes256, Cipher::ChaCha20] {
            let secret = secret(cipher, 3);
            let (mut sealer, mut opener) =
                (Sealer::new(&secret).expect("a key"), Opener::new(&secret).expect("a key"));
            let mut stream = Sealed::new();
            for size in [0, 1, 80, 5000, DATA_MAX] {
                sealer.seal(&mut stream, size, |out| out.fill(size as u8));
            }
            let mut sizes = Vec::new();
            let mut got: Vec<u8> = Vec::new();
            for part in stream.bytes().chunks(777) {
                got.extend_from_slice(part);
                while let Some((data, used)) = opener.open(&mut got).expect("ours") {
                    assert!(data.iter().all(|byte| *byte == data.len() as u8));
                    sizes.push(data.len());
                    got.drain(..used);
                }
            }
            assert_eq!(sizes, [0, 1, 80, 5000, DATA_MAX]);
            assert_eq!(sealer.records(), 7);
        }
    }

    #[test]
    fn what_was_sent_leaves_nothing_in_what_is_sealed_next() {
        let secret = secret(Cipher::Aes128, 5);
        let (mut sealer, mut opener) =
            (Sealer::new(&secret).expect("a key"), Opener::new(&secret).expect("a key"));
        let mut out = Sealed::new();
        for size in [5000, 3, 0, 5000, 17] {
            out.clear();
            sealer.seal(&mut out, size, |out| out.fill(7));
            let mut bytes = out.bytes().to_vec();
            let (data, used) = opener.open(&mut bytes).expect("ours").expect("whole");
            assert_eq!((data, used), (&vec![7; size][..], size + HEADER + TRAILER));
        }
    }

    /// As they come from the host, in a frame of its socket.
    #[test]
    fn the_keys_of_a_route_lie_in_no_core_file_from_their_arrival_on() {
        use crate::connection::Connection;
        use crate::sys::undumped::tests::places_in_core;
        use pvm_wire::request::Reply;
        use pvm_wire::route::Route;
        use pvm_wire::{Tid, write_frame};
        use std::io::Write;
        use zeroize::Zeroize;

        let mask = std::hint::black_box(0x3d);
        let masked = |n: usize, seed: u8| -> Vec<u8> {
            (0..n as u8).map(|i| i.wrapping_mul(29).wrapping_add(seed) ^ 0x91).collect()
        };
        let folder = std::env::temp_dir().join(format!("pvm-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("socket");
        let host = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let mut connection = Connection::open(&path).expect("our own");
        let (mut socket, _) = host.accept().expect("it connects");
        for (cipher, size) in [(Cipher::Aes128, 16), (Cipher::Aes256, 32), (Cipher::ChaCha20, 32)] {
            let (one, other) = (masked(size, 1), masked(size, 2));
            let key = |masked: &[u8]| RecordKey {
                cipher: cipher.clone(),
                key: Secret(masked.iter().map(|byte| byte ^ mask).collect()),
                iv: Secret(vec![0; 12]),
                sequence: 0,
            };
            let route =
                Route { peer: Tid(0x80001), first: true, seal: key(&one), open: key(&other) };
            let mut frame = Vec::with_capacity(4096);
            write_frame(&mut frame, 0, &Reply::Route { route });
            socket.write_all(&frame).expect("a reader");
            frame.zeroize();
            connection.receive().expect("a frame");
            let Some((Reply::Route { route }, _)) = connection.take_told() else { panic!("told") };
            assert!(!places_in_core(&one, mask).is_empty(), "the question finds what is there");
            let sealer = Sealer::new(&route.seal).expect("a key");
            let opener = Opener::new(&route.open).expect("a key");
            drop(route);
            for masked in [&one, &other] {
                assert_eq!(places_in_core(masked, mask), Vec::<String>::new(), "{cipher:?}");
            }
            drop((sealer, opener));
        }
        std::fs::remove_dir_all(folder).expect("ours");
    }

    #[test]
    fn a_changed_repeated_or_omitted_record_is_noticed() {
        let secret = secret(Cipher::Aes128, 9);
        let mut sealed = Sealed::new();
        let mut sealer = Sealer::new(&secret).expect("a key");
        sealer.seal(&mut sealed, 10, |out| out.fill(1));
        let first = sealed.bytes().len();
        sealer.seal(&mut sealed, 10, |out| out.fill(2));
        let stream = sealed.bytes().to_vec();
        for place in 0..first {
            let mut spoilt = stream[..first].to_vec();
            spoilt[place] ^= 1;
            // A longer length waits for more bytes.
            let opened =
                Opener::new(&secret).expect("a key").open(&mut spoilt).map(|o| o.is_some());
            assert!(matches!(opened, Err(Forged) | Ok(false)), "{place}: {opened:?}");
        }
        let mut opener = Opener::new(&secret).expect("a key");
        assert!(opener.open(&mut stream.clone()[..first]).is_ok());
        assert_eq!(opener.open(&mut stream.clone()[..first]), Err(Forged));
        let mut opener = Opener::new(&secret).expect("a key");
        assert_eq!(opener.open(&mut stream.clone()[first..]), Err(Forged));
    }
}
