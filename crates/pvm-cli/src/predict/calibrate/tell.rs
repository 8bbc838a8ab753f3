//! The outcome of a calibration: a table, JSON, a picture.

use super::measure::STREAM_BYTES;
use super::measured::{Echoes, Measured, Stream, encoding_word};
use super::model::Compared;
use crate::table::{Side, Table};
use crate::trace::draw::canvas::{Anchor, Axis, Canvas, Point, colour, short};
use pvm_predict::fit::{Estimate, Piece, Seen, median_of, pieces};
use serde_json::{Value, json};

/// All that came of one.
pub(super) struct CalibrationReport<'a> {
    pub(super) measured: &'a Measured,
    pub(super) compared: &'a [Compared],
    pub(super) missing: &'a [String],
    /// The platform file, if enough was measured for one.
    pub(super) platform: Option<&'a str>,
    /// The lines through each of the echoes.
    pub(super) fits: Vec<Vec<Piece>>,
}

/// The lines through each of the echoes.
pub(super) fn fits(measured: &Measured) -> Vec<Vec<Piece>> {
    measured.echoes.iter().map(|echoes| pieces(&echoes.seen)).collect()
}

/// The error of the fit of a size, in percent.
fn residual(fit: &[Piece], seen: &Seen) -> Option<f64> {
    off(fit, seen.bytes, seen.median())
}

/// The error of the fit beside a time, in percent.
fn off(fit: &[Piece], bytes: u64, time: f64) -> Option<f64> {
    let piece = fit.iter().find(|piece| (piece.from..=piece.to).contains(&bytes))?;
    (time > 0.0).then(|| 100.0 * (piece.at(bytes) / time - 1.0))
}

