//! One line of the table: how often, what went wrong, how long it took.

/// The observations of one kind of fault.
#[derive(Clone, Debug)]
pub struct Row {
    /// The fault, and what the times are.
    pub what: String,
    /// The number of faults.
    pub count: usize,
    /// The number of those in which anything was lost, repeated, out of order, wrong or too late.
    pub wrong: usize,
    /// In milliseconds.
    pub times_ms: Vec<f64>,
    /// A remark.
    pub note: String,
}

impl Row {
    /// Nothing so far.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), count: 0, wrong: 0, times_ms: Vec::new(), note: String::new() }
    }

    /// One time more.
    pub(super) fn add(&mut self, right: bool, times_ms: impl IntoIterator<Item = f64>) {
        self.count += 1;
        self.wrong += usize::from(!right);
        self.times_ms.extend(times_ms);
    }

    /// The time that so large a part of the times does not exceed; 0 where there is none.
    pub fn quantile_ms(&self, part: f64) -> f64 {
        let mut times = self.times_ms.clone();
        times.sort_by(f64::total_cmp);
        let place = (part * times.len() as f64).ceil() as usize;
        times.get(place.max(1) - 1).copied().unwrap_or(0.0)
    }
}

/// A table to be read, in the form of Markdown.
pub fn to_table(rows: &[Row]) -> String {
    let mut text =
        "| fault: what is measured | times | wrong | p50 ms | p99 ms | max ms | besides |\n"
            .to_owned();
    text += "|---|---|---|---|---|---|---|\n";
    for row in rows {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|part| row.quantile_ms(part));
        let Row { what, count, wrong, note, .. } = row;
        text +=
            &format!("| {what} | {count} | {wrong} | {p50:.2} | {p99:.2} | {max:.2} | {note} |\n");
    }
    text
}

/// A line for each.
pub fn to_json(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let times: Vec<String> = row.times_ms.iter().map(|time| format!("{time:.3}")).collect();
        let Row { what, count, wrong, note, .. } = row;
        format!(
            "{{\"what\":{what:?},\"count\":{count},\"wrong\":{wrong},\
             \"note\":{note:?},\"times_ms\":[{}]}}\n",
            times.join(",")
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let mut row = Row::new("a fault");
        assert_eq!(row.quantile_ms(0.5), 0.0);
        (1..=200).rev().for_each(|time| row.add(time != 7, [f64::from(time)]));
        assert_eq!([0.5, 0.99, 1.0].map(|part| row.quantile_ms(part)), [100.0, 198.0, 200.0]);
        assert_eq!((row.count, row.wrong), (200, 1));
        assert!(
            to_table(&[row.clone()])
                .contains("| a fault | 200 | 1 | 100.00 | 198.00 | 200.00 |  |")
        );
        assert!(to_json(&[row]).starts_with("{\"what\":\"a fault\",\"count\":200,\"wrong\":1,"));
    }
}
