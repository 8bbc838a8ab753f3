//! A section of a TOML file, from which values are taken one by one; a value that is left over is
//! an error.

use crate::error::Error;
use crate::unit::{self, Rate, Time};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most bytes of a platform file.
pub(super) const TEXT_MAX: usize = 1 << 20;

/// A table of a file.
#[derive(Debug)]
pub(super) struct Section<'a> {
    text: &'a str,
    span: Range<usize>,
    table: DeTable<'a>,
    known: Vec<&'static str>,
}

/// The content of a value, if it is valid.
type Value<T> = Result<Option<T>, Error>;

impl<'a> Section<'a> {
    /// Reads a whole file.
    pub(super) fn file(text: &'a str) -> Result<Self, Error> {
        if text.len() >= TEXT_MAX {
            let what = format!("the file has {TEXT_MAX} bytes or more");
            return Err(Error::Platform { line: 1, what });
        }
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Error::Platform { line: line_of(text, at), what: error.message().to_owned() }
        })?;
        Ok(Self { text, span: 0..0, table: parsed.into_inner(), known: Vec::new() })
    }

    /// A table inside this one, if there is one.
    pub(super) fn section(&mut self, name: &'static str) -> Result<Option<Self>, Error> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => {
                Ok(Some(Self { text: self.text, span, table, known: Vec::new() }))
            }
            other => Err(self.mistaken(&span, name, &other, "a section")),
        }
    }

    /// Reads the section with a function.
    pub(super) fn read<T>(
        mut self,
        reader: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let read = reader(&mut self)?;
        self.end()?;
        Ok(read)
    }

    /// Returns an error if a value is left over.
    pub(super) fn end(&self) -> Result<(), Error> {
        let Some(key) = self.table.keys().next() else { return Ok(()) };
        let mut known = self.known.clone();
        known.sort_unstable();
        let what = format!("{} is unknown here: {} are known", key.get_ref(), known.join(", "));
        Err(self.at(key.span().start, what))
    }

    /// An error about a value that was taken already; it names the line of the section.
    pub(super) fn wrong(&self, name: &str, what: String) -> Error {
        let place = self.text[self.span.start..].find(name).unwrap_or(0);
        self.at(self.span.start + place, what)
    }

    fn at(&self, place: usize, what: String) -> Error {
        Error::Platform { line: line_of(self.text, place), what }
    }

    fn mistaken(&self, span: &Range<usize>, name: &str, value: &DeValue<'_>, not: &str) -> Error {
        let article = if value.type_str().starts_with(['a', 'i', 'o']) { "an" } else { "a" };
        self.at(span.start, format!("{name} is {article} {}, not {not}", value.type_str()))
    }

    fn take(&mut self, name: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.known.push(name);
        self.table.remove(name)
    }

    /// A value that must be given.
    pub(super) fn need<T>(
        &mut self,
        name: &'static str,
        reader: impl FnOnce(&mut Self, &'static str) -> Value<T>,
    ) -> Result<T, Error> {
        let what = format!("{name} is missing");
        reader(self, name)?.ok_or_else(|| self.at(self.span.start, what))
    }

    pub(super) fn text(&mut self, name: &'static str) -> Value<String> {
        self.parsed(name, "text", |text| Ok(text.to_owned()))
    }

    pub(super) fn time(&mut self, name: &'static str) -> Value<Time> {
        self.parsed(name, "text such as \"5 us\"", unit::time)
    }

    pub(super) fn rate(&mut self, name: &'static str) -> Value<Rate> {
        self.parsed(name, "text such as \"10 Mb/s\"", unit::rate)
    }

    pub(super) fn size(&mut self, name: &'static str) -> Value<u64> {
        self.parsed(name, "text such as \"64 kB\"", unit::size)
    }

    /// A size within bounds.
    pub(super) fn size_in(&mut self, name: &'static str, least: u64, most: u64) -> Value<u64> {
        self.parsed(name, "text such as \"64 kB\"", |text| {
            let size = unit::size(text)?;
            let what = || format!("{text:?} is not between {least} and {most} B");
            if (least..=most).contains(&size) { Ok(size) } else { Err(what()) }
        })
    }

    /// A time within bounds.
    pub(super) fn time_in(&mut self, name: &'static str, least: Time, most: Time) -> Value<Time> {
        self.parsed(name, "text such as \"5 us\"", |text| {
            let time = unit::time(text)?;
            let what = || format!("{text:?} is not between {least} and {most}");
            if (least..=most).contains(&time) { Ok(time) } else { Err(what()) }
        })
    }

    /// A list of so many times, in order.
    pub(super) fn times<const COUNT: usize>(&mut self, name: &'static str) -> Value<[Time; COUNT]> {
        let expected = format!("{COUNT} times such as \"5 us\", the shortest first");
        let Some(value) = self.take(name) else { return Ok(None) };
        let wrong = || self.at(value.span().start, format!("{name} is not {expected}"));
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.mistaken(&value.span(), name, value.get_ref(), &expected));
        };
        let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(text) => unit::time(text).ok(),
            _ => None,
        };
        let times: Option<Vec<Time>> = list.iter().map(one).collect();
        let times = times.and_then(|times| <[Time; COUNT]>::try_from(times).ok());
        times.filter(|times| times.is_sorted()).map(Some).ok_or_else(wrong)
    }

    fn parsed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Value<T> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => parse(text)
                .map(Some)
                .map_err(|what| self.at(value.span().start, format!("{name}: {what}"))),
            other => Err(self.mistaken(&value.span(), name, other, expected)),
        }
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Value<bool> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            other => Err(self.mistaken(&value.span(), name, other, "true or false")),
        }
    }

    /// A number within bounds.
    pub(super) fn number(&mut self, name: &'static str, least: f64, most: f64) -> Value<f64> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => return Err(self.mistaken(&value.span(), name, other, "a number")),
        };
        let number = text.parse().ok().filter(|number: &f64| (least..=most).contains(number));
        let what = || format!("{name} is not between {least} and {most}");
        number.map(Some).ok_or_else(|| self.at(value.span().start, what()))
    }

    /// A share: at least 0 and below 1.
    pub(super) fn share(&mut self, name: &'static str) -> Value<f64> {
        self.number(name, 0.0, 0.999)
    }

    /// The index of the value among some words.
    pub(super) fn chosen(&mut self, name: &'static str, words: &[&str]) -> Value<usize> {
        let expected = || format!("one of {}", words.join(", "));
        let Some(value) = self.take(name) else { return Ok(None) };
        let DeValue::String(word) = value.get_ref() else {
            return Err(self.mistaken(&value.span(), name, value.get_ref(), &expected()));
        };
        let place = words.iter().position(|known| *known == word.as_ref());
        let what = || format!("{name} is {word:?}, not {}", expected());
        place.map(Some).ok_or_else(|| self.at(value.span().start, what()))
    }

    /// The index of a value that must be given, among some words.
    pub(super) fn choice(&mut self, name: &'static str, words: &[&str]) -> Result<usize, Error> {
        self.need(name, |section, name| section.chosen(name, words))
    }
}

/// The line of an offset in a text, from 1 on.
fn line_of(text: &str, place: usize) -> u64 {
    let before = text.as_bytes().get(..place).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}
