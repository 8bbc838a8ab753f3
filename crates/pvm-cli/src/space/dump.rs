//! `pvm space dump` and `pvm space load`: a tuple space as text.
//!
//! A tuple is a JSON list of its fields. What JSON has no word for is written so that it comes back
//! as it was: bytes of a text that are no UTF-8 as hexadecimal digits, infinities and what is no
//! number as words.

use super::fields::{self, json};
use super::opening::{as_task, checked_name, failure, failure_after};
use crate::failure::{Failure, Status};
use crate::options::space::{LoadOptions, NameOptions};
use crate::show::{show, show_json};
use pvm::Deadline;
use pvm_space::{Error, Space, Spaces};
use pvm_tuples::{Builder, Tuple};
use serde_json::{Value, json as object};
use std::io::Read as _;

/// A message shows so many characters of what is no tuple.
const SHOWN_MAX: usize = 200;

/// `pvm space dump`. What others put and take meanwhile may be in it or not; what stays is in it
/// once.
pub(super) fn dump(options: &NameOptions) -> Result<(), Failure> {
    let name = checked_name(&options.name)?;
    as_task(|spaces| {
        let space = spaces.open(&name).map_err(|error| failure(&options.name, &error))?;
        let (mut behind, mut all) = (None, Vec::new());
        loop {
            let page = spaces.page(space, behind);
            let page = page.map_err(|error| failure(&options.name, &error))?;
            if page.oldest.is_empty() {
                break;
            }
            behind = page.last;
            let tuples = page.oldest.iter().map(json);
            if options.json {
                all.extend(tuples);
            } else {
                show(tuples.map(|tuple| format!("{tuple}\n")).collect::<String>())?;
            }
        }
        if options.json {
            show_json(&object!({"name": options.name, "tuples": all}))?;
        }
        Ok(())
    })
}

/// `pvm space load`.
pub(super) fn load(options: &LoadOptions) -> Result<(), Failure> {
    let tuples = tuples(&read(options)?).map_err(|text| {
        Failure::new(Status::Usage, format!("space {}: load: {text}", options.name))
    })?;
    let (name, wanted) = (checked_name(&options.name)?, tuples.len());
    as_task(|spaces| {
        let space = spaces.open(&name).map_err(|error| failure(&options.name, &error))?;
        let (loaded, stopped) = put_all(spaces, space, tuples);
        if options.json {
            show_json(&object!({"name": options.name, "loaded": loaded}))?;
        }
        let done = format!("load: {loaded} of {wanted} tuples were put");
        stopped.map_or(Ok(()), |why| Err(failure_after(&options.name, &done, &why)))
    })
}

/// Puts tuples until one cannot be put: how many were, and why not all.
fn put_all(spaces: &Spaces, space: Space, tuples: Vec<Tuple>) -> (usize, Option<Error>) {
    let wanted = tuples.len();
    for (loaded, tuple) in tuples.into_iter().enumerate() {
        match spaces.put(space, vec![tuple], Deadline::Now) {
            Ok(true) => {}
            Ok(false) => return (loaded, Some(Error::Full)),
            Err(error) => return (loaded, Some(error)),
        }
    }
    (wanted, None)
}

fn read(options: &LoadOptions) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let (read, from) = match &options.file {
        Some(file) => {
            let opened = std::fs::File::open(file);
            (opened.and_then(|mut file| file.read_to_end(&mut bytes)), file.display().to_string())
        }
        None => (std::io::stdin().read_to_end(&mut bytes), "the standard input".to_owned()),
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::new(Status::Usage, format!("{from}: {error}"))),
    }
}

/// The tuples of a dump: lists one behind the other, or the object that has them.
fn tuples(bytes: &[u8]) -> Result<Vec<Tuple>, String> {
    let mut tuples = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        let value = value.map_err(|error| format!("the dump is not JSON: {error}"))?;
        let lists = match &value {
            Value::Object(all) => all.get("tuples").and_then(Value::as_array).map(Vec::as_slice),
            Value::Array(_) => Some(std::slice::from_ref(&value)),
            _ => None,
        };
        let lists = lists.ok_or_else(|| "neither a tuple nor a dump".to_owned())?;
        for list in lists {
            let number = tuples.len() + 1;
            let wrong =
                || format!("tuple {number} has no type and value in each field: {}", begin(list));
            tuples.push(tuple(list).ok_or_else(wrong)?);
        }
    }
    Ok(tuples)
}

/// The first words of a list, for a message: a line may have many megabytes.
fn begin(list: &Value) -> String {
    let text = list.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

fn tuple(list: &Value) -> Option<Tuple> {
    let mut builder = Builder::new();
    for field in list.as_array()? {
        let (kind, shape) = fields::typed(field.get("type")?.as_str()?)?;
        let bytes = fields::bytes_of(kind, shape, field)?;
        builder.actual(kind, shape, &bytes).ok()?;
    }
    builder.tuple()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_tuples::{Kind, Shape};

    #[test]
    fn what_is_dumped_is_loaded_as_it_was() {
        let mut builder = Builder::new();
        let text = |bytes: &'static [u8]| (Kind::Text, Shape::Scalar, bytes.to_vec());
        for (kind, shape, bytes) in [
            text(b"task \t \"x\""),
            text(b"\xff\x00"),
            text(b""),
            (Kind::Int, Shape::Scalar, 7_i32.to_le_bytes().to_vec()),
            (Kind::UnsignedLong, Shape::Scalar, u64::MAX.to_le_bytes().to_vec()),
            (Kind::Double, Shape::Scalar, f64::NAN.to_le_bytes().to_vec()),
            (Kind::Double, Shape::Array, [f64::INFINITY, 0.1].map(f64::to_le_bytes).concat()),
            (Kind::Float, Shape::Scalar, (-0.0_f32).to_le_bytes().to_vec()),
            (Kind::Bool, Shape::Array, vec![0, 1]),
            (Kind::LongDouble, Shape::Scalar, vec![9; 16]),
            (Kind::DoubleComplex, Shape::Array, vec![3; 32]),
            (Kind::Struct, Shape::Scalar, vec![1, 2, 3]),
            (Kind::Bytes, Shape::Scalar, Vec::new()),
            (Kind::Int, Shape::Array, Vec::new()),
        ] {
            builder.actual(kind, shape, &bytes).unwrap();
        }
        let all = builder.tuple().unwrap();
        let line = json(&all).to_string();
        assert_eq!(tuples(line.as_bytes()).unwrap(), std::slice::from_ref(&all));
        let whole = object!({"name": "n", "tuples": [json(&all), json(&all)]}).to_string();
        assert_eq!(tuples(whole.as_bytes()).unwrap().len(), 2);
        for wrong in ["7", "{}", "[]", "[{\"type\":\"int\",\"value\":1e30}]", "[{\"type\":\"x\"}]"]
        {
            assert!(tuples(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_float_that_was_too_large_became_infinite_and_an_error_showed_a_whole_line() {
        for (kind, value) in [("float", "1e308"), ("float", "-1e39"), ("float[]", "[1,1e39]")] {
            let line = format!("[{{\"type\":\"{kind}\",\"value\":{value}}}]");
            assert!(tuples(line.as_bytes()).is_err(), "{line}");
        }
        let infinite = "[{\"type\":\"float\",\"value\":\"-inf\"}]";
        assert_eq!(tuples(infinite.as_bytes()).unwrap().len(), 1);
        let long = format!("[{{\"type\":\"int\",\"value\":\"{}\"}}]", "x".repeat(1 << 20));
        assert!(tuples(long.as_bytes()).unwrap_err().len() < 500);
    }
}
