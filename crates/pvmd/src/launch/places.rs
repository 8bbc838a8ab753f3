//! The paths of pvmd on another computer.

use crate::launch::invitation::{expanding, quoted};
use crate::launch::ssh::MISSING;
use pvm_wire::Blob;
use pvm_wire::hostfile::HostLine;

/// A text that stands in our pvmd and in no other.
const OURS: &str = "neopvm-missing-1";

/// The paths at which pvmd may be on another computer.
#[derive(Clone, Debug, Default)]
pub(crate) struct DaemonPaths {
    /// `dx=`: a program's path or name, with `$NAME` in it; it is taken as it is.
    told: Option<String>,
    /// Words of a shell, best first.
    usual: Vec<String>,
}

impl DaemonPaths {
    /// For the host of a line: where the line says, then where it is here, then the usual places.
    pub(crate) fn of(line: &HostLine) -> Self {
        let here = std::env::current_exe().ok().map(|path| quoted(&path.to_string_lossy()));
        let usual = [
            "\"${PVM_ROOT:+$PVM_ROOT/bin/pvmd}\"".to_owned(),
            "\"$HOME/.local/bin/pvmd\"".to_owned(),
            pushed(),
            "\"$(command -v pvmd)\"".to_owned(),
        ];
        let told = line.dx.as_ref().map(Blob::to_text);
        Self { told, usual: here.into_iter().chain(usual).collect() }
    }

    /// The copy of our own programs and nothing else.
    pub(crate) fn pushed() -> Self {
        Self { told: None, usual: vec![pushed()] }
    }

    /// The script that looks there and becomes the first pvmd that it finds, but for PVM's own,
    /// which has the same name. If there is none it says where it looked.
    pub(crate) fn script(&self, arguments: &[String]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        let arguments = arguments.join(" ");
        let mut script = "t=; ".to_owned();
        if let Some(told) = &self.told {
            let (found, shown) = (expanding(told), quoted(told));
            script += &format!(
                "p=$(command -v {found}); test -f \"$p\" && test -x \"$p\" && exec \"$p\" \
                 {arguments}; \
                 t=\" \"{shown}; "
            );
        }
        script
            + &format!(
                "for p in {}; do test -n \"$p\" || continue; if test -f \"$p\" && test -x \"$p\"; \
                 then \
             grep -q {OURS} \"$p\" && exec \"$p\" {arguments}; p=\"$p:not-NeoPVM\"; fi; t=\"$t \
             $p\"; \
             done; echo {MISSING}$t",
                self.usual.join(" "),
            )
    }
}

/// The folder for a copy of our own programs, below the user's home there.
pub(crate) fn pushed_folder() -> String {
    format!(".local/share/neopvm/{}", crate::version::version())
}

/// The pushed copy, in words of the shell there.
fn pushed() -> String {
    format!("\"$HOME/{}/bin/pvmd\"", pushed_folder())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pvmd_that_is_there_is_started_and_else_all_places_are_named() {
        let run = |script: &str| {
            let output = std::process::Command::new("/bin/sh").args(["-c", script]).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let usual = ["\"\"", "/no/such", "/etc", "/bin/sh"].map(str::to_owned).to_vec();
        let arguments = ["it's".to_owned()];
        let none = DaemonPaths { told: Some("$NONE/x".to_owned()), usual: usual.clone() };
        let tried = "neopvm-missing-1 $NONE/x /no/such /etc /bin/sh:not-NeoPVM\n";
        assert_eq!(run(&none.script(&arguments)), tried);
        let told = DaemonPaths { told: Some("/bin/echo".to_owned()), usual };
        assert_eq!(run(&told.script(&arguments)), "it's\n");
    }
}
