//! The version of this program.

/// The mark stands in the program file as it is, so that the file alone tells its version.
static MARK: &str = concat!("NeoPVM version ", env!("CARGO_PKG_VERSION"));

/// NeoPVM's version.
pub(crate) fn version() -> &'static str {
    let mark = std::hint::black_box(MARK);
    mark.rsplit(' ').next().unwrap_or(mark)
}
