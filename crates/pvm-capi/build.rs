//! Compiles the C shim: variadic functions cannot be defined in Rust.

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=../../include");
    cc::Build::new()
        .file("shim/variadic.c")
        .file("shim/threads.c")
        .include("../../include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .pic(true)
        .compile("pvm_shim");
}
