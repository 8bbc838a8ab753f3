#!/usr/bin/env python3
"""row.py PROGRAM RATE SCORE: a row of the table of a round."""
import json
import sys

program, rate, score = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
low, high = score["interval"] or (score["low"], score["high"])
print(f"| {program.upper()} | {rate} | {score['predicted']:.4f} | {score['median']:.4f} "
      f"| {low:.4f} to {high:.4f} | {score['error']:+.1f} % | {score['verdict']} |")
