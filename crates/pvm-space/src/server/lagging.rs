//! Syncs that no answer waits for. A thread makes them, at least one in each loss window.
//!
//! A window begins with the first write that no sync covers. In its middle the thread is told to
//! sync. If that sync has not ended at the end of the window, the server waits for it and answers
//! nothing meanwhile. So a loss of power takes the answers of one window at most, however slow the
//! disk is.

use std::io;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The number of times in a window that the server looks whether a sync has ended.
const LOOKS: u32 = 8;

/// The syncs of one file.
#[derive(Debug)]
pub(super) struct Lagging {
    window: Duration,
    /// The time of the first write that no sync covers.
    written: Option<Instant>,
    /// The time of the first write that the present sync covers.
    covered: Option<Instant>,
    /// The thread ends when this is dropped.
    orders: Option<Sender<()>>,
    ends: Receiver<io::Result<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lagging {
    /// Starts the thread, which calls `sync`.
    pub(super) fn new(
        window: Duration,
        sync: impl Fn() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, taken) = channel();
        let (ended, ends) = channel();
        let work = move || while taken.recv().is_ok() && ended.send(sync()).is_ok() {};
        let thread = std::thread::Builder::new().name("sync".to_owned()).spawn(work)?;
        let (orders, thread) = (Some(orders), Some(thread));
        Ok(Self { window, written: None, covered: None, orders, ends, thread })
    }

    /// Notes a write.
    pub(super) fn wrote(&mut self, now: Instant) {
        self.written.get_or_insert(now);
    }

    /// The time at which [`Lagging::tend`] must be called.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        match self.covered {
            Some(_) => Some(now + self.window / LOOKS),
            None => self.written.map(|written| written + self.window / 2),
        }
    }

    /// Begins a sync if one is due, and waits as long as a window is over. The window of the next
    /// sync may be over, too, when the present one ends.
    pub(super) fn tend(&mut self, now: Instant) -> io::Result<()> {
        let mut now = now;
        while self.has_ended(now)? && self.begins(now)? {
            now = now.max(Instant::now());
        }
        Ok(())
    }

    /// False while a sync is under way whose window is not over.
    fn has_ended(&mut self, now: Instant) -> io::Result<bool> {
        let Some(covered) = self.covered else { return Ok(true) };
        let end = if now >= covered + self.window {
            self.ends.recv().map_err(|RecvError| TryRecvError::Disconnected)
        } else {
            self.ends.try_recv()
        };
        match end {
            Ok(done) => done?,
            Err(TryRecvError::Empty) => return Ok(false),
            Err(TryRecvError::Disconnected) => return Err(io::Error::other("no sync thread")),
        }
        self.covered = None;
        Ok(true)
    }

    /// Begins a sync; false if none is due.
    fn begins(&mut self, now: Instant) -> io::Result<bool> {
        if self.written.is_none_or(|written| now < written + self.window / 2) {
            return Ok(false);
        }
        self.covered = self.written.take();
        let orders = self.orders.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.send(()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(true)
    }
}

/// The file stays locked while the thread has it. A server that ends in order, as after a while
/// without a space, leaves no window open: the last writes are synced before the thread ends.
impl Drop for Lagging {
    fn drop(&mut self) {
        if let (Some(orders), Some(_)) = (self.orders.take(), self.written) {
            // A thread that has failed receives nothing.
            let _ = orders.send(());
        }
        if let Some(thread) = self.thread.take() {
            // The thread only syncs, so it has not panicked.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const WINDOW: Duration = Duration::from_secs(1);

    /// Syncs that begin when the test is told, and end when the test says so.
    fn slow() -> (Lagging, Receiver<()>, Sender<io::Result<()>>) {
        let (begun, begins) = channel();
        let (end, ends) = channel();
        let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
        let sync = move || {
            begun.lock().expect("one thread").send(()).expect("the test runs");
            ends.lock().expect("one thread").recv().expect("the test runs")
        };
        (Lagging::new(WINDOW, sync).expect("a thread"), begins, end)
    }

    #[test]
    fn a_sync_begins_in_the_middle_of_a_window_and_covers_what_was_written_before() {
        let (mut lagging, begins, end) = slow();
        let start = Instant::now();
        assert_eq!(lagging.due(start), None);
        lagging.wrote(start);
        lagging.wrote(start + WINDOW / 4);
        assert_eq!(lagging.due(start), Some(start + WINDOW / 2));
        lagging.tend(start + WINDOW / 4).expect("too early");
        assert!(begins.try_recv().is_err() && lagging.covered.is_none());
        lagging.tend(start + WINDOW / 2).expect("begins");
        begins.recv().expect("begun");
        // This write belongs to the next sync.
        lagging.wrote(start + WINDOW / 2);
        lagging.tend(start + WINDOW - Duration::from_nanos(1)).expect("under way");
        assert!(lagging.covered == Some(start) && begins.try_recv().is_err());
        end.send(Ok(())).expect("the thread runs");
        // The window of the first write is over: this call waits, and begins the next sync.
        lagging.tend(start + WINDOW).expect("done");
        begins.recv().expect("begun");
        assert_eq!((lagging.covered, lagging.written), (Some(start + WINDOW / 2), None));
        end.send(Ok(())).expect("the thread runs");
    }

    #[test]
    fn the_last_window_of_a_server_that_ended_in_order_was_not_synced() {
        let (synced, syncs) = channel();
        let sync = move || synced.send(()).map_err(|_| io::ErrorKind::BrokenPipe.into());
        let mut lagging = Lagging::new(WINDOW, sync.clone()).expect("a thread");
        lagging.wrote(Instant::now());
        drop(lagging);
        assert_eq!(syncs.try_recv(), Ok(()));
        drop(Lagging::new(WINDOW, sync).expect("a thread"));
        assert_eq!(syncs.try_recv(), Err(TryRecvError::Disconnected), "nothing was written");
    }

    #[test]
    fn nothing_goes_on_behind_a_window_whose_sync_has_not_ended() {
        let (mut lagging, begins, end) = slow();
        let start = Instant::now();
        lagging.wrote(start);
        lagging.tend(start + WINDOW / 2).expect("begins");
        begins.recv().expect("begun");
        let (told, tells) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let done = lagging.tend(start + WINDOW);
                told.send(done.is_err()).expect("the test runs");
            });
            std::thread::yield_now();
            assert!(tells.try_recv().is_err(), "the window is over, and the disk has nothing");
            end.send(Err(io::ErrorKind::Other.into())).expect("the thread runs");
            assert_eq!(tells.recv(), Ok(true), "the disk has failed");
        });
    }

    #[test]
    fn what_was_written_during_a_slow_sync_was_answered_behind_its_own_window() {
        let (mut lagging, begins, end) = slow();
        let start = Instant::now();
        lagging.wrote(start);
        lagging.tend(start + WINDOW / 2).expect("begins");
        begins.recv().expect("begun");
        lagging.wrote(start + WINDOW / 2);
        end.send(Ok(())).expect("the thread runs");
        let (told, tells) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lagging.tend(start + 3 * WINDOW).expect("no error");
                told.send(()).expect("the test runs");
            });
            begins.recv().expect("the second one has begun");
            std::thread::yield_now();
            assert!(tells.try_recv().is_err(), "the window of the second write is over, too");
            end.send(Ok(())).expect("the thread runs");
            tells.recv().expect("it is over");
        });
        assert_eq!((lagging.covered, lagging.written), (None, None));
    }
}
