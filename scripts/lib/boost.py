# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the virtual chip's log says of its boosts: when they ended and what the package drew. Used by scripts/bench and
# selftests/cli/test_boost.py, for the comparison with what the guest has measured.
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

    def __init__(self, before, begin, slower, end):
        self.before, self.begin, self.slower, self.end = before, begin, slower, end

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
    found, begin, before, slower = [], None, None, None
    for i, t in enumerate(log.turbos):
        if t.active == cpus and begin is None:
            # one that begins slow is none
            begin, before, slower = t, log.turbos[i - 1] if i else None, t if t.why else None
        elif t.active == cpus and t.why and not slower:
            slower = t
        elif t.active < cpus and begin:
            if (t.ns - begin.ns) * 1e-9 >= LEAST_S and slower is not begin:
                found.append(Boost(before, begin, slower, t))
            begin = None
    return found


def idle_watts(log, until, seconds):
    """What the package drew in about so many seconds before an event."""
    since = [t for t in log.turbos if t.ns <= until.ns - seconds * 1e9]
    return watts(since[-1], until) if since else None
