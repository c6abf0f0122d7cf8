#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile plain --cpus 1 --append iomem=relaxed
# timeout: 180
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""The chip runs at the frequency that was asked for.

At every P-state a loop takes the time of its cycles at that frequency to 0.001 %, by the guest's
clock; the loop of each class has the instructions and cycles that it is made of, to one; and each
retired instruction is counted once, the same number in two runs.
"""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip  # noqa: E402

OFF = 0.00001
MS = 1600    # with several CPUs, which are up to 15 us apart
# What stands 32 times in each loop of programs/work.h, by class.
CLASSES = {"int": ("int",), "mul": ("mul",), "div": ("int", "int", "div"), "load": ("load",), "store": ("store",), "rmw": ("store",),
           "branch": ("branch",), "call": 3 * ("branch",), "fp": ("fp",), "vector": ("vector",), "fpdiv": ("fpdiv",),
           "atomic": ("atomic",), "rep": ("int", "int") + 65 * ("string",), "nop": ("nop",)}
REP_MORE = 64    # passes that are no instructions
RETIRED = (("classes", 13 * 1000, "a mix of classes"),
           ("fault", 8 * 1000, "blocks that fault in the middle"),
           ("rep_turns", 5 * 100, "reps, each once however long"),
           ("rep_length", 0, "a longer rep is no more instructions"),
           ("scan", 5 * 100, "repne scasb"))


def check_speed(r, khz, name):
    ktap.near(r["cycles"] * 1e6 / r["wall_ns"], khz, OFF, f"{name}: a loop takes its cycles over the frequency")
    ktap.near(r["cycles"] * 1e6 / r["ref_ns"], khz, OFF, f"{name}: so say the registers")


def check_loop(r, c, name):
    cost = {k[6:]: int(v[0]) for k, v in chip.profile().items() if k.startswith("class.")}
    cycles = r["loops"] * (32 * sum(cost[i] for i in CLASSES[c]) + cost["int"] + cost["branch"])
    instr = r["loops"] * (32 * (len(CLASSES[c]) - (REP_MORE if c == "rep" else 0)) + 2)
    ktap.check((r["loop_cycles"], r["loop_instr"]) == (cycles, instr), f"{name}: {r['loops']} turns are {cycles} cycles of {instr} instructions", r)


def several(cpus):
    """That many CPUs at once, each at a frequency of its own, until every frequency was there."""
    chip.hold_governors()
    khz = chip.frequencies()
    for first in range(0, len(khz), cpus):
        started = [(f, chip.start("speed", cpu, f, MS, "int")) for cpu, f in enumerate(khz[first:first + cpus])]
        for cpu, (f, p) in enumerate(started):
            r, name = chip.result(p), f"CPU {cpu} at its own {f} kHz"
            check_speed(r, f, name)
            check_loop(r, "int", name)
    ktap.end()


def main():
    chip.hold_governors()
    khz = chip.frequencies()
    for f in khz:
        r = chip.run("speed", 0, f, 300, "int")
        check_speed(r, f, f"{f} kHz")
        check_loop(r, "int", f"{f} kHz")
    for c in CLASSES:
        check_loop(chip.run("speed", 0, khz[-1], 20, c), c, f"{c} code")
    first, second = chip.run("exact"), chip.run("exact")
    for key, want, what in RETIRED:
        ktap.check(first[key] == second[key] == want, f"retired user instructions, twice: {what}", f"wanted {want}, got {first[key]}, {second[key]}")
    ktap.end()


if __name__ == "__main__":
    main()
