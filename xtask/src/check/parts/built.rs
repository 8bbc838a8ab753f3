//! Parts that build what other parts use.

use super::shared::*;
use crate::foreign;
use crate::tools;

pub(super) const FOREIGN_NEEDS: &[Need] = &[
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

// What is installed is what users get, built as they build it.
pub(super) const INSTALL: Part = Part {
    name: "install",
    owner: "xtask",
    work: Work::Builds,
    alone: &[COMPILED_FOLDER, PYTHON_FOLDER, JAVA_FOLDER],
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
        run.lint_wheels();
        run.step(&["make", "build"])?;
        run.own(&["install", run.stage])
    },
    ..PART
};

pub(super) const TESTBED: Part = Part {
    name: "testbed",
    owner: "testbed",
    work: Work::Builds,
    fast: true,
    alone: &[COMPILED_FOLDER],
    concerns: Concerns { packages: &["testbed"], paths: &[] },
    steps: |run| run.with_compiled_tests(&["build", "--package=testbed"]),
    ..PART
};

pub(super) const PROGRAMS: Part = Part {
    name: "programs",
    owner: "pvm-e2e",
    work: Work::Builds,
    fast: true,
    alone: &[COMPILED_FOLDER],
    concerns: Concerns { packages: &["pvm-e2e", "testbed"], paths: &[] },
    steps: |run| {
        run.compile_tests(E2E_LIST, &REAL)?;
        run.test_documents(&REAL)
    },
    ..PART
};

pub(super) const BUILD: Part = Part {
    name: "build",
    owner: "all",
    work: Work::Builds,
    fast: true,
    after: &["programs"],
    alone: &[COMPILED_FOLDER],
    concerns: Concerns { packages: INSTALLED, paths: &[] },
    steps: |run| {
        let elsewhere = ["--exclude=pvm-sim", "--exclude=pvm-quorum"];
        run.compile_tests(CRATES_LIST, &[&CRATES[..], &elsewhere, &[PLANTED_TOO]].concat())
    },
    ..PART
};

pub(super) const SIMULATOR: Part = Part {
    name: "simulator",
    owner: "pvm-sim",
    work: Work::Builds,
    fast: true,
    after: &["build"],
    alone: &[COMPILED_FOLDER],
    concerns: Concerns { packages: &["pvm-sim"], paths: &[] },
    steps: |run| {
        let packages = ["--package=pvm-sim", "--package=pvm-quorum", PLANTED];
        run.compile_tests(SIMULATED_LIST, &[&packages[..], &tools::SIMULATED].concat())
    },
    ..PART
};

pub(super) const FOREIGN: Part = Part {
    name: "foreign",
    owner: "pvmd",
    work: Work::Builds,
    after: &["build"],
    alone: &[COMPILED_FOLDER],
    concerns: Concerns { packages: &["pvmd", "pvm-capi"], paths: &["include"] },
    needs: FOREIGN_NEEDS,
    steps: |run| foreign::build(run.root, &|command| run.command(command)),
    ..PART
};
