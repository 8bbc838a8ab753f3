"""steps.py PVM ROUND RATE... : the thesis' model beside ours on a round's programs, our corrections one by one.

Each program of ROUND is predicted by `--model thesis` on a shared cable of the rate, then by ours with one correction
more at each step: frames and TCP on that cable, a switch, the token bucket, the congestion control of the hosts, the
bucket's timer where the platform has it late, heads of messages and confirmations, the time of calls, and the cores that
the hosts share, which is the round's platform. A line each: seconds of the timed section, and the error against the
median of the real runs (PROGRAM-RATE.runs). Chance counts by its median over seven seeds. The thesis' lines (`pvm trace export --to thesis`) know no sections: the time before and behind
the section is what ours takes for these lines on that cable, less what it takes for the section.
"""

import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

PVM, ROUND, RATES = sys.argv[1], sys.argv[2], sys.argv[3:]


def kept(text, without):
    """A platform without the lines of some keys."""
    return "\n".join(line for line in text.splitlines() if line.split(" = ")[0] not in without)


def steps(text, rate):
    """Names and platforms, the plainest first; the model of the first one is the thesis'."""
    cable = f'[network]\nkind = "cable"\nrate = "{rate} Mb/s"\n[transport]\nkind = "tcp"\ncongestion = "reno"\n'
    switch = cable.replace('"cable"', '"switch"')
    calls, cores = ["send", "receive", "jitter", "copy"], ["cores", "slice", "computers"]
    heads = kept(text, calls + cores)
    timer = kept(heads, ["message", "confirmation"])
    control = kept(timer, ["late"])
    bucket = kept(control, ["congestion", "train"]).replace('kind = "tcp"', 'kind = "tcp"\ncongestion = "reno"')
    late = [("the timer", timer)] if timer != control else []
    return [("thesis", cable), ("packets and TCP", cable), ("a switch", switch), ("the bucket", bucket),
            ("bbr", control), *late, ("heads, confirmations", heads), ("calls", kept(text, cores)), ("cores", text)]


def predicted(files, platform, *options):
    """A prediction's JSON."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(platform)
        file.flush()
        command = [PVM, "predict", files, "--network", file.name, "--json", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def seconds(trace, platform):
    """The median of the timed section."""
    told = predicted(trace, platform, "--seeds", "7")
    return max(section["seconds"] for section in told["sections"])


def thesis(trace, cable):
    """The timed section by the model of the thesis."""
    with tempfile.TemporaryDirectory() as folder:
        lines = f"{folder}/lines"
        subprocess.run([PVM, "trace", "export", "--to", "thesis", "-o", lines, trace], check=True, capture_output=True)
        whole = predicted(lines, cable, "--model", "thesis")["seconds"]
        ours = predicted(lines, cable, "--depth", "packet")["seconds"]
    return whole - (ours - seconds(trace, cable))


def median(runs):
    """The seconds of the run in the middle."""
    with open(runs, encoding="utf-8") as file:
        return statistics.median(json.loads(line)["seconds"] for line in file)


def main():
    for rate in RATES:
        with open(f"{ROUND}/tbf-{rate}.toml", encoding="utf-8") as file:
            text = file.read()
        for runs in sorted(glob.glob(f"{ROUND}/*-{rate}.runs")):
            trace = re.sub(r"-\d+\.runs$", ".trace", runs)
            program = os.path.basename(trace).removesuffix(".trace").upper()
            for name, platform in steps(text, rate):
                took = thesis(trace, platform) if name == "thesis" else seconds(trace, platform)
                error = 100 * (took / median(runs) - 1)
                print(f"| {program} | {rate} | {name} | {took:.4f} | {error:+.1f} % |", flush=True)


main()
