//! The socket to the parent.

use crate::between::{Down, Up};
use anyhow::Result;
use pvm_core::io::Effect;
use pvm_wire::{FRAME_BYTES_MAX, FrameBuffer, Wire as _, write_frame};
use tokio::net::UnixStream;

/// Effects that together are larger go in several frames.
const PART_BYTES_MAX: usize = FRAME_BYTES_MAX / 4;

/// The daemon's end.
#[derive(Debug)]
pub(crate) struct Uplink {
    socket: UnixStream,
    frames: FrameBuffer,
    scratch: Vec<u8>,
}

impl Uplink {
    /// Takes over a socket.
    pub(crate) fn new(socket: UnixStream) -> Self {
        let frames = FrameBuffer::new(FRAME_BYTES_MAX);
        Self { socket, frames, scratch: vec![0; 64 << 10] }
    }

    /// The next message of the parent; an error if it is gone. Can be given up at any time.
    pub(crate) async fn receive(&mut self) -> Result<Vec<(u32, Up)>> {
        loop {
            let mut frames = Vec::new();
            while let Some((number, payload)) = self.frames.next_frame()? {
                frames.push((number, Up::from_bytes(payload)?));
            }
            if !frames.is_empty() {
                return Ok(frames);
            }
            self.socket.readable().await?;
            match self.socket.try_read(&mut self.scratch) {
                Ok(0) => anyhow::bail!("the parent is gone"),
                Ok(n) => self.frames.push(&self.scratch[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Tells the parent something else than effects.
    pub(crate) async fn tell(&self, down: &Down) -> Result<()> {
        let mut out = Vec::new();
        write_frame(&mut out, 0, down);
        self.write(&out).await
    }

    /// Hands on what follows from an event, to be applied as a whole.
    pub(crate) async fn effects(&self, number: u32, effects: Vec<Effect>) -> Result<()> {
        let mut out = Vec::new();
        let (mut part, mut size) = (Vec::new(), 0);
        for effect in effects {
            let bytes = effect.to_bytes().len();
            if bytes > PART_BYTES_MAX * 3 {
                // Only a record of what the whole machine agreed on can be so large.
                let text = format!("{bytes} bytes fit no frame to the parent: not kept");
                part.push(Effect::Log { text });
                continue;
            }
            if size + bytes > PART_BYTES_MAX && !part.is_empty() {
                let effects = std::mem::take(&mut part);
                write_frame(&mut out, number, &Down::Part { effects });
                size = 0;
            }
            size += bytes;
            part.push(effect);
        }
        write_frame(&mut out, number, &Down::Effects { effects: part });
        self.write(&out).await
    }

    /// The parent always reads, so this takes no longer than it does.
    async fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.socket.writable().await?;
            match self.socket.try_write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
