# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host took of this machine's time, as the kernel counts it (steal in /proc/stat).

A kernel that is not told by its host counts nothing; then nothing was taken, as far as is known. Who
looked for it by waking up now and then would take time away himself, which the chip logs as it does the host's.
"""
import os

LONG_OF_ALL = 3    # times of a millisecond and more, which the chip adds up, are a third of all that its log has
TAKEN, TAKEN_S = 0.005, 0.05    # of all CPUs' time, and in all; 0.9 % of a test of 9 s was seen to falsify it


def seconds(stat="/proc/stat"):
    """Return the time of all CPUs, together, that was taken since boot."""
    try:
        with open(stat, encoding="ascii") as f:
            words = f.readline().split()
    except OSError:
        return 0.0
    if words[:1] != ["cpu"] or len(words) < 9:
        return 0.0
    return int(words[8]) / os.sysconf("SC_CLK_TCK")


def held(path):
    """Return the time for which cores of the virtual chip were held, by the file of its argument "held"; 0 without one.

    What a host takes and does not tell is seen there.
    """
    try:
        with open(path, encoding="ascii") as f:
            return 1e-9 * int(f.read() or 0)
    except (OSError, ValueError):
        return 0.0


def marks(chip):
    """Return what a host has taken so far: by the kernel's books, and of the virtual chip's cores, by its file."""
    return seconds(), held(chip)


def since(start, chip):
    """Return the time of all CPUs, together, that was taken since these marks().

    A host that tells nothing takes as much of all CPUs as of the chip's cores.
    """
    stolen, held_s = (b - a for a, b in zip(start, marks(chip)))
    return max(stolen, held_s * LONG_OF_ALL * os.cpu_count())


def much(taken, seconds_long):
    """Return whether so much may have falsified a measurement that took so long."""
    return taken >= max(TAKEN_S, TAKEN * seconds_long * os.cpu_count())
