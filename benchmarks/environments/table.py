#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes what run.sh measured beside the printed tables: table.py TOLD PRINTED.CSV OUT"""

import csv
import statistics
import sys

SYSTEMS = ("NX", "Express", "PVM")
# Of the printed tables: the test, what a size is called, and the unit with its worth in what the programs tell.
GROUPS = [
    ("echo", "One-to-one communication", (3,), "bytes", "µs", 1.0),
    ("sum", "Global sum", (4, 5), "words", "ms", 1e-3),
    ("rows", "Gaussian elimination, blocks of rows", (6, 7, 8), "order", "s", 1.0),
    ("columns", "Gaussian elimination, blocks of columns", (9, 10, 11), "order", "s", 1.0),
    ("scattered", "Gaussian elimination, scattered columns", (12, 13, 14), "order", "s", 1.0),
    ("nbody", "N-body", (15, 16, 17), "points", "s", 1.0),
]
# Tests whose figures have curves and no numbers.
FIGURES = [
    ("exchange", "Exchange, µs (figures 6 and 7)"),
    ("broadcast", "Broadcast, µs (figures 8 and 9)"),
    ("ring", "Ring, µs (figures 10 and 11)"),
    ("complete", "Complete exchange, µs (figures 12 and 13)"),
    ("multiply", "Global product, µs (measured in 1997, not shown)"),
    ("and", "Global and, µs (measured in 1997, not shown)"),
]
PLATFORMS = {"iPSC/860": "iPSC", "IPX/Ethernet": "IPX", "HP/FDDI": "HP"}


def read_told(path):
    """Medians by (test, system, tasks, size)."""
    names = {name.lower(): name for name in SYSTEMS}
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            system, kind, test, tasks, size, *rest = line.split()
            if kind != "bits":
                key = (test, names[system], int(tasks), int(size))
                found.setdefault(key, []).extend(float(value) for value in rest[1:])
    return {key: statistics.median(values) for key, values in found.items()}


def number(size):
    """256x256, 16k points, 26 words and 200 bytes as numbers."""
    text = size.split()[0].split("x")[0]
    return int(text[:-1]) * 1024 if text.endswith("k") else int(text)


def read_printed(path):
    with open(path, encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if int(row["table"]) >= 3]


def value_of(row):
    try:
        return float(row["value"])
    except ValueError:
        return None


def told_for(row, told):
    """Today's value for a printed one, in the printed unit."""
    for test, _, tables, _, _, worth in GROUPS:
        if int(row["table"]) in tables:
            value = told.get((test, row["system"], int(row["processors"]), number(row["size"])))
            return None if value is None else value * worth
    return None


def text(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def ratio(above, below):
    return text(above / below if above is not None and below else None)


def markdown(title, head, rows):
    lines = [f"\n## {title}\n", "| " + " | ".join(head) + " |", "|" + "---:|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def group_table(group, printed, told):
    """A row for each size and number of tasks: the printed values, today's, and the ratios of figures 14 to 16."""
    test, name, tables, what, unit, worth = group
    own = [row for row in printed if int(row["table"]) in tables]
    columns = []
    for row in own:
        if (row["platform"], row["system"]) not in columns:
            columns.append((row["platform"], row["system"]))
    then = {(row["platform"], row["system"], int(row["processors"]), number(row["size"])): value_of(row) for row in own}
    places = {key[2:] for key in then} | {key[2:] for key in told if key[0] == test}
    rows = []
    for tasks, size in sorted(places, key=lambda place: (place[1], place[0])):
        old = [then.get((*column, tasks, size)) for column in columns]
        new = [told.get((test, system, tasks, size)) for system in SYSTEMS]
        new = [None if value is None else value * worth for value in new]
        ipsc = [then.get(("iPSC/860", system, tasks, size)) for system in SYSTEMS]
        ratios = [ratio(ipsc[1], ipsc[0]), ratio(new[1], new[0]), ratio(ipsc[2], ipsc[1]), ratio(new[2], new[1])]
        rows.append([str(size), str(tasks), *map(text, old), *map(text, new), *ratios])
    head = [what, "PE", *(f"{PLATFORMS[platform]} {system}" for platform, system in columns), *(f"{s} now" for s in SYSTEMS)]
    head += ["Express/NX iPSC", "now", "PVM/Express iPSC", "now"]
    numbers = f"table {tables[0]}" if len(tables) == 1 else f"tables {tables[0]} to {tables[-1]}"
    return markdown(f"{name}, {unit} ({numbers})", head, rows)


def figure_table(test, title, told):
    rows = []
    for tasks, size in sorted({key[2:] for key in told if key[0] == test}):
        new = [told.get((test, system, tasks, size)) for system in SYSTEMS]
        rows.append([str(tasks), str(size), *map(text, new), ratio(new[1], new[0]), ratio(new[2], new[1])])
    what = "words" if test in ("multiply", "and") else "bytes"
    return markdown(title, ["PE", what, *SYSTEMS, "Express/NX", "PVM/Express"], rows)


def write_csv(path, printed, told):
    with open(path, "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow([*printed[0], "now", "times faster"])
        for row in printed:
            now, then = told_for(row, told), value_of(row)
            faster = f"{then / now:.4g}" if now and then else ""
            table.writerow([*row.values(), "" if now is None else f"{now:.6g}", faster])


def main():
    told_path, printed_path, out = sys.argv[1:]
    told, printed = read_told(told_path), read_printed(printed_path)
    write_csv(f"{out}/tables.csv", printed, told)
    with open(f"{out}/tables.md", "w", encoding="utf-8") as page:
        page.write("# Express, NX and PVM: 1997 and now\n")
        for group in GROUPS:
            page.write(group_table(group, printed, told))
        for test, title in FIGURES:
            page.write(figure_table(test, title, told))


main()
