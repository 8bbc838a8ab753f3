//! The report: one HTML file that needs nothing else. The first page is for a person in a hurry,
//! then each suite has its plots, its table, and the table of the document that it repeats.

mod applications;
mod echo;
mod first;
mod get;
mod html;
mod java;
mod linpack;
mod nas;
mod network;
mod plot;
mod seeds;
mod suites;
mod two_nodes;

use super::figures::Figures;
use super::ranking;
use super::suite;
use html::{element, escaped};

const STYLE: &str = include_str!("report/style.css");

/// The whole file.
pub(crate) fn page(figures: &Figures) -> String {
    let contests = ranking::contests(figures);
    let mut body = first::page(figures, &contests);
    for suite in suite::every() {
        let all: Vec<_> = figures.of_suite(suite.name).collect();
        if !all.is_empty() {
            let own: Vec<_> =
                contests.iter().filter(|contest| contest.suite == suite.name).cloned().collect();
            body += &suites::section(figures, suite, &all, &own);
        }
    }
    let title = format!("NeoPVM {}: measured on {}", figures.version, figures.place.host);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{}\n<style>\n{STYLE}</style>\n\
         </head>\n\
         <body>\n{body}</body>\n</html>\n",
        element("title", "", &escaped(&title))
    )
}

#[cfg(test)]
mod tests {
    use super::super::figures::Problem;
    use super::super::sample::sample;
    use super::*;

    #[test]
    fn the_report_is_one_file_that_asks_for_no_other() {
        let page = page(&sample(1.0));
        assert!(page.contains("<svg") && page.ends_with("</html>\n"));
        for link in ["src=", "href=\"http", "url(http", "@import", "<script", "<link"] {
            assert!(!page.contains(link), "{link}");
        }
        assert!(page.contains("Cray T3D (PVM)") && page.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn what_went_wrong_stands_on_the_first_page_with_its_last_words() {
        let mut figures = sample(1.0);
        figures.problems.push(Problem {
            what: "echo on MPICH".to_owned(),
            how: "crashed by SIGSEGV".to_owned(),
            last_words: "its <last> words".to_owned(),
        });
        let page = page(&figures);
        let first = page.split("<section").nth(1).unwrap();
        assert!(first.contains("crashed by SIGSEGV") && first.contains("its &lt;last&gt; words"));
    }

    #[test]
    fn a_run_on_a_loaded_machine_says_so() {
        let mut figures = sample(1.0);
        figures.load.others = vec![0.02; 10];
        assert!(!page(&figures).contains("class=\"warning\""));
        figures.load.others = vec![0.6; 10];
        assert!(page(&figures).contains("class=\"warning\""));
    }
}
