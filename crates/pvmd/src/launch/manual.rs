//! `so=ms`: a person starts the daemon, where neither ssh nor a hoster can.
//!
//! As in PVM the command is shown on the terminal of the daemon that was asked, and the answer is
//! read from there; so there must be one: the daemon was started by hand and not in the background.

use crate::launch::invitation::{Invitation, quoted};
use crate::launch::reply::{self, Answer};
use crate::launch::sentences;
use pvm_wire::peer::HostFacts;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

/// The time that a person may take, and for which the daemon there waits to be let in.
const TYPING_TIME: Duration = Duration::from_secs(80);
pub(crate) const TYPING_SECONDS: u32 = 100;

/// One question at a time.
static TERMINAL: Mutex<()> = Mutex::const_new(());

/// Asks a person to start the daemon; none if there is no person to ask, or no answer.
pub(crate) async fn start(name: &str, invited: &Invitation) -> Result<HostFacts, String> {
    let _turn = TERMINAL.lock().await;
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let terminal = terminal
        .map_err(|_| "so=ms needs a terminal to ask on, and the daemon here has none".to_owned())?;
    let words: Vec<String> = invited.arguments().iter().map(|word| quoted(word)).collect();
    let question = format!(
        "*** Manual startup ***\nLogin to \"{name}\" and type:\npvmd {}\nType response: ",
        words.join(" "),
    );
    let (sender, answer) = oneshot::channel();
    // A thread of its own: nothing can call off the reading, and the end of this process must not
    // wait for it.
    std::thread::spawn(move || drop(sender.send(ask(terminal, &question))));
    match timeout(TYPING_TIME, answer).await {
        Ok(Ok(Some(Answer::Ready(facts)))) => Ok(*facts),
        Ok(Ok(Some(Answer::Refused(_, failure)))) => Err(failure.detail),
        Ok(Ok(Some(Answer::Foreign { version, protocol }))) => {
            Err(sentences::versions(name, &version, protocol))
        }
        Ok(_) => Err("that was no answer of pvmd (a line with neopvm-host-1)".to_owned()),
        Err(_) => Err("nobody typed an answer".to_owned()),
    }
}

/// Reads until a line is an answer, or an empty one gives up.
fn ask(terminal: File, question: &str) -> Option<Answer> {
    (&terminal).write_all(question.as_bytes()).ok()?;
    for line in BufReader::new(&terminal).lines() {
        let line = line.ok()?;
        if let Some(answer) = reply::answer_in(&line) {
            let _ = (&terminal).write_all(b"Thanks\n");
            return Some(answer);
        }
        if line.trim().is_empty() {
            return None;
        }
    }
    None
}
