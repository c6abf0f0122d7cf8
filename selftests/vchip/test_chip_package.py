#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile wrap --cpus 2 --append iomem=relaxed
# timeout: 180
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""The package: its 32-bit counter wraps, moves only at update edges, and goes on when every CPU is halted."""
import os
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import chip  # noqa: E402
import ktap  # noqa: E402

ENOUGH, MORE = 30, 40


def edges_of(count):
    return [dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("edges", count))]


def quiet_pairs(edges):
    """Two looks at the counter between which the build machine let all CPUs go on."""
    return [(a, b) for a, b in zip(edges, edges[1:]) if b["away_ns"] == a["away_ns"]]


def more_pairs(first):
    """Enough of them, of as many edges as that takes."""
    pairs = quiet_pairs(first)
    for _ in range(MORE):
        if len(pairs) >= ENOUGH:
            break
        pairs += quiet_pairs(edges_of(120))
    return pairs


def main():
    chip.hold_governors()
    p = chip.profile()
    esu, period = int(p["esu"][0]), int(p["update_period_us"][0]) * 1000
    unit_pj = 1e12 / 2 ** esu
    idle_uw = int(p["base_uw"][0])
    leak_uw = int(p["leak_uw"][0])

    r = chip.run("idle", 1000)
    watt = r["energy_pj"] * 1e-12 / (r["chip_ns"] * 1e-9)
    ktap.check(idle_uw * 1e-6 < watt < (idle_uw + 2 * leak_uw) * 1e-6, "energy goes on while every CPU is halted",
               f"{watt} W")
    ktap.near(r["chip_ns"], r["wall_ns"], 0.02, "chip time goes on while every CPU is halted")
    ktap.near(r["updates"], r["wall_ns"] / period, 0.03, "update edges go on while every CPU is halted")
    ktap.near(r["raw"] * unit_pj, r["energy_pj"], 0.05, "the raw counter follows the energy")
    ktap.diag(f"idle power {watt:.3f} W, register {r['power_uw'] * 1e-6:.3f} W, {r['temp_mc'] / 1000:.1f} C")

    edges = edges_of(120)
    wrapped = any(b["raw"] < a["raw"] for a, b in zip(edges, edges[1:]))
    early = int(p["raw_init_pkg"][0], 0)
    ktap.check(wrapped or edges[0]["raw"] < early, "the 32-bit counter wraps",
               f"from {edges[0]['raw']} to {edges[-1]['raw']}")
    raw = sum((b["raw"] - a["raw"]) & 0xffffffff for a, b in zip(edges, edges[1:])) * unit_pj
    ktap.near(raw, edges[-1]["pj"] - edges[0]["pj"], 0.01, "across the wrap no energy is lost")
    pairs = more_pairs(edges)
    if not ktap.check(len(pairs) >= ENOUGH, "the build machine leaves some of them alone", len(pairs)):
        ktap.end()
    off = [b["chip_ns"] - a["chip_ns"] - period * (b["updates"] - a["updates"]) for a, b in pairs]
    gaps = [b["chip_ns"] - a["chip_ns"] for a, b in pairs]
    ktap.near(statistics.median(gaps), period, 0.01, "the counter moves once in an update period")
    late = sorted(abs(t) for t in off)[int(0.9 * len(off))]
    ktap.check(late < 0.02 * period, "nine of ten edges are within 2 % of the period", f"{late} ns")
    ktap.check(all(abs(t) < 0.5 * period for t in off), "no edge is lost", f"{max(off, key=abs)} ns")
    ktap.diag(f"edges off by median {statistics.median(abs(t) for t in off) / 1000:.1f} us, "
              f"90 % {late / 1000:.1f} us")
    ktap.end()


if __name__ == "__main__":
    main()
