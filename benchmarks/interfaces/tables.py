"""tables.py FIGURES SEED DIVISOR: the averages of `pvm bench two-nodes` beside a part of the printed ones."""

import csv
import sys

# Tables, and the system and variant that are measured for each; one C-Linda stands for the report's two releases.
TABLES = {
    "A.1": ("CPS", ""),
    "A.2": ("C-Linda", ""),
    "A.3": ("C-Linda", ""),
    "A.4": ("P4", ""),
    "A.5": ("POSYBL", ""),
    "A.6": ("PVM 2.4", "vsnd/vrcv"),
    "A.7": ("PVM 2.4", "snd/rcv"),
    "A.8": ("PVM 2.4", "snd/rcv, not packed"),
    "A.9": ("TCGMSG", ""),
}
SIZES = [100, 400, 1000, 4000, 10000, 40000, 100000, 400000, 1000000]


def measured(path):
    """Averages in µs by system, variant and size."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["test"] == "kernel"]
    return {(row["system"], row["variant"], int(row["size"])): float(row["mean"]) for row in rows}


def printed(path):
    """Averages in ms by table and size."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row[-1] in TABLES]
    return {(row[-1], int(row[1])): float(row[2]) for row in rows}


def main(figures, seed, divisor):
    """Prints all tables; 1 if anything is missing or above its goal."""
    ours, old, failures = measured(figures), printed(seed), 0
    for table, key in TABLES.items():
        for size in SIZES:
            name, us = f"{table} {key[0]} {key[1]}".strip(), ours.get((*key, size))
            # Where the old system failed there is no goal, but there must be a value.
            goal = old[table, size] * 1000 / divisor if (table, size) in old else None
            if us is None or (goal is not None and us > goal):
                failures += 1
                state = "MISSED"
            else:
                state = ""
            shown = "nothing" if us is None else f"{us:.1f} us"
            wanted = "none was printed" if goal is None else f"goal {goal:.1f} us"
            print(f"{name:<32}{size:>8} {shown:>14}  {wanted:<18} {state}".rstrip())
    print(f"{failures} of {len(TABLES) * len(SIZES)} averages miss their goal")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
