//! PVM's own usage: `pvm [-dMASK] [-nNAME] [HOSTFILE]`.

use crate::failure::{Failure, Status};
use crate::nearest;
use crate::options::Options;
use crate::options::hosts::name_of_host;
use clap::CommandFactory as _;
use std::path::{Path, PathBuf};

/// The arguments that the usage allows.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// The name of this host in a machine that is started.
    pub(crate) name: Option<String>,
    /// The hosts of such a machine.
    pub(crate) hostfile: Option<PathBuf>,
}

impl Arguments {
    /// Reads the words behind `pvm`.
    pub(crate) fn read(args: &[String]) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        for arg in args {
            if let Some(option) = arg.strip_prefix('-') {
                arguments.option(arg, option)?;
            } else if !Path::new(arg).is_file() {
                return Err(no_command(arg));
            } else if arguments.hostfile.replace(PathBuf::from(arg)).is_some() {
                return Err(usage(&format!("{arg}: there is a host file already")));
            }
        }
        Ok(arguments)
    }

    fn option(&mut self, arg: &str, option: &str) -> Result<(), Failure> {
        match option.strip_prefix('n') {
            Some("") => Err(usage("-n: the name must follow without a blank, as in -nlab2")),
            Some(name) => {
                self.name =
                    Some(name_of_host(name).map_err(|fault| usage(&format!("-n: {fault}")))?);
                Ok(())
            }
            // What the original's daemon is to log; ours has one kind of log.
            None if option.starts_with('d') => Ok(()),
            None => Err(usage(&format!("{arg}: the console has no such option"))),
        }
    }
}

fn usage(text: &str) -> Failure {
    let text =
        format!("{text}\n  usage: pvm [-nNAME] [HOSTFILE], or pvm COMMAND; see `pvm --help`");
    Failure::new(Status::Usage, text)
}

fn no_command(word: &str) -> Failure {
    let options = Options::command();
    let commands = options.get_subcommands().filter(|command| !command.is_hide_set());
    let next = match nearest::to(word, commands.map(clap::Command::get_name)) {
        Some(name) => format!("did you mean `pvm {name}`?"),
        None => "the commands: `pvm --help`".to_owned(),
    };
    let text = format!("{word}: neither a command nor a host file\n  {next}");
    Failure::new(Status::Usage, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Arguments, String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        Arguments::read(&args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_usage_of_the_original_is_understood() {
        let file = std::env::current_exe().unwrap();
        let arguments = read(&["-d0x7", "-nlab2", file.to_str().unwrap()]).unwrap();
        assert_eq!(arguments.name.as_deref(), Some("lab2"));
        assert_eq!(arguments.hostfile.as_deref(), Some(&*file));
        let file = file.to_str().unwrap();
        assert!(read(&[file, file]).unwrap_err().contains("there is a host file already"));
        assert!(read(&["-z"]).unwrap_err().contains("-z: the console has no such option"));
        assert!(read(&["-n"]).unwrap_err().contains("-nlab2"));
    }

    #[test]
    fn the_nearest_command_is_named() {
        assert!(read(&["hlat"]).unwrap_err().contains("did you mean `pvm halt`?"));
        assert!(read(&["docter"]).unwrap_err().contains("did you mean `pvm doctor`?"));
        assert!(read(&["xyzzy"]).unwrap_err().contains("`pvm --help`"));
    }
}
