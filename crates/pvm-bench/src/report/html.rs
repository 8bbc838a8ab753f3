//! Text as HTML.

/// With the characters that HTML takes for its own written otherwise.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}

/// `<name class="class">content</name>`; the content is HTML already.
pub(super) fn element(name: &str, class: &str, content: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<{name}{class}>{content}</{name}>\n")
}

/// A paragraph of text.
pub(super) fn paragraph(text: &str) -> String {
    element("p", "", &escaped(text))
}

/// Something to be opened; it is open on paper.
pub(super) fn details(title: &str, content: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{content}</details>\n", escaped(title))
}

/// A table of texts. What looks like a number is set to the right.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |name: &str, text: &str| {
        let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
        element(name, if number { "n" } else { "" }, &escaped(text)).trim_end().to_owned()
    };
    let line = |cells: String| format!("<tr>{cells}</tr>\n");
    let head: String = head.iter().map(|text| cell("th", text)).collect();
    let body: String =
        rows.iter().map(|row| line(row.iter().map(|text| cell("td", text)).collect())).collect();
    let inside = format!("\n<thead>{}</thead>\n<tbody>\n{body}</tbody>\n", line(head).trim_end());
    element("div", "wide", &element("table", "", &inside))
}

/// Rows and columns out of single cells, both in the order in which they first appear.
pub(super) fn pivot(corner: &str, cells: &[(String, String, String)]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    let mut lines: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for (row, column, value) in cells {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
        match lines.iter_mut().find(|line| line.0 == row) {
            Some(line) => line.1.push((column, value)),
            None => lines.push((row, vec![(column, value)])),
        }
    }
    let value = |line: &[(&str, &str)], column: &str| {
        line.iter().find(|cell| cell.0 == column).map_or("", |cell| cell.1).to_owned()
    };
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|(row, line)| {
            std::iter::once((*row).to_owned())
                .chain(columns.iter().map(|column| value(line, column)))
                .collect()
        })
        .collect();
    let head: Vec<&str> = std::iter::once(corner).chain(columns).collect();
    table(&head, &rows)
}

/// With three significant digits, and no power of ten where a person would not write one.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&digits) {
        return format!("{value:.2e}");
    }
    let places = (2.0 - digits).clamp(0.0, 8.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let all = [0.0, 1.0, 0.001_234_5, 12.345, 123_456.0, 1.5e9, 0.000_001];
        assert_eq!(all.map(number).join(" "), "0 1.00 0.00123 12.3 123456 1.50e9 1.00e-6");
    }

    #[test]
    fn a_pivot_keeps_the_order_and_leaves_gaps() {
        let cell = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        let html = pivot("size", &[cell("8", "x", "1"), cell("16", "y", "2"), cell("8", "y", "3")]);
        let rows: Vec<&str> = html.lines().filter(|line| line.contains("<td")).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1], "<tr><td class=\"n\">16</td><td></td><td class=\"n\">2</td></tr>");
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
