#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""A program's callers have the time and the energy of what they called, by frame pointers and by unwinding.

The program's hot code belongs to one caller each, but for a part that both call: of that
the program tells how much each had done. The rest of the truth is the chip's oracle.
"""
import os
import subprocess

from cli import figures, ktap, run, TOP, KJOULE
from vchip import oracle

SECONDS = 6
ALLOWED = {"time": 0.015, "energy": 0.025}    # of a share, absolute
FOLDER = os.path.join(TOP, "build/test-logs")
PROGRAMS = os.path.join(TOP, "build/selftests")
MODES = {"fp": ("callers_fp", "-g"), "dwarf": ("callers", "--call-graph dwarf,2048")}
INSIDE = "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done\n" + "".join(
    f"{KJOULE} record -q -F 1000 -C 1 {options} -o /tmp/{mode} -- taskset -c 1 {PROGRAMS}/{program} {SECONDS} || exit 1\n"
    f"cp /tmp/{mode} {FOLDER}/callers-{mode}.data\n" for mode, (program, options) in MODES.items())


def record(oracle_file):
    """Both recordings in one guest; what the program said in each."""
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", "plain", "--cpus", "2", "--oracle", oracle_file,
                        "--", "sh", "-c", INSIDE], stdout=subprocess.PIPE, text=True, check=False)
    units = [[int(w) for w in line.split()] for line in p.stdout.splitlines() if line.strip()]
    return dict(zip(MODES, units)) if p.returncode == 0 else {}


def report(mode, *options):
    r = run(KJOULE, "report", *options, "--json", f"{FOLDER}/callers-{mode}.data")
    if r.code:
        ktap.diag(f"{mode}: no report: {r.err}")
    return figures.loads(r.out) if r.code == 0 else {"rows": []}


def true_figures(rows, units):
    """By caller: what its own code and its part of the common code took."""
    def figures(*names):
        time = joule = 0
        for name in names:
            t = oracle.truth(rows[name]) if name in rows else {"time_s": 0, "alone_share": 0}
            time += t["time_s"]
            joule += t["alone_j"] / t["alone_share"] if t["alone_share"] else 0
        return {"time": time, "energy": joule}

    common, part = figures("spin_common"), units[0] / sum(units)
    result = {"light": figures("light", "spin_light"), "heavy": figures("heavy", "deep", "spin_heavy")}
    for what in ("time", "energy"):
        result["light"][what] += part * common[what]
        result["heavy"][what] += (1 - part) * common[what]
    result["common"] = common
    return result


def near(mode, what, got, true, by):
    ktap.check(abs(got - true) <= by, f"{mode}: {what}", f"{100 * got:.2f} %, true {100 * true:.2f} %")
    ktap.diag(f"{mode}: {what}: {100 * got:.2f} %, true {100 * true:.2f} %")


def folded(file, weight):
    out = run(KJOULE, "report", "--folded", "--weight", weight, file).out
    return [(line.rpartition(" ")[0].split(";"), int(line.rpartition(" ")[2])) for line in out.splitlines()]


def true_rows(mode, doc, oracle_file):
    """By function: the chip's oracle of the program."""
    span = oracle.Oracle(oracle_file, doc["pid"]).span()
    return span.functions(oracle.Symbols(os.path.join(PROGRAMS, MODES[mode][0])), tgid=doc["pid"])


def check(mode, units, oracle_file):
    doc = report(mode, "--children")
    # the recorder's child before it became the program has the same pid, and another name
    mine = [row for row in doc["rows"] if row["pid"] == doc.get("pid") and row["comm"].startswith("callers")]
    rows = {row["function"]: row for row in mine if row["kind"] == "function"}
    if not ktap.check({"main", "light", "heavy", "deep", "spin_light", "spin_heavy", "spin_common"} <= set(rows),
                      f"{mode}: callers and called are there", sorted(rows)):
        return
    file, true_of = os.path.join(FOLDER, f"callers-{mode}.data"), true_rows(mode, doc, oracle_file)
    true = true_figures(true_of, units)

    whole = next(row for row in doc["rows"] if row["kind"] == "total")
    keys = {"time": ("children_time_s", "self_time_s", 1e9), "energy": ("children_energy_package_j", "self_energy_package_j", 1e6)}
    for what, (children, own, unit) in keys.items():
        lines = folded(file, what)
        near(mode, f"folded lines of {what}, of the total", sum(w for _, w in lines) / (whole[own] * unit), 1, 1e-6)
        lines = [(frames, w / unit) for frames, w in lines if frames[0].startswith("callers")]
        for name in ("main", "light", "heavy", "deep"):
            near(mode, f"{what} of {name} and its children, of the stacks that it is in",
                 rows[name][children] / sum(w for frames, w in lines if name in frames), 1, 1e-4)
        near(mode, f"{what} of all functions themselves, of the total",
             sum(row[own] for row in doc["rows"] if row["kind"] in ("function", "ticks", "interrupts") and
                 row["pid"] is not None) / whole[own], 1, 1e-6)
        near(mode, f"{what} of a recursion, of its only caller's", rows["deep"][children] / rows["heavy"][children], 1, 0.01)
        # the oracle's truth is of the program's own code: without the kernel's on top of it
        mine = [(frames, w) for frames, w in lines if not frames[-1].endswith("_[k]")]
        got = {name: sum(w for frames, w in mine if name in frames) for name in ("light", "heavy", "spin_common")}
        both, true_both = got["light"] + got["heavy"], true["light"][what] + true["heavy"][what]
        near(mode, f"light's share of the {what}", got["light"] / both, true["light"][what] / true_both, ALLOWED[what])
        near(mode, f"the common code's share of the {what}", got["spin_common"] / both, true["common"][what] / true_both,
             ALLOWED[what])
        near(mode, f"light's share of the common code's {what}",
             sum(w for frames, w in mine if frames[-1] == "spin_common" and "light" in frames) / got["spin_common"],
             units[0] / sum(units), ALLOWED[what])
    lines = folded(file, "samples")
    spins = [(frames, w) for frames, w in lines if frames[-1].startswith("spin_")]
    near(mode, "samples in hot code whose callers lead to main", sum(w for frames, w in spins if "main" in frames) /
         sum(w for _, w in spins), 1, 0.02)
    deep = [(frames, w) for frames, w in spins if frames[-1] == "spin_heavy"]
    near(mode, "of the recursion's samples those with all of its frames",
         sum(w for frames, w in deep if frames.count("deep") == 6) / max(1, sum(w for _, w in deep)), 1, 0.02)
    if mode == "dwarf":
        c = doc["callers"]
        stacks = sum(c[k] for k in c if k.startswith("stacks_"))
        near(mode, "stacks that were unwound to the outermost frame", c["stacks_whole"] / max(1, stacks), 1, 0.05)


def main():
    oracle_file = os.path.join(FOLDER, "callers.oracle")
    os.makedirs(FOLDER, exist_ok=True)
    units = record(oracle_file)
    ktap.check(set(units) == set(MODES) and all(len(u) == 2 for u in units.values()), "both are recorded", units)
    for mode, u in units.items():
        check(mode, u, oracle_file)
    ktap.end()


main()
