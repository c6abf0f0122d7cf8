# SPDX-License-Identifier: GPL-2.0-only
"""What test_chip_grants*.py and test_chip_smi.py share: requests and what came of them, by the chip's log.

Boots a guest with a profile, has build/vchip/programs/follow make requests there, and puts
next to each what the oracle's file has of it. Times of both are the chip's.
"""
import os
import subprocess

from selftests import ktap
from vchip import chip, oracle

PROGRAM = os.path.join(chip.TOP, "build/vchip/programs/follow")
HOLD = "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done"
LOOP_CYCLES = 300    # of a turn of the program's loop


class Ask:
    """One request of CPU 0's: what the program saw, and the truth."""

    def __init__(self, from_khz, to_khz, begin_ns, end_ns, *old):
        self.from_khz, self.to_khz = from_khz, to_khz
        self.begin_ns, self.end_ns = begin_ns, end_ns
        self.old = old        # between two looks at the clock, how many cycles had run when it last saw the old frequency
        self.seen = []        # (kHz, when it last saw the one before, when it saw it, the register's latency) of each change
        self.stays = None     # (kHz, kHz by the counters), afterwards
        self.grants, self.refusals = [], []

    def judge(self, log):
        """Find it in the log: between its two moments there is no other request."""
        mine = lambda e: e.cpu == 0 and self.begin_ns <= e.requested_ns <= self.end_ns  # noqa: E731
        self.grants = [g for g in log.grants if mine(g)]
        self.refusals = [r for r in log.refusals if mine(r)]

    def latencies_ns(self):
        return [g.granted_ns - g.requested_ns for g in self.grants]

    def loop_ns(self, khz):
        return LOOP_CYCLES * 1e6 / khz

    def is_seen(self):
        """Whether the program sees the changes that the log has: each between two looks, with the register's latency."""
        if len(self.seen) != len(self.grants):
            return False
        return all(khz == g.to_khz and register_ns == ns and looked <= g.granted_ns <= seen
                   for (khz, looked, seen, register_ns), g, ns in zip(self.seen, self.grants, self.latencies_ns()))

    def late_ns(self):
        """How long after each grant the program sees it."""
        return [seen - g.granted_ns for (_, _, seen, _), g in zip(self.seen, self.grants)]

    def ran_as_before(self):
        """Whether the old frequency ran until the program last saw it."""
        look, cycles, after = self.old
        ns = cycles * 1e6 / self.from_khz
        return look - self.begin_ns - self.loop_ns(self.from_khz) <= ns <= after - self.begin_ns + self.loop_ns(self.from_khz)

    def told(self):
        """Both sides in short, for whoever looks for a fault."""
        return (f"{self.from_khz} to {self.to_khz} kHz at {self.begin_ns}: seen {self.seen}, stays {self.stays}, log "
                f"{[(g.to_khz, g.requested_ns, g.granted_ns - g.requested_ns, g.asked_khz, g.steps_left) for g in self.grants]} "
                f"{[r.why for r in self.refusals]}, as before {self.old}")


def boot(profile, script, cpus):
    """Run a shell script in a guest with that chip. Return its lines as lists of words, and the oracle."""
    path = os.path.join(chip.TOP, f"build/test-logs/chip-{profile}.oracle")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.environ["VCHIP_PROFILE"] = profile    # for chip.profile(), as in the guest
    p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), "--profile", profile, "--cpus", str(cpus), "--no-modules",
                        "--append", "iomem=relaxed", "--oracle", path, "--", "sh", "-c", f"{HOLD}; {script}"],
                       stdout=subprocess.PIPE, text=True, check=True)
    log = oracle.Oracle(path, tgid=0)
    os.unlink(path)
    ktap.check(not log.lost, "the log is whole", log.lost)
    return [line.split() for line in p.stdout.splitlines()], log


def asks(profile, pairs, script=""):
    """Make requests: pairs of (from, to, ms to watch each, how many). Return {(from, to): [Ask]}, other lines, the oracle."""
    lines, log = boot(profile, "; ".join([f"{PROGRAM} changes {a} {b} {round(1000 * ms)} {n}" for a, b, ms, n in pairs] + [script or ":"]), cpus=1)
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


def told(wrong):
    return "\n".join(x.told() for x in wrong)


def check_agree(made):
    """What the log has is what the program has seen, when it happened."""
    pause_ns = int(chip.profile().get("pause_ns", [0])[0])
    for (a, b), group in made.items():
        name = f"{a} to {b} kHz"
        wrong = [x for x in group if not x.is_seen()]
        if not ktap.check(not wrong, f"{name}: the program sees the changes that the log has, between two looks", told(wrong)):
            continue
        # an interrupt may come between the grant and the look
        late = [min(ns) - pause_ns for ns in zip(*(x.late_ns() for x in group))]
        limits = [2 * x.loop_ns(min(g.from_khz, g.to_khz)) for x in group[:1] for g in x.grants]
        ktap.check(all(0 <= ns <= limit for ns, limit in zip(late, limits)), f"{name}: within a turn of its loop",
                   f"{late} ns of {limits} ns")
        # one may come before the first look, too, and last until after the grant: there is nothing to compare then
        changed = [x for x in group if x.seen]
        looked = [x for x in changed if x.seen[0][1] > x.begin_ns]
        wrong = [x for x in looked if not x.ran_as_before()]
        ktap.check(not wrong and (not changed or len(looked) >= max(len(changed) - 1, 1)), f"{name}: the old frequency runs until then",
                   f"{len(looked)} looks of {len(group)}\n{told(wrong)}")


def check_granted(made, a, b, steps):
    """Each request is granted by these steps of (kHz, us after the request), and the log says how many follow."""
    name = f"{a} to {b} kHz"
    group = made[a, b]
    wrong = [x for x in group if [(g.to_khz, ns) for g, ns in zip(x.grants, x.latencies_ns())] != [(khz, 1000 * us) for khz, us in steps] or
             x.refusals or [g.from_khz for g in x.grants] != [a] + [khz for khz, _ in steps[:-1]] or
             [g.steps_left for g in x.grants] != list(range(len(steps)))[::-1] or
             {g.asked_khz for g in x.grants} != {b} or len({g.requested_ns for g in x.grants}) != 1]
    ktap.check(group and not wrong, f"{name}: granted are {', '.join(f'{khz} kHz after {us:g} us' for khz, us in steps)}", told(wrong))


def check_nothing(made, a, b, why):
    """Each request comes to nothing, and the log says why."""
    wrong = [x for x in made[a, b] if x.grants or x.seen or x.stays[0] != a or abs(x.stays[1] / a - 1) > 0.001 or
             [(r.khz, r.asked_khz, r.why) for r in x.refusals] != [(a, b, why)]]
    ktap.check(made[a, b] and not wrong, f"{a} to {b} kHz: nothing comes of it, by the log because of \"{why}\"", told(wrong))


def check_else_tame(log, misbehaves):
    """What the profile does not ask for is not there."""
    if "smi" not in misbehaves:
        ktap.check(not log.smis, "no core stops by itself")
    if "refusals" not in misbehaves:
        ktap.check(not log.refusals, "no request comes to nothing", log.refusals)
    if "steps" not in misbehaves:
        ktap.check(not any(g.steps_left for g in log.grants), "no change takes several steps")
    if "others" not in misbehaves:
        ktap.check(all(g.steps_left or g.asked_khz == g.to_khz for g in log.grants), "what is granted is what was asked for")
