//! `wiretap FILE`: writes every frame that any network card here sees to FILE, until its standard
//! input ends.
//!
//! A frame is written as its length (u32, little-endian) and its bytes. The first line on standard
//! output says that it listens. Needs Linux and the right to open packet sockets.
#![forbid(unsafe_code)]

use rustix::net::{AddressFamily, RecvFlags, SocketType, eth, recv, socket, sockopt};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Frames of a virtual card are up to 64 KiB before they are cut; some leave with more.
const FRAME_BYTES_MAX: usize = 256 << 10;
/// Room for what comes while the disk is slow.
const BUFFER_BYTES: usize = 256 << 20;

fn main() -> io::Result<()> {
    let path = std::env::args().nth(1).expect("usage: wiretap FILE");
    let mut file = BufWriter::new(File::create(path)?);
    let tap = socket(AddressFamily::PACKET, SocketType::RAW, Some(eth::ALL))?;
    sockopt::set_socket_recv_buffer_size_force(&tap, BUFFER_BYTES)?;
    sockopt::set_socket_timeout(&tap, sockopt::Timeout::Recv, Some(Duration::from_millis(50)))?;
    println!("listening");
    let over = Arc::new(AtomicBool::new(false));
    let told = over.clone();
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let mut frame = vec![0; FRAME_BYTES_MAX];
    loop {
        match recv(&tap, frame.as_mut_slice(), RecvFlags::empty()) {
            Ok((count, _)) => {
                let length = u32::try_from(count).expect("a frame is small");
                file.write_all(&length.to_le_bytes())?;
                file.write_all(&frame[..count])?;
            }
            // Nothing came for a moment: whoever told us to end has sent nothing since.
            Err(rustix::io::Errno::AGAIN) if over.load(Ordering::Relaxed) => break,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    file.flush()
}
