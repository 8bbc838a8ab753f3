//! `clc [cc options] FILE.cl... [FILE...]`: compiles and links C-Linda.

#![forbid(unsafe_code)]

mod arguments;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use arguments::Arguments;

/// The number of path components between the program and the prefix:
/// `PREFIX/libexec/neopvm/bin/clc`.
const DEPTH: usize = 4;
const USAGE: &str = "\
usage: clc [OPTION...] FILE.cl... [FILE...]

Translates C-Linda to C and calls the C compiler, with the same options.
  -o FILE       the name of the program, or with -c, -S or -E of one file's output
  -c, -S        compile only
  -E            show the C that is compiled
  -M, -MM       show the headers of the files
  --help        show this text
  others        those of the C compiler

CC names the compiler (cc). Files that do not end in .cl are left to it.
See neopvm-clc(1).";

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    if given.is_empty() || given.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return if given.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    match run(&Arguments::of(given)) {
        Ok(code) => code,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

/// Translated files, which are removed when this is dropped.
struct TranslatedFiles {
    folder: PathBuf,
}

impl Drop for TranslatedFiles {
    fn drop(&mut self) {
        // The folder may be gone already.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The text of a file. Bytes that are not UTF-8 are read as letters of ISO 8859-1, and written as
/// these bytes again.
struct Text {
    text: String,
    is_latin: bool,
}

impl Text {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, is_latin: false },
            Err(error) => Self {
                text: error.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
                is_latin: true,
            },
        }
    }

    fn bytes(&self) -> Vec<u8> {
        if self.is_latin {
            self.text
                .chars()
                .map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?'))
                .collect()
        } else {
            self.text.clone().into_bytes()
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    arguments.check()?;
    let prefix = prefix();
    let made = TranslatedFiles { folder: folder()? };
    let mut words = arguments.words.clone();
    for (number, at) in arguments.sources.iter().enumerate() {
        let source = &arguments.words[*at];
        let text = translated(arguments, source, prefix.as_deref())?;
        if arguments.only_shows {
            show(&text, arguments.output())?;
            continue;
        }
        // Each file gets a folder of its own, because two sources may have one name, and `-c`
        // derives the object's name from it.
        let stem = Path::new(source).file_stem().unwrap_or_default();
        let file = made.folder.join(number.to_string()).join(stem).with_extension("i");
        write(&file, &text)?;
        words[*at] = file.into_os_string();
    }
    if arguments.only_shows {
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = compiler();
    let used = words.iter().enumerate().filter(|(i, _)| !arguments.is_used_up(*i));
    command.args(used.map(|(_, word)| word));
    if arguments.has_others {
        command.args(headers(prefix.as_deref()));
    }
    if arguments.links {
        command.args(libraries(prefix.as_deref()));
    }
    let status = command.status().map_err(|error| cannot_run(&error))?;
    Ok(code(status))
}

fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn compiler() -> Command {
    let named = std::env::var("CC").unwrap_or_default();
    let mut words = named.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words);
    command
}

fn cannot_run(error: &std::io::Error) -> String {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    format!(
        "clc: the C compiler {compiler} cannot be started: {error}; set CC to the one that you have"
    )
}

/// The folder of the installation: the one around this program, or `PVM_ROOT`.
fn prefix() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let around = own.ancestors().nth(DEPTH)?;
    if around.join("include/neopvm/linda").is_dir() {
        return Some(around.to_path_buf());
    }
    std::env::var_os("PVM_ROOT").map(PathBuf::from)
}

fn libraries(prefix: Option<&Path>) -> Vec<OsString> {
    let Some(prefix) = prefix else { return Vec::new() };
    let own = prefix.join("lib/neopvm/linda");
    let mut words: Vec<OsString> = Vec::new();
    for folder in [own, prefix.join("lib")] {
        let mut word = OsString::from("-L");
        word.push(&folder);
        words.push(word);
        let mut word = OsString::from("-Wl,-rpath,");
        word.push(&folder);
        words.push(word);
    }
    words.extend(["-llinda".into(), "-lpvm3".into()]);
    words
}

fn folder() -> Result<PathBuf, String> {
    let base = std::env::temp_dir();
    for number in 0..100_u32 {
        let folder = base.join(format!("clc-{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let folder = folder.display();
                return Err(format!("clc: {folder}: {error}; TMPDIR names the folder to use"));
            }
        }
    }
    Err(format!("clc: {} has too many folders clc-*; remove them", base.display()))
}

fn write(file: &Path, text: &Text) -> Result<(), String> {
    let folder = file.parent().expect("it is in a folder of this process");
    let done = fs::create_dir_all(folder).and_then(|()| fs::write(file, text.bytes()));
    done.map_err(|error| format!("clc: {}: {error}", file.display()))
}

fn show(text: &Text, output: Option<&OsString>) -> Result<(), String> {
    match output {
        Some(file) => fs::write(file, text.bytes())
            .map_err(|error| format!("clc: {}: {error}", file.display())),
        None => std::io::stdout()
            .write_all(&text.bytes())
            .map_err(|error| format!("clc: standard output: {error}")),
    }
}

/// The option with the folder of `linda.h`.
fn headers(prefix: Option<&Path>) -> Option<OsString> {
    let mut word = OsString::from("-I");
    word.push(prefix?.join("include/neopvm/linda"));
    Some(word)
}

/// The preprocessor's output: the preprocessed file, or with `-M` the names of its headers.
fn preprocessed(
    arguments: &Arguments,
    source: &OsString,
    prefix: Option<&Path>,
) -> Result<Text, String> {
    let mut command = compiler();
    command.args(arguments.for_preprocessor()).args(headers(prefix));
    command.args(["-E", "-x", "c"]).arg(source).stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| cannot_run(&error))?;
    if !output.status.success() {
        return Err(format!("clc: {} cannot be preprocessed", source.to_string_lossy()));
    }
    Ok(Text::of(output.stdout))
}

/// The translated C of a file, for the compiler.
fn translated(
    arguments: &Arguments,
    source: &OsString,
    prefix: Option<&Path>,
) -> Result<Text, String> {
    let name = source.to_string_lossy();
    let text = preprocessed(arguments, source, prefix)?;
    if arguments.only_depends {
        return Ok(text);
    }
    let read = |file: &str| fs::read(file).ok().map(|bytes| Text::of(bytes).text);
    let done = pvm_clc::translate(&text.text, &name, &read).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })?;
    Ok(Text { text: done, ..text })
}
