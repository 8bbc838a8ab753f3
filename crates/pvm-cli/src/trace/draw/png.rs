//! A canvas as PNG. kuva draws the shapes, and brings the font.

use super::canvas::{Anchor, Canvas, Shape, colour};
use kuva::backend::raster::RasterBackend;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// Pixels of a point: texts of 10 points are read on paper, too.
const SCALE: f32 = 2.0;

/// The picture.
pub(crate) fn write(canvas: &Canvas) -> Result<Vec<u8>, String> {
    let (width, height) = canvas.size;
    let mut scene = Scene::with_capacity(width, height, canvas.shapes.len());
    scene.text_color = Some(colour::INK.to_owned());
    scene.elements.extend(canvas.shapes.iter().map(primitive));
    RasterBackend { scale: SCALE }.render_scene(&scene)
}

fn primitive(shape: &Shape) -> Primitive {
    match shape {
        Shape::Rect { at: (x, y), size: (width, height), fill, opacity, .. } => Primitive::Rect {
            x: *x,
            y: *y,
            width: *width,
            height: *height,
            fill: Color::from(*fill),
            stroke: None,
            stroke_width: None,
            opacity: Some(*opacity),
        },
        Shape::Line { from, to, stroke, width } => Primitive::Line {
            x1: from.0,
            y1: from.1,
            x2: to.0,
            y2: to.1,
            stroke: Color::from(*stroke),
            stroke_width: *width,
            stroke_dasharray: None,
        },
        Shape::Curve { points, stroke } => Primitive::PolyLine {
            points: points.clone(),
            stroke: Color::from(*stroke),
            stroke_width: 1.0,
            stroke_dasharray: None,
        },
        Shape::Text { at: (x, y), anchor, size, text } => Primitive::Text {
            x: *x,
            y: *y,
            content: text.clone(),
            size: *size,
            anchor: match anchor {
                Anchor::Start => TextAnchor::Start,
                Anchor::Middle => TextAnchor::Middle,
                Anchor::End => TextAnchor::End,
            },
            rotate: None,
            bold: false,
            color: None,
        },
    }
}
