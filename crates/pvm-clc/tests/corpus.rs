//! C-Linda old and new through clc and the C compilers that are here, with all warnings.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The programs with which the runtime is tested; from the corpus.
const PROGRAMS: &str = "../../../../personalities/linda/tests";
/// From the corpus, too.
const INCLUDE: &str = "-I../../../../include";
const KERNELS: &str = "../../../../personalities/linda/tests/seed.cl";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// gcc, and clang where it is installed.
fn compilers() -> Vec<&'static str> {
    let all = ["gcc", "clang"].into_iter();
    all.filter(|name| {
        let output = Command::new(name).arg("--version").output();
        let is_there = output.is_ok_and(|output| output.status.success());
        if !is_there {
            println!("skipped: what {name} says of the output, because it is not installed");
        }
        is_there
    })
    .collect()
}

fn clc(compiler: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_clc"))
        .env("CC", compiler)
        .current_dir(corpus())
        .args(arguments)
        .output()
        .expect("clc is built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn compiles(file: &str, standards: &[&str], more: &[&str]) {
    for compiler in compilers() {
        compiles_with(compiler, file, standards, more);
    }
}

#[track_caller]
fn compiles_with(compiler: &str, file: &str, standards: &[&str], more: &[&str]) {
    for standard in standards {
        let standard = format!("-std={standard}");
        let mut arguments =
            vec![&*standard, "-Wall", "-Wpedantic", "-Werror", "-c", "-o", "/dev/null", file];
        arguments.extend(more);
        let output = clc(compiler, &arguments);
        assert!(output.status.success(), "{compiler} {standard}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{compiler} {standard}");
    }
}

#[test]
fn every_form_of_field_with_every_type() {
    compiles("fields.cl", &["c11", "gnu17"], &[]);
}

#[test]
fn old_c_with_types_behind_names_and_implicit_ints() {
    let old = [
        "-Wno-implicit-int",
        "-Wno-return-type",
        "-Wno-implicit-function-declaration",
        "-Wno-pedantic",
    ];
    compiles("old.cl", &["gnu89", "c89", "c99"], &old);
}

#[test]
fn names_that_a_program_has_declared_itself_are_its_own() {
    compiles("own.cl", &["c11", "gnu99"], &["-Wno-pedantic"]);
}

#[test]
fn operations_in_macros_and_macros_in_operations() {
    compiles("macros.cl", &["c99", "c11", "gnu17"], &[]);
}

#[test]
fn the_kernels_of_the_comparison_of_1993() {
    compiles(KERNELS, &["gnu89", "c99", "c17"], &["-Wno-pedantic"]);
}

#[test]
fn the_known_programs() {
    let mut count = 0;
    for entry in std::fs::read_dir(corpus().join(PROGRAMS)).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "cl") {
            count += 1;
            compiles(file.to_str().unwrap(), &["gnu17"], &["-Wno-pedantic", INCLUDE]);
        }
    }
    assert!(count >= 10, "{count} programs in {PROGRAMS}");
}

/// A function behind `[[...]]` was passed over, and its operations were left as they were.
#[test]
fn declarations_of_unusual_shapes_have_operations_behind_them() {
    compiles("shapes.cl", &["gnu2x"], &["-Wno-pedantic"]);
    // clang 14 takes `[[...]]` from C23 on.
    compiles_with("gcc", "shapes.cl", &["gnu17"], &["-Wno-pedantic"]);
}

#[test]
fn own_names_leave_no_operation_behind() {
    let output = clc("cc", &["-E", "own.cl"]);
    let shown = text(&output.stdout);
    // Two by __linda_, and one each of rdp and inp outside of the scopes that declare them.
    assert_eq!(shown.matches("__linda_begin(\"own.cl\"").count(), 4, "{shown}");
    for kept in
        ["rd(eval[0]);", "rdp(3);", "inp(2);", "calls->out(1) + own.out(in(2))", "out(\"x\", 1)"]
    {
        assert!(shown.contains(kept), "{kept}");
    }
}

