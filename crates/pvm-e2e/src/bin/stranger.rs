//! A stranger, who is no member: it connects, sends nonsense or nothing, and has a plain talk to
//! compare with.
//!
//! ```text
//! stranger hold ADDRESS:PORT COUNT    opens COUNT connections and is silent on them until
//!                                     its standard input ends
//! stranger say ADDRESS:PORT FILE      sends FILE, then reads until the other side closes
//! stranger listen PORT                takes one connection and reads it to its end
//! stranger mute PORT                  takes every connection, keeps it and says nothing
//! ```
//!
//! Each prints what it did; `hold` counts the connections again at the end that the other side
//! still keeps.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

/// A side that does not close within this does not close at all.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["hold", address, count] => hold(address, count.parse().expect("a number")),
        ["say", address, file] => say(address, &std::fs::read(file)?),
        ["listen", port] => listen(port.parse().expect("a port")),
        ["mute", port] => mute(port.parse().expect("a port")),
        _ => panic!(
            "usage: stranger hold ADDRESS COUNT | say ADDRESS FILE | listen PORT | mute PORT"
        ),
    }
}

fn hold(address: &str, count: usize) -> io::Result<()> {
    let mut held = Vec::new();
    let mut refused = 0;
    for _ in 0..count {
        match TcpStream::connect(address) {
            Ok(stream) => held.push(stream),
            Err(_) => refused += 1,
        }
    }
    println!("held {} refused {refused}", held.len());
    io::stdin().read_to_end(&mut Vec::new())?;
    let mut kept = 0;
    for stream in &mut held {
        stream.set_nonblocking(true)?;
        let open = |e: io::Error| e.kind() == io::ErrorKind::WouldBlock;
        kept += usize::from(stream.read(&mut [0; 64]).is_err_and(open));
    }
    println!("kept {kept}");
    Ok(())
}

fn say(address: &str, words: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // The other side may close in the middle of it.
    let said = stream.write_all(words).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    let closed = stream.read_to_end(&mut answer);
    let open = closed.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
    println!("said {} answered {} open {open}", said.is_ok(), answer.len());
    Ok(())
}

fn mute(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", port))?;
    println!("listening");
    let mut held = Vec::new();
    loop {
        held.push(listener.accept()?);
    }
}

fn listen(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", port))?;
    println!("listening");
    let (mut stream, _) = listener.accept()?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    println!("heard {}", all.len());
    Ok(())
}
