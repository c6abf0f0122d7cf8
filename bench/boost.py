# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the virtual chip's log says of its boosts: when they ended and what the package drew. Used by scripts/bench and
# selftests/cli/test_boost.py, for the comparison with what the guest has measured.
import bisect

POWER, TEMPERATURE, TIME = 1, 2, 4    # what ended a boost
LEAST_S = 0.2                         # work that is shorter is no load


class LostError(Exception):
    """The log has not all that happened."""


def check_whole(log):
    """That the log has all of its turbos."""
    lost = [word for word in log.lost if word[0] == "turbo"]
    if lost:
        raise LostError(f"the chip's log has lost {lost}")


def watts(a, b):
    """Of the package between two events."""
    return (b.pkg_pj - a.pkg_pj) * 1e-3 / (b.ns - a.ns)


class Boost:
    """A load on all CPUs: when it began, when the chip slowed down, when it ended; None: it did not."""

    def __init__(self, begin, slower, end):
        self.begin, self.slower, self.end = begin, slower, end

    @property
    def seconds(self):
        return (self.slower.ns - self.begin.ns) * 1e-9 if self.slower else None

    @property
    def boost_w(self):
        return watts(self.begin, self.slower or self.end)

    @property
    def sustained_w(self):
        return watts(self.slower, self.end) if self.slower else None


def boosts(log, cpus):
    """All loads on that many CPUs, in order."""
    check_whole(log)
    found, begin, slower = [], None, None
    for t in log.turbos:
        if t.active == cpus and begin is None:
            # one that begins slow is none
            begin, slower = t, t if t.why else None
        elif t.active == cpus and t.why and not slower:
            slower = t
        elif t.active < cpus and begin:
            if (t.ns - begin.ns) * 1e-9 >= LEAST_S and slower is not begin:
                found.append(Boost(begin, slower, t))
            begin = None
    return found


def package_pj(log, ns):
    """What the package had spent at a time; between two events its power is constant."""
    i = bisect.bisect_right(log.turbos, ns, key=lambda t: t.ns)
    if not 0 < i < len(log.turbos):
        raise LostError(f"the chip's log has no event on both sides of {ns:.0f} ns")
    a, b = log.turbos[i - 1:i + 1]
    return a.pkg_pj + (b.pkg_pj - a.pkg_pj) * (ns - a.ns) / (b.ns - a.ns)


def idle_watts(log, load, idle):
    """What the package drew in the second half of the idle time before a load, of which `kjoule boost trace` has the power.

    @idle: its row, whose times count from the load's beginning. The chip's log cannot say when idleness ended:
    before all CPUs run at once the tool is busy on one of them for a tenth of a second.
    """
    middle, end = (load.begin.ns + 1e9 * s for s in ((idle["from_s"] + idle["to_s"]) / 2, idle["to_s"]))
    return (package_pj(log, end) - package_pj(log, middle)) * 1e-3 / (end - middle)
