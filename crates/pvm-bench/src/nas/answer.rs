//! The output of a program: JSON of ours, text of NPB's.

use crate::figures::{Communication, Quantity};
use pvm_cli::options::bench::cases::{Case, Class, Shape};
use serde::Deserialize;

/// Seconds, and whether the answer is the right one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Verdict {
    /// The seconds of the timed section.
    pub(crate) seconds: f64,
    /// Millions of operations a second, as NPB counts them.
    pub(crate) mops: f64,
    /// Whether the official values came out.
    pub(crate) verified: bool,
    /// The quantities that were compared.
    pub(crate) quantities: Vec<Quantity>,
    /// The cost of the messages.
    pub(crate) communication: Option<Communication>,
}

impl Verdict {
    /// A sentence about a wrong answer.
    pub(crate) fn reproach(&self) -> Option<String> {
        if self.verified {
            return None;
        }
        let worst = self.quantities.iter().max_by(|a, b| error(a).total_cmp(&error(b)));
        let worst = worst.and_then(|one| {
            let wanted = one.wanted?;
            let got = one.got.map_or_else(|| "no number".to_owned(), |got| got.to_string());
            Some(format!(": {} is {got} instead of {wanted}", one.name))
        });
        let worst = worst.unwrap_or_default();
        Some(format!("NOT VERIFIED{worst}"))
    }
}

/// The relative error. A result that is no number has the largest one.
fn error(quantity: &Quantity) -> f64 {
    match (quantity.got, quantity.error) {
        (Some(_), Some(error)) => error.abs(),
        (Some(_), None) => 0.0,
        (None, _) => f64::INFINITY,
    }
}

/// As our programs write it with `--json`; more keys may follow.
#[derive(Debug, Deserialize)]
struct Object {
    benchmark: String,
    class: String,
    tasks: u32,
    seconds: f64,
    mops: f64,
    #[serde(default)]
    verified: Option<bool>,
    #[serde(default)]
    quantities: Vec<Quantity>,
    #[serde(default)]
    communication: Option<Communication>,
}

/// The output of a program of ours: a JSON object, wherever in the output it begins.
pub(crate) fn of_ours(output: &str, case: Case) -> Result<Verdict, String> {
    let starts = output.match_indices('{').map(|(at, _)| &output[at..]);
    let mut why = "printed no JSON object".to_owned();
    for text in starts.take(100) {
        match serde_json::Deserializer::from_str(text).into_iter::<Object>().next() {
            Some(Ok(object)) => return object.told(case),
            Some(Err(error)) => why = format!("printed JSON that cannot be read: {error}"),
            None => {}
        }
    }
    Err(why)
}

impl Object {
    fn told(self, case: Case) -> Result<Verdict, String> {
        let is_class = case.shape == Shape::Thesis
            || case.class.is_some_and(|class| class.text() == self.class);
        if self.benchmark != case.name.text() || !is_class || self.tasks != case.tasks {
            let (name, class, tasks) = (&self.benchmark, &self.class, self.tasks);
            return Err(format!("told of {name}.{class} on {tasks} tasks"));
        }
        let (seconds, verified) = (checked(self.seconds)?, self.verified == Some(true));
        let Self { mops, quantities, communication, .. } = self;
        Ok(Verdict { seconds, mops, verified, quantities, communication })
    }
}

/// The output of a program of NPB: lines `name = value` at its end.
pub(crate) fn of_npb(output: &str, case: Case) -> Result<Verdict, String> {
    let value = |name: &str| {
        let lines = output.lines().filter_map(|line| line.split_once('='));
        let mut found = lines.filter(|(key, _)| key.trim() == name);
        found.next().map(|(_, value)| value.trim())
    };
    let line = |name: &str| value(name).ok_or_else(|| format!("printed no line `{name} = ...`"));
    let number = |name: &str| {
        let text = line(name)?;
        text.parse::<f64>().map_err(|_| format!("printed `{name} = {text}`, which is no number"))
    };
    let seconds = checked(number("Time in seconds")?)?;
    let mops = number("Mop/s total")?;
    let (class, own) = (line("Class")?, case.class.map_or("", Class::text));
    if class != own {
        return Err(format!("told of class {class} instead of {own}"));
    }
    // NPB 3.3 does not tell the second, and NPB 3.4 leaves processes out that it cannot use.
    let processes = value("Active processes").map_or_else(|| line("Total processes"), Ok)?;
    if processes.parse() != Ok(case.tasks) {
        return Err(format!("computed on {processes} processes instead of {}", case.tasks));
    }
    let verified = line("Verification")? == "SUCCESSFUL";
    Ok(Verdict { seconds, mops, verified, quantities: Vec::new(), communication: None })
}

