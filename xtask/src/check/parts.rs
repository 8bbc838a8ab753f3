//! The parts, in the order in which they are wanted: first what others wait for, then what takes longest.
//!
//! Each test makes its machines in a folder of its own, under a name of its own, in networks of its own, so any number
//! of them may run at once. What cannot be shared are folders that are written ([`DEBUG`], [`PYTHON`], [`JAVA`]) and,
//! as its programs have races that a busy computer shows, the original ([`ORIGINAL`]).

use super::part::{Concerns, Need, Part, Work};
use super::run::{Run, every};
use crate::fuzzing::{self, Watch};
use crate::programs::Program;
use crate::tools::UNOPTIMISED;
use crate::{foreign, hosts, second_user, tools};

/// How long each decoder is fuzzed: its kept inputs first, then new ones. `make soak` does it for long.
const FUZZ_SECONDS: &str = "4";

/// Cargo compiles into `target/debug` for one command at a time.
const DEBUG: &str = "target/debug";
const RELEASE: &str = "target/release";
/// The Python that the wheel is built and tested with, and the folder in which it is built.
const PYTHON: &str = "target/python";
/// Where Maven builds and tests.
const JAVA: &str = "bindings/java/target";
/// Debian's daemon and programs beside ours.
const ORIGINAL: &str = "the original";

/// The lists of test programs that parts make for others.
const ALL_TESTS: &str = "tests";
const END_TO_END: &str = "end-to-end";
const SIMULATED: &str = "simulated";
/// The parts that compile all of the workspace that is not for users only. Clippy watches them.
const WATCHED: [&str; 3] = ["programs", "build", "simulator"];

/// What the simulator runs is compiled apart, because it is optimised, and once, with the bugs that can be planted:
/// none is, where nobody plants one.
const PLANTED: &str = "--features=pvm-sim/planted,pvm-quorum/planted";

/// The crates of the end-to-end tests, which need an installation, and all others.
const REAL: [&str; 2] = ["--package=pvm-e2e", "--package=testbed"];
const CRATES: [&str; 3] = ["--workspace", "--exclude=pvm-e2e", "--exclude=testbed"];

/// Every crate of the workspace but xtask: a change of that concerns every part.
#[rustfmt::skip]
const EVERY: &[&str] = &[
    "pvm-wire", "pvm-shm", "pvm-core", "pvm-quorum", "pvm-trace", "pvm-predict", "pvm", "pvmd",
    "pvm-capi", "pvm-cli", "pvm-bench", "pvm-sim", "pvm-e2e", "testbed", "pvm-tuples", "pvm-space",
    "pvm-clc",
];

/// What an installation is made of.
const INSTALLED: &[&str] = &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc"];
const INSTALLED_AND_E2E: &[&str] =
    &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "pvm-space", "pvm-clc", "pvm-e2e"];

const PVMD: Need = Need("/usr/bin/pvmd", "pvm");
const PVM3_H: Need = Need("/usr/include/pvm3.h", "pvm-dev");
const EXAMPLES: Need = Need("/usr/bin/master1", "pvm-examples");
const FORTRAN: Need = Need("gfortran", "gfortran");
const CXX: Need = Need("g++", "g++");
const IP: Need = Need("ip", "iproute2");
const NFT: Need = Need("nft", "nftables");
const SSHD: Need = Need("sshd", "openssh-server");
const SSH: Need = Need("ssh", "openssh-client");

/// What a part is unless it says otherwise.
const PART: Part = Part {
    name: "",
    owner: "",
    work: Work::Waits,
    fast: false,
    uses: &[],
    after: &[],
    alone: &[],
    concerns: Concerns { packages: &[], paths: &[] },
    needs: &[],
    steps: |_| Ok(()),
};

