//! The first page: what was fastest at what, by what factor, and how sure that is.

use super::html::{details, element, escaped, number, paragraph, table};
use crate::figures::{Figures, Load};
use crate::ranking::{self, Contest, Standing};
use crate::system::Kind;

/// The page.
pub(super) fn page(figures: &Figures, contests: &[Contest]) -> String {
    let mut text =
        element("h1", "", &format!("NeoPVM {} and its peers", escaped(&figures.version)));
    text += &verdict(contests);
    text += &where_and_when(figures);
    text += &load(figures);
    text += &peers(figures);
    let standings = ranking::standings(contests);
    if standings.is_empty() {
        text += &paragraph("There is nothing to compare: only one system was measured.");
    } else {
        text += &paragraph(&sentence(contests));
        text += &standing_table(&standings);
        text += &behind(contests);
    }
    text += &problems(figures);
    text += &cuts(figures);
    text += &elsewhere(figures);
    element("section", "first", &text)
}

fn where_and_when(figures: &Figures) -> String {
    let place = &figures.place;
    let hosts = if place.hosts.is_empty() {
        "all tasks on this host".to_owned()
    } else {
        format!("tasks on this host and on {}", place.hosts.join(", "))
    };
    let form = if figures.quick { "short form" } else { "full form" };
    paragraph(&format!(
        "{}, {}, {} processors at {:.0} MHz, {}; {hosts}; {} UTC, {:.0} s, {form}.",
        place.host,
        place.processor,
        place.cores,
        place.mhz,
        place.kernel,
        date(figures.began_s),
        figures.took_s
    ))
}

fn load(figures: &Figures) -> String {
    let share = figures.load.typical();
    let spread = 100.0 * ranking::spread(figures);
    let spread = format!("The rounds of a row lie {spread:.0} % apart (median over the rows).");
    if share <= Load::MAX {
        let text = format!("Others took {:.0} % of the processors' time. {spread}", 100.0 * share);
        return paragraph(&text);
    }
    let text = format!(
        "This computer was busy: others took {:.0} % of the processors' time. All systems met that \
         in turns, \
         so ratios say more than times. {spread}",
        100.0 * share
    );
    element("p", "warning", &escaped(&text))
}

fn peers(figures: &Figures) -> String {
    let there = figures.peers.iter().filter(|peer| peer.missing.is_none());
    let there: Vec<String> =
        there.map(|peer| format!("{} ({})", peer.system, peer.version)).collect();
    let mut text = format!("Measured in turns: {}.", there.join(", "));
    for peer in &figures.peers {
        if let Some(missing) = &peer.missing {
            text += &format!(" {} was not there: it needs {missing}.", peer.system);
        }
    }
    paragraph(&text)
}

fn sentence(contests: &[Contest]) -> String {
    let ours = Kind::Ours.name();
    let own = contests.iter().filter(|contest| contest.entry(ours).is_some());
    let (mut first, mut all) = (0, 0);
    for contest in own {
        all += 1;
        first += usize::from(contest.is_first(ours) == Some(true));
    }
    let sure = contests.iter().filter(|contest| contest.is_sure()).count();
    format!(
        "NeoPVM is the fastest in {first} of {all} rows. In {sure} of {} rows the rounds of the \
         first system and of \
         the second nowhere meet. Of a system that knows several ways its best one counts.",
        contests.len()
    )
}

