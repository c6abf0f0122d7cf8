# SPDX-License-Identifier: GPL-2.0-only
"""What the chip's tests share: running the guest program, its numbers, the frequency.

Called by selftests/vchip/test_chip_*.py inside a guest. The program talks to the
registers directly; the governors are held still meanwhile.
"""
import glob
import os
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PROGRAM = os.path.join(TOP, "build/vchip/programs/chip")
PROFILES = os.path.join(TOP, "vchip/profiles")


def hold_governors():
    """No governor is to write the request register while a test does."""
    for path in glob.glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"):
        with open(path, "w") as f:
            f.write("performance")


def profile(name=None):
    """The profile's text as a dict of lists of words, includes followed."""
    name = name or os.environ.get("VCHIP_PROFILE", "plain")
    path = name if "/" in name else os.path.join(PROFILES, name + ".profile")
    values = {}
    with open(path) as f:
        for line in f:
            key, equals, value = line.partition("#")[0].partition("=")
            if not equals:
                continue
            if key.strip() == "include":
                values.update(profile(os.path.join(os.path.dirname(path), value.strip())))
            else:
                values[key.strip()] = value.split()
    return values


def frequencies():
    return [int(f) for f in profile()["freq_khz"]]


def start(*args):
    return subprocess.Popen([PROGRAM] + [str(a) for a in args], stdout=subprocess.PIPE, text=True)


def lines(p):
    out, _ = p.communicate()
    if p.returncode:
        raise SystemExit(f"# the guest program failed: {p.args} exit code {p.returncode}")
    return [line.split() for line in out.splitlines()]


def result(p):
    """The program's "key value" lines."""
    return {w[0]: int(w[1]) for w in lines(p) if len(w) == 2}


def run(*args):
    return result(start(*args))