pub(crate) const PARTS: &[Part] = &[
    // What is installed is what users get, built as they build it.
    Part {
        name: "install",
        owner: "xtask",
        work: Work::Builds,
        alone: &[RELEASE, PYTHON, JAVA],
        concerns: Concerns {
            packages: &["pvmd", "pvm-cli", "pvm-bench", "pvm-capi", "neopvm-python"],
            paths: &[
                "include",
                "doc/man",
                "doc/python.md",
                "examples",
                "benchmarks",
                "personalities",
                "bindings/java",
            ],
        },
        steps: |run| {
            run.step(&["make", "build"])?;
            run.own(&["install", run.stage])
        },
        ..PART
    },
    Part {
        name: "testbed",
        owner: "testbed",
        work: Work::Builds,
        fast: true,
        alone: &[DEBUG],
        concerns: Concerns { packages: &["testbed"], paths: &[] },
        steps: |run| run.with_compiled_tests(&["cargo", "build", "--package=testbed"]),
        ..PART
    },
    Part {
        name: "programs",
        owner: "pvm-e2e",
        work: Work::Builds,
        fast: true,
        alone: &[DEBUG],
        concerns: Concerns { packages: &["pvm-e2e", "testbed"], paths: &[] },
        steps: |run| run.compile_tests(END_TO_END, &REAL),
        ..PART
    },
    Part {
        name: "build",
        owner: "all",
        work: Work::Builds,
        fast: true,
        after: &["programs"],
        alone: &[DEBUG],
        concerns: Concerns { packages: INSTALLED, paths: &[] },
        steps: |run| {
            let elsewhere = ["--exclude=pvm-sim", "--exclude=pvm-quorum"];
            run.compile_tests(ALL_TESTS, &[&CRATES[..], &elsewhere, &UNOPTIMISED].concat())
        },
        ..PART
    },
    Part {
        name: "simulator",
        owner: "pvm-sim",
        work: Work::Builds,
        fast: true,
        after: &["build"],
        alone: &[DEBUG],
        concerns: Concerns { packages: &["pvm-sim"], paths: &[] },
        steps: |run| {
            run.compile_tests(SIMULATED, &["--package=pvm-sim", "--package=pvm-quorum", PLANTED])
        },
        ..PART
    },
    Part {
        name: "foreign",
        owner: "pvmd",
        work: Work::Builds,
        after: &["build"],
        alone: &[DEBUG],
        concerns: Concerns { packages: &["pvmd", "pvm-capi"], paths: &["include"] },
        needs: FOREIGN_NEEDS,
        steps: |run| foreign::build(run.root, &|command| run.command(command)),
        ..PART
    },
    Part {
        name: "fuzz",
        owner: "fuzz",
        work: Work::Computes,
        concerns: Concerns { packages: &["neopvm-fuzz"], paths: &["fuzz"] },
        needs: &[Need("toolchain:nightly", "(not Debian's) rustup toolchain install nightly")],
        steps: fuzz,
        ..PART
    },
    Part {
        name: "lint",
        owner: "all",
        work: Work::Computes,
        fast: true,
        // What no other part can judge; and it looks at every file.
        concerns: Concerns {
            packages: &[],
            paths: &[
                "*",
                "doc",
                "README.md",
                "CHANGELOG.md",
                "CONTRIBUTING.md",
                "ARCHITECTURE.md",
                "SECURITY.md",
            ],
        },
        steps: |run| every([run.step(&["cargo", "fmt", "--all", "--check"]), run.own(&["tidy"])]),
        ..PART
    },
    Part {
        name: "clippy",
        owner: "all",
        work: Work::Computes,
        fast: true,
        uses: &WATCHED,
        concerns: Concerns { packages: EVERY, paths: &["clippy.toml"] },
        needs: &[Need("clippy-driver", "(not Debian's) rustup component add clippy")],
        steps: |run| every(WATCHED.map(|part| run.no_warning_of(part))),
        ..PART
    },
    Part {
        name: "hosts",
        owner: "pvm-e2e",
        uses: &["install", "programs"],
        concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["xtask/hosts.sh"] },
        needs: &[PVMD, PVM3_H, FORTRAN, IP, NFT, SSHD, SSH],
        steps: real_hosts,
        ..PART
    },
    Part {
        name: "second-user",
        owner: "pvm-e2e",
        uses: &["install", "programs", "testbed"],
        concerns: Concerns {
            packages: INSTALLED_AND_E2E,
            paths: &["conformance", "xtask/second-user.sh"],
        },
        needs: &[Need("setpriv", "util-linux")],
        steps: as_second_user,
        ..PART
    },
    Part {
        name: "end-to-end",
        owner: "pvm-e2e",
        uses: &["install", "programs"],
        concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["examples"] },
        needs: &[FORTRAN, CXX, Need("strace", "strace"), IP, SSHD],
        steps: |run| {
            let all = run.programs(END_TO_END)?;
            every([
                run.run_real_programs(&some(all.clone(), hosts::is_ordinary), &[]),
                run.run_real_programs(&figures(all), &["--skip", hosts::NEEDS_ALL]),
            ])
        },
        ..PART
    },
    Part {
        name: "conformance",
        owner: "pvm-capi",
        uses: &["install", "testbed"],
        alone: &[ORIGINAL],
        concerns: Concerns { packages: INSTALLED, paths: &["conformance", "include"] },
        needs: &[
            PVMD,
            PVM3_H,
            EXAMPLES,
            Need("tablix2_kernel", "tablix2"),
            Need("slsh", "slsh and slang-pvm"),
            Need("NPpvm", "netpipe-pvm"),
            FORTRAN,
            CXX,
        ],
        steps: conformance,
        ..PART
    },
    Part {
        name: "traced",
        owner: "pvm-capi",
        uses: &["install", "testbed"],
        concerns: Concerns { packages: INSTALLED, paths: &["conformance", "include"] },
        needs: &[PVM3_H, EXAMPLES, FORTRAN],
        steps: |run| {
            let traced = |script: &[&str]| {
                run.step(&[&["env", "MACHINE_TRACED=1", "bash"][..], script].concat())
            };
            every([
                traced(&["conformance/run.sh", "ours", run.stage]),
                traced(&["conformance/debian.sh", run.stage]),
            ])
        },
        ..PART
    },
    Part {
        name: "personalities",
        owner: "personalities",
        uses: &["install", "testbed"],
        concerns: Concerns {
            packages: INSTALLED,
            paths: &["personalities", "include", "benchmarks/environments", "benchmarks/suites"],
        },
        needs: &[FORTRAN, CXX],
        steps: |run| {
            let work = run.log.with_file_name("personalities");
            let environments = work.join("environments");
            let verify = "benchmarks/environments/verify.sh";
            every([
                run.step(&[
                    "bash",
                    "personalities/tests/run.sh",
                    run.stage,
                    &work.to_string_lossy(),
                ]),
                run.step(&["bash", verify, run.stage, &environments.to_string_lossy()]),
            ])
        },
        ..PART
    },
    Part {
        name: "python",
        owner: "bindings/python",
        uses: &["install", "testbed"],
        alone: &[PYTHON],
        concerns: Concerns {
            packages: &["pvmd", "pvm-cli", "neopvm-python"],
            paths: &["bindings/python", "examples/python"],
        },
        needs: &[Need("python3", "python3 and python3-venv")],
        steps: |run| run.step(&["bash", "bindings/python/check.sh", run.stage]),
        ..PART
    },
    Part {
        name: "docs",
        owner: "xtask/docs.py",
        uses: &["install"],
        alone: &[PYTHON, DEBUG],
        concerns: Concerns {
            packages: &["pvm", "pvm-capi", "pvm-cli", "neopvm-python"],
            // Names and links in documents are looked after by `tidy` in a second.
            paths: &["bindings"],
        },
        needs: &[Need("mandoc", "mandoc"), Need("javac", "default-jdk-headless")],
        steps: |run| {
            let out = run.log.with_file_name("docs");
            run.step(&["python3", "xtask/docs.py", run.stage, &out.to_string_lossy()])
        },
        ..PART
    },
    Part {
        name: "mixed",
        owner: "pvm-e2e",
        uses: &["install", "programs", "foreign"],
        concerns: Concerns { packages: &["pvmd", "pvm-capi", "pvm-e2e"], paths: &["include"] },
        needs: FOREIGN_NEEDS,
        steps: |run| {
            let mixed = some(run.programs(END_TO_END)?, |one| one.name == hosts::MIXED);
            let foreign = foreign::installations(run.root);
            run.with(foreign::INSTALLATIONS, &foreign.to_string_lossy());
            run.run_programs(&mixed, &foreign::MIXED_ARGUMENTS)
        },
        ..PART
    },
    Part {
        name: "spread",
        owner: "pvm-capi",
        uses: &["install", "testbed"],
        alone: &[ORIGINAL],
        concerns: Concerns { packages: INSTALLED, paths: &["conformance", "xtask/hosts.sh"] },
        needs: &[PVMD, PVM3_H, EXAMPLES, FORTRAN, IP, NFT, SSHD, SSH],
        steps: |run| on_hosts(run, &["bash", "conformance/spread.sh", "all", run.stage]),
        ..PART
    },
    Part {
        name: "tests",
        owner: "all",
        fast: true,
        uses: &["build", "simulator"],
        // Those of the C library run their programs on what is installed.
        after: &["install"],
        concerns: Concerns {
            packages: &[
                "pvm-wire",
                "pvm-shm",
                "pvm-core",
                "pvm-quorum",
                "pvm",
                "pvmd",
                "pvm-capi",
                "pvm-cli",
                "pvm-bench",
            ],
            paths: &["include", "conformance/machine.sh"],
        },
        steps: |run| {
            let quorum = some(run.programs(SIMULATED)?, |one| one.package == "pvm-quorum");
            let all = [run.programs(ALL_TESTS)?, quorum].concat();
            let documents = ["cargo", "test", "--doc", "--no-fail-fast"];
            every([
                run.run_real_programs(&all, &[]),
                run.with_compiled_tests(&[&documents[..], &CRATES, &UNOPTIMISED].concat()),
            ])
        },
        ..PART
    },
    Part {
        name: "java",
        owner: "bindings/java",
        uses: &["install", "testbed"],
        alone: &[JAVA],
        concerns: Concerns { packages: INSTALLED, paths: &["bindings/java", "examples/java"] },
        needs: &[Need("javac", "default-jdk-headless"), Need("mvn", "maven")],
        steps: |run| run.step(&["bash", "bindings/java/check.sh", run.stage]),
        ..PART
    },
    Part {
        name: "bench",
        owner: "pvm-bench",
        uses: &["install", "programs"],
        concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["benchmarks"] },
        needs: &[PVMD, PVM3_H, FORTRAN, Need("chromium", "chromium")],
        steps: |run| {
            let bench = some(run.programs(END_TO_END)?, |one| one.name == hosts::BENCH);
            run.run_real_programs(&bench, &[])
        },
        ..PART
    },
    Part {
        name: "nas",
        owner: "benchmarks/nas",
        uses: &["install", "programs"],
        concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["benchmarks/nas"] },
        needs: &[FORTRAN],
        steps: |run| {
            let nas = some(run.programs(END_TO_END)?, |one| one.name == hosts::NAS);
            run.run_real_programs(&nas, &[])
        },
        ..PART
    },
    Part {
        name: "differ",
        owner: "pvm-capi",
        uses: &["install"],
        alone: &[ORIGINAL],
        concerns: Concerns { packages: INSTALLED, paths: &["conformance"] },
        needs: &[PVMD, PVM3_H, FORTRAN],
        steps: |run| run.own(&["differ", run.stage, "check"]),
        ..PART
    },
    // It installs into a folder of its own, as others use the common one meanwhile.
    Part {
        name: "demo",
        owner: "examples",
        uses: &["testbed"],
        after: &["install"],
        alone: &[DEBUG, RELEASE, PYTHON, JAVA],
        concerns: Concerns { packages: INSTALLED, paths: &["examples"] },
        steps: |run| {
            let stage = format!("STAGE={}-of-demo", run.stage);
            run.step(&["make", "demo", &stage])
        },
        ..PART
    },
    Part {
        name: "simulation",
        owner: "pvm-sim",
        work: Work::Computes,
        fast: true,
        uses: &["simulator"],
        concerns: Concerns { packages: &["pvm-sim"], paths: &[] },
        steps: |run| {
            let own = |one: &Program| one.package == "pvm-sim" && one.name != "planted";
            run.run_programs(&some(run.programs(SIMULATED)?, own), &[])
        },
        ..PART
    },
    // The test of the tester: bugs that are planted on purpose are found.
    Part {
        name: "planted",
        owner: "pvm-sim",
        work: Work::Computes,
        uses: &["simulator"],
        concerns: Concerns { packages: &["pvm-sim", "pvm-quorum"], paths: &[] },
        steps: planted,
        ..PART
    },
    // Errors that are planted in the models of predictions are found by those models' tests.
    Part {
        name: "models",
        owner: "pvm-predict",
        work: Work::Computes,
        alone: &[DEBUG],
        concerns: Concerns { packages: &["pvm-predict"], paths: &[] },
        steps: |run| {
            run.step(&["cargo", "test", "--quiet", "--package=pvm-predict", "--features=planted"])
        },
        ..PART
    },
    // Real messages over shaped cables take what was predicted.
    Part {
        name: "prediction",
        owner: "pvm-predict",
        work: Work::Measures,
        needs: &[IP],
        uses: &["install"],
        concerns: Concerns {
            packages: &["pvm-predict", "pvm-cli"],
            paths: &["benchmarks/predict"],
        },
        steps: |run| {
            let pvm = format!("{}/bin/pvm", run.stage);
            on_hosts(run, &["bash", "benchmarks/predict/judge.sh", &pvm, "target/predict", "small"])
        },
        ..PART
    },
    Part {
        name: "loom",
        owner: "pvm-shm",
        work: Work::Computes,
        concerns: Concerns { packages: &["pvm-shm"], paths: &[] },
        steps: |run| run.command(&tools::loom(run.root)).and_then(|()| run.some_test_ran(0)),
        ..PART
    },
    // Last, when nothing else runs.
    Part {
        name: "figures",
        owner: "pvm-e2e",
        work: Work::Measures,
        uses: &["install", "programs"],
        concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &[] },
        needs: &[Need("strace", "strace")],
        steps: measures,
        ..PART
    },
];

