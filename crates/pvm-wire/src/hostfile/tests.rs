use super::*;

fn speeds(file: &Hostfile) -> Vec<(String, Option<i32>)> {
    file.hosts.iter().map(|line| (line.name.to_text(), line.sp)).collect()
}

#[test]
fn a_line_is_read_as_the_original_reads_it() {
    let line = parse_line(b" h3\tsp=7x wd=$HOME/x ep=/a:$FOO/b so= wd=/later id=two tunnel\r");
    let line = line.unwrap();
    assert_eq!(line.name, "h3".into());
    assert_eq!((line.sp, line.so, line.tunnel, line.push), (Some(7), None, true, false));
    assert_eq!(line.wd, Some("$HOME/x".into()));
    assert_eq!(line.ep, Some("/a:$FOO/b".into()));
    let fault = |text: &[u8]| parse_line(text).unwrap_err().to_string();
    assert_eq!(fault(b"h5 foo=1"), "unknown option \"foo=1\"");
    assert_eq!(fault(b"h5 SP=1"), "unknown option \"SP=1\"");
    assert_eq!(fault(b"h5 lo"), "unknown option \"lo\"");
    assert_eq!(fault(b"h5 =3"), "unknown option \"=3\"");
    assert_eq!(fault(b"h5 sp=fast"), "sp= needs a number, not \"fast\"");
    assert_eq!(fault(b"  "), "no host name");
    assert_eq!(fault(b"& # who"), "no host name");
    assert_eq!(parse_line(b"h sp=-5 sp=6").unwrap().sp, Some(-5));
    assert_eq!(parse_line(b"h sp=99999999999999999999").unwrap().sp, Some(i32::MAX));
}

