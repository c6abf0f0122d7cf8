#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that kjoule promises, measured and compared with their bounds by scripts/bench; bench/long has those that take longer.

Idle CPUs are not among them, because kmod/idle is that benchmark, nor the soak of five minutes:
kmod/soak does the same for 30 seconds, nor instructions, which bench/cost counts.
"""
# where: host
# timeout: 600
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

# benchmark, its options, and the figures in it that have a bound
BENCHES = [("demo-error", ["--seeds", "1"], ["least_share", "worst_function", "whole_program"]),
           ("mean-frequency", ["--seeds", "1"], ["error"]), ("skew", ["--seeds", "1"], ["p99_part"])]


def measure(bench, options, names):
    """Return what is to be said of each of the figures, and whether it is good."""
    run = subprocess.run([os.path.join(TOP, "scripts/bench"), "--json", *options, bench],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    rows = {row["name"]: row for row in map(json.loads, run.stdout.splitlines())}
    for line in run.stdout.splitlines() + run.stderr.splitlines():
        print("# " + line, flush=True)
    results = []
    for name in names:
        row = rows.get(name)
        if row is None or row["must"] is None:
            results.append((False, f"{bench}: {name} is measured and has a bound"))
            continue
        held = row["value"] >= row["must"] if name == "least_share" else row["value"] <= row["must"]
        results.append((held, f"{bench}: {name} is {row['value']:.4g} {row['unit']}, bound {row['must']}"))
    return results


def main(benches):
    ktap.plan(sum(len(names) for _, _, names in benches))
    for bench, options, names in benches:
        for held, what in measure(bench, options, names):
            ktap.check(held, what)
    ktap.end()


if __name__ == "__main__":
    main(BENCHES)
