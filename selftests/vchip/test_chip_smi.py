#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A core that stands still at random: as often and as long as the profile says, each time in the log and seen by a program.

Each core by itself, at moments that nothing can keep step with; it is none of the build
machine's stalls, and a change of the frequency that comes meanwhile is still the log's.
"""
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import chip  # noqa: E402
import follow  # noqa: E402
import ktap  # noqa: E402

MS, LEAST_US = 20000, 200    # so long, that some are left alone on any build machine
TOLERANCE_NS = 1000000      # a tick that waited for the end comes before the program, and the chip's time moves at quanta
SIGMAS = 4


class Watch:
    """What the program on one CPU saw, and the chip's stalls in that time."""

    def __init__(self, lines, log, cpu):
        looked = [w for w in lines if w[0] == "looked"][0]
        self.begin_ns, self.end_ns = int(looked[1]), int(looked[2])
        self.gaps = [(int(w[1]), int(w[2])) for w in lines if w[0] == "gap"]
        stalls = [s for s in log.stalls if s.cpu == cpu]
        self.smis = [s for s in stalls if s.why == "smi" and self.begin_ns <= s.end_ns - s.ns and s.end_ns <= self.end_ns]
        self.others = [s for s in stalls if s.why != "smi" and self.begin_ns <= s.end_ns <= self.end_ns]

    def alone(self, s):
        """Nothing of the build machine's is near."""
        return not any(o.end_ns >= s.end_ns - s.ns - TOLERANCE_NS and o.end_ns - o.ns <= s.end_ns + TOLERANCE_NS for o in self.others)

    def seen(self, s, lag_ns):
        """Where the CPU lagged behind its clock, so much less of it is left to wait for."""
        return any(-TOLERANCE_NS <= end - s.end_ns <= TOLERANCE_NS and s.ns - lag_ns <= ns <= s.ns + TOLERANCE_NS
                   for end, ns in self.gaps)


def main():
    script = (f"{follow.PROGRAM} gaps 1 {MS} {LEAST_US} >/tmp/one & {follow.PROGRAM} gaps 0 {MS} {LEAST_US}; wait; "
              f"echo one; cat /tmp/one; {follow.PROGRAM} changes 47059 100000 20 10")
    lines, log = follow.boot("smi", script)
    profile = chip.profile()
    every_ns, (least, most) = 1000 * int(profile["smi_every_us"][0]), (1000 * int(x) for x in profile["smi_us"])
    lag_ns = 1000 * int(profile["debt_us"][0]) + 5000
    half = lines.index(["one"])
    watches = [Watch(lines[:half], log, 0), Watch(lines[half + 1:], log, 1)]
    for cpu, w in enumerate(watches):
        # the mean is one of time in which the CPU runs
        ran_ns = w.end_ns - w.begin_ns - sum(s.ns for s in w.smis + w.others)
        want = ran_ns / every_ns
        ktap.check(abs(len(w.smis) - want) <= SIGMAS * math.sqrt(want), f"CPU {cpu} stands still as often as the profile says",
                   f"{len(w.smis)} times, wanted {want:.1f}")
        lengths = [s.ns for s in w.smis]
        ktap.check(lengths and min(lengths) >= least and max(lengths) <= most, f"CPU {cpu}: for as long as the profile says", lengths)
        ktap.check(max(lengths) - min(lengths) > 0.5 * (most - least), f"CPU {cpu}: by random times", lengths)
        apart = [b.end_ns - b.ns - a.end_ns for a, b in zip(w.smis, w.smis[1:])]
        ktap.check(min(apart) < 0.4 * every_ns and max(apart) > 1.6 * every_ns, f"CPU {cpu}: at random moments", apart)
        alone = [s for s in w.smis if w.alone(s)]
        missed = [s for s in alone if not w.seen(s, lag_ns)]
        ktap.check(len(alone) >= 10 and not missed, f"CPU {cpu}: each that the build machine leaves alone is seen as a gap",
                   f"{len(alone)} of {len(w.smis)} alone; not seen: {[(s.end_ns, s.ns) for s in missed]}; gaps: {w.gaps}")
        ktap.diag(f"{len(w.smis)} times, {statistics.mean(lengths) / 1e6:.2f} ms in the mean, {len(alone)} left alone")
        told = sum(s.ns for s in log.stalls if s.cpu == cpu and s.why in ("late", "translate"))
        ktap.check(log.marks[-1].cpus[cpu]["stall_ns"] == told, f"CPU {cpu}: it is none of the stalls that the registers count",
                   f"{log.marks[-1].cpus[cpu]['stall_ns']} and {told} ns")
    together = [s for s in watches[0].smis if any(s.end_ns - s.ns < o.end_ns and o.end_ns - o.ns < s.end_ns for o in watches[1].smis)]
    ktap.check(len(together) < 0.3 * len(watches[0].smis), "each core by itself", len(together))
    asks = [tuple(map(int, w[1:])) for w in lines if w[0] == "ask"]
    grants = [[g for g in log.grants if g.cpu == 0 and a[2] <= g.requested_ns <= a[3]] for a in asks]
    ktap.check(len(asks) == 10 and all([g.to_khz for g in row] == [100000] for row in grants), "changes are granted among them", grants)
    follow.check_else_tame(log, ("smi",))
    ktap.end()


if __name__ == "__main__":
    main()
