//! The results for hosts that were added, removed or drained, as text and as JSON.

use crate::failure::{Failure, Status};
use pvm_wire::request::HostResult;
use pvm_wire::{Code, Tid};
use serde_json::{Value, json};

/// Whether it went well.
pub(crate) fn is_good(result: &HostResult) -> bool {
    result.outcome >= 0
}

/// PVM's words for what went wrong.
pub(crate) fn error(result: &HostResult) -> String {
    Code::from_number(result.outcome)
        .map_or_else(|| format!("Error {}", result.outcome), |code| code.to_string())
}

/// Stage and sentence, then the remedy: a line each, as far as they are known.
pub(crate) fn reasons(result: &HostResult) -> Vec<String> {
    let Some(failure) = &result.failure else { return Vec::new() };
    let detail = failure.detail.trim_end();
    let first = match (failure.stage.as_str(), detail) {
        ("", "") => None,
        ("", detail) => Some(detail.to_owned()),
        (stage, "") => Some(format!("failed at: {stage}")),
        (stage, detail) => Some(format!("{stage}: {detail}")),
    };
    let remedy = (!failure.remedy.is_empty()).then(|| format!("try: {}", failure.remedy));
    first.into_iter().chain(remedy).collect()
}

/// The fields of one host, as the man pages of `add` and `del` list them.
pub(crate) fn json(host: &str, result: &HostResult, with_tid: bool) -> Value {
    let ok = is_good(result);
    let failure = result.failure.clone().unwrap_or_default();
    let mut row = json!({
        "host": host,
        "ok": ok,
        "error": (!ok).then(|| error(result)),
        "stage": filled(failure.stage),
        "detail": filled(failure.detail),
        "remedy": filled(failure.remedy),
    });
    if with_tid {
        row["tid"] = json!(ok.then(|| Tid::from_c_int(result.outcome).to_string()));
    }
    row
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Success if each host did what it should, else a text with a paragraph for each that did not.
pub(crate) fn check(done: &str, names: &[String], results: &[HostResult]) -> Result<(), Failure> {
    let bad = names.iter().zip(results).filter(|(_, result)| !is_good(result));
    let texts: Vec<String> = bad
        .map(|(name, result)| {
            let reasons = reasons(result).join("\n").replace('\n', "\n  ");
            let reasons = if reasons.is_empty() { reasons } else { format!("\n  {reasons}") };
            format!("{name} was not {done}: {}{reasons}", error(result))
        })
        .collect();
    if texts.is_empty() { Ok(()) } else { Err(Failure::new(Status::Refused, texts.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::request::Failure as Cause;

    fn refused() -> HostResult {
        let [stage, detail, remedy] =
            ["key", "b refuses every key", "ssh-copy-id b"].map(str::to_owned);
        HostResult { outcome: -29, failure: Some(Cause { stage, detail, remedy }) }
    }

    #[test]
    fn each_host_that_failed_has_its_paragraph() {
        let good = HostResult { outcome: 0x80000, failure: None };
        let bare = HostResult { outcome: -6, failure: None };
        let names = ["a".to_owned(), "b".to_owned()];
        assert!(check("added", &names, &[good.clone(), good.clone()]).is_ok());
        let failure = check("added", &names, &[good, refused()]).unwrap_err();
        let text = "pvm: b was not added: Can't start pvmd\n  key: b refuses every key\n  try: \
                    ssh-copy-id b";
        assert_eq!(failure.to_string(), text);
        let failure = check("deleted", &names[..1], &[bare]).unwrap_err();
        assert_eq!(failure.to_string(), "pvm: a was not deleted: No such host");
    }

    #[test]
    fn a_row_has_the_same_fields_whether_it_went_well_or_not() {
        let good = json("a", &HostResult { outcome: 0x80000, failure: None }, true);
        assert_eq!(good["tid"], "t80000");
        assert!(good["error"].is_null() && good["stage"].is_null());
        let bad = json("b", &refused(), true);
        assert_eq!((&bad["stage"], &bad["remedy"]), (&json!("key"), &json!("ssh-copy-id b")));
        let fields = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(fields(&good), fields(&bad));
    }
}
