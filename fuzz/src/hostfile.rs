//! Host files, host lines and the variables in their values.

use pvm_wire::hostfile::{expand, parse_file, parse_line};

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(line) = parse_line(bytes) {
        assert_eq!(parse_line(&line.to_line().0), Ok(line), "what we write we can read");
    }
    let file = parse_file(bytes);
    let lines: Vec<Vec<u8>> = file.hosts.iter().map(|line| line.to_line().0).collect();
    let again = parse_file(&lines.join(&b'\n'));
    assert_eq!((again.hosts, again.errors.len()), (file.hosts, 0));
    for error in &file.errors {
        assert!(error.to_string().len() < 1000, "an error is short whatever the file holds");
    }
    assert_eq!(expand(bytes, |_| None), bytes);
    assert!(expand(bytes, |name| Some(name.as_bytes().to_vec())).len() <= bytes.len());
}
