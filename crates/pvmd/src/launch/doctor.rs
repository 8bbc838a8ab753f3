//! `pvmd --doctor`: the stages of adding a host by themselves, with no machine running.

use crate::addresses;
use crate::config::Places;
use crate::launch::ssh::Target;
use crate::launch::stages::{self, Report, Stage};
use crate::say;
use anyhow::Result;
use pvm_wire::hostfile::parse_line;

/// Prints the stages; true if none failed.
pub(crate) fn run(line: &str, json: bool) -> Result<bool> {
    let line = parse_line(line.as_bytes())?;
    let name = Target::new(&line).name;
    let places = Places::from_environment()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        // A listener that the other side calls, as it would call the daemon.
        let listener = addresses::listen_outward(0)?;
        let port = listener.local_addr()?.port();
        let told = addresses::candidates(addresses::of_interfaces(), port, Some(port));
        anyhow::Ok(stages::try_all(&line, &told, &places.vmid).await.complete())
    })?;
    say::answer(if json { in_json(&name, &report) } else { in_words(&name, &report) })?;
    Ok(report.failure().is_none())
}

fn in_words(name: &str, report: &Report) -> String {
    let mut text = name.to_owned();
    for Stage { name, good, detail, remedy } in &report.0 {
        let mark = match good {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "not tried",
        };
        text += &format!("\n  {name:<9} {mark:<10} {detail}");
        if !remedy.is_empty() {
            text += &format!("\n  {:<9} {:<10} try: {remedy}", "", "");
        }
    }
    text
}

fn in_json(name: &str, report: &Report) -> String {
    let stage = |stage: &Stage| {
        format!(
            "{{\"stage\":{},\"ok\":{},\"detail\":{},\"remedy\":{}}}",
            quoted(stage.name),
            stage.good.map_or_else(|| "null".to_owned(), |good| good.to_string()),
            quoted(&stage.detail),
            quoted(&stage.remedy),
        )
    };
    let stages: Vec<String> = report.0.iter().map(stage).collect();
    let good = report.failure().is_none();
    format!("{{\"host\":{},\"ok\":{good},\"stages\":[{}]}}", quoted(name), stages.join(","))
}

/// A text of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char if char.is_control() => out += &format!("\\u{:04x}", u32::from(char)),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_of_json() {
        let bad = Stage {
            name: "name",
            good: Some(false),
            detail: "no \"h9\"\n".into(),
            remedy: "r".into(),
        };
        let text = in_json("h9", &Report(vec![bad]).complete());
        assert!(text.starts_with(
            "{\"host\":\"h9\",\"ok\":false,\"stages\":[{\"stage\":\"name\",\"ok\":false,"
        ));
        assert!(
            text.contains("no \\\"h9\\\"\\u000a")
                && text.contains("\"stage\":\"join\",\"ok\":null")
        );
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn the_first_stage_that_failed_is_the_failure() {
        let stage = |name, good| Stage { name, good, detail: name.into(), remedy: String::new() };
        let report =
            Report(vec![stage("name", Some(true)), stage("route", Some(false))]).complete();
        assert_eq!(report.failure().unwrap().1.stage, "route");
        assert!(Report(vec![stage("name", Some(true))]).complete().failure().is_none());
        assert!(in_words("h2", &report).contains("route     FAILED"));
    }
}
