//! A canvas as SVG that stands by itself.

use super::canvas::{Anchor, Canvas, Shape, colour};
use std::fmt::{self, Write as _};

/// Characters of a text; of a longer one the rest is left out.
const TEXT_MAX: usize = 200;

/// The picture.
pub(crate) fn write(canvas: &Canvas) -> String {
    let ((width, height), ink) = (canvas.size, colour::INK);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" fill=\"{ink}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for each in &canvas.shapes {
        // A string takes whatever is written.
        let _ = shape(&mut out, each);
    }
    out + "</svg>\n"
}

fn shape(out: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Rect { at: (x, y), size: (width, height), fill, opacity, tell } => {
            write!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" \
                 fill=\"{fill}\""
            )?;
            if *opacity < 1.0 {
                write!(out, " fill-opacity=\"{opacity:.2}\"")?;
            }
            match tell {
                Some(tell) => writeln!(out, "><title>{}</title></rect>", escaped(tell)),
                None => writeln!(out, "/>"),
            }
        }
        Shape::Line { from, to, stroke, width } => writeln!(
            out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        ),
        Shape::Curve { points, stroke } => {
            write!(out, "<polyline fill=\"none\" stroke=\"{stroke}\" points=\"")?;
            points.iter().try_for_each(|(x, y)| write!(out, "{x:.1},{y:.1} "))?;
            writeln!(out, "\"/>")
        }
        Shape::Text { at: (x, y), anchor, size, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let text = escaped(text);
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" \
                 font-size=\"{size}\">{text}</text>"
            )
        }
    }
}

/// Text as it stands in XML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(TEXT_MAX));
    for c in text.chars().take(TEXT_MAX) {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_place() {
        let mut canvas = Canvas::new(10.0, 10.0, "a < b & \"c\"");
        canvas.told((0.0, 0.0), (1.0, 1.0), ("#000", 1.0), "</title><script>x\u{7}".to_owned());
        let picture = write(&canvas);
        assert!(!picture.contains("<script>"), "{picture}");
        assert!(picture.contains("a &lt; b &amp; &quot;c&quot;"));
        assert_eq!(escaped(&"é".repeat(1 << 16)).chars().count(), 200);
    }
}
