#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile wrap --cpus 2 --append iomem=relaxed
# timeout: 180
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""The package: its 32-bit counters wrap, move only at update edges, and go on when every CPU is halted.

An edge comes after its period, off by no more than the profile's jitter, to the nanosecond, and
a counter is then what the chip has spent so far, to its unit.
"""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip  # noqa: E402

EDGES = 240
IN_TIME = 108      # readings that are compared, at least
TURN_NS = 15000    # chip_ns is up to a turn old


def edges_of(count):
    return [dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("edges", 0, count))]


def raw(profile, pj, init):
    return (int(profile[init][0], 0) + (pj << int(profile["esu"][0])) // 10 ** 12) & 0xffffffff


def main():
    chip.hold_governors()
    p = chip.profile()
    period, jitter = (int(p[key][0]) * 1000 for key in ("update_period_us", "update_jitter_us"))
    idle_uw, leak_uw = int(p["base_uw"][0]), int(p["leak_uw"][0])

    r = chip.run("idle", 1000)
    watt = r["energy_pj"] * 1e-12 / (r["chip_ns"] * 1e-9)
    ktap.check(idle_uw * 1e-6 < watt < (idle_uw + 2 * leak_uw) * 1e-6, "energy goes on while every CPU is halted",
               f"{watt} W")
    ktap.check(abs(r["chip_ns"] - r["wall_ns"]) <= TURN_NS, "chip time goes on while every CPU is halted", r)
    ktap.check(abs(r["updates"] - r["wall_ns"] / period) <= 1, "update edges go on while every CPU is halted", r)
    ktap.diag(f"idle power {watt:.3f} W, register {r['power_uw'] * 1e-6:.3f} W, {r['temp_mc'] / 1000:.1f} C")

    edges = edges_of(EDGES)
    early = raw(p, 0, "raw_init_pkg")
    ktap.check(edges[0]["raw"] < early or edges[-1]["raw"] < edges[0]["raw"], "the 32-bit counter wraps",
               f"from {edges[0]['raw']} to {edges[-1]['raw']}")
    ktap.check(all(b["updates"] == a["updates"] + 1 for a, b in zip(edges, edges[1:])), "no edge is lost", edges)
    gaps = [b["edge_ns"] - a["edge_ns"] for a, b in zip(edges, edges[1:])]
    ktap.check(period - jitter <= min(gaps) and max(gaps) <= period + jitter,
               f"edges come after {period} ns, {jitter} ns sooner or later", f"{min(gaps)} to {max(gaps)} ns")
    # of n evenly spread values a sixteenth stays free at either end once in 1.06^n: in a million for n = 240
    ktap.check(min(gaps) < period - 0.875 * jitter and max(gaps) > period + 0.875 * jitter, "all of that is used",
               f"{min(gaps)} to {max(gaps)} ns")
    # Read before the energy went on. A tick of the kernel makes that late, and can meet every second edge: they come
    # every 4 and 10 ms, so that there are twice as many edges as readings are wanted.
    there = [e for e in edges if e["chip_ns"] == e["edge_ns"]]
    wrong = [e for e in there if (e["raw"], e["core_raw"]) != (raw(p, e["pj"], "raw_init_pkg"), raw(p, e["core_pj"], "raw_init_core"))]
    ktap.check(len(there) > IN_TIME and not wrong, "the counters are what was spent, to their unit", f"{len(there)}: {wrong}")
    ktap.end()


if __name__ == "__main__":
    main()
