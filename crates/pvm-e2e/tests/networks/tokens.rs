//! Hosts that join by a token, where no ssh goes.

use crate::ask::{all_see, members};
use pvm_e2e::{Hosts, Output, eventually};
use std::time::Duration;

fn token(hosts: &Hosts) -> String {
    hosts.run("h1", &["pvm", "token"]).out.trim().to_owned()
}

/// Uses a token on a host, from a file of this mode.
fn join(hosts: &Hosts, host: &str, token: &str, mode: &str) -> Output {
    let line = format!(
        "printf %s {token} >/tmp/token && chmod {mode} /tmp/token && pvmd --token-file /tmp/token; \
         status=$?; rm -f /tmp/token; exit $status"
    );
    hosts.finish(host, &["sh", "-c", &line])
}

#[test]
fn a_token_lets_one_host_in_and_no_second_one() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &[]);
    let first = token(&hosts);
    let joined = join(&hosts, "h2", &first, "600");
    assert_eq!(joined.code(), 0, "{}{}{}", joined.out, joined.err, hosts.logs());
    all_see(&hosts, &["h1", "h2"]);
    let again = join(&hosts, "h3", &first, "600");
    assert_ne!(again.code(), 0, "{}", again.out);
    assert!(again.err.contains("token"), "{}", again.err);
    all_see(&hosts, &["h1", "h2"]);
    // Any member makes them, and standard input will do.
    let second = hosts.run("h2", &["pvm", "token", "--minutes", "1"]).out.trim().to_owned();
    hosts.shell("h3", &format!("printf %s {second} | pvmd --token-file -"));
    all_see(&hosts, &["h1", "h2", "h3"]);
    hosts.run("h3", &[&all, "3"]);
    // The secret stands at the end of the text.
    for token in [&first, &second] {
        let secret = &token[token.len() - 64..];
        for host in ["h1", "h2", "h3"] {
            let line = format!(
                "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c {secret}"
            );
            // grep itself has it in its arguments, and the shell in its own.
            let found = hosts.finish(host, &["sh", "-c", &line]).out;
            let ours = hosts.processes(host).join("\n");
            assert!(!ours.contains(secret), "{host}: {found}{ours}");
        }
        assert!(!hosts.logs().contains(secret), "the secret stands in a log");
    }
    hosts.halt("h1");
}

/// Its daemon said that it was ready when it had its place. Then the state of the machine came.
#[test]
fn a_host_that_had_joined_by_a_token_refused_the_first_command() {
    let Some(hosts) = Hosts::shaped(2, "4mbit") else { return };
    let kept = hosts.compile("kept.c");
    hosts.machine("h1", &[]);
    hosts.run("h1", &[&kept, "1000000"]);
    let joined = join(&hosts, "h2", &token(&hosts), "600");
    assert_eq!(joined.code(), 0, "{}{}{}", joined.out, joined.err, hosts.logs());
    assert_eq!(members(&hosts, "h2"), ["h1", "h2"]);
    hosts.halt("h1");
}

/// The machine died between the host's place and the state of the machine. The host neither joined
/// nor ended.
#[test]
fn a_host_whose_machine_died_before_it_knew_it_stayed_for_ever() {
    let Some(hosts) = Hosts::shaped(2, "1mbit") else { return };
    let kept = hosts.compile("kept.c");
    hosts.machine("h1", &[]);
    hosts.run("h1", &[&kept, "4000000"]);
    let token = token(&hosts);
    std::thread::scope(|scope| {
        let joining = scope.spawn(|| join(&hosts, "h2", &token, "600"));
        assert!(eventually(Duration::from_secs(20), || hosts.logs().contains("host h2 is in")));
        hosts.finish("h1", &["pkill", "-9", "-x", "pvmd"]);
        let joined = joining.join().expect("an end");
        assert_ne!(joined.code(), 0, "{}", joined.out);
    });
    assert!(hosts.left("h2").is_empty(), "{:?}", hosts.left("h2"));
}

#[test]
fn a_wrong_secret_opens_nothing_and_five_end_the_token() {
    let Some(hosts) = Hosts::up(2) else { return };
    hosts.machine("h1", &[]);
    let good = token(&hosts);
    let readable = join(&hosts, "h2", &good, "644");
    assert!(readable.err.contains("others can read"), "{}", readable.err);
    let wrong = format!("{}{}", &good[..good.len() - 64], "0".repeat(64));
    for _ in 0..5 {
        let refused = join(&hosts, "h2", &wrong, "600");
        assert_ne!(refused.code(), 0);
        assert!(refused.err.contains("not in the machine"), "{}", refused.err);
    }
    assert_ne!(join(&hosts, "h2", &good, "600").code(), 0, "a token survived five wrong secrets");
    let damaged = join(&hosts, "h2", &good[..good.len() - 2], "600");
    assert!(damaged.err.contains("damaged"), "{}", damaged.err);
    // Another machine's key at the address: the secret is not told there.
    let fresh = token(&hosts);
    hosts.run("h1", &["pvm", "halt"]);
    hosts.machine("h1", &[]);
    assert_ne!(join(&hosts, "h2", &fresh, "600").code(), 0);
    all_see(&hosts, &["h1"]);
    let gone = eventually(Duration::from_secs(60), || hosts.left("h2").is_empty());
    assert!(gone, "{:?}", hosts.left("h2"));
    hosts.halt("h1");
}
