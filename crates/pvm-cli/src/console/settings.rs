//! The console's own PVM options (`getopt`, `setopt`), with the rules of `pvm_setopt`.

use pvm_wire::request::Target;
use pvm_wire::{Code, Tid};

/// An option and its value.
type Setting = (&'static str, i32);

/// In the order in which `getopt` lists them; values as the console of PVM 3.4.6 starts with.
const INITIAL: [Setting; 23] = [
    ("PvmRoute", 1),
    ("PvmDebugMask", 0),
    ("PvmAutoErr", 1),
    ("PvmOutputTid", -1),
    ("PvmOutputCode", 0),
    ("PvmTraceTid", -1),
    ("PvmTraceCode", 0),
    ("PvmTraceBuffer", 0),
    ("PvmTraceOptions", 1),
    ("PvmFragSize", 4080),
    ("PvmResvTids", 1),
    ("PvmSelfOutputTid", -1),
    ("PvmSelfOutputCode", 0),
    ("PvmSelfTraceTid", -1),
    ("PvmSelfTraceCode", 0),
    ("PvmSelfTraceBuffer", 0),
    ("PvmSelfTraceOptions", 0),
    ("PvmShowTids", 1),
    ("PvmOutputContext", 0),
    ("PvmTraceContext", 0),
    ("PvmSelfOutputContext", 0),
    ("PvmSelfTraceContext", 0),
    ("PvmNoReset", 1),
];

/// Fragments are accepted from 100 bytes to below 2 MiB (measured on PVM 3.4.6).
const FRAGMENT: std::ops::RangeInclusive<i32> = 100..=(1 << 20);

/// The values.
#[derive(Clone, Debug)]
pub(crate) struct Settings([Setting; 23]);

impl Default for Settings {
    fn default() -> Self {
        Self(INITIAL)
    }
}

impl Settings {
    /// All of them.
    pub(crate) fn all(&self) -> &[Setting] {
        &self.0
    }

    /// The value of an option of this exact name.
    pub(crate) fn find(&self, name: &str) -> Option<i32> {
        self.0.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }

    /// The value of an option that is known to exist.
    pub(crate) fn value(&self, name: &str) -> i32 {
        self.find(name).expect("the options are a fixed list")
    }

    fn store(&mut self, name: &str, value: i32) {
        self.0.iter_mut().filter(|(known, _)| *known == name).for_each(|(_, old)| *old = value);
    }

    /// Sets an option that exists; gives its old value.
    pub(crate) fn set(&mut self, name: &str, value: i32) -> Result<i32, Code> {
        let old = self.value(name);
        let good = match name {
            "PvmRoute" | "PvmTraceOptions" | "PvmSelfTraceOptions" => (1..=3).contains(&value),
            "PvmFragSize" => FRAGMENT.contains(&value),
            "PvmOutputTid" | "PvmTraceTid" | "PvmSelfOutputTid" | "PvmSelfTraceTid" => {
                value == 0 || Tid::from_c_int(value).is_task()
            }
            "PvmSelfOutputContext" | "PvmSelfTraceContext" => return Err(Code::NotImpl),
            _ => true,
        };
        if !good {
            return Err(Code::BadParam);
        }
        self.store(name, value);
        // Another receiver has other codes; one's own receiver is that of the children too.
        match name {
            "PvmOutputTid" => self.store("PvmOutputCode", 0),
            "PvmTraceTid" => self.store("PvmTraceCode", 0),
            "PvmSelfOutputTid" => {
                self.hand_on(value, ["PvmSelfOutputCode", "PvmOutputTid", "PvmOutputCode"])
            }
            "PvmSelfTraceTid" => {
                self.hand_on(value, ["PvmSelfTraceCode", "PvmTraceTid", "PvmTraceCode"])
            }
            _ => {}
        }
        Ok(old)
    }

    fn hand_on(&mut self, tid: i32, [own_code, children, children_code]: [&str; 3]) {
        self.store(own_code, 0);
        self.store(children, tid);
        self.store(children_code, 0);
    }

    /// The destination of the messages of a kind: `Output`, `Trace`, `SelfOutput`, `SelfTrace`.
    pub(crate) fn target(&self, kind: &str) -> Target {
        let value = |what: &str| self.value(&format!("Pvm{kind}{what}"));
        let tid = Tid::from_c_int(value("Tid").max(0));
        Target { tid, context: value("Context"), tag: value("Code") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_as_the_library_does() {
        let mut settings = Settings::default();
        assert_eq!(settings.set("PvmRoute", 3), Ok(1));
        assert_eq!(settings.set("PvmRoute", 77), Err(Code::BadParam));
        assert_eq!(settings.set("PvmFragSize", 10), Err(Code::BadParam));
        assert_eq!(settings.set("PvmOutputTid", 5), Err(Code::BadParam));
        assert_eq!(settings.set("PvmSelfOutputContext", 9), Err(Code::NotImpl));
        assert_eq!(settings.find("route"), None);
    }

    #[test]
    fn ones_own_receiver_becomes_that_of_the_children() {
        let mut settings = Settings::default();
        settings.set("PvmOutputCode", 7).unwrap();
        settings.set("PvmSelfOutputTid", 0x40001).unwrap();
        let target = Target { tid: Tid(0x40001), context: 0, tag: 0 };
        assert_eq!(settings.target("Output"), target);
        assert_eq!(Settings::default().target("Output").tid, Tid::NONE);
    }
}
