//! Recording: the recorder is started when a program wants to record, and again when it is killed.
//! The rings tell the new one how far the old one was.

use super::Parent;
use pvm_wire::Code;
use pvm_wire::request::Reply;

impl Parent {
    /// A program wants to record tasks of this host. Returns the recorder's id, 0 while it starts.
    pub(super) fn record(&mut self, all: bool) -> Reply {
        self.segments.begin_recording(all);
        self.recorder.ask();
        if self.recorder.process.is_none() && !self.start_recorder() {
            return Reply::Failed { code: Code::NoFile };
        }
        Reply::Number { value: self.recorder.task.map_or(0, |tid| tid.as_c_int()) }
    }

    fn start_recorder(&mut self) -> bool {
        let places = (&*self.own_path, &*self.folder.socket());
        let started = self.recorder.start(places.0, places.1, self.clock);
        if let Err(reason) = &started {
            self.log.line(&format!("no recorder: {reason}"));
            self.segments.end_recording();
        }
        started.is_ok()
    }

    /// A process is gone: if it was the recorder and was not done, another one goes on.
    pub(super) fn recorder_gone(&mut self, pid: u32, status: Option<i32>) {
        let Some(goes_on) = self.recorder.gone(pid, status) else { return };
        self.segments.set_reader(None);
        if !goes_on {
            return self.segments.end_recording();
        }
        if status != Some(0) {
            self.log.line("the recorder ended before its time");
        }
        self.start_recorder();
    }
}
