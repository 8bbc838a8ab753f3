//! Fields as words: of the command line, of the output, of JSON.
//!
//! `7` is an int (or a long, if it does not fit), `2.5` a double, any other word a text.
//! `TYPE:VALUE` names the type, `TYPE[]:V,V,...` is an array, and `?TYPE` or `?TYPE[]` a formal.

use crate::text;
use pvm_tuples::{Builder, FieldView, Kind, Shape, Tuple};
use serde_json::{Value, json};

/// Types as words.
const KINDS: [(&str, Kind); 20] = [
    ("char", Kind::Char),
    ("schar", Kind::SignedChar),
    ("uchar", Kind::UnsignedChar),
    ("short", Kind::Short),
    ("ushort", Kind::UnsignedShort),
    ("int", Kind::Int),
    ("uint", Kind::UnsignedInt),
    ("long", Kind::Long),
    ("ulong", Kind::UnsignedLong),
    ("longlong", Kind::LongLong),
    ("ulonglong", Kind::UnsignedLongLong),
    ("float", Kind::Float),
    ("double", Kind::Double),
    ("bool", Kind::Bool),
    ("text", Kind::Text),
    ("bytes", Kind::Bytes),
    ("struct", Kind::Struct),
    ("longdouble", Kind::LongDouble),
    ("floatcomplex", Kind::FloatComplex),
    ("doublecomplex", Kind::DoubleComplex),
];

fn kind(word: &str) -> Option<Kind> {
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
}

fn name(kind: Kind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or_else(|| kind.name(), |(name, _)| name)
}

/// A type and its shape, such as `double[]`.
pub(super) fn typed(word: &str) -> Option<(Kind, Shape)> {
    match word.strip_suffix("[]") {
        Some(item) => kind(item).filter(|kind| kind.has_shape()).map(|kind| (kind, Shape::Array)),
        None => kind(word).map(|kind| (kind, Shape::Scalar)),
    }
}

/// The tuple or template of a command line.
pub(crate) fn tuple(words: &[String]) -> Result<Tuple, String> {
    let mut builder = Builder::new();
    for word in words {
        add(&mut builder, word)?;
    }
    builder.tuple().ok_or_else(|| "a tuple has at least one field".to_owned())
}

fn add(builder: &mut Builder, word: &str) -> Result<(), String> {
    let misfit = |_| format!("field {word:?}: it does not fit its type, or is one too many");
    if let Some(formal) = word.strip_prefix('?') {
        let (formal, size) = match formal.split_once(':') {
            Some(("struct", size)) => ("struct", size.parse().map_err(|_| unknown(word))?),
            _ => (formal, 0),
        };
        let (kind, shape) = typed(formal).ok_or_else(|| unknown(word))?;
        return builder.formal(kind, shape, size).map_err(misfit);
    }
    if let Some((before, value)) = word.split_once(':')
        && let Some((kind, shape)) = typed(before)
    {
        let bytes = match shape {
            Shape::Scalar => item(kind, value),
            Shape::Array if value.is_empty() => Some(Vec::new()),
            Shape::Array => {
                let items: Option<Vec<_>> = value.split(',').map(|one| item(kind, one)).collect();
                items.map(|items| items.concat())
            }
        };
        let bytes = bytes.ok_or_else(|| format!("field {word:?}: not a value of its type"))?;
        return builder.actual(kind, shape, &bytes).map_err(misfit);
    }
    let (kind, bytes) = guessed(word);
    builder.actual(kind, Shape::Scalar, &bytes).map_err(misfit)
}

fn unknown(word: &str) -> String {
    let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    format!("field {word:?}: not a type\n  types are {}, with [] for arrays", known.join(" "))
}

/// A word without a type.
fn guessed(word: &str) -> (Kind, Vec<u8>) {
    let looks_like_number =
        word.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter));
    [Kind::Int, Kind::Long, Kind::Double]
        .into_iter()
        .filter(|_| looks_like_number)
        .find_map(|kind| item(kind, word).map(|bytes| (kind, bytes)))
        .unwrap_or_else(|| (Kind::Text, word.as_bytes().to_vec()))
}

/// The bytes of a value in a tuple.
fn item(kind: Kind, word: &str) -> Option<Vec<u8>> {
    macro_rules! number {
        ($type:ty) => {
            word.parse::<$type>().ok()?.to_le_bytes().to_vec()
        };
    }
    Some(match kind {
        Kind::Char | Kind::SignedChar => number!(i8),
        Kind::UnsignedChar => number!(u8),
        Kind::Short => number!(i16),
        Kind::UnsignedShort => number!(u16),
        Kind::Int => number!(i32),
        Kind::UnsignedInt => number!(u32),
        Kind::Long | Kind::LongLong => number!(i64),
        Kind::UnsignedLong | Kind::UnsignedLongLong => number!(u64),
        Kind::Float => finite(word, word.parse().ok()?, f32::is_finite)?.to_le_bytes().to_vec(),
        Kind::Double => finite(word, word.parse().ok()?, f64::is_finite)?.to_le_bytes().to_vec(),
        Kind::Bool => vec![u8::from(word.parse::<bool>().ok()?)],
        Kind::Text => word.as_bytes().to_vec(),
        Kind::Bytes | Kind::Struct => hexadecimal(word)?,
        Kind::LongDouble | Kind::FloatComplex | Kind::DoubleComplex => {
            hexadecimal(word).filter(|bytes| bytes.len() == kind.size())?
        }
    })
}

/// The number that a word means; none if its digits are too large for the type.
fn finite<T: Copy>(word: &str, number: T, is_finite: fn(T) -> bool) -> Option<T> {
    let has_digits = word.bytes().any(|byte| byte.is_ascii_digit());
    (is_finite(number) || !has_digits).then_some(number)
}

