#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks shorter than the counter's update period, from the recording to the report: the models for them are right, constant power is not.

Half a minute of each; the bounds here are those of so short recordings. The table is scripts/bench attribution --part edge, mixture
and variation, as Documentation/accuracy.rst has it.
"""
# where: host
# timeout: 900
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from bench import alternate, bench  # noqa: E402
from selftests import ktap  # noqa: E402

SECONDS, CONSTANT_S, READINGS_S = 25, 15, 30
BLOCKS = ("block_high", "block_low")
MOST_OFF, FAILS = 5, 10     # percent
# what the averaging over half of a window alone makes of the two powers, of the better block
FAILS_ON_METER = 15
# Half of the runs of such a block have an interrupt of each kind in them.
INTERRUPTED_US, READ_OFF = 2000, 1.2
# Two runs of a block may follow each other: longer ones nearly fill a window now and then, and constant power tells some of them from there.
SHORT = (0.2, 0.2)
# (what, options of record, the chip whose counter moves less often, model, whose error is of what, lengths in update periods)
CASES = [("edge windows", "--edge=50 -i 360us", True, "edge", "power", SHORT),
         ("mixture", "-i 500us --jitter 499us", False, "mixture", "energy", (0.3, 0.3))]


def main():
    ktap.plan(len(CASES) * 3 + 4)
    for name, options, slow, model, what, lengths in CASES:
        r = alternate.record(lengths, [bench.first_seed()], SECONDS, options, (model, "cpm", "auto"), profile="slow" if slow else "plain")[0]
        used = r.reports["auto"]["model"]
        ktap.check(used["name"] == model and used["reason"], f"{name}: auto takes that model, and says why", used)
        found = getattr(r, what)
        ktap.check(sorted(found[model]) == sorted(BLOCKS), f"{name}: each block is known by itself", found)
        ktap.check(all(abs(e) <= MOST_OFF for e in found[model].values()), f"{name}: {what} of blocks within {MOST_OFF} %", found)
        if lengths == SHORT:
            ktap.check(all(abs(e) >= FAILS for e in found["cpm"].values()), f"{name}: constant power is {FAILS} % off and more", found)
        ktap.diag({way: {n: round(e, 2) for n, e in of.items()} for way, of in found.items()})
    errors = next(alternate.constant_power((7200, 7200), [bench.first_seed()], CONSTANT_S))
    ktap.check(sorted(errors) == sorted(BLOCKS) and all(abs(e) >= FAILS_ON_METER for e, _ in errors.values()),
               f"constant power on a meter that starts on command is {FAILS_ON_METER} % off and more", errors)
    ktap.diag(errors)
    read = alternate.read_blocks(BLOCKS, (INTERRUPTED_US, INTERRUPTED_US), [bench.first_seed()], READINGS_S,
                                 "--vpm-meter vchip-ina@60ms -F 250")[0]
    ktap.check(sorted(read.power) == sorted(BLOCKS) and all(abs(e) <= READ_OFF for e in read.power.values()),
               f"readings of blocks with an interrupt in some of their runs: power within {READ_OFF} %", read.power)
    ktap.check(read.inside and all(read.inside.values()), "and in its interval", read.report["rows"])
    ktap.diag(read.power)
    ktap.end()


if __name__ == "__main__":
    main()