fn standing_table(standings: &[Standing]) -> String {
    let names: Vec<&str> =
        Kind::ALL.into_iter().map(Kind::name).filter(|name| *name != Kind::Ours.name()).collect();
    let mut head = vec!["suite", "test", "rows", "fastest in", "sure in"];
    let titles: Vec<String> = names.iter().map(|name| format!("faster than {name} by")).collect();
    head.extend(titles.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = standings
        .iter()
        .map(|standing| {
            let firsts: Vec<String> =
                standing.firsts.iter().map(|(system, count)| format!("{system} {count}")).collect();
            let mut row = vec![
                standing.suite.clone(),
                standing.test.clone(),
                standing.contests.to_string(),
                firsts.join(", "),
                standing.sure.to_string(),
            ];
            row.extend(names.iter().map(|name| {
                let found = standing.factors.iter().find(|(peer, _)| peer == name);
                found.map_or_else(String::new, |(_, factor)| number(*factor))
            }));
            row
        })
        .collect();
    table(&head, &rows)
        + &paragraph(
            "Factors are NeoPVM's, geometric means over all sizes and numbers of tasks; below 1 it \
             is slower.",
        )
}

/// The first answer of the report: whether NeoPVM is the first where it ought to be, and where it
/// is farthest from that.
fn verdict(contests: &[Contest]) -> String {
    let Some(mut text) = ranking::sentence(contests) else { return String::new() };
    let behind = ordered(ranking::not_first(contests));
    if let Some(&worst) = behind.first() {
        let sure = behind.iter().filter(|contest| is_sure(contest)).count();
        text += &format!(
            " That is sure in {sure} of them, where its rounds and those of the first nowhere meet."
        );
        if let (Some(by), Some(first)) = (slower(worst), worst.entries.first()) {
            let surely = if is_sure(worst) { " for sure" } else { "" };
            text += &format!(
                " Farthest behind{surely}: {}, {}, {} tasks, {}: {by} times as slow as {}.",
                worst.suite,
                worst.test,
                worst.tasks,
                size(worst),
                first.system
            );
        }
    }
    element("p", "verdict", &escaped(&text))
}

/// Sure results in front, then the farthest behind.
fn ordered(mut behind: Vec<&Contest>) -> Vec<&Contest> {
    let lead = |contest: &Contest| contest.lead_of(Kind::Ours.name()).unwrap_or(0.0);
    behind.sort_by(|a, b| is_sure(b).cmp(&is_sure(a)).then(lead(a).total_cmp(&lead(b))));
    behind
}

fn is_sure(contest: &Contest) -> bool {
    contest.is_surely_behind(Kind::Ours.name())
}

fn slower(contest: &Contest) -> Option<String> {
    contest.lead_of(Kind::Ours.name()).map(|lead| number(1.0 / lead))
}

fn size(contest: &Contest) -> String {
    let unit = if contest.test == "sum" { "numbers" } else { "bytes" };
    format!("{} {unit}", contest.size)
}

/// The cases in which NeoPVM is not the first although it ought to be.
fn behind(contests: &[Contest]) -> String {
    let behind = ordered(ranking::not_first(contests));
    if behind.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = behind
        .iter()
        .filter_map(|contest| {
            let first = contest.entries.first()?;
            let ours = contest.entry(Kind::Ours.name())?;
            Some(vec![
                contest.suite.clone(),
                contest.test.clone(),
                contest.tasks.to_string(),
                size(contest),
                first.who.clone(),
                format!("{} {}", number(first.typical), contest.unit),
                format!("{} {}", number(ours.typical), contest.unit),
                slower(contest).unwrap_or_default(),
                if is_sure(contest) { "yes" } else { "no" }.to_owned(),
            ])
        })
        .collect();
    let head = [
        "suite",
        "test",
        "tasks",
        "size",
        "fastest",
        "its time",
        "NeoPVM's",
        "times as slow",
        "sure",
    ];
    element("h2", "", "Where NeoPVM is not the first, up to 1 MB")
        + &paragraph(
            "What is sure stands in front: the rounds of both nowhere meet. Then what is farthest \
             behind.",
        )
        + &table(&head, &rows)
}

fn problems(figures: &Figures) -> String {
    if figures.problems.is_empty() {
        return String::new();
    }
    let mut text = element("h2", "", "What could not be measured");
    for problem in &figures.problems {
        text += &element("p", "problem", &escaped(&format!("{}: {}", problem.what, problem.how)));
        if !problem.last_words.is_empty() {
            text += &element("pre", "", &escaped(&problem.last_words));
        }
    }
    text
}

/// The cases that were left out for lack of time.
fn cuts(figures: &Figures) -> String {
    if figures.cuts.is_empty() {
        return String::new();
    }
    let title = format!(
        "{} things were cut so that the suites kept their time: fewer rounds, and sizes where a \
         system was slow",
        figures.cuts.len()
    );
    let lines: String = figures.cuts.iter().map(|cut| element("li", "", &escaped(cut))).collect();
    details(&title, &element("ul", "", &lines))
}

/// The suites that plain `pvm bench` leaves out.
fn elsewhere(figures: &Figures) -> String {
    if !figures.answers.is_empty() {
        return String::new();
    }
    paragraph(
        "Not measured here, as they take their time: the eight NAS Parallel Benchmarks, with their \
         official verification \
         and beside NPB over MPI (pvm bench nas).",
    )
}

/// Day and time of a number of seconds since 1970.
fn date(seconds: u64) -> String {
    let (mut days, rest) = (seconds / 86400, seconds % 86400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02} {:02}:{:02}", month + 1, days + 1, rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn the_page_begins_with_where_neopvm_is_not_the_first() {
        let figures = sample(2.0);
        let page = page(&figures, &ranking::contests(&figures));
        let (begin, rest) = page.split_once("<table>").unwrap();
        assert!(
            begin.contains("NeoPVM is not the first in 3 of 3 rows of messages up to 1 MB."),
            "{begin}"
        );
        assert!(
            begin.contains("sure in 3 of them") && begin.contains("times as slow as Open MPI"),
            "{begin}"
        );
        let told = rest.split_once("Where NeoPVM is not the first").unwrap().1;
        assert_eq!(told.matches("<tr>").count(), 4, "{told}");
        assert!(told.contains("1000000 bytes"), "{told}");
    }

    #[test]
    fn where_neopvm_is_the_first_everywhere_a_sentence_says_so() {
        let figures = sample(1.0);
        let page = page(&figures, &ranking::contests(&figures));
        assert!(page.contains("NeoPVM is the first in all 3 rows of messages up to 1 MB."));
        assert!(!page.contains("not the first"));
    }

    #[test]
    fn seconds_become_a_day() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_827_696), "2000-02-29 12:34");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59");
    }
}
