#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile plain --cpus 2 --append iomem=relaxed
# timeout: 240
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""An interrupt's precise instruction pointer falls on code in proportion to its cycles.

A block of 100 instructions next to one of 3, where QEMU alone would show the wrong one;
and a loop that takes a part of the time between two interrupts, which would keep step with them
if nothing were random.
"""
import bisect
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip, oracle  # noqa: E402


def sample(kind, khz, us, ms):
    words = chip.lines(chip.start("sample", kind, khz, us, ms))
    ips = {int(w[1], 16): int(w[2]) for w in words if w[0] == "ip"}
    return ips, {w[0]: int(w[1]) for w in words if len(w) == 2}


def count(ips, start, end):
    addresses = sorted(ips)
    inside = addresses[bisect.bisect_left(addresses, start):bisect.bisect_left(addresses, end)]
    return sum(ips[a] for a in inside)


def near_share(got, n, want, what):
    """Within three standard deviations."""
    sigma = (want * (1 - want) / n) ** 0.5 if n else 1
    ktap.check(n > 1000 and abs(got / n - want) <= 3 * sigma, what,
               f"wanted {100 * want:.2f} %, got {100 * got / max(n, 1):.2f} % of {n}")
    ktap.diag(f"{100 * got / max(n, 1):.2f} % of {n} samples, true {100 * want:.2f} %")


def main():
    chip.hold_governors()
    khz = chip.frequencies()
    symbols = oracle.Symbols(chip.PROGRAM)
    long_block, short_block = symbols.address("mix_unequal_long"), symbols.address("mix_unequal_short")
    end = symbols.address("mix_unequal_end")
    cycles = {k[6:]: int(v[0]) for k, v in chip.profile().items() if k.startswith("class.")}
    inside, beside = 99 * cycles["int"] + cycles["branch"], 2 * cycles["int"] + cycles["branch"]
    ktap.plan(2 * 2 + 3)
    for f in (khz[-1], khz[0]):
        ips, r = sample("unequal", f, 250, 1000)
        a, b = count(ips, long_block, short_block), count(ips, short_block, end)
        near_share(a, a + b, inside / (inside + beside), f"{f} kHz: a block of 100 next to a block of 3")
        ktap.check(a + b > 0.95 * r["samples"], f"{f} kHz: samples fall on the code that runs",
                   f"{a + b} of {r['samples']}")

    start = symbols.address("mix_period_start")
    ips, r = sample("period", khz[-1], 250, 1500)
    step = 97 * 3 + 2
    n = count(ips, start, start + 9 * step + 96 * 3 + 9)
    near_share(count(ips, start, start + 5 * step), n, 0.5, "a loop in step with the interrupts: its first half")
    tenths = [count(ips, start + i * step, start + (i + 1) * step) for i in range(10)]
    limit = 4 * (n * 0.09) ** 0.5
    ktap.check(all(abs(t - n / 10) <= limit for t in tenths), "a loop in step with the interrupts: every tenth", str(tenths))
    ktap.check(len(ips) > 300, "samples tell instructions apart", f"{len(ips)} addresses")
    ktap.diag(f"tenths {tenths}")
    ktap.end()


if __name__ == "__main__":
    main()
