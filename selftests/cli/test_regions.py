#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""The phases that a program marks have the time and the energy of the code that ran in them.

Each phase has a function that runs nowhere else: what the chip's oracle says of that is the truth about the phase.
A second program is recorded that marks nothing, a third one that ends in the middle of a phase.
"""
import os
import subprocess

from cli import figures, ktap, run, TOP, KJOULE
from vchip import oracle

SECONDS = 12
SHORT = 2
ALLOWED = {"time": 0.01, "energy": 0.02}    # of a share, absolute
OUTSIDE = "[outside of regions]"
FUNCTIONS = {"prepare": "spin_prepare", "compute": "spin_compute", "compute/inner": "spin_inner", "output": "spin_output",
             "worker": "spin_worker", OUTSIDE: "spin_outside"}
FOLDER = os.path.join(TOP, "build/test-logs")
PROGRAMS = os.path.join(TOP, "build/selftests")
INSIDE = "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done\n" \
    f"record() {{ f=$1; shift; {KJOULE} record -q -F 1000 -C 1 -o /tmp/$f -- taskset -c 1 \"$@\"; r=$?; " \
    f"cp /tmp/$f {FOLDER}/$f.data; return $r; }}\n" \
    f"record regions {PROGRAMS}/regions {SECONDS} || exit 1\n" \
    f"record regions-none {PROGRAMS}/mix {SHORT} || exit 2\n" \
    f"record regions-killed timeout -s KILL {SHORT} {PROGRAMS}/regions 60\n" \
    "true"


def record(oracle_file):
    """All three in one guest."""
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", "plain", "--cpus", "2", "--oracle", oracle_file,
                        "--", "sh", "-c", INSIDE], stdout=subprocess.PIPE, text=True, check=False)
    return p.returncode == 0


def report(name, *options):
    r = run(KJOULE, "report", *options, "--json", os.path.join(FOLDER, f"{name}.data"))
    return (figures.loads(r.out) if r.code == 0 else None), r


def truth(pid, oracle_file):
    """By phase: what the oracle says of its function; and time and energy of all other code that ran as the program."""
    rows = oracle.Oracle(oracle_file, pid).span().functions(oracle.Symbols(os.path.join(PROGRAMS, "regions")), tgid=pid)
    others = [oracle.truth(row) for function, row in rows.items() if function not in FUNCTIONS.values()]
    return ({name: oracle.truth(rows[function]) for name, function in FUNCTIONS.items() if function in rows},
            {"time": sum(t["time_s"] for t in others),
             "energy": sum(t["alone_j"] / t["alone_share"] for t in others if t["alone_share"])})


def shares(figures):
    """Of the phases; outside of them is also what the kernel and the loader do for the program, and has no truth of its own."""
    total = sum(v for name, v in figures.items() if name != OUTSIDE)
    return {name: v / total for name, v in figures.items() if name != OUTSIDE}


def near(what, got, true, by):
    ktap.check(abs(got - true) <= by, what, f"{100 * got:.2f} %, true {100 * true:.2f} %")
    ktap.diag(f"{what}: {100 * got:.2f} %, true {100 * true:.2f} %")


def the_program_s(doc):
    """Its regions; the recorder's child before it became the program has the same pid, and another name."""
    return {row["region"]: row for row in doc["rows"] if row["kind"] == "region" and row["comm"].startswith("regions")}


def check_figures(true, elsewhere):
    doc, r = report("regions", "--by", "region")
    if not ktap.check(doc, "it is reported by region", r):
        return
    rows = the_program_s(doc)
    if not ktap.check(set(FUNCTIONS) <= set(rows), "all regions are there", sorted(rows)):
        return
    ktap.check(set(rows) == set(FUNCTIONS), "and no others", sorted(rows))
    got = {"time": {n: rows[n]["time_s"] for n in FUNCTIONS}, "energy": {n: rows[n]["energy_package_j"] for n in FUNCTIONS}}
    wanted = {"time": {n: t["time_s"] for n, t in true.items()},
              "energy": {n: t["alone_j"] / t["alone_share"] for n, t in true.items()}}
    for what, by in ALLOWED.items():
        mine, theirs = shares(got[what]), shares(wanted[what])
        for name in mine:
            near(f"{name}: share of the {what}", mine[name], theirs[name], by)
        spun, around = wanted[what][OUTSIDE], elsewhere[what]
        ktap.check(0.99 * spun <= got[what][OUTSIDE] <= 1.01 * (spun + around),
                   f"{OUTSIDE}: the {what} of what spins there, and at most what the kernel and the libraries do",
                   (got[what][OUTSIDE], spun, around))
    books = doc["regions"]
    ktap.check(books["marks_lost"] == books["unended"] == books["unbegun"] == books["left_out"] == books["damaged"] == 0,
               "nothing is lost, everything is ended", books)
    for name in ("prepare", "compute/inner", "worker"):
        row = rows[name]
        # what is marked is time by the clock: a little more than what ran
        ktap.check(row["entered"] == true[name]["entries"] > 0 and 0.98 < row["marked_s"] / true[name]["time_s"] < 1.1,
                   f"{name}: the time between its marks is that of its function", (row["entered"], row["marked_s"], true[name]))


def check_cut():
    """A region's functions: its own has nearly all, and those of others have nothing."""
    for region, own in (("prepare", {"spin_prepare"}), ("compute", {"spin_compute", "spin_inner"}), ("inner", {"spin_inner"}),
                        ("compute/inner", {"spin_inner"}), ("worker", {"spin_worker"})):
        doc, r = report("regions", "--region", region)
        if not ktap.check(doc, f"--region {region} is reported", r):
            continue
        rows = [row for row in doc["rows"] if row["kind"] == "function" and row["comm"].startswith("regions")]
        samples = {row["function"]: row["samples"] for row in rows}
        mine = sum(n for f, n in samples.items() if f in own)
        near(f"--region {region}: samples in its own code, of all", mine / max(1, sum(samples.values())), 1, 0.02)
        # at a region's borders one sample may have been late by a few instructions
        others = sum(n for f, n in samples.items() if f in FUNCTIONS.values() and f not in own)
        near(f"--region {region}: samples in other phases' code, of all", others / max(1, sum(samples.values())), 0, 0.003)


def check_others():
    doc, r = report("regions-none", "--by", "region")
    ktap.check(not doc and r.code == 1 and "no program has marked a region" in r.err, "of a program that marks none that is said", r)
    doc, r = report("regions-none")
    ktap.check(doc and doc["regions"] is None, "and its report is as it always was", r)
    doc, r = report("regions-killed", "--by", "region")
    if ktap.check(doc, "a program that was killed is reported as well", r):
        books, rows = doc["regions"], the_program_s(doc)
        ktap.check(books["damaged"] == 0 and books["marks_lost"] == 0 and len(rows) > 2, "with the regions that it was in", books)
        ktap.check(books["unended"] <= 3, "those that it was in at its end are not ended, or there were none", books)
    doc, r = report("regions", "--region", "nowhere")
    ktap.check(not doc and r.code == 1 and "compute/inner" in r.err, "of a region that was never entered that is said", r)


def main():
    oracle_file = os.path.join(FOLDER, "regions.oracle")
    os.makedirs(FOLDER, exist_ok=True)
    doc = report("regions")[0] if record(oracle_file) else None
    true, elsewhere = truth(doc["pid"], oracle_file) if doc else ({}, {})
    if not ktap.check(set(true) == set(FUNCTIONS), "they are recorded, and the oracle has seen every phase", sorted(true)):
        ktap.end()
    check_figures(true, elsewhere)
    check_cut()
    check_others()
    ktap.end()


main()
