#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A core that stops at random: as often and as long as the profile says, each time in the log and seen by a program.

Each core by itself, at moments that nothing can keep step with; a change of the frequency that
comes meanwhile is still the log's.
"""
import math
import os
import statistics
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from vchip import chip  # noqa: E402
import follow  # noqa: E402
from selftests import ktap  # noqa: E402

MS, LEAST_US = 6000, 290
TURN_NS = 15000    # a CPU reads of the time what another has read, which is up to a turn ahead
SIGMAS = 4
BRIEF_NS = 1000000  # the timer's interrupt, every 4 ms, falls into few of those that are shorter


class Watch:
    """What the program on one CPU saw, and the chip's stalls in that time."""

    def __init__(self, lines, log, cpu):
        looked = [w for w in lines if w[0] == "looked"][0]
        self.begin_ns, self.end_ns = int(looked[1]), int(looked[2])
        self.gaps = [(int(w[1]), int(w[2])) for w in lines if w[0] == "gap"]
        self.smis = [s for s in log.smis if s.cpu == cpu and self.begin_ns <= s.end_ns - s.ns and s.end_ns <= self.end_ns]

    def seen(self):
        """Each with the gap in which the program sees it, or None."""
        return [(s, next((g for g in self.gaps if g[0] - TURN_NS <= s.end_ns - s.ns and s.end_ns <= g[1]), None)) for s in self.smis]


def main():
    script = (f"{follow.PROGRAM} gaps 1 {MS} {LEAST_US} >/tmp/one & {follow.PROGRAM} gaps 0 {MS} {LEAST_US}; wait; "
              f"echo one; cat /tmp/one; {follow.PROGRAM} changes 47059 100000 20000 10")
    lines, log = follow.boot("smi", script, cpus=2)
    profile = chip.profile()
    every_ns, (least, most) = 1000 * int(profile["smi_every_us"][0]), (1000 * int(x) for x in profile["smi_us"])
    half = lines.index(["one"])
    watches = [Watch(lines[:half], log, 0), Watch(lines[half + 1:], log, 1)]
    for cpu, w in enumerate(watches):
        # the mean is one of time in which the CPU runs
        ran_ns = w.end_ns - w.begin_ns - sum(s.ns for s in w.smis)
        want = ran_ns / every_ns
        ktap.check(abs(len(w.smis) - want) <= SIGMAS * math.sqrt(want), f"CPU {cpu} stops as often as the profile says",
                   f"{len(w.smis)} times, wanted {want:.1f}")
        lengths = [s.ns for s in w.smis]
        ktap.check(lengths and min(lengths) >= least and max(lengths) <= most, f"CPU {cpu}: for as long as the profile says", lengths)
        ktap.check(max(lengths) - min(lengths) > 0.5 * (most - least), f"CPU {cpu}: by random times", lengths)
        apart = [b.end_ns - b.ns - a.end_ns for a, b in zip(w.smis, w.smis[1:])]
        ktap.check(min(apart) < 0.4 * every_ns and max(apart) > 1.6 * every_ns, f"CPU {cpu}: at random moments", apart)
        missed = [s for s, gap in w.seen() if not gap]
        if ktap.check(not missed, f"CPU {cpu}: each is seen as a gap", f"{missed} of {w.gaps}"):
            # an interrupt that waited for the end comes before the program
            more = [gap[1] - gap[0] - s.ns for s, gap in w.seen() if s.ns < BRIEF_NS]
            ktap.check(0 <= statistics.median(more) <= TURN_NS, f"CPU {cpu}: which is as long", f"{sorted(more)} ns more")
        ktap.diag(f"{len(w.smis)} times, {statistics.mean(lengths) / 1e6:.2f} ms in the mean")
    together = [s for s in watches[0].smis if any(s.end_ns - s.ns < o.end_ns and o.end_ns - o.ns < s.end_ns for o in watches[1].smis)]
    ktap.check(len(together) < 0.3 * len(watches[0].smis), "each core by itself", len(together))
    asks = [tuple(map(int, w[1:])) for w in lines if w[0] == "ask"]
    grants = [[g for g in log.grants if g.cpu == 0 and a[2] <= g.requested_ns <= a[3]] for a in asks]
    ktap.check(len(asks) == 10 and all([g.to_khz for g in row] == [100000] for row in grants), "changes are granted among them", grants)
    follow.check_else_tame(log, ("smi",))
    ktap.end()


if __name__ == "__main__":
    main()
