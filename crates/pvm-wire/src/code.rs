//! The error numbers of PVM 3, which all answers in the machine use.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $text:literal;)*) => {
        /// The reason why a call failed. The numbers are those of PVM's ABI.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(i32)]
        pub enum Code { $($(#[$doc])* $name = $value),* }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the code with this (negative) number.
            pub const fn from_number(number: i32) -> Option<Self> {
                match number { $($value => Some(Self::$name),)* _ => None }
            }

            /// The text of `pvm_strerror` and `pvm_perror`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

codes! {
    /// An argument is invalid.
    BadParam = -2, "Bad parameter";
    /// Two callers disagree, for instance about the size of a barrier.
    Mismatch = -3, "Parameter mismatch";
    /// A value does not fit.
    Overflow = -4, "Value too large";
    /// The message has fewer items than the call asked for.
    NoData = -5, "End of buffer";
    /// There is no host of this name, or no host that matches.
    NoHost = -6, "No such host";
    /// The program was not found in any folder of the spawn path.
    NoFile = -7, "No such file";
    /// The caller must not change the object.
    Denied = -8, "Permission denied";
    /// The process or the host has no memory left.
    NoMem = -10, "Malloc failed";
    /// The bytes are not a valid message.
    BadMsg = -12, "Can't decode message";
    /// There is no daemon, or it has ended.
    SysErr = -14, "Can't contact local daemon";
    /// There is no current buffer.
    NoBuf = -15, "No current buffer";
    /// No buffer has this number.
    NoSuchBuf = -16, "No such buffer";
    /// A group needs a name.
    NullGroup = -17, "Null group name";
    /// The task is a member of the group already.
    DupGroup = -18, "Already in group";
    /// No task is in a group of this name.
    NoGroup = -19, "No such group";
    /// The task is not a member.
    NotInGroup = -20, "Not in group";
    /// No member has this instance number.
    NoInst = -21, "No such instance";
    /// The host died before it answered.
    HostFail = -22, "Host failed";
    /// No other task has spawned this one.
    NoParent = -23, "No parent task";
    /// The operation is not possible in this combination.
    NotImpl = -24, "Not implemented";
    /// The daemon failed.
    DSysErr = -25, "Pvmd system error";
    /// The two sides speak different protocols.
    BadVersion = -26, "Version mismatch";
    /// A limit is reached.
    OutOfRes = -27, "Out of resources";
    /// The host is in the machine already.
    DupHost = -28, "Duplicate host";
    /// The daemon could not be started there.
    CantStart = -29, "Can't start pvmd";
    /// The operation is in progress or done already.
    Already = -30, "Already in progress";
    /// No task has this id.
    NoTask = -31, "No such task";
    /// There is no entry of this name or number.
    NotFound = -32, "Not Found";
    /// The entry exists.
    Exists = -33, "Already Exists";
    /// A hoster must run on the first host.
    HosterNmstr = -34, "Hoster must run on master host";
    /// The task was spawned with `PvmNoSpawnParent`.
    ParentNotSet = -35, "Spawning parent set PvmNoParent";
    /// The first host's address is a loopback address.
    IpLoopback = -36, "Master Host IP Address is Loopback! (See pvm3/Readme)";
}

impl Code {
    /// The number that C calls return.
    pub const fn number(self) -> i32 {
        self as i32
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Code {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_number() {
        for &code in Code::ALL {
            assert_eq!(Code::from_number(code.number()), Some(code));
            assert!(!code.text().is_empty());
        }
        assert_eq!(Code::from_number(-1), None);
        assert_eq!(Code::from_number(0), None);
    }
}
