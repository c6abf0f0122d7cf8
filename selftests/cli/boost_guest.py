# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of chips that boost: what `kjoule boost` says in them, and the chip's log next to it.

A test's file runs in its guests as well ("inside NAME") and leaves what it saw in FOLDER.
"""
import json
import os
import shutil
import subprocess
import sys

from cli import ktap, kjoule, TOP
from vchip import oracle

TEST = os.path.realpath(sys.argv[0])
FOLDER = os.path.join(TOP, "build/test-logs", os.path.basename(TEST)[len("test_"):-len(".py")])
CPUS = 2
WORK = "/tmp/work"    # a copy: the host's files come slowly
PASSES = 14700   # of work: a second and a half
PART = 0.02      # an error may be so large


# In the guest -------------------------------------------------------------------------

def tell(*arguments):
    r = kjoule("boost", *arguments)
    return r.code, r.out, r.err


def inside(name, look):
    """What @look tells of the chip of that name."""
    for cpu in range(CPUS):
        with open(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "w", encoding="utf-8") as f:
            f.write("performance")
    shutil.copy(os.path.join(TOP, "build/selftests/work"), WORK)
    with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(look(), f)


# Outside ------------------------------------------------------------------------------

def guest(name):
    """What was seen in a guest of that chip, and the chip's log."""
    oracle_file = os.path.join(FOLDER, name + ".oracle")
    subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", name, "--cpus", str(CPUS), "--oracle", oracle_file, "--",
                    TEST, "inside", name], check=True)
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as f:
        seen = json.load(f)
    log = oracle.Oracle(oracle_file, tgid=0)
    os.unlink(oracle_file)
    return seen, log


def check_near(found, wanted, what, part=PART):
    ktap.check(found is not None and wanted and abs(found / wanted - 1) <= part, f"{what} is that of the chip's log", (found, wanted))


def document(result):
    return json.loads(result[1]) if result[0] == 0 else {}


def test(looks, judge):
    """A test's two sides: in the guest the look of that name, else all of it; @judge asks for the guests that it needs."""
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2], looks[sys.argv[2]])
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    judge()
    ktap.end()
