# SPDX-License-Identifier: GPL-2.0-or-later
"""The selftests, installed in a folder and taken to guests where this tree is hidden.

Owns the copy, the guests and the reading of what the runner says there; which tests are to
pass and which to be skipped say test_travel.py and test_travel_all.py, who call it.
"""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402


def kmod(*names):
    return {f"kmod: test_{name}" for name in names}


# What needs no more than a machine of two CPUs, and what needs the virtual chip.
KMOD = kmod("callchain", "callchain_hostile", "container", "descriptors", "device", "drain", "events", "hotplug",
            "idle", "jitter", "life", "load", "netlink", "netlink_state", "overrun", "permission", "quota", "ring_end",
            "sleep", "soak", "stacks", "stats", "switch", "target", "users", "values")
CHIP = kmod("edge", "end", "ending", "reset", "source_files", "source_gone", "source_hotplug", "source_joined", "source_refusals",
            "source_scopes", "sources", "sweep")
LABORATORY = kmod("alloc", "alloc_probe", "alloc_threads", "coverage", "lockdown", "transition", "vpm")    # it, or a machine that was prepared
SHORT = kmod("callchain", "callchain_hostile", "descriptors", "netlink", "quota", "values")    # seconds each; all: test_travel_all.py
CLI = {"cli: test_tool.sh"}
PYTHON = {f"cli: test_{name}.py" for name in ("ends", "files", "interval", "output", "targets", "whom")}
SILICON = {"silicon: silicon_summary"}
ALL = KMOD | CHIP | LABORATORY | CLI | PYTHON | SILICON

NO_CHIP = {t: "this is not the laboratory's virtual chip" for t in CHIP}
VIRTUAL = dict.fromkeys(kmod("load"), "a virtual machine, where an interrupt takes what the host makes of it")
NO_LABORATORY = dict.fromkeys(LABORATORY, "make check-debug") | dict.fromkeys(kmod("lockdown"), "boot with lockdown_test_allowed=1") | \
    dict.fromkeys(kmod("vpm"), "a meter that starts on command") | dict.fromkeys(kmod("transition"), "with --profile ivybridge")
NO_MODULE = "the module is not loaded: modprobe kjoule"

# In the guest: the suite goes to a folder of its own, and the tree out of sight.
GUEST = """
set -e
mkdir /root/lab
cp -r {suite} /root/lab/suite
cp {top}/build/kmod-$(uname -r)/kjoule/kjoule.ko /root/lab/
mount --make-rprivate /
mount -t tmpfs none {top}
cd /root/lab/suite
! test -e {top}/Makefile
{prepare}
exec {wrap} ./run_kselftest.sh {options}
"""


class Run:
    """One guest's run of the suite, read from what it said."""

    def __init__(self, suite, name, vm, options="", prepare="", wrap=""):
        script = GUEST.format(suite=suite, top=TOP, options=options, prepare=prepare, wrap=wrap)
        command = [os.path.join(TOP, "scripts/vm"), "--timeout", "500", *vm, "--", "unshare", "-m", "sh", "-c", script]
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           cwd=TOP, check=False, text=True, errors="replace")
        self.name, self.code, self.out = name, p.returncode, p.stdout
        self.passed, self.skipped, self.failed = set(), {}, {}
        for line in self.out.splitlines():
            m = re.match(r"(not )?ok \d+ selftests: (\S+: \S+)(?: # (SKIP )?(.*))?$", line)
            if m and m.group(1):
                self.failed[m.group(2)] = m.group(4)
            elif m and m.group(3):
                self.skipped[m.group(2)] = m.group(4)
            elif m:
                self.passed.add(m.group(2))
        m = re.search(r"^# Results: pass:(\d+) fail:(\d+) skip:(\d+)$", self.out, re.M)
        self.results = [int(n) for n in m.groups()] if m else [0, 0, 0]
        self.told = False
        self.lacks = re.findall(r"^#   (\S+: \S+: .*)$", self.out.partition("# what was skipped, and why:")[2], re.M)

    def check(self, description, kept):
        ktap.check(kept, f"{self.name}: {description}", self.story() if not kept else None)

    def story(self):
        """What there is to know of a failure, once; which results failed comes last, where the end of a log shows it."""
        if self.told:
            return None
        self.told = True
        lines, bad = self.out.splitlines(), []
        for i, line in enumerate(lines):
            if re.match(r"(# )*not ok ", line):
                bad += lines[max(i - 4, 0):i + 1]
        return "\n".join([*lines[-30:], f"exit code {self.code}, skipped {self.skipped}, failed {self.failed}", *bad[-20:]])

    def expect(self, code, passed, skipped, least):
        """Its end, which tests passed and which were skipped, and how many results there were at least."""
        self.check("no test fails", not self.failed and self.results[1] == 0)
        self.check(f"exit code {code}", self.code == code)
        self.check(f"{len(passed)} tests pass", self.passed == passed)
        self.check(f"{len(skipped)} are skipped, saying what to provide",
                   set(self.skipped) == set(skipped) and all(skipped[t] in self.skipped[t] for t in skipped))
        self.check(f"{least} results or more", self.results[0] >= least)
        ktap.diag(f"{self.name}: {self.results[0]} results passed, {self.results[2]} skipped")

    def says(self, description, *parts):
        """One of the reasons at the end has all these parts."""
        self.check(description, any(all(p in line for p in parts) for line in self.lacks))


@contextlib.contextmanager
def installed():
    """The folder to take along; gone in the end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))    # what is copied goes, a guest ends
    # not below /tmp, where a guest has a file system of its own
    folder = tempfile.mkdtemp(prefix="kjoule-travel-", dir="/var/tmp")
    try:
        suite = os.path.join(folder, "suite")
        p = subprocess.run(["make", "-s", "-C", os.path.join(TOP, "selftests"), "install", "INSTALL_PATH=" + suite],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
        if not ktap.check(p.returncode == 0, "make install INSTALL_PATH=DIR", p.stdout):
            ktap.end()
        yield suite
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_list(suite):
    """Every test of the module is in the list, and here above."""
    with open(os.path.join(suite, "kselftest-list.txt"), encoding="utf-8") as f:
        listed = {line.strip().replace(":", ": ") for line in f}
    there = kmod(*(os.path.basename(name)[5:-2] for name in glob.glob(os.path.join(TOP, "selftests/kmod/test_*.c"))))
    ktap.check(listed == ALL and there <= ALL, "the list has all tests that travel", sorted((listed | there) ^ ALL))