const FOREIGN_NEEDS: &[Need] = &[
    Need("i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
    Need("/lib/ld-linux.so.2", "libc6-i386"),
    Need("/usr/lib32/libgcc_s.so.1", "lib32gcc-s1"),
    Need("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
    Need("qemu-s390x", "qemu-user"),
    Need("unshare", "util-linux"),
    Need("rust:i686-unknown-linux-gnu", "(not Debian's) rustup target add i686-unknown-linux-gnu"),
    Need(
        "rust:s390x-unknown-linux-gnu",
        "(not Debian's) rustup target add s390x-unknown-linux-gnu",
    ),
];

fn some(programs: Vec<Program>, is_wanted: impl Fn(&Program) -> bool) -> Vec<Program> {
    programs.into_iter().filter(|program| is_wanted(program)).collect()
}

fn figures(programs: Vec<Program>) -> Vec<Program> {
    some(programs, |one| one.name == hosts::FIGURES)
}

/// What is only judged on a computer that does nothing else, as root and as an ordinary user.
fn measures(run: &Run<'_>) -> Result<(), String> {
    let programs = figures(run.programs(END_TO_END)?);
    let as_this_user = run.run_real_programs(&programs, &[hosts::NEEDS_ALL]);
    let as_other = if hosts::possible(run.root)? {
        as_second(run, &second_user::tests(run.stage, &programs, &[hosts::NEEDS_ALL]))
    } else {
        Ok(())
    };
    every([as_this_user, as_other])
}

fn conformance(run: &Run<'_>) -> Result<(), String> {
    // One after the other, for the sake of the original.
    every([
        run.step(&["bash", "conformance/run.sh", "live"]),
        run.step(&["bash", "conformance/run.sh", "ours", run.stage]),
        run.step(&["bash", "conformance/debian.sh", run.stage]),
    ])
}

fn planted(run: &Run<'_>) -> Result<(), String> {
    let all = run.programs(SIMULATED)?;
    let machines = some(all.clone(), |one| one.name == "planted");
    let search = some(all, |one| one.package == "pvm-quorum" && one.is_library);
    every([run.run_programs(&machines, &[]), run.run_programs(&search, &["exhaustive"])])
}

const NO_HOSTS: &str = "skipped: hosts with networks of their own need root";

fn real_hosts(run: &Run<'_>) -> Result<(), String> {
    if !hosts::possible(run.root)? {
        return run.note(NO_HOSTS);
    }
    let networks = some(run.programs(END_TO_END)?, |one| one.name == hosts::NETWORKS);
    run.run_real_programs(&networks, &hosts::NETWORKS_ARGUMENTS)
}

fn on_hosts(run: &Run<'_>, words: &[&str]) -> Result<(), String> {
    if hosts::possible(run.root)? { run.step(words) } else { run.note(NO_HOSTS) }
}

/// All targets are one program, which is built once and watched for all of them, then run for two at a time.
fn fuzz(run: &Run<'_>) -> Result<(), String> {
    // In four seconds a target is run less often than a better build would take in turn.
    let mut build = fuzzing::build(run.root, Watch::Addresses);
    run.command(build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))?;
    let targets = fuzzing::targets(run.root)?;
    targets.iter().try_for_each(|target| fuzzing::prepare(run.root, target))?;
    let commands = targets.iter().map(|target| {
        let command = fuzzing::for_seconds(run.root, target, FUZZ_SECONDS, Watch::Addresses);
        (target.as_str(), command)
    });
    run.side_by_side(commands.collect(), 2)
}

fn as_second_user(run: &Run<'_>) -> Result<(), String> {
    if !hosts::possible(run.root)? {
        return run.note("not root: everything above ran as an ordinary user already");
    }
    let all = run.programs(END_TO_END)?;
    let mut commands = second_user::conformance(run.stage);
    commands.extend(second_user::tests(run.stage, &some(all.clone(), hosts::is_ordinary), &[]));
    let rest = ["--skip", hosts::NEEDS_ALL];
    commands.extend(second_user::tests(run.stage, &figures(all), &rest));
    as_second(run, &commands)
}

fn as_second(run: &Run<'_>, commands: &[Vec<String>]) -> Result<(), String> {
    every(commands.iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run.real(&words, &|words| run.prepare(words))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_parts_name_one_another_and_can_all_come_to_their_turn() {
        let names: BTreeSet<&str> = PARTS.iter().map(|part| part.name).collect();
        assert_eq!(names.len(), PARTS.len());
        let mut done: BTreeSet<&str> = BTreeSet::new();
        while done.len() < PARTS.len() {
            let before = done.len();
            for part in PARTS {
                let mut first = part.uses.iter().chain(part.after);
                assert!(part.uses.iter().chain(part.after).all(|one| names.contains(one)));
                if first.all(|one| done.contains(one)) {
                    done.insert(part.name);
                }
            }
            assert!(done.len() > before, "{:?} wait for one another", names.difference(&done));
        }
    }

    #[test]
    fn what_runs_with_fast_needs_nothing_slow() {
        for part in PARTS.iter().filter(|part| part.fast) {
            let slow = |name: &&&str| PARTS.iter().any(|one| one.name == **name && !one.fast);
            assert_eq!(part.uses.iter().find(slow), None, "{}", part.name);
        }
    }

    #[test]
    fn every_end_to_end_test_is_in_one_part() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = std::fs::read_dir(root.join("crates/pvm-e2e/tests")).unwrap().flatten();
        for path in folder.map(|entry| entry.path()) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let own = [hosts::NETWORKS, hosts::BENCH, hosts::NAS, hosts::FIGURES]
                .contains(&name.as_str());
            let (package, path) = (String::new(), path.clone());
            let one = Program { package, name, is_library: false, folder: path.clone(), path };
            assert!(own != hosts::is_ordinary(&one), "{one:?}");
        }
    }
}
