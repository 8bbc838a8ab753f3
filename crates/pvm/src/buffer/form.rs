//! The forms of buffers that brief calls tell apart.

/// The form of a buffer as one number, for the fast path of a call that knows one form only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Form {
    /// None of these.
    Other,
    /// In memory of its own, of this computer's layout, in default encoding.
    Default,
    /// Like `Default`, but raw and without runs.
    Raw,
    /// Like `Raw`, but with a run that tells the type of its items.
    Typed,
    /// To be sent in place, of this computer's layout; it has the memory of a small message beside.
    InPlace,
}