/// The error that clc prints for a program of these lines, which are put into a function.
fn told(lines: &str) -> String {
    told_by("cc", lines)
}

fn told_by(compiler: &str, lines: &str) -> String {
    let folder = std::env::temp_dir().join(format!("clc-told-{}-{:p}", std::process::id(), lines));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("bad.cl");
    std::fs::write(
        &file,
        format!(
            "int f(int a, double b);\nvoid g(void);\nint h();\nint v(int a, \
                                   ...);\nint real_main(int argc, char **argv)\n{{\n    int i, \
                                   a[3], *p = a; struct s *q = 0;\n{lines}\n    return argc + \
                                   !argv + i + *p + !q;\n}}\n"
        ),
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_clc"))
        .env("CC", compiler)
        .current_dir(&folder)
        .args(["-c", "-o", "/dev/null", "bad.cl"])
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(!output.status.success(), "{lines}");
    text(&output.stderr)
}

#[test]
fn faults_are_told_with_line_column_and_what_was_expected() {
    let faults = [
        ("    in(\"a\" ?i);", "bad.cl:8:12: error: expected ',' before '?'"),
        ("    in(\"a\", );", "bad.cl:8:13: error: expected a field of in before ')'"),
        ("    in(, 1);", "bad.cl:8:8: error: expected a field of in before ','"),
        ("    rd();", "bad.cl:8:8: error: expected a field of rd before ')'"),
        (
            "    out(\"a\" /* ) */, ?i);",
            "bad.cl:8:22: error: out puts values: expected one in place of the formal field",
        ),
        ("    in(\"a\", ?);", "bad.cl:8:14: error: expected an expression before ')'"),
        ("    out(\"a\", :3);", "bad.cl:8:14: error: expected an expression before ':'"),
        (
            "    out(\"a\", a:2:3);",
            "bad.cl:8:17: error: expected ',' or ')' before the second ':' of a field",
        ),
        ("    out(\"a\", 5 6);", "bad.cl:8:16: error: expected ',' or ')' before '6'"),
        ("    out(\"a\", 5 i);", "bad.cl:8:16: error: expected ',' or ')' before 'i'"),
        ("    out(\"a\", 1;", "bad.cl:8:8: error: expected ')' that ends the fields of out"),
        (
            "    eval(\"a\", nobody(1));",
            "bad.cl:8:15: error: eval of nobody, which this file does not declare",
        ),
        (
            "    eval(\"a\", g());",
            "bad.cl:8:15: error: eval of g, which returns nothing that could be a field",
        ),
        (
            "    eval(\"a\", h(1));",
            "bad.cl:8:15: error: eval of h, whose parameters this file does not declare",
        ),
        (
            "    eval(\"a\", v(1));",
            "bad.cl:8:15: error: eval of v, which takes any number of arguments",
        ),
        ("    eval(\"a\", f(1));", "bad.cl:8:15: error: expected 2 arguments of f, not 1"),
        // The C compiler's:
        (
            "    out(\"a\", a);",
            "field 2 of out has no type of a tuple; write an array as a: or a:n",
        ),
        ("    out(\"a\",\n        p);", "bad.cl:9:9: error: "),
        ("    out(\"a\", p:);", "field 2 of out is a pointer and no declared array; write a:n"),
        ("    in(\"a\", ?p);", "field 2 of in has no type of a tuple; write an array as ?a:"),
        ("    in(\"a\", ?1);", "bad.cl:8:14: error: expected a variable or a type before '1'"),
        (
            "    in(\"a\", ?i:1);",
            "bad.cl:8:14: error: static assertion failed: \"field 2 of in is no array",
        ),
        (
            "    in(\"a\", ?\"b\");",
            "bad.cl:8:14: error: expected a variable or a type before '\"b\"'",
        ),
        ("    const int c = 3; in(\"a\", ?c);", "bad.cl:8:"),
        ("    const char s[4] = \"\"; in(\"a\", ?s);", "bad.cl:8:"),
        ("    const int t[2][2] = {{0}}; in(\"a\", ?t:);", "bad.cl:8:"),
        ("    const int *q = a; in(\"a\", ?q:i);", "bad.cl:8:"),
        ("    struct {} e[3]; out(\"a\", e:);", "field 2 of out is an array of items of no bytes"),
        ("    int *t[2][2]; out(\"a\", t:);", "field 2 of out is an array of a type that no tuple"),
        ("    out(\"a\", i:);", "field 2 of out is no array; write it without a colon"),
        ("    out(\"a\", g());", "bad.cl:8:14: error: "),
        ("    out(\"a\", 1); undeclared;", "bad.cl:8:18: error: "),
        ("    out(\"a\",\n  1\n  ); in(\n?i\n); undeclared;", "bad.cl:12:4: error: "),
        ("\tin(\"a\", inp(\"b\", undeclared));", "bad.cl:8:"),
        ("    in(\"a\", ?int *);", "field 2 of in is no type of a tuple"),
        ("    out(\"a\", *q);", "bad.cl:8:14: error: "),
        ("    out(\"a\", undeclared);", "bad.cl:8:14: error: "),
        ("    eval(\"a\", f(1, q));", "bad.cl:8:20: error: "),
    ];
    for (lines, expected) in faults {
        let told = told(lines);
        assert!(told.contains(expected), "{lines}\n{told}");
    }
    assert!(told("    in(\"a\" ?i);").contains("    8 |     in(\"a\" ?i);\n      |            ^"));
    let two = told("    in();\n    rd();");
    assert!(two.contains("bad.cl:8:8:") && two.contains("bad.cl:9:8:"), "{two}");
    // C would take its arguments for what they are; here they cross to another process.
    assert!(told("    eval(\"a\", h(1));").contains("; write them down"));
    assert!(told("    out(\"a);").contains("bad.cl:8"), "a string without an end");
}

/// gcc does not declare a variable whose value has an error, so each use of it was one more error.
#[test]
fn one_undeclared_variable_was_two_or_three_errors() {
    for compiler in compilers() {
        for field in [
            "out(\"a\", u)",
            "in(\"a\", ?u)",
            "in(\"a\", ?u:)",
            "in(\"a\", ?a:u)",
            "out(\"a\", a:u)",
            "out(\"a\", u:)",
            "out(\"a\", u:3)",
            "out(\"a\", u.b[i])",
        ] {
            let told = told_by(compiler, &format!("    {field};"));
            assert_eq!(told.matches("error:").count(), 1, "{compiler}: {field}: {told}");
        }
    }
    // Clang tells of each use, and the arguments of an eval are used twice.
    let told = told_by("gcc", "    eval(\"a\", f(u, 1.0));");
    assert_eq!(told.matches("error:").count(), 1, "{told}");
}

/// A generator of numbers that is the same everywhere.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap()
}

