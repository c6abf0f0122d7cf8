#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
"""What a benchmark prints: each figure with its bound and its peer; and scripts/bench names them all."""
import contextlib
import io
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "scripts/lib")]
import bench  # noqa: E402
import ktap  # noqa: E402

NAMES = {"sample-cost", "sample-bytes", "max-rate", "demo-error", "mean-frequency", "skew", "idle", "soak",
         "attribution", "coverage", "mixture-simulated", "overhead", "analyse"}


def figure(*args, as_json=True, **more):
    """What a printer says about a figure, and whether that failed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        printer = bench.Printer("made-up", as_json)
        printer.figure(*args, **more)
    text = out.getvalue()
    return json.loads(text) if as_json else text, printer.failed


def run(*args):
    return subprocess.run([os.path.join(TOP, "scripts/bench"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def main():
    ktap.plan(10)
    r = run("--list")
    listed = {line.split()[0]: line.split()[1:] for line in r.stdout.splitlines()}
    ktap.check(r.returncode == 0 and set(listed) == NAMES, "--list names the benchmarks", r)
    ktap.check(all(len(words) > 3 for words in listed.values()), "each with what it measures", r.stdout)
    r = run("nonsense")
    ktap.check(r.returncode == 2 and not r.stdout and all(name in r.stderr for name in NAMES),
               "one that there is not is an error, which names those that there are", r)
    r = run()
    ktap.check(r.returncode == 2 and "--list" in r.stderr, "so is none", r)

    row, failed = figure("cost", 30, "ns", must=40, peer="other", peer_value=120, note="a note")
    ktap.check(row == {"bench": "made-up", "name": "cost", "value": 30, "unit": "ns", "must": 40, "note": "a note",
                       "peer": "other", "peer_value": 120, "ratio": 0.25} and not failed,
               "a row with a peer has its name, its value and ours over it", row)
    row, failed = figure("cost", 30, "ns")
    ktap.check(row == {"bench": "made-up", "name": "cost", "value": 30, "unit": "ns", "must": None} and not failed,
               "one without has none of them", row)
    row, failed = figure("cost", 30, "ns", peer="other", peer_value=0)
    ktap.check(row["ratio"] is None and row["peer_value"] == 0, "there is no ratio to nothing", row)
    held = [figure("x", value, "", must=40, at_most=at_most)[1] for value, at_most in
            ((40, True), (40.1, True), (40, False), (39.9, False))]
    ktap.check(held == [False, True, False, True], "a bound is missed above it, or below", held)
    text, _ = figure("cost", 50, "ns", must=40, peer="other", peer_value=100, as_json=False)
    ktap.check(text.split() == "made-up cost 50 ns must <= 40 MISSED other 100 (ratio 0.50)".split(),
               "a table's line tells the same", text)
    text, _ = figure("cost", 50, "ns", peer="other", peer_value=0, as_json=False)
    ktap.check("other 0" in text, "with no ratio to nothing as well", text)
    ktap.end()


if __name__ == "__main__":
    main()