#[test]
fn what_a_line_says_of_the_machine_stays_on_it() {
    let text = b"* sp=2 witness=me@third on_silence=survive\nh1\nh2 on_silence=pause\n";
    let file = parse_file(text);
    assert_eq!(file.defaults.witness, Some("me@third".into()));
    assert_eq!(file.defaults.survive, Some(true));
    assert_eq!((&file.hosts[0].witness, file.hosts[0].survive), (&None, None));
    assert_eq!((file.hosts[0].sp, file.hosts[1].survive), (Some(2), Some(false)));
    let line = HostLine { name: "*".into(), ..file.defaults }.to_line();
    assert_eq!(line.to_text(), "* witness=me@third on_silence=survive sp=2");
    for wrong in ["witness=", "witness=-oX", "witness=me@", "witness=me@-x", "on_silence=die"] {
        assert!(parse_line(format!("* {wrong}").as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn a_file_is_read_as_the_original_reads_it() {
    // The file and the speeds that it showed for h1, h2 (& line), h3, h4 (& lines) and h5.
    let text = b"* sp=11\nh1\n&h2 wd=/usr\nh3 sp=5\n&h4 sp=1\n* sp=22 ep=/x\n&h4 wd=/w\n\
        h5 sp=66\n&h5 wd=/v\n";
    let file = parse_file(text);
    let expected = [("h1", 11), ("h2", 11), ("h3", 5), ("h4", 22), ("h5", 22)];
    assert_eq!(speeds(&file), expected.map(|(name, speed)| (name.to_owned(), Some(speed))));
    let later: Vec<bool> = file.hosts.iter().map(|line| line.later).collect();
    assert_eq!(later, [false, true, false, true, false]);
    assert_eq!(file.hosts[1].ep, None);
    assert_eq!((&file.hosts[4].ep, &file.hosts[4].wd), (&Some("/x".into()), &Some("/v".into())));
    assert_eq!(file.defaults.sp, Some(22));
    assert_eq!(file.errors, []);
}

#[test]
fn lines_that_are_wrong_are_left_out_and_told() {
    let text =
        b"h1\n  # a comment\n\n&h4 bogus=1\n*sp=12\n&\n$h2 sp=3\n* sp=3 bogus=5\n& h3\nh6 # why";
    let file = parse_file(text);
    let names: Vec<String> = file.hosts.iter().map(|line| line.name.to_text()).collect();
    assert_eq!(names, ["h1", "*sp=12", "h2", "h3", "h6"]);
    assert!(file.hosts[2].again && file.hosts[3].later);
    assert_eq!(file.defaults, HostLine::default());
    let errors: Vec<String> = file.errors.iter().map(ToString::to_string).collect();
    let expected = [
        "line 4: unknown option \"bogus=1\"",
        "line 6: no host name",
        "line 8: unknown option \"bogus=5\"",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn a_file_of_long_lines_and_many_hosts_is_bounded() {
    let mut text = format!("* ep={}\n", "x".repeat(LINE_BYTES_MAX)).into_bytes();
    for host in 0..5000 {
        text.extend_from_slice(format!("h{host}\n").as_bytes());
    }
    let file = parse_file(&text);
    assert_eq!(file.hosts.len(), usize::from(HostIndex::MAX.0));
    assert_eq!(file.errors.len(), ERRORS_MAX);
    assert_eq!(file.errors[0].fault, Fault::TooLong);
    assert_eq!(file.errors[1].fault, Fault::TooMany);
}

#[test]
fn variables_are_expanded_as_the_original_expands_them() {
    let known = |name: &str| (name == "PVM_ARCH").then(|| b"LINUX64".to_vec());
    let expanded = |text: &str| String::from_utf8(expand(text.as_bytes(), known)).unwrap();
    assert_eq!(expanded("un${PVM_ARCH}"), "unLINUX64");
    assert_eq!(expanded("un$PVM_ARCH-x:$PVM_ARCH$PVM_ARCH"), "unLINUX64-x:LINUX64LINUX64");
    assert_eq!(expanded("un${PVM_ARCH"), "unLINUX64");
    for same in ["un$NOSUCH", "un${NOSUCH}", "un$PVM_ARCHx", "un$", "un$-a", "un$1", "~/${", "$"] {
        assert_eq!(expanded(same), same);
    }
}

mod properties {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Option<Blob>> {
        proptest::option::of("[!-~]{1,12}".prop_map(Blob::from))
    }

    fn line() -> impl Strategy<Value = HostLine> {
        let marks = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
        let values = (value(), value(), value(), value(), value(), value(), value(), value());
        let name = "[a-z][a-z0-9.*$&-]{0,9}".prop_map(Blob::from);
        let account = proptest::option::of("([a-z]{1,6}@)?[a-z][a-z.-]{0,6}".prop_map(Blob::from));
        let rules = (account, any::<Option<bool>>());
        (name, marks, values, any::<Option<i32>>(), rules).prop_map(
            |(name, (later, again, tunnel, push), values, sp, (witness, survive))| {
                let (lo, so, dx, ep, wd, bx, ip, id) = values;
                let line = HostLine { name, later, again, tunnel, push, ..HostLine::default() };
                HostLine { lo, so, dx, ep, wd, sp, bx, ip, id, witness, survive, ..line }
            },
        )
    }

    /// Files that mean something, next to noise.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let word = "(h[1-3]|[*&$#]{1,2}|(ep|wd|sp|lo|so|xx)=[0-9$/{}A]{0,4}|tunnel|[ \t\n]{1,2})";
        let sensible = vec(word, 0..60).prop_map(|words| words.join(" ").into_bytes());
        prop_oneof![sensible, vec(any::<u8>(), 0..300)]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(line in line()) {
            prop_assert_eq!(parse_line(&line.to_line().0), Ok(line));
        }

        #[test]
        fn a_file_that_was_read_can_be_written(text in text()) {
            let file = parse_file(&text);
            let lines: Vec<Vec<u8>> = file.hosts.iter().map(|line| line.to_line().0).collect();
            let again = parse_file(&lines.join(&b'\n'));
            let count = bytecount(&text) + 1;
            prop_assert!(file.errors.iter().all(|error| (1..=count).contains(&error.line)));
            // Names are unique, so no line changes another.
            prop_assert_eq!(again.hosts, file.hosts);
            prop_assert_eq!(again.errors, []);
        }

        #[test]
        fn only_known_names_are_expanded(value in vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(expand(&value, |_| None), value.clone());
            let gone = expand(&value, |_| Some(Vec::new()));
            prop_assert!(gone.len() <= value.len());
        }
    }

    fn bytecount(text: &[u8]) -> usize {
        text.split(|&byte| byte == b'\n').count() - 1
    }
}