#[test]
fn no_damaged_file_stops_the_precompiler() {
    let pieces = [
        "(", ")", "{", "}", "[", "]", ",", ";", ":", "?", "*", "\"", "'", "\\", "in(", "out(1",
        "#", "# 9", "int ", "=",
    ];
    let mut seed = 7;
    for name in ["fields", "old", "own", "macros", KERNELS] {
        let whole = std::fs::read_to_string(corpus().join(name).with_extension("cl")).unwrap();
        for _ in 0..200 {
            let mut text: Vec<char> = whole.chars().collect();
            for _ in 0..=next(&mut seed) % 4 {
                let at = next(&mut seed) % text.len();
                let piece = pieces[next(&mut seed) % pieces.len()];
                let removed = next(&mut seed) % 9;
                text.splice(at..(at + removed).min(text.len()), piece.chars());
            }
            let text: String = text.into_iter().collect();
            // That it returns is all that is asked for.
            let _ = pvm_clc::translate(&text, "damaged.cl", &|_| None);
        }
    }
    for piece in pieces {
        let _ = pvm_clc::translate(&piece.repeat(20_000), "damaged.cl", &|_| None);
    }
    let deep = format!("f() {{ in({}1{}); }}", "(".repeat(2000), ")".repeat(2000));
    let told = pvm_clc::translate(&deep, "deep.cl", &|_| None).unwrap_err();
    assert!(told[0].to_string().contains("nested more than 1000 deep"), "{}", told[0]);
}

