#!/usr/bin/env python3
"""Makes one site of all documents: docs.py STAGE OUT

OUT/index.html opens without a network. It leads to the pages of this repository (by rustdoc, which
reads Markdown), the man pages of the installation in STAGE (by mandoc), and the references of Rust
(cargo doc), Java (javadoc) and Python (pdoc). A reference is left out, and named, if its compiler
is missing. A warning of one of these tools or a link to a file that does not exist is an error.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The order in which a reader would take them; each folder's other pages follow by name.
PAGES = [
    ("Users", ["README.md", "doc/porting-from-pvm3.md", "doc/interfaces.md", "doc/java.md",
               "doc/python.md", "doc/tuples.md", "doc/traces.md", "doc/prediction.md",
               "doc/performance.md", "doc/performance-java.md", "doc/reliability.md", "SECURITY.md",
               "CHANGELOG.md", "examples/README.md", "benchmarks/README.md"]),
    ("Developers", ["ARCHITECTURE.md", "CONTRIBUTING.md", "doc/testing.md", "doc/shm.md",
                    "doc/wire.md", "doc/trace.md", "doc/newcomer.md", "doc/adr/README.md"]),
]
# Pages that others lead to.
FURTHER = ["doc/*.md", "doc/adr/*.md", "benchmarks/**/*.md", "examples/**/*.md", "bindings/**/*.md",
           "personalities/**/*.md", "crates/**/*.md", "conformance/**/*.md"]

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 54em; margin: 1em auto; padding: 0 1em; color: #222; }
pre { background: #f4f4f4; padding: .7em; overflow-x: auto; } code { background: #f4f4f4; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2em .6em; }
h1, h2, h3 { line-height: 1.2; } a { color: #0645ad; text-decoration: none; }
h1 a, h2 a, h3 a, dt a { color: inherit; } .doc-anchor, table.head, table.foot { display: none; }
nav { border-bottom: 1px solid #ccc; padding-bottom: .4em; }
"""

NAVIGATION = '<nav><a href="%s/index.html">All documents</a></nav>'


class Failure(Exception):
    """A document cannot be made; the text says which and why."""


def run(name: str, *command: str, **more) -> None:
    """Runs a tool; what it says counts as an error."""
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, **more)
    said = (done.stdout + done.stderr).strip()
    if done.returncode != 0 or said:
        raise Failure(f"{name}: {' '.join(command[:3])} ... ended with {done.returncode}:\n{said}")


def need(program: str, package: str) -> None:
    if shutil.which(program) is None:
        raise Failure(f"{program} is missing (Debian package {package})")


def title_of(page: Path) -> str:
    first = page.read_text().lstrip().split("\n", 1)[0]
    return first.lstrip("#% ").replace("`", "").strip() or page.name


