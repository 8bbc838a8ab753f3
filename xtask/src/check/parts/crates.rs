//! Parts that judge the crates and their texts, mostly by calculating.

use super::shared::*;
use crate::fuzzing::{self, Watch};
use crate::programs::Target;
use crate::tools;

pub(super) const FUZZ: Part = Part {
    name: "fuzz",
    owner: "fuzz",
    work: Work::Computes,
    concerns: Concerns { packages: &["neopvm-fuzz"], paths: &["fuzz"] },
    needs: &[Need("toolchain:nightly", "(not Debian's) rustup toolchain install nightly")],
    steps: fuzz,
    ..PART
};

pub(super) const LINT: Part = Part {
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
};

pub(super) const CLIPPY: Part = Part {
    name: "clippy",
    owner: "all",
    work: Work::Computes,
    fast: true,
    uses: &WATCHED,
    concerns: Concerns { packages: EVERY, paths: &["clippy.toml"] },
    needs: &[Need("clippy-driver", "(not Debian's) rustup component add clippy")],
    steps: |run| every(WATCHED.map(|part| run.no_warning_of(part))),
    ..PART
};

pub(super) const TESTS: Part = Part {
    name: "tests",
    owner: "all",
    fast: true,
    uses: &["build"],
    concerns: Concerns {
        packages: &["pvm-wire", "pvm-shm", "pvm-core", "pvm", "pvmd", "pvm-cli", "pvm-bench"],
        paths: &["include"],
    },
    steps: |run| {
        let elsewhere = |one: &Program| is_of_models(one) || is_planted(one) || is_of_c(one);
        let all = some(run.programs(CRATES_LIST)?, |one| !elsewhere(one));
        every([
            run.run_real_programs(&all, &[]),
            run.test_documents(&[&CRATES[..], &[PLANTED_TOO]].concat()),
        ])
    },
    ..PART
};

/// The tests of the C library. Some run programs on what is installed, if it is.
pub(super) const C_LIBRARY: Part = Part {
    name: "c-library",
    owner: "pvm-capi",
    fast: true,
    uses: &["build"],
    after: &["install"],
    concerns: Concerns { packages: &["pvm-capi"], paths: &["include", "conformance/machine.sh"] },
    steps: |run| run.run_real_programs(&some(run.programs(CRATES_LIST)?, is_of_c), &[]),
    ..PART
};

fn is_of_c(one: &Program) -> bool {
    one.package == "pvm-capi"
}

pub(super) const SIMULATION: Part = Part {
    name: "simulation",
    owner: "pvm-sim",
    work: Work::Computes,
    fast: true,
    uses: &["simulator"],
    concerns: Concerns { packages: &["pvm-sim"], paths: &[] },
    steps: |run| {
        run.run_programs(&some(run.programs(SIMULATED_LIST)?, |one| !is_planted(one)), &[])
    },
    ..PART
};

// The test of the tester: bugs that are planted on purpose are found.
pub(super) const PLANTED: Part = Part {
    name: "planted",
    owner: "pvm-sim",
    work: Work::Computes,
    uses: &["build", "simulator"],
    concerns: Concerns { packages: &["pvm-sim", "pvm-quorum", "pvm-tuples"], paths: &[] },
    steps: planted,
    ..PART
};

/// The models of predictions, and that their tests find the errors that are planted in them.
pub(super) const MODELS: Part = Part {
    name: "models",
    owner: "pvm-predict",
    work: Work::Computes,
    fast: true,
    uses: &["build"],
    concerns: Concerns { packages: &["pvm-predict"], paths: &[] },
    steps: |run| run.run_programs(&some(run.programs(CRATES_LIST)?, is_of_models), &[]),
    ..PART
};

fn is_of_models(one: &Program) -> bool {
    one.package == "pvm-predict"
}

pub(super) const LOOM: Part = Part {
    name: "loom",
    owner: "pvm-shm",
    work: Work::Computes,
    concerns: Concerns { packages: &["pvm-shm"], paths: &[] },
    steps: |run| run.command(&tools::loom(run.root)).and_then(|()| run.some_test_ran(0)),
    ..PART
};

fn planted(run: &Run<'_>) -> Result<(), String> {
    let all = run.programs(SIMULATED_LIST)?;
    let search =
        some(all.clone(), |one| one.package == "pvm-quorum" && one.target == Target::Library);
    every([
        run.run_programs(&some(all, is_planted), &[]),
        run.run_programs(&search, &["exhaustive"]),
        run.run_programs(&some(run.programs(CRATES_LIST)?, is_planted), &[]),
    ])
}

/// Whether it plants bugs on purpose.
fn is_planted(one: &Program) -> bool {
    one.name == "planted"
}

/// All targets are one program, which is built once and watched for all of them, then run for two
/// at a time.
fn fuzz(run: &Run<'_>) -> Result<(), String> {
    // For so few inputs a better build takes longer than it saves.
    let mut build = fuzzing::build(run.root, Watch::Addresses);
    run.command(build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))?;
    let targets = fuzzing::targets(run.root)?;
    targets.iter().try_for_each(|target| fuzzing::prepare(run.root, target))?;
    let commands = targets.iter().map(|target| {
        let command = fuzzing::for_inputs(run.root, target, Watch::Addresses);
        (target.as_str(), command)
    });
    run.side_by_side(commands.collect(), 2)
}
