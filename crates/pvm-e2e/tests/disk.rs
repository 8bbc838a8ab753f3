//! A full disk keeps nobody from attaching, sending and hearing of deaths.
#![forbid(unsafe_code)]

/// In a mount namespace of its own: the runtime folder is a small file system, and full.
const FULL: &str = r#"
set -eu
mount -t tmpfs -o size=256k,mode=700 none "$PVM_TMP"
full() { dd if=/dev/zero of="$PVM_TMP/rest" bs=4k 2>/dev/null || true
  [ "$(df --output=avail "$PVM_TMP" | tail -1)" -eq 0 ]
}
start() { pvmd --bound <"$HOME/hold" >"$HOME/said" 2>"$HOME/complained" & daemon=$!
  exec 9>"$HOME/hold"
  for i in $(seq 400); do [ -s "$HOME/said" ] && return; sleep 0.05; done
  cat "$HOME/complained"; exit 1; }
mkfifo "$HOME/hold"
if [ "$1" = before ]; then full; fi
start
full || exit 1
pvm status
for i in 1 2; do
  exits 4
  talk 1 3 mayflies
  pvm run -n 2 -- sh -c 'echo out; echo err >&2; seq 1 20000' >"$HOME/out" 2>"$HOME/err"
  [ "$(grep -c out "$HOME/out")" = 2 ] && [ "$(wc -l <"$HOME/out")" = 40002 ]
  # A daemon that begins anew there is no worse off.
  kill -9 $(pgrep -P $daemon -f -- --daemon)
done
pvm upgrade
exits 2
pvm halt
[ ! -e "$PVM_TMP"/neopvm-* ]
"#;

fn on_a_full_disk(when: &str) {
    let is_root = rustix::process::getuid().is_root();
    if !is_root || !pvm_e2e::has("unshare", "util-linux") {
        return eprintln!("skipped: a file system of its own needs root");
    }
    let place = pvm_e2e::Place::new();
    let bin = place.compile("exits.c").parent().expect("a folder").to_path_buf();
    place.compile("talk.c");
    let mut command = place.command("unshare");
    let installed = pvm_e2e::prefix().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{}:{path}", installed.display(), bin.display()));
    command.args(["--mount", "bash", "-c", FULL, "full", when]);
    let output = pvm_e2e::Running::start(command).finish(std::time::Duration::from_secs(90));
    assert_eq!(output.code(), 0, "{}\n{}", output.out, output.err);
}

#[test]
fn a_disk_that_fills_up_is_no_trouble() {
    on_a_full_disk("later");
}

#[test]
fn a_machine_starts_on_a_full_disk() {
    on_a_full_disk("before");
}

/// A program and a recording whose file finds no room: the program goes on, and the file is read up
/// to there.
const TRACED: &str = r#"
set -eu
mkdir "$HOME/small" && mount -t tmpfs -o size=2m none "$HOME/small"
file=$HOME/small/a.trace
pvm run --quiet --trace "$file" tokens 3 20000 >"$HOME/out" 2>"$HOME/err"
grep -q "No space left on device" "$HOME/err"
! grep -q "records" "$HOME/err"
[ "$(grep -c "sent 2000" "$HOME/out")" = 3 ]
pvm trace show "$file" >"$HOME/shown" 2>"$HOME/err"
grep -q "was not completed" "$HOME/err"
[ "$(sed -n 's/ records.*//p;1q' "$HOME/shown")" -gt 100000 ]
# No room from the begin on.
rm "$file"; dd if=/dev/zero of="$HOME/small/rest" bs=1k count=2040 2>/dev/null || true
pvm run --quiet --trace "$file" tokens 3 400 >"$HOME/out" 2>"$HOME/err"
grep -q "No space left on device" "$HOME/err"
[ "$(grep -c "sent 40" "$HOME/out")" = 3 ]
rm "$HOME/small"/*
pvm up >/dev/null
pvm trace record --all -o "$file" 2>"$HOME/err" & recording=$!
for i in $(seq 400); do grep -q "recording into" "$HOME/err" && break; sleep 0.05; done
pvm run --quiet tokens 3 20000 >"$HOME/out"
[ "$(grep -c "sent 2000" "$HOME/out")" = 3 ]
status=0; wait $recording || status=$?
[ $status = 1 ] && grep -q "a.trace is incomplete" "$HOME/err"
pvm halt
"#;

#[test]
fn a_recording_on_a_full_disk_failed_the_program_and_claimed_records_that_it_had_not_written() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root || !pvm_e2e::has("unshare", "util-linux") {
        return eprintln!("skipped: a file system of its own needs root");
    }
    let place = pvm_e2e::Place::new();
    place.compile("tokens.c");
    let mut command = place.command("unshare");
    let installed = pvm_e2e::prefix().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{}:{path}", installed.display(), place.bin().display()));
    command.args(["--mount", "bash", "-xc", TRACED]);
    let output = pvm_e2e::Running::start(command).finish(std::time::Duration::from_secs(90));
    assert_eq!(output.code(), 0, "{}\n{}", output.out, output.err);
}