class Site:
    """The pages that are made, each at the place of its file, so that their links hold."""

    def __init__(self, stage: Path, out: Path) -> None:
        self.stage, self.out = stage, out
        self.style = out / "style.css"

    def begin(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.style.write_text(STYLE)

    def markdown(self, file: Path) -> None:
        place = self.out / file.relative_to(ROOT).with_suffix(".html")
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text().split("\n")
        heading = next(at for at, line in enumerate(lines) if line.strip())
        lines = [f"% {title_of(file)}", *lines[heading + 1 :]]
        source = place.with_suffix(".md")
        source.write_text("\n".join(self.linked(file, line) for line in lines))
        top = os.path.relpath(self.out, place.parent)
        before = place.with_suffix(".nav")
        before.write_text(NAVIGATION % top)
        run(str(file.relative_to(ROOT)), "rustdoc", "--markdown-no-toc", "--output",
            str(place.parent), "--markdown-css", f"{top}/style.css", "--html-before-content",
            str(before), str(source))
        source.unlink()
        before.unlink()

    def linked(self, file: Path, line: str) -> str:
        """A link to a page leads to what is made of it, one to another file to the file itself."""

        def place(match: re.Match[str]) -> str:
            target, anchor = match[1], match[2] or ""
            if re.match(r"[a-z]+:", target) or not target:
                return match[0]
            aim = (file.parent / target).resolve()
            if not aim.exists():
                raise Failure(f"{file.relative_to(ROOT)}: {target} does not exist")
            if aim.suffix == ".md":
                return f"]({target[:-3]}.html{anchor})"
            here = self.out / file.relative_to(ROOT).parent
            return f"]({os.path.relpath(aim, here)}{anchor})"

        return re.sub(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", place, line)

    def man_pages(self) -> list[Path]:
        made = []
        for page in sorted(self.stage.glob("share/man/man*/*.[1-9]")):
            place = self.out / "man" / f"{page.name}.html"
            place.parent.mkdir(exist_ok=True)
            with place.open("w") as to:
                subprocess.run(["mandoc", "-Thtml", "-Ostyle=../style.css,man=%N.%S.html", page],
                               stdout=to, check=True)
            made.append(place)
        if not made:
            raise Failure(f"{self.stage} has no man pages: make install PREFIX={self.stage}")
        # References to pages of the system lead nowhere here.
        names = {place.name for place in made}
        for place in made:
            text = re.sub(r'<a class="Xr" href="([^"]*)">(.*?)</a>',
                          lambda m: m[0] if m[1] in names else m[2], place.read_text())
            place.write_text(text.replace("<body>", f"<body>{NAVIGATION % '..'}"))
        return made

    def index(self, man: list[Path], references: list[tuple[str, str]]) -> None:
        parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>NeoPVM</title>",
                 '<link rel=stylesheet href="style.css"><h1>NeoPVM: all documents</h1>']

        def section(name: str, links: list[tuple[str, str]]) -> None:
            parts.append(f"<h2>{name}</h2><ul>")
            for link, text in links:
                quoted = urllib.parse.quote(link)
                parts.append(f'<li><a href="{quoted}">{html.escape(text)}</a></li>')
            parts.append("</ul>")

        for name, pages in PAGES:
            section(name, [(page[:-3] + ".html", title_of(ROOT / page)) for page in pages])
        section("References", references)
        section("Man pages", [(f"man/{page.name}", page.name[:-5]) for page in man])
        (self.out / "index.html").write_text("\n".join(parts) + "\n")

    def check_links(self) -> None:
        """Of the pages made here; the references' tools look after their own."""
        for page in self.out.rglob("*.html"):
            if page.relative_to(self.out).parts[0] in ("rust", "java", "python"):
                continue
            for target in re.findall(r'href="([^"#]+)', page.read_text()):
                if re.match(r"[a-z]+:", target):
                    continue
                if not (page.parent / urllib.parse.unquote(html.unescape(target))).exists():
                    raise Failure(f"{page.relative_to(self.out)}: {target} does not exist")


def rust(site: Site) -> None:
    # `make check` has them made by its tests (`rustdoc.sh`).
    made = Path(os.environ.get("RUST_PAGES", "none"))
    if (made / "pvm/index.html").exists() and (made / "testbed/index.html").exists():
        if said := (made / "said").read_text().strip():
            raise Failure(f"Rust:\n{said}")
        shutil.copytree(made, site.out / "rust", ignore=shutil.ignore_patterns("said"))
        return
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    environment = os.environ | {"RUSTDOCFLAGS": "-D warnings"}
    run("Rust", "cargo", "doc", "--quiet", "--workspace",
        "--exclude=neopvm-python", "--no-deps", "--lib", env=environment)
    shutil.copytree(target / "doc", site.out / "rust")


def reference(site: Site, name: str, compiler: str, *command: str) -> list[tuple[str, str]]:
    """A link to the reference that this command makes, or none where the compiler is missing."""
    if shutil.which(compiler) is None:
        print(f"{name}: left out, as {compiler} is missing")
        return []
    folder = name.split()[0].lower()
    run(name, *command, str(site.out / folder))
    return [(f"{folder}/index.html", name)]


def make(stage: Path, out: Path) -> None:
    need("mandoc", "mandoc")
    site = Site(stage, out)
    site.begin()
    pages = {ROOT / page for _, some in PAGES for page in some}
    for pattern in FURTHER:
        pages |= {page for page in ROOT.glob(pattern) if "target" not in page.parts}
    for page in sorted(pages):
        site.markdown(page)
    man = site.man_pages()
    rust(site)
    references = [
        ("rust/pvm/index.html", "Rust: the crates"),
        *reference(site, "Java org.neopvm", "javac", "bash", "bindings/java/javadoc.sh"),
        *reference(site, "Python neopvm", "python3", "bash", "bindings/python/docs.sh", str(stage)),
    ]
    site.index(man, references)
    site.check_links()
    print(f"{out}/index.html")


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    stage, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    try:
        make(stage, out)
    except Failure as failure:
        print(f"docs: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
