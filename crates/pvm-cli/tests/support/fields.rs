//! The fields of what `--json` prints.

use serde_json::Value;

/// The names of an object's fields, sorted.
pub(crate) fn fields(value: &Value) -> String {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}
