//! Man pages, and completion in the shells themselves, with the names of a running machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn pvm(place: &Place, args: &[&str]) -> String {
    let output = place.command(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The path at which `pvm generate` has written this.
fn made(place: &Place, what: &str) -> PathBuf {
    let folder = place.home().join(what);
    pvm(place, &["generate", what, folder.to_str().unwrap()]);
    folder
}

#[test]
fn man_pages_are_written() {
    let place = Place::new();
    let folder = made(&place, "man");
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for command in "run up add del conf ps kill names groups status halt doctor".split_whitespace()
    {
        let text = page(&format!("pvm-{command}.1"));
        assert!(text.contains(&format!("pvm {command}")) && text.contains("SEE ALSO"), "{text}");
        assert!(command == "run" || text.contains("JSON:"), "{command} has no fields: {text}");
    }
    assert!(page("pvm.1").contains("PVM_VMID"));
    assert!(!folder.join("pvm-generate.1").exists() && !folder.join("pvm-complete.1").exists());
}

#[test]
fn without_a_machine_completion_is_silent() {
    let place = Place::new();
    for line in [&["ps", ""][..], &["kill", "t"], &["names", ""]] {
        let output = place.command(&["complete", "--"]).args(line).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, "nothing\n", "{line:?}");
    }
}

/// The shell, where it is installed, with `pvm` in its path.
fn shell(place: &Place, name: &str) -> Option<Command> {
    if Command::new(name).arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: there is no {name} (package {name})");
        return None;
    }
    let inside = place.command(&[]);
    let mut command = Command::new(name);
    command.env_clear().envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ours = Path::new(env!("CARGO_BIN_EXE_pvm")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [ours.as_os_str(), &path].join(std::ffi::OsStr::new(":"));
    command.env("PATH", path).env("TERM", "dumb").current_dir(place.home());
    command.stdin(Stdio::null());
    Some(command)
}

fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A machine with a host of a name that nothing else has, and a file.
fn prepared() -> (Place, PathBuf) {
    let place = Place::new();
    pvm(&place, &["up", "--name", "quaint"]);
    std::fs::write(place.home().join("hosts.txt"), "").unwrap();
    let scripts = made(&place, "completions");
    (place, scripts)
}

#[test]
fn bash_completes_commands_hosts_and_files() {
    let (place, scripts) = prepared();
    let Some(mut bash) = shell(&place, "bash") else { return };
    let script = r#"
        source "$0/pvm.bash" || exit 1
        complete -p pvm
        try() { COMP_WORDS=(pvm "$@"); COMP_CWORD=$#; _pvm; echo "${COMPREPLY[*]}"; }
        try ha; try ps q; try run --host = q; try kill a; try add --hostfile ho
        try conf --; try halt x
        cd / && ls() { :; }
        COMP_WORDS=(pvm run ba); COMP_CWORD=2; _pvm
        printf '%s\n' "${COMPREPLY[@]}" | grep -x bash | head -n 1
    "#;
    bash.args(["--norc", "-c", script]).arg(&scripts);
    let lines = said(bash);
    let expected =
        "complete -F _pvm pvm\nhalt\nquaint\nquaint\nall\nhosts.txt\n--json --help\n\nbash\n";
    assert_eq!(lines, expected);
}

#[test]
fn fish_completes_commands_hosts_and_files() {
    let (place, scripts) = prepared();
    let Some(mut fish) = shell(&place, "fish") else { return };
    let script = "source $argv[1]/pvm.fish
        for line in 'ha' 'ps q' 'run --host q' 'run --host=q' 'kill a' 'add --hostfile ho' 'halt x'
            complete -C \"pvm $line\" | string replace \\t ' | '
        end";
    fish.args(["--no-config", "-c", script]).arg(&scripts);
    let lines = said(fish);
    let words: Vec<&str> =
        lines.lines().map(|line| line.split(" | ").next().unwrap().trim()).collect();
    assert_eq!(words, ["halt", "quaint", "quaint", "--host=quaint", "all", "hosts.txt"], "{lines}");
    assert!(lines.contains("quaint | t40000 "), "{lines}");
}

/// On a terminal of its own, for zsh completes nowhere else.
#[test]
fn zsh_completes_commands_hosts_and_files() {
    let (place, scripts) = prepared();
    let Some(mut zsh) = shell(&place, "zsh") else { return };
    let script = r#"
        zmodload zsh/zpty || exit 1
        zpty inner zsh -f -i
        send() { zpty -w inner "$1"; }
        send "PS1= RPS1= PS2=; unsetopt zle_bracketed_paste; fpath=($1 \$fpath)"
        send "autoload -Uz compinit; compinit -u -D"
        send 'show() { print -r -- "<$BUFFER>"; BUFFER=; zle redisplay }'
        send 'zle -N show; bindkey "^X" show'
        send 'print rea""dy'
        zpty -r -m inner line '*ready*'
        for try in 'ha' 'ps q' 'run --host q' 'run --host=q' 'kill a' 'add --hostfile ho'; do
          zpty -w -n inner "pvm $try"$'\t\x18'
          zpty -r -m inner line '*<pvm*>*'
          print -r -- "${${line##*<}%%>*}"
        done
        zpty -d inner
    "#;
    zsh.args(["-f", "-c", script, "zsh"]).arg(&scripts);
    let lines = said(zsh);
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    let expected = [
        "pvm halt",
        "pvm ps quaint",
        "pvm run --host quaint",
        "pvm run --host=quaint",
        "pvm kill all",
        "pvm add --hostfile hosts.txt",
    ];
    assert_eq!(lines, expected);
}
