# SPDX-License-Identifier: GPL-2.0-only
"""What test_chip_grants_*.py share that judge a chip by its log: requests and what came of them.

Boots a guest with a profile, has build/vchip/programs/follow make requests there, and puts
beside each what the oracle's file has of it. The file is read on this side: the chip is
too slow for that.
"""
import os
import subprocess

import chip
import ktap
import oracle

PROGRAM = os.path.join(chip.TOP, "build/vchip/programs/follow")
HOLD = "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done"
ENOUGH = 3          # requests that the build machine left alone
EARLY_NS = 1000


class Ask:
    """One request of CPU 0's: what the program saw, and the truth."""

    def __init__(self, from_khz, to_khz, begin_ns, end_ns):
        self.from_khz, self.to_khz = from_khz, to_khz
        self.begin_ns, self.end_ns = begin_ns, end_ns     # chip time
        self.seen = []        # (kHz, ns, the register's latency in ns) of each change
        self.stays = None     # (kHz, kHz by the counters), afterwards
        self.grants, self.refusals = [], []
        self.alone = True     # the build machine took nothing from the CPU before the last grant

    def judge(self, log):
        """Find it in the log: between its two moments there is no other request."""
        mine = lambda e: e.cpu == 0 and self.begin_ns <= e.requested_ns <= self.end_ns  # noqa: E731
        self.grants = [g for g in log.grants if mine(g)]
        self.refusals = [r for r in log.refusals if mine(r)]
        begin_ns, end_ns = self.begin_ns, self.end_ns
        if self.grants:
            begin_ns, end_ns = self.grants[0].requested_ns, self.grants[-1].granted_ns
        self.alone = not any(s.cpu == 0 and s.why != "smi" and s.end_ns >= begin_ns and s.end_ns - s.ns <= end_ns
                             for s in log.stalls)

    def latencies_ns(self):
        return [g.granted_ns - g.requested_ns for g in self.grants]

    def told(self):
        """Both sides in short, for whoever looks for a fault."""
        return (f"{self.from_khz} to {self.to_khz} kHz: seen {self.seen}, stays {self.stays}, log "
                f"{[(g.to_khz, g.granted_ns - g.requested_ns, g.asked_khz, g.steps_left) for g in self.grants]} "
                f"{[r.why for r in self.refusals]}{'' if self.alone else ', stalled'}")


def boot(profile, script):
    """Run a shell script in a guest with that chip. Return its lines as lists of words, and the oracle."""
    path = os.path.join(chip.TOP, f"build/test-logs/chip-{profile}.oracle")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.environ["VCHIP_PROFILE"] = profile    # for chip.profile(), as in the guest
    p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), "--profile", profile, "--no-modules", "--append",
                        "iomem=relaxed", "--oracle", path, "--", "sh", "-c", f"{HOLD}; {script}"],
                       stdout=subprocess.PIPE, text=True, check=True)
    log = oracle.Oracle(path, tgid=0)
    ktap.check(not log.lost, "the log is whole", log.lost)
    return [line.split() for line in p.stdout.splitlines()], log


def asks(profile, pairs, script=""):
    """Make requests: pairs of (from, to, ms to watch each, how many). Return {(from, to): [Ask]}, other lines, the oracle."""
    lines, log = boot(profile, "; ".join([f"{PROGRAM} changes {a} {b} {ms} {n}" for a, b, ms, n in pairs] + [script or ":"]))
    made, other = {(a, b): [] for a, b, _, _ in pairs}, []
    for word in lines:
        if word[0] == "ask":
            ask = Ask(*map(int, word[1:]))
            made[ask.from_khz, ask.to_khz].append(ask)
        elif word[0] == "change":
            ask.seen.append(tuple(map(int, word[1:])))
        elif word[0] == "stays":
            khz, cycles, ref_ns = map(int, word[1:])
            ask.stays = (khz, cycles * 1e6 / ref_ns)
        else:
            other.append(word)
    for (a, b, _, n) in pairs:
        ktap.check(len(made[a, b]) == n, f"{a} to {b} kHz: asked for {n} times", other)
        for ask in made[a, b]:
            ask.judge(log)
    return made, other, log


def quantum_ns(khz):
    return 1500 * 1e6 / khz


def late_ns(khz):
    """So much later than it is due a grant may be by the wall: one quantum, and what the CPU's clock lags."""
    return quantum_ns(khz) + 1000 * int(chip.profile()["debt_us"][0]) + EARLY_NS


def check_agree(made):
    """What the log has is what the program has seen."""
    for (a, b), group in made.items():
        # the program may miss one of two that the build machine put together
        wrong = [x for x in group if x.alone and
                 [(k, r) for k, _, r in x.seen] != list(zip((g.to_khz for g in x.grants), x.latencies_ns()))]
        ktap.check(not wrong, f"{a} to {b} kHz: the program sees the changes that the log has",
                   "\n".join(x.told() for x in wrong))


def check_granted(made, a, b, steps):
    """Each request is granted by these steps of (kHz, us after the request), and the log says how many follow."""
    name = f"{a} to {b} kHz"
    group = made[a, b]
    wrong = [x for x in group if [g.to_khz for g in x.grants] != [khz for khz, _ in steps] or x.refusals or
             [g.from_khz for g in x.grants] != [a] + [khz for khz, _ in steps[:-1]] or
             [g.steps_left for g in x.grants] != list(range(len(steps)))[::-1] or
             {g.asked_khz for g in x.grants} != {b} or len({g.requested_ns for g in x.grants}) != 1]
    ktap.check(group and not wrong, f"{name}: granted are {', '.join(f'{khz} kHz' for khz, _ in steps)}",
               "\n".join(x.told() for x in wrong))
    alone = [x for x in group if x.alone and x not in wrong]
    if not ktap.check(len(alone) >= min(ENOUGH, len(group)), f"{name}: the build machine leaves it alone", len(alone)):
        return
    late = [[ns - us * 1000 for ns, (_, us) in zip(x.latencies_ns(), steps)] for x in alone]
    ktap.check(all(-EARLY_NS <= ns <= late_ns(g.from_khz) for x, row in zip(alone, late) for g, ns in zip(x.grants, row)),
               f"{name}: granted within one quantum after {', '.join(f'{us:g}' for _, us in steps)} us",
               f"late by {late} ns")


def check_nothing(made, a, b, why):
    """Each request comes to nothing, and the log says why."""
    wrong = [x for x in made[a, b] if x.grants or x.seen or x.stays[0] != a or abs(x.stays[1] / a - 1) > 0.001 or
             [(r.khz, r.asked_khz, r.why) for r in x.refusals] != [(a, b, why)]]
    ktap.check(made[a, b] and not wrong, f"{a} to {b} kHz: nothing comes of it, by the log because of \"{why}\"",
               "\n".join(x.told() for x in wrong))


def check_else_tame(log, misbehaves):
    """What the profile does not ask for is not there."""
    if "smi" not in misbehaves:
        ktap.check(not any(s.why == "smi" for s in log.stalls), "no core stands still by itself")
    if "refusals" not in misbehaves:
        ktap.check(not log.refusals, "no request comes to nothing", log.refusals)
    if "steps" not in misbehaves:
        ktap.check(not any(g.steps_left for g in log.grants), "no change takes several steps")
    if "others" not in misbehaves:
        ktap.check(all(g.steps_left or g.asked_khz == g.to_khz for g in log.grants), "what is granted is what was asked for")
