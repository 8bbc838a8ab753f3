//! A picture as a list of few shapes, which `svg` and `png` write.

/// Colours that people who see red and green alike can tell apart.
pub(crate) mod colour {
    pub(crate) const INK: &str = "#222222";
    pub(crate) const FAINT: &str = "#d8d8d8";
    pub(crate) const COMPUTING: &str = "#9ecae1";
    pub(crate) const CALLS: &str = "#0072b2";
    pub(crate) const WAITING: &str = "#e69f00";
    pub(crate) const MESSAGES: &str = "#aa3377";
    pub(crate) const ROW: [&str; 8] =
        ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#555555"];
}

/// A shape. Places are points from the upper left corner.
#[derive(Debug)]
pub(crate) enum Shape {
    Rect { at: Point, size: Point, fill: &'static str, opacity: f64, tell: Option<String> },
    Line { from: Point, to: Point, stroke: &'static str, width: f64 },
    Curve { points: Vec<Point>, stroke: &'static str },
    Text { at: Point, anchor: Anchor, size: u32, text: String },
}

/// A place, or a size.
pub(crate) type Point = (f64, f64);

/// On which side of its place a text stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Characters of a text; of a longer one the rest is left out.
const TEXT_MAX: usize = 200;

/// A picture that grows. What was drawn later lies above.
#[derive(Debug)]
pub(crate) struct Canvas {
    pub(crate) size: Point,
    pub(crate) shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty one with a title.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut canvas = Self { size: (width, height), shapes: Vec::new() };
        canvas.text((width / 2.0, 20.0), Anchor::Middle, 15, title);
        canvas
    }

    /// A filled box.
    pub(crate) fn rect(&mut self, at: Point, size: Point, fill: &'static str) {
        self.shapes.push(Shape::Rect { at, size, fill, opacity: 1.0, tell: None });
    }

    /// A box with a text that is shown when the pointer is over it.
    pub(crate) fn told(
        &mut self,
        at: Point,
        size: Point,
        (fill, opacity): (&'static str, f64),
        tell: String,
    ) {
        self.shapes.push(Shape::Rect { at, size, fill, opacity, tell: Some(tell) });
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, (stroke, width): (&'static str, f64)) {
        self.shapes.push(Shape::Line { from, to, stroke, width });
    }

    /// A line through points.
    pub(crate) fn curve(&mut self, points: Vec<Point>, stroke: &'static str) {
        self.shapes.push(Shape::Curve { points, stroke });
    }

    /// A text.
    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, size: u32, text: &str) {
        let text = text.chars().take(TEXT_MAX).map(plain).collect();
        self.shapes.push(Shape::Text { at, anchor, size, text });
    }

    /// Coloured boxes with their names, in one line.
    pub(crate) fn legend(&mut self, (mut x, y): Point, names: &[(&'static str, &str)]) {
        for (fill, name) in names {
            self.rect((x, y - 9.0), (10.0, 10.0), fill);
            self.text((x + 14.0, y), Anchor::Start, 11, name);
            x += 32.0 + 6.2 * name.chars().count() as f64;
        }
    }
}

/// A character as it may stand in a picture.
fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// An axis: values from 0 to some round number above the largest one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// The value at its end.
    pub(crate) most: f64,
    /// The value of a step.
    pub(crate) step: f64,
}

impl Axis {
    /// A scale that has room for this value.
    pub(crate) fn up_to(value: f64) -> Self {
        let value = if value > 0.0 { value } else { 1.0 };
        let power = 10f64.powf((value / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|step| value / step <= 6.0).unwrap_or(10.0 * power);
        Self { most: (value / step).ceil() * step, step }
    }

    /// Its marks.
    pub(crate) fn marks(self) -> impl Iterator<Item = f64> {
        (0..=(self.most / self.step).round() as u32).map(move |step| f64::from(step) * self.step)
    }
}

/// A number with as many digits as its axis needs.
pub(crate) fn short(value: f64) -> String {
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
pub(crate) fn unit(nanoseconds: u64) -> (&'static str, f64) {
    match nanoseconds {
        0..10_000 => ("ns", 1.0),
        10_000..10_000_000 => ("us", 1e3),
        10_000_000..10_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
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
    fn numbers_are_short() {
        let told = [0.0, 0.25, 9999.0, 12_000.0, 1_500_000.0, 2e9].map(short);
        assert_eq!(told, ["0", "0.25", "9999", "12k", "1.5M", "2G"]);
    }
}
