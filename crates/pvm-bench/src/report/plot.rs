//! Plots, drawn by kuva as SVG. Colours are names of the page's style, so that a plot is dark where
//! the page is dark and black on white on paper.

use super::html::escaped;
use crate::system::Kind;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;

const CURVES: Measure = Measure { width: 620.0, height: 360.0, class: "" };
const POINTS: Measure = Measure { width: 1100.0, height: 620.0, class: "large" };
/// The last label of an axis is as broad as this beyond the axis.
const OVERHANG: f64 = 30.0;

#[derive(Clone, Copy, Debug)]
struct Measure {
    width: f64,
    height: f64,
    class: &'static str,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The text beside the axis, with the unit.
    pub(super) label: &'static str,
    /// Whether each step is a factor.
    pub(super) log: bool,
}

/// The points of one colour.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// For the legend.
    pub(super) name: String,
    /// The points.
    pub(super) points: Vec<(f64, f64)>,
    /// One of [`colour`]'s.
    pub(super) colour: &'static str,
    /// The number of the series among those of this colour: each has another line style.
    pub(super) way: usize,
}

/// The colour of a system.
pub(super) fn colour(system: &str) -> &'static str {
    match Kind::ALL.into_iter().find(|kind| kind.name() == system) {
        Some(Kind::Ours) => "var(--ours)",
        Some(Kind::Original) => "var(--original)",
        Some(Kind::OpenMpi) => "var(--openmpi)",
        Some(Kind::Mpich) => "var(--mpich)",
        None => "var(--other)",
    }
}

/// Curves; none if there is nothing to draw.
pub(super) fn curves(title: &str, x: Axis, y: Axis, series: &[Series]) -> String {
    let mut plots: Vec<Plot> = Vec::new();
    for one in series {
        let points = drawable(&one.points, x, y);
        if points.is_empty() {
            continue;
        }
        let line = LinePlot::new().with_data(points.clone()).with_color(one.colour);
        let line = line.with_stroke_width(1.6);
        plots.push(Plot::Line(match one.way % 4 {
            0 => line,
            1 => line.with_dashed(),
            2 => line.with_dotted(),
            _ => line.with_dashdot(),
        }));
        let dots = ScatterPlot::new().with_data(points).with_color(one.colour).with_size(2.2);
        plots.push(Plot::Scatter(dots.with_tooltips()));
    }
    let names = series.iter().map(legend).collect::<String>();
    draw(title, [x, y], CURVES, plots, &names)
}

/// Line and name of a series, for below the plot.
fn legend(series: &Series) -> String {
    let (colour, way) = (series.colour, series.way % 4);
    format!("<span class=\"way{way}\" style=\"--way: {colour}\">{}</span>\n", escaped(&series.name))
}

/// Single points, each with its name beside it in the colour of its series.
pub(super) fn points(title: &str, x: Axis, y: Axis, series: &[(Series, Vec<String>)]) -> String {
    let mut plots: Vec<Plot> = Vec::new();
    for (one, names) in series {
        if drawable(&one.points, x, y).len() != one.points.len() || one.points.is_empty() {
            continue;
        }
        let dots = ScatterPlot::new().with_data(one.points.clone()).with_color(one.colour);
        let dots = dots.with_size(3.0).with_repel_labels();
        plots.push(Plot::Scatter(dots.with_labels(names.iter().map(String::as_str))));
    }
    draw(title, [x, y], POINTS, plots, "")
}

/// The points that can stand on these axes.
fn drawable(points: &[(f64, f64)], x: Axis, y: Axis) -> Vec<(f64, f64)> {
    let fits = |axis: Axis, value: f64| value.is_finite() && (!axis.log || value > 0.0);
    points.iter().copied().filter(|point| fits(x, point.0) && fits(y, point.1)).collect()
}

fn draw(
    title: &str,
    [x, y]: [Axis; 2],
    measure: Measure,
    plots: Vec<Plot>,
    legend: &str,
) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let ink = || "var(--ink)".to_owned();
    let theme = Theme {
        background: "none".to_owned(),
        axis_color: ink(),
        grid_color: "var(--grid)".to_owned(),
        tick_color: ink(),
        text_color: ink(),
        legend_bg: "none".to_owned(),
        legend_border: "none".to_owned(),
        font_family: Some("system-ui, sans-serif".to_owned()),
        ..Theme::light()
    };
    let mut layout = Layout::auto_from_plots(&plots)
        .with_width(measure.width)
        .with_height(measure.height)
        .with_title(title)
        .with_x_label(x.label)
        .with_y_label(y.label)
        .with_title_size(15)
        .with_label_size(12)
        .with_tick_size(11)
        .with_body_size(11)
        .with_theme(theme);
    if x.log {
        layout = layout.with_log_x();
    }
    if y.log {
        layout = layout.with_log_y();
    }
    let (class, picture) = (measure.class, fluid(&kuva::render_to_svg(plots, layout), measure));
    format!("<figure class=\"{class}\">{picture}<figcaption>{legend}</figcaption></figure>\n")
}

/// A picture that becomes smaller with the page has to know its own measures.
fn fluid(svg: &str, measure: Measure) -> String {
    let (width, height) = (measure.width + OVERHANG, measure.height);
    svg.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Axis = Axis { label: "bytes", log: true };
    const Y: Axis = Axis { label: "us", log: true };

    fn series(points: &[(f64, f64)]) -> Series {
        Series {
            name: "a <b>".to_owned(),
            points: points.to_vec(),
            colour: colour("NeoPVM"),
            way: 1,
        }
    }

    #[test]
    fn a_plot_is_drawn_in_the_colours_of_the_page() {
        let svg = curves("title", X, Y, &[series(&[(0.0, 1.0), (8.0, 1.0), (1e6, 100.0)])]);
        assert!(
            svg.contains("var(--ours)") && svg.contains("var(--ink)") && svg.contains("viewBox")
        );
        assert!(svg.contains("a &lt;b&gt;") && !svg.contains("NaN"));
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        assert_eq!(curves("t", X, Y, &[]), "");
        assert_eq!(curves("t", X, Y, &[series(&[(0.0, 1.0), (5.0, f64::NAN), (1.0, 0.0)])]), "");
        assert_ne!(curves("t", X, Y, &[series(&[(8.0, 1.0)])]), "");
        assert_eq!(points("t", X, Y, &[]), "");
    }
}
