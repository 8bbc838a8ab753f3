//! A safety note says why the code is safe at its place. That somebody promised something is not
//! enough: the note names what is promised (not null, so many elements, ends with 0).

use super::finding::Finding;
use crate::source::Source;

/// The promises at which a note may not stop.
const PROMISES: [&str; 3] = ["program's promise", "caller's promise", "interpreter's promise"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().filter(|source| source.is_rust()).flat_map(bare_notes).collect()
}

fn bare_notes(source: &Source) -> Vec<Finding> {
    let numbered = source.text.lines().enumerate();
    let bare = numbered.filter(|(_, line)| {
        line.trim_start().starts_with("// SAFETY:") && PROMISES.iter().any(|one| line.contains(one))
    });
    let finding = |(at, _)| {
        let what = "a promise is no reason: say what is promised, and what of it holds here";
        Finding::error(format!("{}:{}", source.path, at + 1), what)
    };
    bare.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_only_tells_of_a_promise_is_found() {
        let text = "// SAFETY: not null, and the caller's promise.\nunsafe { a() };\n\
                    // SAFETY: not null, so it has `count` elements.\nunsafe { b() };\n\
                    // What the caller's promise is worth.\n";
        let found = check(&[Source::new("crates/x/src/a.rs", text)]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["crates/x/src/a.rs:1"]);
    }
}
