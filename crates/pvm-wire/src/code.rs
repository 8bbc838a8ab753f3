//! Error numbers of PVM 3, the vocabulary of every answer in the machine.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $text:literal;)*) => {
        /// What a call answers when it cannot do what was asked. The numbers are the ABI's.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(i32)]
        pub enum Code { $($(#[$doc])* $name = $value),* }

        impl Code {
            /// Every code, in the order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code with this (negative) number.
            pub const fn from_number(number: i32) -> Option<Self> {
                match number { $($value => Some(Self::$name),)* _ => None }
            }

            /// The text that `pvm_strerror` and `pvm_perror` give.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

codes! {
    /// An argument makes no sense.
    BadParam = -2, "Bad parameter";
    /// Two callers disagree, such as on the size of a barrier.
    Mismatch = -3, "Parameter mismatch";
    /// A value does not fit.
    Overflow = -4, "Value too large";
    /// A message holds less than was asked of it.
    NoData = -5, "End of buffer";
    /// No host of this name, or no host left that fits.
    NoHost = -6, "No such host";
    /// The program was found on none of the paths.
    NoFile = -7, "No such file";
    /// Not the caller's to change.
    Denied = -8, "Permission denied";
    /// The process or the host has no memory left.
    NoMem = -10, "Malloc failed";
    /// Bytes that are no message.
    BadMsg = -12, "Can't decode message";
    /// No daemon, or it went away.
    SysErr = -14, "Can't contact local daemon";
    /// There is no current buffer.
    NoBuf = -15, "No current buffer";
    /// The number names no buffer.
    NoSuchBuf = -16, "No such buffer";
    /// A group needs a name.
    NullGroup = -17, "Null group name";
    /// Joined twice.
    DupGroup = -18, "Already in group";
    /// No task is in a group of this name.
    NoGroup = -19, "No such group";
    /// The task is not a member.
    NotInGroup = -20, "Not in group";
    /// The instance number is free.
    NoInst = -21, "No such instance";
    /// The host died before it answered.
    HostFail = -22, "Host failed";
    /// The task was not spawned by another.
    NoParent = -23, "No parent task";
    /// Not possible in this combination.
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
    /// The same is being done already.
    Already = -30, "Already in progress";
    /// No task has this id.
    NoTask = -31, "No such task";
    /// No entry of this name or number.
    NotFound = -32, "Not Found";
    /// The entry exists.
    Exists = -33, "Already Exists";
    /// A hoster must run on the first host.
    HosterNmstr = -34, "Hoster must run on master host";
    /// The spawner did not want to be known as the parent.
    ParentNotSet = -35, "Spawning parent set PvmNoParent";
    /// The first host's address is a loopback address.
    IpLoopback = -36, "Master Host IP Address is Loopback! (See pvm3/Readme)";
}

impl Code {
    /// The number, as the C calls return it.
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
