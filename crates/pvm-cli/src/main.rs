//! `pvm`: see the library of this crate.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    pvm_cli::main()
}
