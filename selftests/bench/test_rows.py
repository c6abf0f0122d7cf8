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
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from bench import bench, latency, mix, programs  # noqa: E402
from selftests import ktap  # noqa: E402

NAMES = {"sample-cost", "sample-bytes", "max-rate", "demo-error", "mean-frequency", "skew", "idle", "soak",
         "attribution", "coverage", "mixture-simulated", "overhead", "analyse", "latency", "boost", "scale"}


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


class MadeUp:
    """A recording of a program of one CPU with one block, as programs.judge() takes it."""

    def __init__(self, name, seed=1, coarse=True, off=0.5, cpus=1):
        self.program, self.seed = programs.Program(name, cpus, None, 1, "", ""), seed
        self.whole, self.time_s = (1.001, 1.0), 20.0
        true = {"energy_j": 1.0, "time_s": 10.0}
        self.blocks = [("block", {"energy_package_j": 1 + off / 100, "time_s": 10.0}, true, coarse)] if cpus == 1 else []


def judged(*recordings):
    """The last rows that are made of recordings, and whether that failed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        printer = bench.Printer("made-up", True)
        programs.judge(printer, recordings)
    return {row["name"]: row for row in map(json.loads, out.getvalue().splitlines())}, printer.failed


def check_programs():
    """No program is left out of the figures without a word."""
    rows, failed = judged(MadeUp("a", off=0.3), MadeUp("b", off=-0.4))
    ktap.check(not failed and abs(rows["coarse_worst"]["value"] - 0.4) < 1e-9 and abs(rows["coarse_mean"]["value"] - 0.35) < 1e-9 and
               "2 blocks, of a, b" in rows["coarse_mean"]["note"], "all programs are in the figures", rows)
    rows, failed = judged(MadeUp("a", off=0.1), MadeUp("a", 2, off=0.6))
    ktap.check(failed and abs(rows["coarse_mean"]["value"] - 0.6) < 1e-9, "a mean is that of the worst seed", rows)
    rows, failed = judged(MadeUp("a", off=0.3), MadeUp("c", coarse=False))
    ktap.check("no coarse block in c" in rows["coarse_mean"]["note"], "one without any coarse block is named", rows)
    rows, failed = judged(MadeUp("a", off=0.3), MadeUp("b", coarse=False, off=-9), MadeUp("c", coarse=False, off=5))
    ktap.check(rows["other_blocks_worst"]["value"] > 8.9 and abs(rows["other_blocks_mean"]["value"] - 7) < 1e-9 and rows["coarse_worst"]["value"] < 1,
               "what is not coarse is in rows of its own", rows)
    rows, failed = judged(MadeUp("a", cpus=2))
    ktap.check(not failed and "coarse_mean" not in rows and "whole_program" in rows, "programs of several threads are judged as a whole only", rows)
    try:
        rows = judged(MadeUp("a", coarse=False, off=99))
    except bench.BenchError as e:
        rows = str(e)
    ktap.check(rows == "there is no coarse block in what was recorded", "where nothing is coarse there is nothing to be judged, which is a failure", rows)


def sampled(*runs, idle=None):
    """(block, milliseconds) again and again for ten seconds, sampled every 2 ms; an idle CPU is not."""
    samples, t = [], 0.0
    while t < 10:
        for block, ms in runs:
            samples += [(t + 1e-3 * k, block) for k in range(0, ms, 2) if block != idle]
            t += 1e-3 * ms
    return samples


def at_home(*runs, idle=None):
    """The part of block "a" that is at home."""
    return programs.Homes(sampled(*runs, idle=idle)).at_home("a")


def check_coarse():
    """A block is coarse where it runs for ten update periods."""
    ktap.check(at_home(("a", 100), ("b", 100)) >= programs.AT_HOME, "runs of ten update periods are coarse")
    ktap.check(at_home(("a", 48), ("b", 2)) >= programs.AT_HOME, "so is what a stray sample comes between")
    ktap.check(at_home(("a", 80), ("b", 80)) < programs.AT_HOME, "runs of eight are not")
    ktap.check(at_home(("a", 12), ("b", 4)) < programs.AT_HOME, "nor is what is interwoven with others, three to one")
    ktap.check(at_home(("a", 10), ("idle", 90), idle="idle") < programs.AT_HOME, "nor what idle times lie between")
    ktap.check(at_home(("a", 4), ("idle", 96), idle="idle") < programs.AT_HOME, "however few its samples are")
    # processes of one command, each with its own block: one of them is short
    samples = [(t, (1 if t < 9 else 2, b)) for t, b in sampled(("a", 100), ("b", 100)) if t < 9.06]
    homes = programs.Homes(samples)
    ktap.check(homes.at_home((2, "a")) < programs.AT_HOME <= homes.at_home((2, "a"), (1, "a")),
               "a short process does not speak for the others", (homes.at_home((2, "a")), homes.at_home((1, "a"), (2, "a"))))
    names = {"block0": {("p", 0, 16), ("p", 16, 32)}}
    homes = programs.homes_of([(t, 7, ("p", 16 * (int(500 * t) % 2), 16 + 16 * (int(500 * t) % 2)) if b == "a" else programs.KERNEL)
                               for t, b in sampled(("a", 100), ("k", 10))], names)
    ktap.check(homes.is_coarse((7, "block0")), "functions by turns are one block")


def check_others():
    """An oracle that had no room says so."""
    for pid, others in ((7, False), (4294967294, True)):
        with tempfile.NamedTemporaryFile("w", suffix=".oracle") as f:
            f.write(f"vchip-oracle,4,plain,1,1\nmark,1,end,0,0\ncount,0,0,{pid},7,0,0,1,0,0,0,0\ndone,1\n")
            f.flush()
            ktap.check(programs.chip.Oracle(f.name, {1}, partial=True).others == others, f"what task {pid} did is {'not ' * others}known by task")
            try:
                told = bool(programs.chip.Oracle(f.name, {1}))
            except mix.OracleError as e:
                told = "no room" not in str(e)
            ktap.check(told != others, "and is no truth of a task" if others else "and is one")
    with tempfile.NamedTemporaryFile("w", suffix=".oracle") as f:
        f.write("vchip-oracle,4,plain,1,1\n")
        for seq, (label, pid) in enumerate((("here", 7), ("end", 4294967294)), 1):
            f.write(f"mark,{seq},{label},0,0\ncount,0,{seq},{pid},7,0,0,1,0,0,0,0\ndone,{seq}\n")
        f.flush()
        o = programs.chip.Oracle(f.name, {1}, until="here")
        ktap.check([m.label for m in o.marks] == ["here"] and not o.others, "up to a mark there was room")


class Series:
    """What a guest and the chip's log have of one change of 880 us, loops of 50 and 40 us, as latency.judge_tries() takes it."""

    def __init__(self, **told):
        n = 200
        self.starts = [-250 * 1000 + 50_000 * i for i in range(23)] + [1_200_000 + 40_000 * i for i in range(n)]
        self.times = [50_000] * 22 + [373_000] + [40_000 + 10 * (i % 5) for i in range(n)]
        self.verdict, self.ns, self.true_ns, self.alone = "good", 880_500, 880_000, True
        self.__dict__.update(told)
        self.good = self.verdict == "good"


