//! The check of the house: what the compiler does not know about how this code is laid out.
//!
//! Every rule is a function from the sources to findings, with tests that plant a violation. A
//! finding that is a warning is printed; any other one fails the check. The rules, one file each:
//! [`directions`] (which crate may use which), [`circles`] (no import circles between the files of
//! a crate), [`callbacks`] (nor circles of function pointers), [`methods`] (no type becomes the
//! whole program), [`parameters`] (the parts of tuples count as parameters), [`fences`] (words that
//! only some files may use: `unsafe`, clocks, I/O), [`safety`] (safety notes give a reason),
//! [`columns`] (lines are not too long), [`phrases`] (documentation says what an item is),
//! [`repeats`] (once), [`names`] (files, types, documents, sizes), [`household`] (one name for one
//! thing), [`manual`] (every call has its entry), [`interfaces`] (every call of the older
//! interfaces has a test), [`documents`] (what documents name exists, their numbers are the
//! code's), [`promises`] (every promise has a test), [`members`] (what plain `cargo test` runs),
//! [`weight`] (how many crates from outside the library and the daemon bring along).

mod callbacks;
mod circles;
mod columns;
mod directions;
mod documents;
mod fences;
mod finding;
mod household;
mod interfaces;
mod manual;
mod members;
mod methods;
mod names;
mod parameters;
mod phrases;
mod promises;
mod repeats;
mod safety;
mod weight;

use crate::source;
use std::path::Path;

/// Runs all rules on the workspace at `root` and prints what they find.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let sources = source::read_all(root).map_err(|e| format!("cannot read the sources: {e}"))?;
    let mut findings = directions::check(&sources);
    findings.extend(circles::check(&sources));
    findings.extend(callbacks::check(&sources));
    findings.extend(methods::check(&sources));
    findings.extend(parameters::check(&sources));
    findings.extend(fences::check(&sources));
    findings.extend(safety::check(&sources));
    findings.extend(phrases::check(&sources));
    findings.extend(repeats::check(&sources));
    findings.extend(columns::check(&sources));
    findings.extend(names::check(&sources));
    findings.extend(household::check(&sources));
    findings.extend(names::check_places(&sources, root));
    findings.extend(manual::check(&sources));
    findings.extend(interfaces::check(&sources));
    findings.extend(documents::check(&sources));
    findings.extend(promises::check(&sources));
    findings.extend(members::check(&sources));
    findings.extend(weight::check(root));
    for finding in &findings {
        let kind = if finding.warning { "warning" } else { "error" };
        println!("{kind}: {}: {}", finding.place, finding.what);
    }
    match findings.iter().filter(|f| !f.warning).count() {
        0 => Ok(()),
        count => Err(format!("tidy: {count} findings")),
    }
}
