#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures that kjoule promises, measured and held to their bounds by scripts/bench.

Idle CPUs are not among them, because kmod/idle is that benchmark, nor the soak of five minutes:
kmod/soak does the same for 30 seconds. Nor is the skew between CPUs, which misses its bound on the
chip (Documentation/accuracy.rst): scripts/bench tells it.
"""
# where: host
# timeout: 1500
# stalls: ^(mean-frequency|demo-error): .* is measured
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "selftests"))
import ktap  # noqa: E402

# benchmark, its options, and the figures in it that have a bound
BENCHES = [
    ("sample-cost", [], ["kjoule"]),
    ("sample-bytes", [], ["ring"]),
    ("mean-frequency", [], ["error"]),
    ("max-rate", [], ["records_lost"]),
    ("demo-error", ["--runs", "1"], ["least_share", "worst_function", "whole_program"]),
]


def main():
    ktap.plan(sum(len(names) for _, _, names in BENCHES))
    for bench, options, names in BENCHES:
        run = subprocess.run([os.path.join(TOP, "scripts/bench"), "--json", *options, bench],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        rows = {row["name"]: row for row in map(json.loads, run.stdout.splitlines())}
        for line in run.stdout.splitlines() + run.stderr.splitlines():
            print("# " + line)
        for name in names:
            row = rows.get(name)
            if row is None or row["must"] is None:
                ktap.check(False, f"{bench}: {name} is measured and has a bound")
                continue
            held = row["value"] >= row["must"] if name == "least_share" else row["value"] <= row["must"]
            ktap.check(held, f"{bench}: {name} is {row['value']:.4g} {row['unit']}, bound {row['must']}")
    ktap.end()


if __name__ == "__main__":
    main()
