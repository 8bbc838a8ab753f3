//! Items of a message shown where they lie.

use super::{Body, Cursor};
use crate::{Code, Kind, Run, Shape};

impl Cursor {
    /// Passes the next `count` items of `kind` and tells where in the data they begin.
    ///
    /// # Errors
    /// [`Code::NotImpl`] where the next items are of another kind, so that they would have to be
    /// converted, or do not all lie behind one another; [`Code::NoData`] if there are fewer. Then
    /// nothing is passed.
    pub fn view(&mut self, body: Body<'_>, kind: Kind, count: usize) -> Result<usize, Code> {
        let bytes = count.checked_mul(kind.size()).ok_or(Code::NoData)?;
        if !body.encoding.has_runs() {
            let at = self.done;
            if bytes > body.data.size() - at {
                return Err(Code::NoData);
            }
            self.done += bytes;
            return Ok(at);
        }
        let (shape, each) = kind.shape();
        let wanted = Run { shape, count: count.checked_mul(each).ok_or(Code::NoData)? };
        if wanted.count > body.runs.size() || wanted.xdr_size() > body.runs.xdr_size() - self.done {
            return Err(Code::NoData);
        }
        if count == 0 {
            return Ok(self.base);
        }
        let Some(run) = body.runs.get(self.run) else { return Err(Code::NoData) };
        let width = run.shape.xdr_size();
        let at = self.xdr_in_run / width;
        let whole = self.xdr_in_run.is_multiple_of(width);
        if !run.shape.same_bits(shape) || !whole || at + wanted.count > run.count {
            return Err(Code::NotImpl);
        }
        let offset = self.base + at * run.shape.size();
        self.advance(body.runs, wanted.count * width);
        if shape == Shape::Byte && !self.xdr_in_run.is_multiple_of(4) {
            // As with every read, the padding belongs to the call.
            self.advance(body.runs, 4 - self.xdr_in_run % 4);
        }
        Ok(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, RunList};
    use proptest::prelude::*;

    /// Kinds that need no conversion, and how many items of each.
    fn packed() -> impl Strategy<Value = Vec<(Kind, usize)>> {
        let kind = prop_oneof![
            Just(Kind::Byte),
            Just(Kind::Short),
            Just(Kind::Int),
            Just(Kind::Float),
            Just(Kind::Double),
            Just(Kind::Dcplx),
            Just(Kind::Long),
        ];
        prop::collection::vec((kind, 0..9usize), 0..6)
    }

    proptest! {
        /// A view shows what an unpack would have copied, and leaves the message at the same place.
        #[test]
        fn a_view_shows_what_an_unpack_copies(
            packed in packed(),
            asked in packed(),
            raw in any::<bool>(),
        ) {
            let encoding = if raw { Encoding::Raw } else { Encoding::Default };
            let (mut data, mut runs) = (Vec::new(), RunList::new());
            for &(kind, count) in &packed {
                let first = data.len();
                data.extend((0..count * kind.size()).map(|i| (first + i) as u8));
                runs.push(kind, count);
            }
            let body = Body { data: &data, runs: &runs, encoding };
            let (mut viewing, mut reading) = (Cursor::new(), Cursor::new());
            for (kind, count) in asked {
                let before = viewing.done();
                match viewing.view(body, kind, count) {
                    Ok(offset) => {
                        let mut out = vec![0; count * kind.size()];
                        prop_assert_eq!(reading.read(body, kind, &mut out), Ok(()));
                        prop_assert_eq!(&data[offset..offset + out.len()], &out[..]);
                        prop_assert_eq!(viewing.done(), reading.done());
                    }
                    Err(code) => {
                        prop_assert!(matches!(code, Code::NotImpl | Code::NoData));
                        prop_assert_eq!(viewing.done(), before);
                    }
                }
            }
        }
    }
}