fn checked(seconds: f64) -> Result<f64, String> {
    let is_time = seconds.is_finite() && seconds >= 0.0;
    if is_time { Ok(seconds) } else { Err(format!("told {seconds} seconds")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_cli::options::bench::cases::Name;

    const CASE: Case =
        Case { name: Name::Cg, class: Some(Class::S), shape: Shape::Official, tasks: 4 };

    const OURS: &str = r#"{"benchmark":"CG","class":"S","tasks":4,"seconds":0.04,"mops":1500.5,
        "verified":true,"quantities":[{"name":"zeta","got":8.5971775078648,
        "wanted":8.5971775078648,"error":0.0}],"pvm":{"pvm_send":0.01}}"#;

    #[test]
    fn an_object_of_ours_is_found_among_other_words() {
        let told = of_ours(&format!("[t40001] a {{word}}\n{OURS}\nbye\n"), CASE).unwrap();
        assert_eq!((told.seconds, told.mops, told.verified), (0.04, 1500.5, true));
        assert_eq!(told.quantities[0].name, "zeta");
        assert_eq!(told.reproach(), None);
    }

    #[test]
    fn what_is_no_answer_is_said_in_a_sentence() {
        let said = |output: &str| of_ours(output, CASE).unwrap_err();
        assert_eq!(said("segmentation fault\n"), "printed no JSON object");
        assert!(said("{\"benchmark\":\"CG\",").starts_with("printed JSON that cannot be read"));
        assert_eq!(said(&OURS.replace("\"tasks\":4", "\"tasks\":2")), "told of CG.S on 2 tasks");
        assert_eq!(said(&OURS.replace("0.04", "-1")), "told -1 seconds");
    }

    #[test]
    fn the_quantity_that_is_farthest_off_is_named() {
        let wrong = OURS.replace("true", "false").replace("\"error\":0.0", "\"error\":0.25");
        let wrong = wrong.replacen("8.5971775078648", "10.5", 1);
        let reproach = of_ours(&wrong, CASE).unwrap().reproach().unwrap();
        assert_eq!(reproach, "NOT VERIFIED: zeta is 10.5 instead of 8.5971775078648");
        let none = OURS.replace("true", "false").replacen("8.5971775078648", "null", 1);
        let reproach = of_ours(&none, CASE).unwrap().reproach().unwrap();
        assert_eq!(reproach, "NOT VERIFIED: zeta is no number instead of 8.5971775078648");
    }

    const NPB: &str = " CG Benchmark Completed.\n Class           =                        S\n \
        Time in seconds =                     0.68\n Total processes =                        4\n \
        Active processes=                        4\n Mop/s total     =                    97.74\n \
        Verification    =               SUCCESSFUL\n FFLAGS       = -O3 -g\n";

    #[test]
    fn the_lines_of_npb_are_read() {
        let told = of_npb(NPB, CASE).unwrap();
        assert_eq!((told.seconds, told.mops, told.verified), (0.68, 97.74, true));
        assert!(!of_npb(&NPB.replace("SUCCESSFUL", "UNSUCCESSFUL"), CASE).unwrap().verified);
        let older = NPB.replace(" Active processes=                        4\n", "");
        assert!(of_npb(&older, CASE).unwrap().verified);
    }

    #[test]
    fn nonsense_of_a_peer_is_said_in_a_sentence() {
        let said = |output: &str| of_npb(output, CASE).unwrap_err();
        assert_eq!(said("fish\n"), "printed no line `Time in seconds = ...`");
        assert_eq!(
            said(&NPB.replace("0.68", "soon")),
            "printed `Time in seconds = soon`, which is no number"
        );
        assert_eq!(said(&NPB.replace("0.68", "NaN")), "told NaN seconds");
        assert_eq!(said(&NPB.replace("   S\n", "   W\n")), "told of class W instead of S");
        let fewer = NPB.replace("processes=                        4", "processes=  1");
        assert_eq!(said(&fewer), "computed on 1 processes instead of 4");
        assert_eq!(said(&NPB.replace("Verification", "V")), "printed no line `Verification = ...`");
    }
}
