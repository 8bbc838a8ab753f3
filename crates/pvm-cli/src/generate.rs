//! `pvm generate`: man pages and completions, made from the command line itself.

use crate::failure::Failure;
use crate::options::{GenerateOptions, Generated, Options};
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Writes the files.
pub(crate) fn generate(options: &GenerateOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    std::fs::create_dir_all(folder)?;
    let mut command = Options::command();
    match options.what {
        Generated::Man => clap_mangen::generate_to(command, folder)?,
        Generated::Completions => {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
                clap_complete::generate_to(shell, &mut command, "pvm", folder)?;
            }
        }
    }
    Ok(())
}
