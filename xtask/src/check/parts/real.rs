//! Parts that start real machines of what is installed.

use super::built::FOREIGN_NEEDS;
use super::shared::*;
use crate::{again, foreign, second_user};

pub(super) const HOSTS: Part = Part {
    name: "hosts",
    owner: "pvm-e2e",
    uses: &["install", "programs"],
    concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["xtask/hosts.sh"] },
    needs: &[PVMD, PVM3_H, FORTRAN, IP, NFT, SSHD, SSH],
    steps: real_hosts,
    ..PART
};

pub(super) const SECOND_USER: Part = Part {
    name: "second-user",
    owner: "pvm-e2e",
    uses: &["install", "testbed"],
    concerns: Concerns { packages: INSTALLED, paths: &["conformance", "xtask/second-user.sh"] },
    needs: &[SETPRIV],
    steps: as_second_user,
    ..PART
};

pub(super) const END_TO_END: Part = Part {
    name: "end-to-end",
    owner: "pvm-e2e",
    uses: &["install", "programs", "testbed"],
    concerns: Concerns {
        packages: INSTALLED_AND_E2E,
        paths: &["examples", "xtask/second-user.sh"],
    },
    needs: &[FORTRAN, CXX, Need("strace", "strace"), IP, SSHD, SETPRIV],
    steps: end_to_end,
    ..PART
};

pub(super) const MIXED: Part = Part {
    name: "mixed",
    owner: "pvm-e2e",
    uses: &["install", "programs", "foreign"],
    concerns: Concerns { packages: &["pvmd", "pvm-capi", "pvm-e2e"], paths: &["include"] },
    needs: FOREIGN_NEEDS,
    steps: |run| {
        let mixed = some(run.programs(E2E_LIST)?, |one| one.name == hosts::MIXED);
        let foreign = foreign::installations(run.root);
        run.with(foreign::INSTALLATIONS, &foreign.to_string_lossy());
        run.run_programs(&mixed, &foreign::MIXED_ARGUMENTS)
    },
    ..PART
};

pub(super) const BENCH: Part = Part {
    name: "bench",
    owner: "pvm-bench",
    uses: &["install", "programs"],
    concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["benchmarks"] },
    needs: &[PVMD, PVM3_H, FORTRAN, Need("chromium", "chromium")],
    steps: |run| {
        let bench = some(run.programs(E2E_LIST)?, |one| one.name == hosts::BENCH);
        run.run_real_programs(&bench, &[])
    },
    ..PART
};

pub(super) const NAS: Part = Part {
    name: "nas",
    owner: "benchmarks/nas",
    uses: &["install", "programs"],
    concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &["benchmarks/nas"] },
    needs: &[FORTRAN],
    steps: |run| {
        let nas = some(run.programs(E2E_LIST)?, |one| one.name == hosts::NAS);
        run.run_real_programs(&nas, &[])
    },
    ..PART
};

// It installs into a folder of its own, as others use the common one meanwhile.
pub(super) const DEMO: Part = Part {
    name: "demo",
    owner: "examples",
    uses: &["testbed"],
    after: &["install"],
    alone: &[COMPILED_FOLDER, PYTHON_FOLDER, JAVA_FOLDER],
    concerns: Concerns { packages: INSTALLED, paths: &["examples"] },
    steps: |run| {
        let stage = format!("STAGE={}-of-demo", run.stage);
        run.step(&["make", "demo", &stage])
    },
    ..PART
};

// Real messages over shaped cables take what was predicted.
pub(super) const PREDICTION: Part = Part {
    name: "prediction",
    owner: "pvm-predict",
    work: Work::Measures,
    needs: &[IP],
    uses: &["install"],
    concerns: Concerns { packages: &["pvm-predict", "pvm-cli"], paths: &["benchmarks/predict"] },
    steps: |run| {
        let pvm = format!("{}/bin/pvm", run.stage);
        on_hosts(run, &["bash", "benchmarks/predict/judge.sh", &pvm, "target/predict", "small"])
    },
    ..PART
};

// Last, when nothing else runs.
pub(super) const FIGURES: Part = Part {
    name: "figures",
    owner: "pvm-e2e",
    work: Work::Measures,
    uses: &["install", "programs"],
    concerns: Concerns { packages: INSTALLED_AND_E2E, paths: &[] },
    needs: &[Need("strace", "strace")],
    steps: measures,
    ..PART
};

fn figures(programs: Vec<Program>) -> Vec<Program> {
    some(programs, |one| one.name == hosts::FIGURES)
}

/// The tests that are judged only on a computer that does nothing else, as root and as an ordinary
/// user.
fn measures(run: &Run<'_>) -> Result<(), String> {
    let programs = figures(run.programs(E2E_LIST)?);
    let as_this_user = run.run_real_programs(&programs, &[hosts::NEEDS_ALL]);
    let as_other = if hosts::possible(run.root)? {
        as_second(run, &second_user::tests(run.stage, &programs, &[hosts::NEEDS_ALL]))
    } else {
        Ok(())
    };
    every([as_this_user, as_other])
}

fn real_hosts(run: &Run<'_>) -> Result<(), String> {
    if !hosts::possible(run.root)? {
        return run.note(NO_HOSTS);
    }
    let networks = some(run.programs(E2E_LIST)?, |one| one.name == hosts::NETWORKS);
    run.run_real_programs(&networks, &hosts::NETWORKS_ARGUMENTS)
}

/// As an ordinary user, for much goes right for root alone: folders, sockets, signals, limits. Root
/// runs what only root may do; everything as root is a part of `make soak`.
fn end_to_end(run: &Run<'_>) -> Result<(), String> {
    let all = run.programs(E2E_LIST)?;
    let ordinary = some(all.clone(), hosts::is_ordinary);
    let (figures, but_one) = (figures(all), ["--skip", hosts::NEEDS_ALL]);
    if !hosts::possible(run.root)? {
        return every([
            run.run_real_programs(&ordinary, &[]),
            run.run_real_programs(&figures, &but_one),
        ]);
    }
    let of_root = ordinary.iter().filter_map(|one| Some((one, hosts::tests_of_root(one)?)));
    let as_root = of_root.map(|(program, tests)| {
        let exact = if tests.is_empty() { tests } else { &[&[again::EXACT], tests].concat() };
        run.run_real_programs(std::slice::from_ref(program), exact)
    });
    every([
        as_second(run, &second_user::tests(run.stage, &ordinary, &[])),
        as_second(run, &second_user::tests(run.stage, &figures, &but_one)),
        every(as_root),
    ])
}

fn as_second_user(run: &Run<'_>) -> Result<(), String> {
    if !hosts::possible(run.root)? {
        return run.note("not root: everything above ran as an ordinary user already");
    }
    every(second_user::conformance(run.stage).iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run.script(&words)
    }))
}

fn as_second(run: &Run<'_>, commands: &[Vec<String>]) -> Result<(), String> {
    every(commands.iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run.real(&words, &|words| run.prepare(words))
    }))
}
