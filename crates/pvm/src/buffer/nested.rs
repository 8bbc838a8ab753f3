//! Messages inside of messages.

use super::{Buffer, Data, Store};
use pvm_wire::{
    Address, Body, Code, Context, Cursor, Encoding, Envelope, Kind, Layout, RunList, Tag, Tid,
};

impl Buffer {
    /// Packs another message's data into this one (`pvm_pkmesgbody`), items as items.
    ///
    /// # Errors
    /// [`Code::Mismatch`] for messages of different encodings; as for [`Buffer::pack`].
    pub fn pack_body(&mut self, other: &Self) -> Result<(), Code> {
        if self.encoding != other.encoding {
            return Err(Code::Mismatch);
        }
        self.append_body(other)
    }

    fn append_body(&mut self, other: &Self) -> Result<(), Code> {
        let data = Data { store: &other.store, size: other.size };
        let body = Body { data: &data, runs: &other.runs, encoding: other.encoding };
        if self.encoding == Encoding::InPlace {
            return self.append_places(other);
        }
        match (self.encoding.has_runs(), other.encoding.has_runs()) {
            (true, true) => {
                let (bytes, runs) = Cursor::new().extract(body, other.runs.xdr_size())?;
                self.append(&bytes)?;
                runs.iter().for_each(|run| self.runs.push_run(run));
                Ok(())
            }
            // Without runs around it, the portable form keeps its portable bytes.
            (false, true) => self.pack(Kind::Byte, &Cursor::new().rest_as_xdr(body)),
            (_, false) => {
                let bytes = other.to_message()?.body.0;
                self.pack(Kind::Byte, &bytes)
            }
        }
    }

    /// The program's memory that another message names belongs to this one, too. One that was taken
    /// out of a message has data of its own, which may be gone when this one is sent.
    fn append_places(&mut self, other: &Self) -> Result<(), Code> {
        if other.size > 0 {
            return Err(Code::NotImpl);
        }
        self.in_place.extend_from_slice(&other.in_place);
        Ok(())
    }

    /// Packs another message with its description, nine ints in front (`pvm_pkmesg`).
    ///
    /// # Errors
    /// As for [`Buffer::pack`].
    pub fn pack_buffer(&mut self, other: &Self) -> Result<(), Code> {
        let about = other.envelope();
        let size = i32::try_from(other.body_size()).map_err(|_| Code::Overflow)?;
        let fields = [
            size,
            about.context,
            about.tag,
            about.wait_id,
            other.encoding.mark(about.layout),
            0,
            about.src.as_c_int(),
            about.dst.as_c_int(),
            size,
        ];
        self.pack(Kind::Int, &fields.map(i32::to_ne_bytes).concat())?;
        self.append_body(other)
    }

    /// Bytes of the data as they are counted inside of another message.
    fn body_size(&self) -> usize {
        if self.encoding.has_runs() { self.runs.xdr_size() } else { self.sent_size() }
    }

    /// Takes out a message that [`Buffer::pack_buffer`] packed.
    ///
    /// # Errors
    /// [`Code::NoData`] or [`Code::BadMsg`].
    pub fn unpack_buffer(&mut self) -> Result<Self, Code> {
        let mut fields = [0; 36];
        self.unpack(Kind::Int, &mut fields)?;
        let field = |i: usize| {
            i32::from_ne_bytes([
                fields[4 * i],
                fields[4 * i + 1],
                fields[4 * i + 2],
                fields[4 * i + 3],
            ])
        };
        let size = usize::try_from(field(0)).map_err(|_| Code::BadMsg)?;
        let (encoding, layout) = Encoding::from_mark(field(4)).ok_or(Code::BadMsg)?;
        let data = Data { store: &self.store, size: self.size };
        let body = Body { data: &data, runs: &self.runs, encoding: self.encoding };
        let (data, runs) = if self.encoding.has_runs() && !encoding.has_runs() {
            if size > body.reported_size() - self.cursor.done() {
                return Err(Code::NoData);
            }
            let mut data = vec![0; size];
            self.cursor.read(body, Kind::Byte, &mut data)?;
            (data, RunList::new())
        } else {
            self.cursor.extract(body, size)?
        };
        let mut inner = Self::new(encoding);
        inner.size = data.len();
        (inner.runs, inner.store) = if encoding.has_runs() && !self.encoding.has_runs() {
            // Portable bytes: as words they read the same through the XDR view.
            let words = data.chunks_exact(4).flat_map(|word| word.iter().rev().copied());
            let mut runs = RunList::new();
            runs.push(Kind::Int, data.len() / 4);
            let words: Vec<u8> =
                if cfg!(target_endian = "little") { words.collect() } else { data };
            inner.size = words.len();
            (runs, Store::Heap(words))
        } else {
            (runs, Store::Heap(data))
        };
        inner.edit(|about| {
            let (source, to) = (Tid::from_c_int(field(6)), Tid::from_c_int(field(7)));
            *about = Envelope {
                wait_id: field(3),
                ..Envelope::new(source, Address::new(to, Tag(field(2)), Context(field(1))))
            };
            if !encoding.has_runs() {
                // Bytes are as they were on the machine that packed them.
                about.layout = layout.unwrap_or(Layout::NATIVE);
            }
        });
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn a_message_inside_of_another_comes_out_as_it_was() {
        let mut inner = Buffer::new(Encoding::Default);
        inner.pack(Kind::Short, &[1, 0, 2, 0]).expect("room");
        inner.pack(Kind::Byte, b"xyz").expect("room");
        inner.edit(|about| about.tag = 42);
        let mut outer = Buffer::new(Encoding::Default);
        outer.pack(Kind::Int, &ints(&[1])).expect("room");
        outer.pack_buffer(&inner).expect("room");
        outer.pack(Kind::Int, &ints(&[2])).expect("room");
        assert_eq!(outer.reported_size(), 4 + 36 + 12 + 4);
        let mut int = [0; 4];
        outer.unpack(Kind::Int, &mut int).expect("before");
        let mut again = outer.unpack_buffer().expect("packed");
        assert_eq!((again.envelope().tag, again.reported_size()), (42, 12));
        let mut out = [0; 4];
        again.unpack(Kind::Short, &mut out).expect("data");
        assert_eq!(out, [1, 0, 2, 0]);
        outer.unpack(Kind::Int, &mut int).expect("behind");
        assert_eq!(int, 2i32.to_ne_bytes());
        assert_eq!(outer.unpack_buffer().err(), Some(Code::NoData));
    }

    #[test]
    fn messages_inside_of_messages_of_another_encoding_keep_their_items() {
        for (outer, inner) in
            [(Encoding::Raw, Encoding::Default), (Encoding::Default, Encoding::Raw)]
        {
            let (mut outer, mut inner) = (Buffer::new(outer), Buffer::new(inner));
            inner.pack(Kind::Double, &1.5f64.to_ne_bytes()).expect("room");
            inner.pack_str(b"text\0").expect("room");
            outer.pack_buffer(&inner).expect("room");
            let mut again = outer.unpack_buffer().expect("packed");
            let mut out = [0; 8];
            again.unpack(Kind::Double, &mut out).expect("data");
            assert_eq!(f64::from_ne_bytes(out), 1.5);
            assert_eq!(again.unpack_str(), Ok(b"text".to_vec()));
            assert_eq!(outer.pack_body(&inner), Err(Code::Mismatch));
        }
    }
}
