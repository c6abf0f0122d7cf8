#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile plain --cpus 2 --append iomem=relaxed
# timeout: 120
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""A frequency is granted after the latency that the profile gives for that pair.

The grant comes within one quantum (1,500 cycles at the old frequency) of it by the CPU's
own clock, which the chip keeps apart from how far the build machine let it lag; until
then the old frequency runs and shows. Both the chip's own register and the time that
a program sees are held to it, for the smallest, the largest and some pairs between.
"""
import os
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import chip  # noqa: E402
import ktap  # noqa: E402

REPEATS, ATTEMPTS = 15, 10
ENOUGH = 5      # of them without an interruption by the build machine or the kernel: such a repeat says nothing


def left_alone(rows, most_ns):
    """By the chip's log, and by how far the program's looks were apart."""
    return [r for r in rows if r["stall_ns"] == r["behind_ns"] == 0 and r["gap_ns"] <= most_ns]


def grants(a, b, most_ns):
    rows = []
    for _ in range(ATTEMPTS):
        rows += left_alone((dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("latency", a, b, REPEATS))),
                           most_ns)
        if len(rows) >= ENOUGH:
            break
    return rows


def latency_us(profile, khz, a, b):
    row = [int(x) for x in profile[f"latency_us.{a}"]]
    return row[0] if len(row) == 1 else row[khz.index(b)]


def main():
    chip.hold_governors()
    profile, khz = chip.profile(), chip.frequencies()
    pairs = [(khz[0], khz[-1]), (khz[-1], khz[0]), (khz[0], khz[1]), (khz[-1], khz[-2]), (khz[2], khz[4])]
    for a, b in pairs:
        want = latency_us(profile, khz, a, b) * 1000
        quantum = 1500 * 1e6 / a
        pause = int(profile.get("pause_ns", [0])[0])
        name = f"{a} to {b} kHz"
        rows = grants(a, b, quantum + pause)
        if not ktap.check(len(rows) >= ENOUGH, f"{name}: the build machine leaves it alone", len(rows)):
            continue
        late = [r["register_ns"] - want for r in rows]
        lag = [r["lag_ns"] for r in rows]
        seen = [r["seen_ns"] - want - pause for r in rows]
        old = [r["old_cycles"] * 1e6 / r["old_ref_ns"] for r in rows]
        # never early by the wall, nor late by more than the CPU's own clock lags behind it
        ktap.check(all(-1000 <= x <= quantum + l for x, l in zip(late, lag)),
                   f"{name}: granted within one quantum after {want / 1000:g} us",
                   f"late by {[f'{x / 1000:.1f}' for x in late]} us, lag {[f'{l / 1000:.1f}' for l in lag]} us, "
                   f"a quantum is {quantum / 1000:.1f}")
        # the pause goes by that clock: where it lagged, so much less of it is left to wait for
        ktap.check(all(x + min(l, pause) >= -1000 for x, l in zip(seen, lag)) and statistics.median(seen) <= 2 * quantum,
                   f"{name}: a program sees the same latency",
                   f"late by {[f'{x / 1000:.1f}' for x in seen]} us, lag {[f'{l / 1000:.1f}' for l in lag]} us")
        ktap.near(statistics.median(old), a, 0.02, f"{name}: the old frequency runs until it is granted")
        ktap.diag(f"{len(rows)} repeats, register late by median {statistics.median(late) / 1000:.2f} us, "
                  f"largest {max(late) / 1000:.2f}, program {statistics.median(seen) / 1000:.2f}, "
                  f"lag up to {max(lag) / 1000:.2f} us")
    ktap.end()


if __name__ == "__main__":
    main()
