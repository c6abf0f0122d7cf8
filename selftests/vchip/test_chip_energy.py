#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""The oracle is exact: executions, cycles and energy of a known mix of instructions.

Blocks that fault in the middle, blocks whose successor faults, and reps (long, short,
empty, interrupted, faulting) are in the mix. The sum over the oracle's instructions
equals the chip's counters to the last picojoule.
"""
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip, oracle  # noqa: E402

LOOPS = 20000
FAULTS = LOOPS // 10
# The instructions of mix_classes' loop, in order.
BODY = ("int", "mul", "load", "store", "int", "int", "int", "div", "fp", "nop", "atomic", "int", "branch")
RESIDUAL_NS = 15000    # a turn
REPS = ((1000, 50), (0, 7), (1, 11), (256 * 4096, 2), (4 * 4096, 1))


def rep_passes(length):
    return length + 1    # the last pass finds the count at zero


class Expected:
    """Class costs at the highest frequency, where the chip boots and the governor holds it."""

    def __init__(self):
        p = chip.profile()
        self.cost = {k[6:]: (int(v[0]), int(v[1])) for k, v in p.items() if k.startswith("class.")}

    def sum(self, classes):
        return (sum(self.cost[c][0] for c in classes), sum(self.cost[c][1] for c in classes))


def run_guest(path):
    """The mix in a guest, its oracle in a file that is read here: the chip is too slow for that."""
    inside = ("for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done; "
              f"exec {chip.PROGRAM} mix {LOOPS}")
    p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), "--profile", "plain", "--no-modules", "--append",
                        "iomem=relaxed", "--oracle", path, "--", "sh", "-c", inside],
                       stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split() for line in p.stdout.splitlines() if len(line.split()) == 2)


def main():
    path = os.path.join(chip.TOP, "build/test-logs/chip-energy.oracle")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pid = int(run_guest(path)["pid"])
    o = oracle.Oracle(path)
    span = o.span("mix-begin", "mix-end")
    symbols = oracle.Symbols(chip.PROGRAM)
    rows = span.functions(symbols, tgid=pid)
    expected = Expected()

    def at(name):
        return span.address(symbols.address(name), tgid=pid)

    ktap.plan(21)

    head = expected.sum(("int", "int", "branch"))    # lea, mov; ret
    body = expected.sum(BODY)
    r = rows["mix_classes"]
    ktap.check(r["exec"] == 3 + LOOPS * len(BODY), "a mix of classes: executions", f"{r['exec']}")
    ktap.check(r["cycles"] == head[0] + LOOPS * body[0], "a mix of classes: cycles",
               f"wanted {head[0] + LOOPS * body[0]}, got {r['cycles']}")
    ktap.check(r["dyn_pj"] == head[1] + LOOPS * body[1], "a mix of classes: energy to the last picojoule",
               f"wanted {head[1] + LOOPS * body[1]}, got {r['dyn_pj']}")

    for name, what in (("mix_fault_before", "before the fault"), ("mix_fault_store", "that faults"),
                       ("mix_fault_after", "after the fault")):
        got = at(name)["exec"]
        ktap.check(got == FAULTS, f"a block that faults in the middle: the instruction {what} retires once",
                   f"wanted {FAULTS}, got {got}")
    costs = expected.sum(("load", "int", "int", "store", "int", "int", "int", "branch"))
    ends = expected.sum(("int", "int", "branch"))
    r = rows["mix_fault"]
    ktap.check(r["cycles"] == ends[0] + FAULTS * costs[0] and r["dyn_pj"] == ends[1] + FAULTS * costs[1],
               "a block that faults in the middle: cycles and energy",
               f"wanted {ends[0] + FAULTS * costs[0]} cycles, {ends[1] + FAULTS * costs[1]} pJ, got {r['cycles']}, {r['dyn_pj']}")
    r = rows["mix_fetch"]
    ktap.check(r["exec"] == 20 * 7 and at("mix_fetch_call")["exec"] == 20,
               "a block whose successor faults is complete", f"wanted 140 and 20, got {r['exec']} and {at('mix_fetch_call')['exec']}")

    turns = sum(n for _, n in REPS)
    passes = sum(rep_passes(length) * n for length, n in REPS)
    r = at("mix_rep_stos")
    ktap.check(r["exec"] == turns, "a rep retires once, whatever happens in between", f"wanted {turns}, got {r['exec']}")
    cycles, pj = expected.cost["string"]
    ktap.check(r["cycles"] == passes * cycles, "a rep is charged for each pass",
               f"wanted {passes} passes, got {r['cycles'] / cycles}")
    ktap.check(r["dyn_pj"] == passes * pj, "a rep's energy, to the last picojoule")
    ktap.check(rows["mix_rep"]["exec"] == len(REPS) * 4 + turns * 5, "the code around the reps",
               f"wanted {len(REPS) * 4 + turns * 5}, got {rows['mix_rep']['exec']}")
    r = at("mix_scan_scas")
    ktap.check(r["exec"] == 30, "a repne that finds its byte retires once, and so does one that does not", f"got {r['exec']}")
    ktap.check(r["cycles"] == (1000 * 13 + 501 * 17) * cycles, "a repne is charged up to the byte that it finds",
               f"wanted {1000 * 13 + 501 * 17} passes, got {r['cycles'] / cycles}")

    # The whole machine, kernel and all: what the oracle sums up is what the counters say.
    total = span.total()
    for what, got, want in (
            ("cycles", total["cycles"], sum(c["cycles_user"] + c["cycles_kernel"] for c in span.cpus)),
            ("instructions", total["exec"], sum(c["instr_user"] + c["instr_kernel"] for c in span.cpus)),
            ("energy", total["dyn_pj"], sum(c["energy_pj"] for c in span.cpus))):
        ktap.check(got == want, f"the oracle's {what} add up to the chip's counters", f"oracle {got}, counters {want}")
    ktap.check(span.pkg_pj == span.core_pj + span.static_pj, "package energy is dynamic and static energy")
    parts = span.idle_pj + span.shared_static_pj + sum(pj for _, pj in span.alone)
    ktap.check(abs(parts - span.static_pj) <= 1000, "static energy is idle, alone and shared time's",
               f"{parts} of {span.static_pj} pJ")
    vectors = sum(s + d for _, s, d in span.vectors.values())
    ktap.check(vectors == span.pkg_pj, "the vectors' energy adds up to the package's", f"{vectors} of {span.pkg_pj} pJ")
    ktap.check(abs(span.residual_ns) <= RESIDUAL_NS, "time alone is the instructions' time alone", f"residual {span.residual_ns} ns")
    ktap.diag(f"residual {span.residual_ns} ns, {span.residual_pj} pJ of {sum(ns for ns, _ in span.alone)} ns alone")
    os.unlink(path)
    ktap.end()


if __name__ == "__main__":
    main()
