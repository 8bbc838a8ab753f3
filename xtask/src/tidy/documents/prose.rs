//! Taking a page of Markdown apart: what stands in backticks, in blocks of code, and in plain
//! prose.

/// A piece of a page and the line (from 1) on which it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) line: usize,
    pub(super) text: String,
}

/// The texts in backticks outside of blocks of code. A span may go on in the next line, but not
/// past its paragraph.
pub(super) fn spans(page: &str) -> Vec<Span> {
    paragraphs(page).iter().flat_map(|(line, text)| spans_of(*line, text)).collect()
}

/// The words of plain prose: outside of blocks, backticks and the targets of links.
pub(super) fn bare_words(page: &str) -> Vec<Span> {
    let mut words = Vec::new();
    for (number, line) in outside_blocks(page) {
        for prose in line.split('`').step_by(2) {
            let parts = prose.split(|c: char| c.is_whitespace() || "()[],;:|*<>\"".contains(c));
            let parts =
                parts.map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty());
            words.extend(parts.map(|word| Span { line: number, text: word.to_owned() }));
        }
    }
    words
}

/// The lines of blocks of code, without what stands behind a `#`.
pub(super) fn commands(page: &str) -> Vec<Span> {
    let mut inside = false;
    let mut found = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            let command = line.split(" #").next().unwrap_or(line).trim().trim_start_matches("$ ");
            found.push(Span { line: at + 1, text: command.to_owned() });
        }
    }
    found
}

/// The lines that are not in blocks of code, with their numbers.
pub(super) fn outside_blocks(page: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let numbered = page.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered
        .filter(|(_, line)| {
            let fence = line.trim_start().starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
        .collect()
}

/// Lines that belong together: a row of a table stands alone, other lines go on until an empty one.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut next = 0;
    for (number, line) in outside_blocks(page) {
        let goes_on = number == next && !line.starts_with('|') && !line.trim().is_empty();
        match all.last_mut().filter(|_| goes_on) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(line.trim_start());
            }
            None => all.push((number, line.to_owned())),
        }
        next = if line.trim().is_empty() || line.starts_with('|') { 0 } else { number + 1 };
    }
    all
}

fn spans_of(first_line: usize, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut line = first_line;
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        line += breaks(&rest[..at]);
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let inside = &rest[at + ticks..];
        let Some(end) = inside.find(&"`".repeat(ticks)) else { break };
        found.push(Span { line, text: inside[..end].replace('\n', " ") });
        line += breaks(&inside[..end]);
        rest = &inside[end + ticks..];
    }
    found
}

fn breaks(text: &str) -> usize {
    text.matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(spans: Vec<Span>) -> Vec<(usize, String)> {
        spans.into_iter().map(|span| (span.line, span.text)).collect()
    }

    #[test]
    fn a_span_has_its_line_and_may_be_broken() {
        let page =
            "# A\n\none `a` two `b\nc` and\n`d`\n\n```\n`no`\n```\n| `x` | `y` |\n| `z` | |\n";
        let expected = [(3, "a"), (3, "b c"), (5, "d"), (10, "x"), (10, "y"), (11, "z")];
        let found = texts(spans(page));
        let found: Vec<(usize, &str)> = found.iter().map(|(l, t)| (*l, t.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_open_backtick_ends_with_its_paragraph() {
        assert_eq!(texts(spans("one ` two\n\nthree `four`\n")), [(3, "four".to_owned())]);
    }

    #[test]
    fn words_and_commands_are_told_apart() {
        let page = "see a/b (c/d), `e/f`.\n\n```\nmake x   # why\n```\n";
        let words: Vec<String> = bare_words(page).into_iter().map(|word| word.text).collect();
        assert_eq!(words, ["see", "a/b", "c/d"]);
        assert_eq!(texts(commands(page)), [(4, "make x".to_owned())]);
    }
}
