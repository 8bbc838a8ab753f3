//! The text of `help`: its words are part of the console's interface.

/// A command's name, its summary, and the lines after it.
type Page = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const PAGES: [Page; 28] = [
    ("add", "Add hosts to virtual machine", "\
Syntax:  add hostname ...
  or     add 'hostname <option>=<value>...' ...
(The options are those of a host file.)
"),
    ("alias", "Define/list command aliases", "\
Syntax:  alias [name command args ...]
"),
    ("conf", "List virtual machine configuration", "\
Syntax:  conf
Columns:
  HOST    name of the host
  DTID    its id; the ids of its tasks begin with it
  ARCH    name of its architecture
  SPEED   relative speed, the first host 1000, unless the host file says otherwise
"),
    ("delete", "Delete hosts from virtual machine", "\
Syntax:  delete hostname ...
"),
    ("echo", "Echo arguments", "\
Syntax:  echo [ arg ... ]
"),
    ("export", "Add environment variables to spawn export list", "\
Syntax:  export [ varname ... ]
"),
    ("getopt", "Display PVM options for the console task", "\
Syntax:  getopt [ what ]
"),
    ("halt", "Stop pvmds", "\
Syntax:  halt
"),
    ("help", "Print helpful information about a command", "\
Syntax:  help [ command ]
"),
    ("id", "Print console task id", "\
Syntax:  id
"),
    ("jobs", "Display list of running jobs", "\
Syntax:  jobs [ options ]
Options:  -l   with the state of each task
"),
    ("kill", "Terminate tasks", "\
Syntax:  kill [ options ] tid ...
Options:  -c   the children of the task instead of itself
"),
    ("mstat", "Show status of hosts", "\
Syntax:  mstat name ...
"),
    ("names", "List message mailbox names", "\
Syntax:  names [ pattern ]
"),
    ("ps", "List tasks", "\
Syntax:  ps [ -axh ]
Options:  -a       tasks of all hosts, not only of this one
          -htid    of the host with this id
          -nname   of the host with this name
          -l       with parent and process id
          -x       the console too
Columns:
  HOST    name of the host
  TID     id of the task
  PTID    id of its parent
  PID     id of its process
  FLAG    state
  COMMAND program
States:
  f   started by the pvmd
  c   connected to the pvmd
  a   to be authorized
  o   about to be disconnected
  s   waits for shared memory
  H   hoster
  R   resource manager
  T   tasker
"),
    ("pstat", "Show status of tasks", "\
Syntax:  pstat tid ...
"),
    ("put", "Add entry to message mailbox", "\
Syntax:  put name flags
"),
    ("quit", "Exit console", "\
Syntax:  quit
"),
    ("reset", "Kill all tasks, delete leftover mboxes", "\
Syntax:  reset
  or     reset info [ class [ index ] ]
(The second removes entries of message mailboxes whose owner is gone.)
"),
    ("setenv", "Display or set environment variables", "\
Syntax:  setenv [ name [ value ] ]
"),
    ("setopt", "Set PVM options - for the console task *only*!", "\
Syntax:  setopt what value
"),
    ("sig", "Send signal to task", "\
Syntax:  sig signum task ...
"),
    ("spawn", "Spawn task", "\
Syntax:  spawn [ options ] file [ arg ... ]
Options:  -(count)         so many tasks, 1 if not given
          -(host)          on this host; otherwise the machine chooses
          -(host):(wd)     and in the directory 'wd'
          --host=(name)    on this host, whose name may begin with a digit
          --host=(name):(wd)
          -(ARCH)          on hosts of this architecture
          -(ARCH):(wd)     and in the directory 'wd'
          -:(wd)           in the directory 'wd'
          -?               under the debugger
          ->               the output appears on the console
          ->(file)         the output goes to a new file
          ->>(file)        the output is appended to a file
          -@               traced, the trace appears on the console
          -@(file)         traced, the trace goes to a file
"),
    ("trace", "Set/display trace event mask", "\
Syntax:  trace
         trace [+] name ...
         trace - name ...
         trace [+] *
         trace - *
         trace xpvm
         trace buf nbytes
         trace buf
         trace opt < full | time | count >
         trace opt
"),
    ("unalias", "Undefine command alias", "\
Syntax:  unalias name ...
"),
    ("unexport", "Remove environment variables from spawn export list", "\
Syntax:  unexport [ varname ... ]
"),
    ("version", "Show libpvm version", "\
Syntax:  version
"),
    ("tickle", "Tickle pvmd", "\
Syntax:  tickle how [ arg ... ]
(Kept for old scripts; `pvm status` tells about a daemon.)
"),
];

/// Commands that work and are not listed.
const HIDDEN: [&str; 1] = ["tickle"];

/// The page of one command, if there is one, or the list of all.
pub(crate) fn page(command: Option<&str>) -> String {
    let command = command.unwrap_or("help");
    let Some((name, summary, body)) = PAGES.iter().find(|(name, _, _)| *name == command) else {
        return String::new();
    };
    let mut text = format!("{name:<12}{summary}\n{body}");
    if command == "help" {
        text += "Commands are:\n";
        for (name, summary, _) in PAGES.iter().filter(|(name, _, _)| !HIDDEN.contains(name)) {
            text += &format!("  {name:<12}{summary}\n");
        }
    }
    text
}

/// The names of all commands that are listed.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|&(name, _, _)| name).filter(|name| !HIDDEN.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_page_and_the_hidden_one_is_not_listed() {
        assert!(page(Some("conf")).starts_with("conf        List virtual machine configuration\n"));
        assert_eq!(page(Some("foo")), "");
        assert!(!page(None).contains("tickle") && page(Some("tickle")).contains("how"));
    }
}
