#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --icount --append iomem=relaxed
# timeout: 120
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""The counting chip counts each retired instruction once, on a repeatable guest.

The same promise as the timed chip's, kept under -icount, where QEMU leaves blocks at
device accesses and cuts them at timers.
"""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import chip  # noqa: E402
import ktap  # noqa: E402

WANTED = (("classes", 13 * 1000, "a mix of classes"),
          ("fault", 8 * 1000, "blocks that fault in the middle"),
          ("rep_turns", 5 * 100, "reps, each once however long"),
          ("rep_length", 0, "a longer rep is no more instructions"),
          ("scan", 5 * 100, "repne scasb"))


def main():
    chip.hold_governors()
    ktap.plan(len(WANTED) + 3)
    r = chip.run("exact")
    for key, want, what in WANTED:
        ktap.check(r[key] == want, f"retired user instructions: {what}", f"wanted {want}, got {r[key]}")
    khz = chip.frequencies()
    for f in (khz[0], khz[-1]):
        r = chip.run("speed", 0, f, 50, "int")
        ktap.near(r["cycles"] * 1e6 / r["ref_ns"], f, 0.01, f"{f} kHz is granted and shows")
    edges = [dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("edges", 20))]
    steps = [(b["raw"] - a["raw"]) & 0xffffffff for a, b in zip(edges, edges[1:])]
    ktap.check(min(steps) > 0, "the energy counter moves at its edges", str(steps))
    os.sync()    # this guest's shared folder writes behind, and is powered off soon
    ktap.end()


if __name__ == "__main__":
    main()