def tries_judged(*tries):
    """The rows that are made of them."""
    pair = latency.Pair.__new__(latency.Pair)
    pair.tries, pair.loop_ns, pair.from_khz, pair.to_khz = tries, 50_000, 1, 2
    run = latency.Run.__new__(latency.Run)
    run.pairs = [pair]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        printer = bench.Printer("made-up", True)
        latency.judge_tries(printer, "", run)
    return {row["name"]: row["value"] for row in map(json.loads, out.getvalue().splitlines())}, printer.failed


def check_latency():
    """What the chip's log does not have is not right, and what nothing disturbed is counted."""
    rows, failed = tries_judged(Series(), Series(ns=None, verdict="disturbed", alone=False))
    ktap.check(not failed and rows == {"off_tries": 0, "undisturbed_good": 100, "disturbed_tries": 1}, "a latency within a loop of the log's is right", rows)
    rows, failed = tries_judged(Series(ns=1_040_000), Series(true_ns=None))
    ktap.check(failed and rows["off_tries"] == 2, "one that is off by more than three, or of no grant, is not", rows)
    rows, failed = tries_judged(*[Series() for _ in range(9)], Series(ns=None, verdict="hidden in a gap"))
    ktap.check(failed and rows["undisturbed_good"] == 90, "a try that nothing disturbed is to be good", rows)
    found = latency.peer(Series(), 40_000, 40_040, 40_020), latency.peer(Series(), 40_000, 40_040, 42_000), latency.peer(Series(), 1, 2, 1)
    ktap.check(found == (1_200_000, None, None), "the paper's method takes the first loop like the target's, if those after it are", found)


def check_seeds():
    """Figures say which seeds they are of."""
    os.environ.pop("KJOULE_SEED", None)     # of whoever runs the tests
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        printer = bench.Printer("made-up", True, 3)
        printer.use_seeds(10)
        printer.seeded("x", {1: 5, 2: 7, 3: 6}, "%", must=6)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    ktap.check([(r["seeds"], r["value"], r["must"]) for r in rows] == [([1], 5, None), ([2], 7, None), ([3], 6, None), ([1, 2, 3], 7, 6)] and
               rows[-1]["note"] == "worst with seed 2" and printer.failed, "a figure of each seed, and the worst with the bound", rows)
    text, _ = figure("cost", 30, "ns", seed=4, note="a note", as_json=False)
    ktap.check(text.split() == "made-up cost 30 ns seed 4; a note".split(), "a table's line tells the seed", text)
    r = subprocess.run([os.path.join(TOP, "scripts/bench"), "--seeds", "0", "skew"], stderr=subprocess.PIPE, text=True, check=False)
    ktap.check(r.returncode == 2 and "--seeds must be positive" in r.stderr, "no seed is an error", r)
    r = subprocess.run([os.path.join(TOP, "scripts/bench"), "skew"], env={**os.environ, "KJOULE_SEED": "x"}, stderr=subprocess.PIPE, text=True, check=False)
    ktap.check(r.returncode == 1 and "$KJOULE_SEED is 'x'" in r.stderr, "so is one that is no number", r)


def main():
    ktap.plan(37)
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
    check_programs()
    check_coarse()
    check_others()
    check_latency()
    check_seeds()
    ktap.end()


if __name__ == "__main__":
    main()
