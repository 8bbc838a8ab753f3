//! `pvm generate`: man pages, made from the command line itself, and completions, which ask it.

use crate::complete::scripts;
use crate::failure::Failure;
use crate::options::{GenerateOptions, Generated, Options};
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use std::path::Path;

/// Writes the files.
pub(crate) fn generate(options: &GenerateOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    std::fs::create_dir_all(folder)?;
    match options.what {
        Generated::Man => man_pages(Options::command(), folder)?,
        Generated::Completions => {
            for (name, text) in scripts::ALL {
                std::fs::write(folder.join(name), text)?;
            }
        }
    }
    Ok(())
}

/// `pvm.1`, and `pvm-run.1` and its like for the commands.
fn man_pages(command: Command, folder: &Path) -> std::io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let shown: Vec<Command> =
        command.get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
    for one in shown {
        let name = one.get_name().to_owned();
        man_pages_below(&one, &format!("pvm {name}"), folder)?;
        man_page(one.bin_name(format!("pvm {name}")), &["pvm", "pvmd"], folder)?;
    }
    man_page(
        command,
        &["pvm-run", "pvm-up", "pvm-add", "pvm-doctor", "pvm-console", "pvmd"],
        folder,
    )
}

/// `pvm-trace-show.1` and its like, for commands that have commands.
fn man_pages_below(command: &Command, above: &str, folder: &Path) -> std::io::Result<()> {
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        let name = format!("{above} {}", one.get_name());
        let page = one.clone().display_name(name.replace(' ', "-")).bin_name(&name);
        man_page(page, &[&above.replace(' ', "-"), "pvm"], folder)?;
    }
    Ok(())
}

fn man_page(command: Command, others: &[&str], folder: &Path) -> std::io::Result<()> {
    let source = format!("NeoPVM {}", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command).source(source).manual("NeoPVM");
    let mut text = Vec::new();
    page.render(&mut text)?;
    // What clap calls extra is what there is to know beside the options.
    let mut text = String::from_utf8_lossy(&text).replace(".SH EXTRA", ".SH NOTES");
    let others: Vec<String> = others.iter().map(|other| format!("\\fB{other}\\fR(1)")).collect();
    text += &format!(".SH \"SEE ALSO\"\n{}\n", others.join(", "));
    std::fs::write(folder.join(page.get_filename()), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every `--word` of a page, as a reader sees it, in front of the notes.
    fn options(page: &str) -> BTreeSet<String> {
        let page = page.split(".SH NOTES").next().unwrap_or(page);
        let plain = page.replace("\\-", "-").replace("\\fB", " ").replace("\\fI", " ");
        let words = plain.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
    }

    fn check(command: &Command, name: &str, folder: &Path) {
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        let shown = command.get_arguments().filter(|option| !option.is_hide_set());
        let taken = shown.filter_map(|option| Some(format!("--{}", option.get_long()?)));
        assert_eq!(options(&page), taken.collect(), "{name}");
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            check(inner, &format!("{name}-{}", inner.get_name()), folder);
        }
    }

    #[test]
    fn each_command_has_a_page_with_its_options_and_no_others() {
        let folder = std::env::temp_dir().join(format!("neopvm-pages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        man_pages(Options::command(), &folder).unwrap();
        let mut pvm = Options::command().disable_help_subcommand(true);
        pvm.build();
        check(&pvm, "pvm", &folder);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
