//! A serial line that reopens after a disconnect.
use crate::vehicle::Sink;
use std::{io, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::{sync::mpsc, time::Instant};
use tokio_serial::{SerialPortBuilderExt as _, SerialStream};

/// Limit of queued frames, about a second at 57600 baud.
const MAX_QUEUED: usize = 64;
/// Interval of attempts to open the line.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

pub(super) struct SerialLine {
    device: String,
    baud: u32,
    line: Option<(ReadHalf<SerialStream>, WriteHalf<SerialStream>)>,
    next_attempt: Instant,
    to_send: mpsc::Receiver<Vec<u8>>,
    sender: mpsc::Sender<Vec<u8>>,
    /// Unsent rest of the current frame.
    unsent: Vec<u8>,
    buffer: Vec<u8>,
    /// Whether the log has reported that the line is gone or cannot be opened; reset when bytes arrive.
    is_disconnected: bool,
}

/// Outcome of one wait.
#[derive(Debug, Eq, PartialEq)]
enum LineEvent {
    Read(usize),
    Send(Vec<u8>),
    Written(usize),
    Broken,
}

impl LineEvent {
    /// A line that takes or gives no byte is gone; another attempt would return at once, again and again.
    fn of(done: io::Result<usize>, event: fn(usize) -> Self) -> Self {
        done.ok().filter(|len| *len > 0).map_or(Self::Broken, event)
    }
}

impl SerialLine {
    /// A line that is opened on the first read.
    pub(super) fn new(device: &str, baud: u32) -> Self {
        let (sender, to_send) = mpsc::channel(MAX_QUEUED);
        Self {
            device: device.to_owned(),
            baud,
            line: None,
            next_attempt: Instant::now(),
            to_send,
            sender,
            unsent: Vec::new(),
            buffer: vec![0; 4096],
            is_disconnected: false,
        }
    }

    /// Returns a sink that queues frames without waiting, and refuses them when the queue is full.
    pub(super) fn sink(&self) -> Sink {
        let sender = self.sender.clone();
        Box::new(move |bytes| sender.try_send(bytes.to_vec()).is_ok())
    }

    /// Waits for bytes; meanwhile writes queued frames and reopens the line. Cancel safe.
    pub(super) async fn read(&mut self) -> &[u8] {
        loop {
            let Some((reader, writer)) = &mut self.line else {
                tokio::time::sleep_until(self.next_attempt).await;
                self.open();
                continue;
            };
            let event = tokio::select! {
                read = reader.read(&mut self.buffer) => LineEvent::of(read, LineEvent::Read),
                written = writer.write(&self.unsent), if !self.unsent.is_empty() => {
                    LineEvent::of(written, LineEvent::Written)
                }
                Some(bytes) = self.to_send.recv(), if self.unsent.is_empty() => LineEvent::Send(bytes),
            };
            match event {
                LineEvent::Read(len) => {
                    if std::mem::take(&mut self.is_disconnected) {
                        tracing::info!("serial line {} is back", self.device);
                    }
                    return self.buffer.get(..len).unwrap_or_default();
                }
                LineEvent::Send(bytes) => self.unsent = bytes,
                LineEvent::Written(len) => drop(self.unsent.drain(..len)),
                LineEvent::Broken => {
                    if !std::mem::replace(&mut self.is_disconnected, true) {
                        tracing::warn!(
                            "serial line {} went away; the bridge reopens it when it returns",
                            self.device
                        );
                    }
                    self.line = None;
                    self.unsent.clear();
                    self.next_attempt = Instant::now() + RETRY_PERIOD;
                }
            }
        }
    }

    fn open(&mut self) {
        // Queued frames are outdated by now.
        while self.to_send.try_recv().is_ok() {}
        self.next_attempt = Instant::now() + RETRY_PERIOD;
        match tokio_serial::new(&self.device, self.baud).open_native_async() {
            Ok(stream) => {
                // Some devices open and fail at once: the line is back only when it delivers bytes.
                if !self.is_disconnected {
                    tracing::info!("serial line {} at {} baud is open", self.device, self.baud);
                }
                self.line = Some(tokio::io::split(stream));
            }
            Err(error) if !self.is_disconnected => {
                tracing::error!(
                    "serial line {}: {error}; check that the device exists and this user may open it (group dialout). Retrying",
                    self.device
                );
                self.is_disconnected = true;
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_takes_or_gives_no_byte_is_gone() {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        for event in [LineEvent::Read, LineEvent::Written] {
            assert_eq!(LineEvent::of(Ok(7), event), event(7));
            assert_eq!(LineEvent::of(Ok(0), event), LineEvent::Broken);
            assert_eq!(LineEvent::of(Err(gone()), event), LineEvent::Broken);
        }
    }
}
