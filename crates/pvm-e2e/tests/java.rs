//! Java without native code, which finds the daemon's socket by itself.

use pvm_e2e::{Machine, has, prefix};
use std::process::Command;

const ASK: &str = r#"
class Ask {
    public static void main(String[] arguments) {
        try (org.neopvm.Pvm pvm = org.neopvm.Pvm.connect()) {
            System.out.println("hosts " + pvm.hosts().size());
        }
    }
}
"#;

/// It read the user's id off the link /proc/self, which belongs to root. So a program that the
/// machine had not started looked for root's machine, whoever ran it. The check runs this as an
/// ordinary user.
#[test]
fn java_looked_for_the_machine_of_root_whoever_ran_it() {
    if !has("javac", "default-jdk-headless") {
        return;
    }
    let jar = prefix().join("share/java/neopvm.jar");
    assert!(jar.is_file(), "{} is not there", jar.display());
    let machine = Machine::start();
    let source = machine.place().folder().join("Ask.java");
    std::fs::write(&source, ASK).expect("a source");
    let mut java: Command = machine.place().command("java");
    java.args(["-Dpvm.engine=wire", "-cp"]).arg(&jar).arg(&source);
    assert_eq!(machine.succeed(java).out, "hosts 1\n");
    machine.halt();
}
