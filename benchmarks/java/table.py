#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints the figures of run.sh beside those of the PBJ document: table.py FIGURES PBJ.CSV"""

import csv
import statistics
import sys

NAMES = {"timing": "C", "threaded": "C with a second thread", "native": "Java", "wire": "Java alone"}


def read(path):
    """All figures, by what was measured; what was measured several times has several."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] != "#":
                cut = {"count": 2, "message": 5}.get(words[0])
                cut = cut or words.index(next(w for w in words if w in ("loop", "pack", "unpack", "jmh-pack", "jmh-unpack"))) + 1
                found.setdefault(tuple(words[:cut]), []).append([float(w) for w in words[cut:]])
    return found


def small(found):
    median = {key: statistics.median(value[0] for value in values) for key, values in found.items()}
    seconds = [("C", median.get(("count", "C"))), ("Java", median.get(("count", "native"), median.get(("count", "wire"))))]
    if all(figure is not None for _, figure in seconds):
        print("\nTable 5.1, a loop of a billion additions, seconds (PBJ: C 0.063, Java 0.177)")
        print("  ".join(f"{name} {figure:.6f}" for name, figure in seconds))
    for name, keys in [
        ("one int there and back, µs", lambda k: (k, k, "same", "loop")),
        ("one int there and back, a core for each program, µs", lambda k: (k, k, "apart", "loop")),
        ("1 MiB of ints packed, µs", lambda k: (k, "pack")),
        ("1 MiB of ints unpacked, µs", lambda k: (k, "unpack")),
        ("1 MiB of ints packed, µs (JMH)", lambda k: (k, "jmh-pack")),
        ("1 MiB of ints unpacked, µs (JMH)", lambda k: (k, "jmh-unpack")),
    ]:
        base = median.get(keys("C"))
        own = [(k, median[keys(k)]) for k in ("threaded", "native", "wire") if keys(k) in median]
        base = base if base is not None else median.get(("C", keys("C")[-1].removeprefix("jmh-")))
        if base is not None and own:
            told = "  ".join(f"{NAMES[k]} {figure:.2f} ({figure / base:.2f} x)" for k, figure in own)
            print(f"\n{name}: C {base:.2f}  {told}")


def messages(found, document):
    """A table for each size, the document's figures behind ours."""
    old = {}
    with open(document, encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            key = (row["sender"], row["receiver"], int(row["size_mb"]), row["hosts"])
            old[key] = (row["table"], [float(row[part + "_ms"]) for part in ("send", "receive", "verify", "total")])
    rows = {}
    for key, values in found.items():
        if key[0] == "message":
            rows.setdefault((int(key[4]), key[3]), []).append((key[1], key[2], values[-1]))
    for size, hosts in sorted(rows):
        table = old.get(("C", "C", size, hosts), ("", None))[0]
        print(f"\nTable {table}, {size} MB, {hosts} host{'s' if hosts == 'different' else ''}, ms")
        print(f"{'sender':12}{'receiver':12}{'send':>10}{'receive':>10}{'verify':>10}{'total':>10}    PBJ: send, receive, verify, total")
        for sender, receiver, figures in rows[size, hosts]:
            names = [("C" if name == "timing" else "Java") for name in (sender, receiver)]
            then = old.get((*names, size, hosts))
            told = "  ".join(f"{figure:g}" for figure in then[1]) if then else ""
            print(f"{NAMES[sender]:12}{NAMES[receiver]:12}" + "".join(f"{figure:10.3f}" for figure in figures) + f"    {told}")


def main():
    found = read(sys.argv[1])
    small(found)
    messages(found, sys.argv[2])


if __name__ == "__main__":
    main()
