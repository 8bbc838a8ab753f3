//! The few shapes of our pictures, as SVG that stands by itself.

use std::fmt::Write as _;

/// Colours that people who see red and green alike can tell apart.
pub(super) mod colour {
    pub(crate) const INK: &str = "#222222";
    pub(crate) const FAINT: &str = "#d8d8d8";
    pub(crate) const COMPUTING: &str = "#9ecae1";
    pub(crate) const CALLS: &str = "#0072b2";
    pub(crate) const WAITING: &str = "#e69f00";
    pub(crate) const MESSAGES: &str = "#aa3377";
    pub(crate) const ROW: [&str; 8] =
        ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#555555"];
}

/// A picture that grows.
#[derive(Debug)]
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// On which side of its place a text stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// An empty one with a title.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut canvas = Self { width, height, body: String::new() };
        canvas.text((width / 2.0, 20.0), Anchor::Middle, 15.0, title);
        canvas
    }

    /// A filled box.
    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" \
             fill=\"{fill}\"/>"
        );
    }

    /// A box with a text that is shown when the pointer is over it.
    pub(super) fn told(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        (fill, opacity): (&str, f64),
        tell: &str,
    ) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" \
             fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"><title>{}</title></rect>",
            escaped(tell)
        );
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), (stroke, width): (&str, f64)) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through points.
    pub(super) fn curve(&mut self, points: &[(f64, f64)], stroke: &str) {
        let _ = write!(self.body, "<polyline fill=\"none\" stroke=\"{stroke}\" points=\"");
        for (x, y) in points {
            let _ = write!(self.body, "{x:.1},{y:.1} ");
        }
        self.body += "\"/>\n";
    }

    /// A text.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
            escaped(text)
        );
    }

    /// Coloured boxes with their names, in one line.
    pub(super) fn legend(&mut self, (mut x, y): (f64, f64), names: &[(&str, &str)]) {
        for (fill, name) in names {
            self.rect((x, y - 9.0), (10.0, 10.0), fill);
            self.text((x + 14.0, y), Anchor::Start, 11.0, name);
            x += 32.0 + 6.2 * name.chars().count() as f64;
        }
    }

    /// The picture.
    pub(super) fn finish(self) -> String {
        let (width, height, ink) = (self.width, self.height, colour::INK);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" fill=\"{ink}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// An axis: values from 0 to some round number above the largest one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The value at its end.
    pub(super) most: f64,
    /// The value of a step.
    pub(super) step: f64,
}

impl Axis {
    /// That has room for this value.
    pub(super) fn up_to(value: f64) -> Self {
        let value = if value > 0.0 { value } else { 1.0 };
        let power = 10f64.powf((value / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|step| value / step <= 6.0).unwrap_or(10.0 * power);
        Self { most: (value / step).ceil() * step, step }
    }

    /// Its marks.
    pub(super) fn marks(self) -> impl Iterator<Item = f64> {
        (0..=(self.most / self.step).round() as u32).map(move |step| f64::from(step) * self.step)
    }
}

/// A number with as many digits as its axis needs.
pub(super) fn short(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e9 => (value / 1e9, "G"),
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e4 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

/// A unit of time that suits a length, and how many nanoseconds it has.
pub(super) fn unit(nanoseconds: u64) -> (&'static str, f64) {
    match nanoseconds {
        0..10_000 => ("ns", 1.0),
        10_000..10_000_000 => ("us", 1e3),
        10_000_000..10_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Text as it stands in XML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().take(200) {
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
    fn an_axis_has_round_steps_and_room() {
        for (value, most, step) in
            [(0.0, 1.0, 0.2), (7.0, 8.0, 2.0), (100.0, 100.0, 20.0), (1234.0, 1500.0, 500.0)]
        {
            let axis = Axis::up_to(value);
            assert!((axis.most - most).abs() < 1e-9 && (axis.step - step).abs() < 1e-9, "{axis:?}");
            assert!((2..=8).contains(&axis.marks().count()));
        }
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        let mut canvas = Canvas::new(10.0, 10.0, "a < b & \"c\"");
        canvas.told((0.0, 0.0), (1.0, 1.0), ("#000", 1.0), "</title><script>x\u{7}");
        let picture = canvas.finish();
        assert!(!picture.contains("<script>"), "{picture}");
        assert!(picture.contains("a &lt; b &amp; &quot;c&quot;"));
        assert_eq!(escaped(&"é".repeat(1 << 16)).chars().count(), 200);
    }

    #[test]
    fn numbers_are_short() {
        let told = [0.0, 0.25, 9999.0, 12_000.0, 1_500_000.0, 2e9].map(short);
        assert_eq!(told, ["0", "0.25", "9999", "12k", "1.5M", "2G"]);
    }
}