/// A file of this text, what clc does with it, and the file that clc makes.
fn compiled(name: &str, source: &[u8], options: &[&str]) -> (Output, Vec<u8>) {
    let folder = std::env::temp_dir().join(format!("clc-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("x.cl"), source).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_clc"))
        .current_dir(&folder)
        .args(options)
        .args(["-o", "made", "x.cl"])
        .output()
        .unwrap();
    let made = std::fs::read(folder.join("made")).unwrap_or_default();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    (output, made)
}

/// An eval among the arguments of an eval was written twice, and in it the next one.
#[test]
fn evals_within_evals_are_written_once() {
    let depth = 60;
    let calls = "f(eval(".repeat(depth) + "1" + &"))".repeat(depth);
    let source =
        format!("int f(int a) {{ return a; }}\nint real_main(void) {{ eval({calls}); }}\n");
    let (_, made) = compiled("nested", source.as_bytes(), &["-E"]);
    assert!(made.len() < 10_000 * depth, "{} bytes", made.len());
}

#[test]
fn a_line_of_ten_million_bytes_is_a_line() {
    let text = "x".repeat(10_000_000);
    let source =
        format!("int real_main(void) {{ int i; out(\"{text}\"); in(\"a\", ?i); return i; }}");
    let (_, made) = compiled("long", source.as_bytes(), &["-E"]);
    assert!(made.len() > text.len());
}

/// Ends of lines, marks and bytes that some editors leave behind.
#[test]
fn carriage_returns_and_bytes_0_are_passed_over() {
    let lines = [
        "int real_main(void)",
        "{",
        "  int i;",
        "  out(\"a\", 1);",
        "  in(\"a\",",
        "    ?i);",
        "  o\\\nut(\"z\0z\", \0 i);",
        "  return i;",
        "}",
        "",
    ];
    let source = lines.join("\r\n");
    let source = source.as_bytes();
    let (output, made) = compiled("returns", source, &["-c", "-Wall"]);
    assert!(!made.is_empty() && !text(&output.stderr).contains("error"));
    let (_, made) = compiled("returns", source, &["-E"]);
    assert_eq!(text(&made).matches("__linda_begin(\"x.cl\"").count(), 3, "{}", text(&made));
}

/// A debugger steps through the lines of the user's file, and through no others.
#[test]
fn debuggers_see_the_users_lines() {
    let lines = [
        "int real_main(int argc, char **argv)",
        "{",
        "    int i, a[3];",
        "    out(\"a\",",
        "        argc);",
        "    in(\"a\", ?i,",
        "       ?a:);",
        "    if (rdp(\"b\"))",
        "        i++;",
        "    return i + !argv;",
        "}",
        "",
    ];
    let (_, made) = compiled("lines", lines.join("\n").as_bytes(), &["-c", "-g"]);
    let file = std::env::temp_dir().join(format!("clc-lines-{}.o", std::process::id()));
    std::fs::write(&file, made).unwrap();
    let output = Command::new("objdump").arg("--dwarf=decodedline").arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let shown = text(&output.stdout);
    let lines: std::collections::BTreeSet<u32> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("x.cl "))
        .filter_map(|rest| rest.split_whitespace().next()?.parse().ok())
        .collect();
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), [2, 4, 5, 6, 7, 8, 9, 10, 11], "{shown}");
}

#[test]
fn letters_of_another_code_stay_the_bytes_that_they_are() {
    let folder = std::env::temp_dir().join(format!("clc-latin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = b"int real_main(void) { out(\"gr\xfc\xdfe\"); return 0; } /* \xe4 */";
    std::fs::write(folder.join("latin.cl"), source).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_clc"))
        .current_dir(&folder)
        .args(["-E", "latin.cl"])
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success());
    assert!(
        output.stdout.windows(7).any(|bytes| bytes == b"\"gr\xfc\xdfe\""),
        "{}",
        text(&output.stdout)
    );
}
