//! Parts that compare what is installed with the original, and the other interfaces and languages.

use super::shared::*;
use crate::second_user;

pub(super) const CONFORMANCE: Part = Part {
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
};

pub(super) const TRACED: Part = Part {
    name: "traced",
    owner: "pvm-capi",
    uses: &["install", "testbed"],
    concerns: Concerns { packages: INSTALLED, paths: &["conformance", "include"] },
    needs: &[PVM3_H, EXAMPLES, FORTRAN],
    steps: |run| {
        let traced = |script: &[&str]| {
            run.script(&[&["env", "MACHINE_TRACED=1", "bash"][..], script].concat())
        };
        every([
            traced(&["conformance/run.sh", "ours", run.stage]),
            traced(&["conformance/debian.sh", run.stage]),
        ])
    },
    ..PART
};

pub(super) const SPREAD: Part = Part {
    name: "spread",
    owner: "pvm-capi",
    uses: &["install", "testbed"],
    alone: &[ORIGINAL],
    concerns: Concerns { packages: INSTALLED, paths: &["conformance", "xtask/hosts.sh"] },
    needs: &[PVMD, PVM3_H, EXAMPLES, FORTRAN, IP, NFT, SSHD, SSH],
    steps: |run| script_on_hosts(run, &["bash", "conformance/spread.sh", "all", run.stage]),
    ..PART
};

pub(super) const DIFFER: Part = Part {
    name: "differ",
    owner: "pvm-capi",
    uses: &["install"],
    alone: &[ORIGINAL],
    concerns: Concerns { packages: INSTALLED, paths: &["conformance"] },
    needs: &[PVMD, PVM3_H, FORTRAN],
    steps: |run| run.own(&["differ", run.stage, "check"]),
    ..PART
};

pub(super) const PERSONALITIES: Part = Part {
    name: "personalities",
    owner: "personalities",
    uses: &["install", "testbed"],
    concerns: Concerns {
        packages: INSTALLED,
        paths: &[
            "personalities",
            "include",
            "benchmarks/environments",
            "benchmarks/suites",
            "examples/interfaces",
            "xtask/hosts.sh",
            "xtask/second-user.sh",
        ],
    },
    needs: &[FORTRAN, CXX, IP, NFT, SSHD, SSH],
    steps: interfaces,
    ..PART
};

/// As an ordinary user, as the end-to-end tests; only root has several hosts.
fn interfaces(run: &Run<'_>) -> Result<(), String> {
    let environments = run.log.with_file_name("personalities").join("environments");
    let on_one_host = if hosts::possible(run.root)? {
        second_user::interfaces(run.stage)
    } else {
        ["bash", second_user::INTERFACES, run.stage, "-"].map(str::to_owned).into()
    };
    let on_one_host: Vec<&str> = on_one_host.iter().map(String::as_str).collect();
    let verify = "benchmarks/environments/verify.sh";
    every([
        run.script(&on_one_host),
        script_on_hosts(run, &["bash", "personalities/tests/spread.sh", run.stage, "programs"]),
        run.script(&["bash", verify, run.stage, &environments.to_string_lossy()]),
    ])
}

pub(super) const PYTHON: Part = Part {
    name: "python",
    owner: "bindings/python",
    uses: &["install", "testbed"],
    alone: &[PYTHON_FOLDER],
    concerns: Concerns {
        packages: &["pvmd", "pvm-cli", "neopvm-python"],
        paths: &["bindings/python", "examples/python"],
    },
    needs: &[Need("python3", "python3 and python3-venv")],
    steps: |run| {
        run.lint_wheels();
        every([
            run.no_warning_of("install"),
            run.script(&["bash", "bindings/python/check.sh", run.stage]),
        ])
    },
    ..PART
};

pub(super) const JAVA: Part = Part {
    name: "java",
    owner: "bindings/java",
    uses: &["install", "testbed"],
    alone: &[JAVA_FOLDER],
    concerns: Concerns { packages: INSTALLED, paths: &["bindings/java", "examples/java"] },
    needs: &[Need("javac", "default-jdk-headless"), Need("mvn", "maven")],
    steps: |run| run.script(&["bash", "bindings/java/check.sh", run.stage, "all"]),
    ..PART
};

pub(super) const DOCS: Part = Part {
    name: "docs",
    owner: "xtask/docs.py",
    uses: &["install"],
    // They make the pages of the crates.
    after: &["programs", "tests"],
    alone: &[PYTHON_FOLDER, COMPILED_FOLDER],
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
};

fn conformance(run: &Run<'_>) -> Result<(), String> {
    // One after the other, for the sake of the original.
    every([
        run.script(&["bash", "conformance/run.sh", "live"]),
        run.script(&["bash", "conformance/run.sh", "ours", run.stage]),
        run.script(&["bash", "conformance/debian.sh", run.stage]),
    ])
}