fn hexadecimal(word: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = word.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| !text.starts_with('+'))?;
        u8::from_str_radix(text, 16).ok()
    };
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

/// The fields of a tuple on a line, for `read` in a shell: values alone, with tabs between them.
pub(crate) fn line(tuple: &Tuple) -> String {
    let fields: Vec<String> = tuple.fields().map(|field| words(&field)).collect();
    fields.join("\t") + "\n"
}

fn words(field: &FieldView<'_>) -> String {
    let bytes = field.data.unwrap_or_default();
    match value(field.kind, bytes, field.shape) {
        Value::String(word) => text::plain(&word),
        Value::Array(items) => items.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The bytes of a field as [`json`] shows it.
pub(super) fn bytes_of(kind: Kind, shape: Shape, field: &Value) -> Option<Vec<u8>> {
    if let Some(digits) = field.get("hexadecimal") {
        return hexadecimal(digits.as_str()?).filter(|_| kind == Kind::Text);
    }
    match (shape, field.get("value")?) {
        (Shape::Scalar, value) => item_of(kind, value),
        (Shape::Array, Value::Array(items)) => {
            let items: Option<Vec<_>> = items.iter().map(|value| item_of(kind, value)).collect();
            items.map(|items| items.concat())
        }
        (Shape::Array, _) => None,
    }
}

fn item_of(kind: Kind, value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(word) => item(kind, word),
        // A text of digits is a text.
        Value::Number(_) | Value::Bool(_) if kind.has_shape() => item(kind, &value.to_string()),
        _ => None,
    }
}

/// A tuple as JSON: a list of its fields.
pub(crate) fn json(tuple: &Tuple) -> Value {
    let fields = tuple.fields().map(|field| {
        let brackets = if field.shape == Shape::Array { "[]" } else { "" };
        let of_type = format!("{}{brackets}", name(field.kind));
        match field.data {
            Some(data) if field.kind == Kind::Text && std::str::from_utf8(data).is_err() => {
                json!({"type": of_type, "hexadecimal": digits(data)})
            }
            Some(data) => json!({"type": of_type, "value": value(field.kind, data, field.shape)}),
            None => json!({"type": of_type, "formal": true}),
        }
    });
    Value::Array(fields.collect())
}

fn value(kind: Kind, bytes: &[u8], shape: Shape) -> Value {
    if shape == Shape::Array {
        return bytes.chunks_exact(kind.size()).map(|item| scalar(kind, item)).collect();
    }
    scalar(kind, bytes)
}

/// One value; what JSON has no number for is a text.
fn scalar(kind: Kind, bytes: &[u8]) -> Value {
    macro_rules! number {
        ($type:ty) => {
            bytes
                .try_into()
                .map(<$type>::from_le_bytes)
                .map_or(Value::Null, |number| serde_json::to_value(number).unwrap_or(Value::Null))
        };
    }
    match kind {
        Kind::Char | Kind::SignedChar => number!(i8),
        Kind::UnsignedChar => number!(u8),
        Kind::Short => number!(i16),
        Kind::UnsignedShort => number!(u16),
        Kind::Int => number!(i32),
        Kind::UnsignedInt => number!(u32),
        Kind::Long | Kind::LongLong => number!(i64),
        Kind::UnsignedLong | Kind::UnsignedLongLong => number!(u64),
        Kind::Float => bytes
            .try_into()
            .map(f32::from_le_bytes)
            .map_or(Value::Null, |number| floating(number.into(), &format!("{number:?}"))),
        Kind::Double => bytes
            .try_into()
            .map(f64::from_le_bytes)
            .map_or(Value::Null, |number| floating(number, &format!("{number:?}"))),
        Kind::Bool => json!(bytes != [0]),
        Kind::Text => json!(String::from_utf8_lossy(bytes)),
        _ => json!(digits(bytes)),
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON has no word for some floating numbers.
fn floating(number: f64, shortest: &str) -> Value {
    if number.is_finite() {
        shortest.parse().map_or(Value::Null, |one: serde_json::Number| json!(one))
    } else {
        json!(shortest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<String, String> {
        tuple(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
            .map(|tuple| tuple.to_string())
    }

    #[test]
    fn words_are_fields_as_they_look_or_as_they_say() {
        let words = [
            "task",
            "7",
            "5000000000",
            "-2.5",
            "text:7",
            "short:7",
            "double[]:1,2",
            "?int",
            "?uint[]",
        ];
        let shown =
            "(\"task\", 7, 5000000000, -2.5, \"7\", 7, double[2]{1.0, 2.0}, ?int, ?unsigned int[])";
        assert_eq!(read(&words).as_deref(), Ok(shown));
        assert_eq!(
            read(&["bytes:00ff", "?struct:24", "inf", "a:b"]).as_deref(),
            Ok("(bytes of 2 bytes, ?struct 24, \"inf\", \"a:b\")")
        );
    }

    #[test]
    fn what_is_no_value_of_its_type_is_refused() {
        for wrong in ["int:x", "uchar:256", "?number", "bytes:0", "bytes:+1", "text[]:x", "?text[]"]
        {
            assert!(read(&[wrong]).is_err() || wrong.starts_with("text[]"), "{wrong}");
        }
    }

    #[test]
    fn a_line_for_shells_has_values_and_json_has_types() {
        let words = ["x", "int[]:1,2", "2.5"].map(str::to_owned);
        let tuple = tuple(&words).unwrap();
        assert_eq!(line(&tuple), "x\t1,2\t2.5\n");
        assert_eq!(json(&tuple)[1], json!({"type": "int[]", "value": [1, 2]}));
    }
}