impl CalibrationReport<'_> {
    fn echoes(&self) -> impl Iterator<Item = (&Echoes, &Vec<Piece>)> {
        self.measured.echoes.iter().zip(&self.fits)
    }

    /// The lines of each route and encoding.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("ROUTE", Side::Left),
            ("ENCODING", Side::Left),
            ("FROM", Side::Right),
            ("TO", Side::Right),
            ("LATENCY", Side::Right),
            ("95 %", Side::Right),
            ("MB/s", Side::Right),
            ("95 %", Side::Right),
            ("WORST FIT", Side::Right),
        ]);
        for (echoes, fit) in self.echoes() {
            for piece in fit {
                let inside = |seen: &&Seen| (piece.from..=piece.to).contains(&seen.bytes);
                let off = echoes.seen.iter().filter(inside);
                let off = off.filter_map(|seen| residual(fit, seen));
                let worst = off.fold(0.0, |worst: f64, off| worst.max(off.abs()));
                let us = |time: f64| format!("{:.2}", time * 1e6);
                let (low, high) = (piece.latency.low, piece.latency.high);
                table.row([
                    echoes.route.word().to_owned(),
                    encoding_word(echoes.encoding).to_owned(),
                    piece.from.to_string(),
                    piece.to.to_string(),
                    format!("{} us", us(piece.latency.value)),
                    format!("{} to {}", us(low), us(high)),
                    rate(piece.byte.value),
                    format!("{} to {}", rate(piece.byte.high), rate(piece.byte.low)),
                    format!("{worst:.1} %"),
                ]);
            }
        }
        table
    }

    /// The predictions of the model beside what was seen.
    pub(super) fn model(&self) -> Table {
        let mut table = Table::new(&[
            ("MESSAGES", Side::Left),
            ("SEEN", Side::Right),
            ("PREDICTED", Side::Right),
            ("ERROR", Side::Right),
        ]);
        for one in self.compared {
            table.row([
                one.name.clone(),
                format!("{:.1} us", one.seen * 1e6),
                format!("{:.1} us", one.predicted * 1e6),
                format!("{:+.1} %", one.error()),
            ]);
        }
        table
    }

    /// Everything as JSON.
    pub(super) fn as_json(&self) -> Value {
        let measured = self.measured;
        json!({
            "hosts": measured.hosts,
            "measuring": measured.seconds,
            "messages": self.echoes().map(|(echoes, fit)| echoes_json(echoes, fit))
                .collect::<Vec<_>>(),
            "calls": measured.calls.iter().map(|calls| json!({"route": calls.route.word(),
                "sends": sizes(&calls.sends, &[]), "receives": sizes(&calls.receives, &[])}))
                .collect::<Vec<_>>(),
            "streams": measured.streams.iter().map(stream_json).collect::<Vec<_>>(),
            "exchange": (!measured.exchange.is_empty())
                .then(|| estimate(&median_of(&measured.exchange))),
            "pairs": measured.pairs.iter().map(|(host, seen)| json!({"host": host,
                "seconds": estimate(&median_of(&seen.times))})).collect::<Vec<_>>(),
            "processors": measured.computers.iter().map(|one| json!({"host": one.host,
                "cores": one.cores, "step": one.step, "memory_byte": one.byte,
                "memory_byte_together": one.byte_together, "record": one.record}))
                .collect::<Vec<_>>(),
            "model": self.compared.iter().map(|one| json!({"name": one.name, "bytes": one.bytes,
                "seconds": one.seen, "predicted": one.predicted, "error": one.error()}))
                .collect::<Vec<_>>(),
            "not_measured": self.missing,
            "platform": self.platform,
        })
    }

    /// Residuals by size: boxes of the lines with the intervals of what was measured, and a curve
    /// of the model.
    pub(super) fn picture(&self) -> Canvas {
        let (left, top, wide, high) = (70.0, 50.0, 640.0, 320.0);
        let mut canvas = Canvas::new(
            left + wide + 30.0,
            top + high + 90.0,
            "Fit and model beside the measurements",
        );
        let off = self
            .echoes()
            .flat_map(|(echoes, fit)| echoes.seen.iter().filter_map(|seen| residual(fit, seen)));
        let model = self.compared.iter().filter(|one| one.bytes.is_some()).map(Compared::error);
        let axis = Axis::up_to(off.chain(model).fold(1.0, |most: f64, off| most.max(off.abs())));
        let middle = top + high / 2.0;
        let place = |bytes: u64, off: f64| -> Point {
            let x = left + wide * (bytes.max(1) as f64).log2() / 20.0;
            (x, middle - high / 2.0 * (off / axis.most).clamp(-1.0, 1.0))
        };
        scale(&mut canvas, axis, (left, wide), &place);
        for (number, (echoes, fit)) in self.echoes().enumerate() {
            let fill = colour::ROW[number % colour::ROW.len()];
            for seen in &echoes.seen {
                let Some(off) = residual(fit, seen) else { continue };
                let (x, y) = place(seen.bytes, off);
                let median = median_of(&seen.times);
                let ends = [median.low, median.high].map(|time| self::off(fit, seen.bytes, time));
                if let [Some(low), Some(high)] = ends {
                    let [low, high] = [low, high].map(|off| place(seen.bytes, off));
                    canvas.line(low, high, (fill, 1.0));
                }
                let tell = format!("{} bytes: {off:+.1} %", seen.bytes);
                canvas.told((x - 3.0, y - 3.0), (6.0, 6.0), (fill, 0.8), tell);
            }
        }
        let points = self.compared.iter().filter_map(|one| Some(place(one.bytes?, one.error())));
        canvas.curve(points.collect(), colour::INK);
        let names: Vec<(&'static str, String)> = self
            .echoes()
            .enumerate()
            .map(|(number, (echoes, _))| {
                let name = format!("{} {}", echoes.route.word(), encoding_word(echoes.encoding));
                (colour::ROW[number % colour::ROW.len()], name)
            })
            .chain([(colour::INK, "model".to_owned())])
            .collect();
        let names: Vec<(&'static str, &str)> =
            names.iter().map(|(fill, name)| (*fill, name.as_str())).collect();
        canvas.legend((left - 30.0, top + high + 66.0), &names);
        canvas
    }
}

fn scale(
    canvas: &mut Canvas,
    axis: Axis,
    (left, wide): (f64, f64),
    place: &impl Fn(u64, f64) -> Point,
) {
    for mark in axis.marks().flat_map(|mark| [mark, -mark]) {
        let (_, y) = place(1, mark);
        canvas.line((left, y), (left + wide, y), (colour::FAINT, 1.0));
        canvas.text((left - 6.0, y + 4.0), Anchor::End, 11, &format!("{} %", short(mark)));
    }
    let (_, bottom) = place(1, -axis.most);
    for power in (0..=20).step_by(4) {
        let (x, _) = place(1 << power, 0.0);
        canvas.text((x, bottom + 16.0), Anchor::Middle, 11, &(1u64 << power).to_string());
    }
    canvas.text((left + wide / 2.0, bottom + 36.0), Anchor::Middle, 11, "bytes of a message");
}

/// Megabytes a second, of the time of a byte.
fn rate(byte: f64) -> String {
    if byte > 0.0 { format!("{:.2}", 1e-6 / byte) } else { "-".to_owned() }
}

fn estimate(of: &Estimate) -> Value {
    json!({"value": of.value, "low": of.low, "high": of.high})
}

fn echoes_json(echoes: &Echoes, fit: &[Piece]) -> Value {
    let lines = fit.iter().map(|piece| {
        json!({"from": piece.from, "to": piece.to, "latency": estimate(&piece.latency),
            "byte": estimate(&piece.byte)})
    });
    json!({"route": echoes.route.word(), "encoding": encoding_word(echoes.encoding),
        "sizes": sizes(&echoes.seen, fit), "lines": lines.collect::<Vec<_>>()})
}

fn sizes(seen: &[Seen], fit: &[Piece]) -> Vec<Value> {
    let one = |seen: &Seen| {
        let median = median_of(&seen.times);
        json!({"bytes": seen.bytes, "tries": seen.times.len(), "seconds": median.value,
            "low": median.low, "high": median.high, "off": residual(fit, seen)})
    };
    seen.iter().map(one).collect()
}

fn stream_json(stream: &Stream) -> Value {
    let bytes = (stream.count - 1) * STREAM_BYTES;
    json!({"route": stream.route.word(), "bytes": bytes, "seconds": stream.seconds,
        "rate": bytes as f64 / stream.seconds})
}
