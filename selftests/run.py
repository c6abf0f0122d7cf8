#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The test runner: finds tests, runs them here or in guests, counts their results.

A test is selftests/SUBJECT/test_NAME.{sh,py}, or test_NAME.c built to
build/selftests/SUBJECT/test_NAME. Comment lines near its top say how it runs:
    where: host | guest      (host)
    vm: OPTIONS              options of scripts/vm; tests with equal ones share boots, a few to each
    boot: own                this one gets a guest for itself
    timeout: SECONDS         (600) of this machine's clock; of a test in a guest, of the guest's
    when: named REASON       only with --all, or when a NAME on the command line says so, else it is skipped
    debug: only | too | no REASON    (too: tests of the host that start guests; others of guests do)
Tests of the host and guests run side by side, as many as the machine has CPUs, so nothing is
judged by what the machine's clock says. A test passes or fails; none is run again.

It prints KTAP; each of its results counts, and a skip names its reason. Unit tests are
build/user/tests/test_* (cmocka), which print "# SKIP REASON" before skip(). The guest's
side is vm/batch, what is a kernel complaint says vm/kernel_log.py.
What --kernel and --seed ask for reaches every test's scripts/vm in $KJOULE_KERNEL and $KJOULE_SEED.

With --debug the tests of guests, and few others, run on the debug kernel, and memory that
a guest leaks is a complaint of its kernel. What cannot hold there says so, with "debug: no".
"""
import argparse
import fnmatch
import functools
import glob
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

# what is tested as root is root's, also where sudo has begun the tests: the tool asks by these who did
for name in ("SUDO_UID", "SUDO_USER"):
    os.environ.pop(name, None)

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from vm import guest_boot, kernel_log  # noqa: E402

EXIT_SKIP, EXIT_TIMEOUT = 4, 124
TIMEOUT = 600.0
ENDED_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ended = []        # by these signals

GUEST_COST = 5    # seconds of this machine's that one of a guest's may take
BOOT, DEBUG_BOOT = 60, 300    # seconds of this machine's
DEBUG_SLOWER = 5    # times
BOOT_TESTS = 6    # a boot takes as long as a short test or two; with more, the last guests leave CPUs idle
TAIL_LINES = 30
HEAD = re.compile(r"\s*(?:#|/?\*|//)\s*([a-z]+):\s*(.*?)\s*(?:\*/)?")
HEADS = {"where": "host|guest", "vm": ".*", "boot": "own", "timeout": r"[1-9]\d*", "when": r"named \S.*", "debug": r"only|too|no \S.*"}
RESULT = re.compile(r"(not )?ok (\d+)\b *(?:- *)?(.*)")
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?", re.I)
SKIP = re.compile(r"#\s*SKIP\b\s*(.*)", re.I)


def log_path(name):
    """Return the file for a log; each kernel that was asked for has a folder of its own."""
    return os.path.join(TOP, "build/test-logs", os.environ.get("KJOULE_KERNEL", ""), name)


class Test:
    """One file of tests: how to run it, and what came of it."""

    def __init__(self, name, program, source, unit=False):
        self.name, self.program = name, program
        self.unit, self.kernel = unit, ""
        self.log = log_path(name.replace("/", "-") + ".log")
        self.passed, self.failed, self.skipped = 0, [], []    # number, descriptions, (description, reason)
        self.problems, self.lines, self.whole_skip, self.seconds = [], [], None, 0.0
        heads = self.read_heads(source) if os.path.exists(source) else {}
        self.where, self.vm, self.own_boot = heads.get("where", "host"), heads.get("vm", ""), "boot" in heads
        self.timeout = float(heads.get("timeout", TIMEOUT))
        self.debug, self.named = heads.get("debug", ""), heads.get("when", "").removeprefix("named ")

    @staticmethod
    def read_heads(source):
        heads, expected = {}, False
        with open(source, errors="replace") as f:
            lines = f.read(4096).splitlines()[:40]
        for line in lines:
            m = HEAD.fullmatch(line)
            key, value = m.groups() if m else (None, None)
            if key in HEADS and re.fullmatch(HEADS[key], value):
                heads[key] = value
            elif key in HEADS:
                raise SystemExit(f"{source}: {key}: {value}: is not as selftests/run.py has it")
            elif key and expected:
                raise SystemExit(f"{source}: {key}: is no head that selftests/run.py knows")
            # at the beginning of a paragraph and among heads; elsewhere it is prose
            expected = key in HEADS or not line.strip(" \t#*/")
        return heads

    def judge(self, code):
        """Read the test's log and its exit code."""
        planned, said = None, ""
        with open(self.log, errors="replace") as f:
            self.lines = f.read().splitlines()
        for line in self.lines:
            m = PLAN.fullmatch(line.rstrip())
            if m:
                planned = (planned or 0) + int(m.group(1))
                if m.group(2) is not None and int(m.group(1)) == 0:
                    self.whole_skip = m.group(2)
                if not self.unit and planned != int(m.group(1)):
                    self.problems.append("more than one plan")
            m = SKIP.match(line)
            if m:
                said = m.group(1)
            m = RESULT.match(line)
            if m:
                skip = SKIP.search(m.group(3))
                if skip and self.unit:    # cmocka's "not ok N # SKIP NAME"
                    self.skipped.append((skip.group(1), said))
                elif m.group(1):
                    self.failed.append(m.group(3))
                elif skip:
                    self.skipped.append((m.group(3)[:skip.start()].strip(), skip.group(1)))
                else:
                    self.passed += 1
                said = ""
        results = self.passed + len(self.failed) + len(self.skipped)
        if code == EXIT_SKIP and not results:
            reason = self.whole_skip or next((line for line in reversed(self.lines) if line.strip()), "")
            self.whole_skip = reason.strip("# ") or None
            if self.whole_skip is None:
                self.problems.append("skipped without saying why")
            else:
                self.skipped.append((self.name, self.whole_skip))
            return
        if any(not reason for _, reason in self.skipped):
            self.problems.append("a skip names no reason")
        if code == EXIT_TIMEOUT:
            self.problems.append(f"no end after {self.timeout:g} s")
        elif planned is None:
            self.problems.append(f"no plan (exit code {code})")
        elif planned != results:
            self.problems.append(f"{planned} results were planned, {results} came (exit code {code})")
        elif code and not self.failed:
            self.problems.append(f"exit code {code} although nothing failed")
        elif not results:
            self.problems.append("no results")

    def skip(self, reason):
        """Leave it out, for a reason that is known before."""
        self.whole_skip = reason
        self.skipped.append((self.name, reason))

    def on_debug_kernel(self):
        """Run it there, if it can; return whether it has a place there."""
        if self.where == "host" and self.debug == "too":
            self.kernel = "debug"
            self.timeout *= DEBUG_SLOWER
        if self.where == "host":
            return self.debug in ("only", "too")
        if self.debug.startswith("no "):
            self.skip(self.debug[3:])
        self.vm = "--kernel debug " + self.vm
        self.timeout *= DEBUG_SLOWER
        return True

    @property
    def good(self):
        return not self.failed and not self.problems


def in_turn(method):
    """Of a Report: what is printed of one test stays together, whoever tells it."""
    @functools.wraps(method)
    def alone(self, *args):
        with self.turn:
            method(self, *args)
    return alone


class Report:
    """Prints KTAP as results come, of one test at a time, and keeps the count."""

    def __init__(self, count, verbose):
        self.number, self.verbose, self.turn = 0, verbose, threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.bad = []    # what is reported again at the end
        print(f"KTAP version 1\n1..{count}", flush=True)

    @in_turn
    def add(self, t):
        self.number += 1
        self.passed += t.passed
        self.failed += len(t.failed) + bool(t.problems)
        self.skipped += len(t.skipped)
        word = "ok" if t.good else "not ok"
        if self.verbose:
            self.show(t)
        if t.whole_skip is not None and t.good:
            print(f"{word} {self.number} {t.name} # SKIP {t.whole_skip}", flush=True)
            return
        print(f"{word} {self.number} {t.name} # {t.passed} passed, {len(t.failed)} failed, "
              f"{len(t.skipped)} skipped, {t.seconds:.1f} s")
        for description, reason in t.skipped:
            print(f"# skipped: {description}: {reason}")
        if not t.good:
            for text in t.problems + t.failed:
                print(f"# failed: {text}")
                self.bad.append(f"{t.name}: {text}")
            if not self.verbose:
                self.show_end(t)
        sys.stdout.flush()

    @staticmethod
    def show(t):
        for line in t.lines:
            print("    " + line)

    @staticmethod
    def show_end(t):
        print(f"# end of {os.path.relpath(t.log)}:")
        for line in t.lines[-TAIL_LINES:]:
            print("#   " + line)

    @in_turn
    def add_failure(self, text, lines):
        """Something that failed and belongs to no test."""
        self.failed += 1
        self.bad.append(text)
        print(f"# failed: {text}")
        for line in lines[-TAIL_LINES:]:
            print("#   " + line)
        sys.stdout.flush()

    def end(self):
        """Print the last line, after all that failed: the rest may be hours above."""
        if self.number > 1:
            for text in self.bad:
                print(f"# failed: {text}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")


def unit_source(base):
    """Where a unit test's program comes from; "" if that is gone."""
    return next(iter(glob.glob(os.path.join(TOP, f"user/tests/*/{base}.c"))), "")


def find_tests():
    tests = []
    for program in sorted(glob.glob(os.path.join(TOP, "build/user/tests/test_*"))):
        if os.access(program, os.X_OK) and os.path.isfile(program) and not os.path.splitext(program)[1]:
            base = os.path.basename(program)
            tests.append(Test("unit/" + base[5:], program, unit_source(base), unit=True))
    sources = sorted(glob.glob(os.path.join(TOP, "selftests/**/test_*.*"), recursive=True))
    for folder in ("vchip/silicon", "fuzz/kmod"):
        sources += sorted(glob.glob(os.path.join(TOP, folder, "test_*.c")))
    for source in sources:
        stem, ext = os.path.splitext(source)
        inside = os.path.relpath(stem, TOP).removeprefix("selftests/")
        subject, base = os.path.split(inside)
        name = os.path.join(subject, base[5:])
        if ext in (".sh", ".py"):
            tests.append(Test(name, source, source))
        elif ext == ".c":
            tests.append(Test(name, os.path.join(TOP, "build/selftests", inside), source))
    return tests


def missing(t):
    """A test that is not built or not executable is a failure, not a silence."""
    if os.access(t.program, os.X_OK):
        return False
    with open(t.log, "w"):
        pass
    t.problems.append(f"{os.path.relpath(t.program, TOP)} is not built, or not executable")
    return True


class Here:
    """A test that runs on this machine."""

    reader = None

    def __init__(self, t):
        self.tests, self.most = [t], t.timeout
        self.process = self.start = None

    def begin(self, _):
        t = self.tests[0]
        env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1", KJOULE_TEST=t.name,
                   KJOULE_TEST_S=f"{t.timeout:g}")
        if t.kernel:
            env["KJOULE_KERNEL"] = t.kernel
        self.start = time.monotonic()
        with open(t.log, "wb") as log:
            self.process = subprocess.Popen([t.program], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            cwd=TOP, env=env, start_new_session=True)

    def over(self):
        """Whether it has ended, or its time is over."""
        return self.process.poll() is not None or time.monotonic() >= self.start + self.most

    def end(self, report):
        """End what is left of it, and judge it; return what has to be run yet."""
        t, code = self.tests[0], self.process.poll()
        kill([self])
        t.seconds = time.monotonic() - self.start
        t.judge(EXIT_TIMEOUT if code is None else code)
        report.add(t)
        return []


class Guest:
    """Tests that share a boot. What is printed of them comes as they end, so that a thread reads it."""

    numbers = itertools.count(1)

    def __init__(self, tests):
        self.tests, self.number, self.process, self.reader = tests, next(self.numbers), None, None
        self.most = GUEST_COST * sum(t.timeout + 10 for t in tests) + (DEBUG_BOOT if "--kernel debug" in tests[0].vm else BOOT)
        self.left = {t.name: t for t in tests}
        self.current, self.start, self.blamed, self.broken = None, None, False, None

    def begin(self, report):
        listing, self.console, self.talk = (log_path(f"boot-{self.number}.{kind}") for kind in ("list", "console", "err"))
        with open(listing, "w") as f:
            for t in self.tests:
                f.write(f"{t.name}\t{t.timeout:g}\t{t.log}\t{t.program}\n")
                open(t.log, "w").close()
        command = [os.path.join(TOP, "scripts/vm"), "--log", self.console, "--timeout", f"{self.most:g}", *shlex.split(self.tests[0].vm)]
        self.command = shlex.join(command[5:])
        with open(self.talk, "w") as err:
            self.process = subprocess.Popen([*command, "--", os.path.join(TOP, "vm/batch"), listing],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, cwd=TOP, text=True, errors="replace",
                                            start_new_session=True)
        self.reader = threading.Thread(target=self.read, args=(report,), daemon=True)
        self.reader.start()

    def over(self):
        """Whether it has ended, as scripts/vm has it do in time."""
        return self.process.poll() is not None

    def read(self, report):
        """What the batch says, until no one is left to say more."""
        try:
            for line in self.process.stdout:
                words = line.split()
                if words[:1] == ["begin"] and words[1:] and words[1] in self.left:
                    self.current, self.start = self.left.pop(words[1]), time.monotonic()
                elif words[:1] == ["end"] and words[2:] and self.current and words[1] == self.current.name:
                    self.judge(int(words[2]), report)
        except Exception as e:    # pylint: disable=broad-except
            self.broken = e    # for who waits for the guest
            self.process.terminate()

    def judge(self, code, report):
        """The current test has ended."""
        t, self.current = self.current, None
        t.seconds = time.monotonic() - self.start
        t.judge(code)
        bad = kernel_log.complaints(kernel_part(self.console, t.name))
        self.blamed |= bool(bad)
        t.problems += ["kernel: " + line for line in bad[:10]]
        report.add(t)

    def end(self, report):
        """The guest is over; return what is to be run in another one, where it died before that."""
        code = self.process.poll()
        kill([self])
        self.reader.join()
        if self.broken:
            raise self.broken
        with open(self.talk) as f:
            said = f.read().splitlines()
        t, left = self.current, self.left
        if t:    # the guest ended in the middle of this one
            t.seconds = time.monotonic() - self.start
            t.judge(code)
            t.problems = [f"the guest ended during this test (scripts/vm: exit code {code})"]
            t.lines += said
            report.add(t)
        elif left:    # it never began
            for t in left.values():
                t.problems.append(f"no guest to run in: {self.command} (scripts/vm: exit code {code})")
                t.lines = said
                report.add(t)
            left = {}
        elif code and not (code == 99 and self.blamed):
            report.add_failure(f"the guest of {', '.join(t.name for t in self.tests)} (scripts/vm: exit code {code})", said)
        return [Guest([*left.values()])] if left else []


def kill(some):
    """End all of these, with what they have begun; in order first: a test may have a guest to end."""
    for sig, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        begun = [h.process for h in some if h.process]
        for p in begun:
            try:
                os.killpg(p.pid, sig)
            except ProcessLookupError:
                pass
        until = time.monotonic() + (seconds or 0)
        for p in begun:
            try:
                p.wait(seconds and max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                pass


def plan(tests):
    """Return what is to be run, longest first by the time that it may take."""
    jobs, guests = [], {}
    for t in tests:
        if t.where == "host":
            jobs.append(Here(t))
        else:
            guests.setdefault((shlex.join(shlex.split(t.vm)), t.name if t.own_boot else ""), []).append(t)
    for group in guests.values():
        boots = -(-len(group) // BOOT_TESTS)
        jobs += [Guest(group[i::boots]) for i in range(boots)]
    return sorted(jobs, key=lambda job: -job.most)


def run(jobs, report):
    """Run tests and guests, as many at a time as there are CPUs."""
    running = []
    try:
        while jobs or running:
            # not at once: what was being begun then would be left behind
            if ended:
                sys.exit(128 + ended[0])
            while jobs and len(running) < len(os.sched_getaffinity(0)):
                running.append(jobs.pop(0))
                running[-1].begin(report)
            time.sleep(0.05)
            for job in [j for j in running if j.over()]:
                jobs += job.end(report)
                running.remove(job)
    finally:
        kill(running)
        for job in running:
            if job.reader:
                job.reader.join()


def kernel_part(console, name):
    """Return the kernel log from the test's begin mark to its end mark, once that has arrived."""
    begin, end = f"kjoule-test: begin {name}", f"kjoule-test: end {name}"
    for _ in range(20):
        with open(console, errors="replace") as f:
            lines = f.read().splitlines()
        ends = [i for i, l in enumerate(lines) if l.endswith(end)]
        if ends:
            break
        time.sleep(0.1)
    begins = [i for i, l in enumerate(lines) if l.endswith(begin)]
    return lines[begins[-1]:ends[-1] if ends else None] if begins else []


def show(tests):
    """List them in the order in which they begin."""
    for job in plan([t for t in tests if not t.whole_skip]):
        for t in job.tests:
            print(f"{t.name:40} {t.where:6} {t.timeout:5g} s at most" + (f"  boot {job.number}: {t.vm}" if t.where == "guest" else ""))
    for t in tests:
        if t.whole_skip:
            print(f"{t.name:40} {t.where:6} skipped: {t.whole_skip}")


def main():
    p = argparse.ArgumentParser(prog="selftests/run.sh", description="Run kjoule's tests.")
    p.add_argument("-v", "--verbose", action="store_true", help="show each test's output")
    p.add_argument("--debug", action="store_true", help="run what runs in guests on the debug kernel")
    p.add_argument("--all", action="store_true", help="run also those that say that they run only when they are named")
    p.add_argument("--list", action="store_true", help="list the tests")
    p.add_argument("--kernel", default=os.environ.get("KJOULE_KERNEL", ""), metavar="VERSION",
                   help="of the guests, and of what is built for a kernel: a release or its beginning, such as 6.12")
    p.add_argument("--seed", type=int, metavar="N",
                   help="of the noise in all guests ($KJOULE_SEED, or 1)")
    p.add_argument("names", nargs="*", metavar="NAME", help="run only tests whose name contains or matches NAME")
    a = p.parse_args()
    if a.kernel:
        try:
            os.environ["KJOULE_KERNEL"] = guest_boot.kernel_find(a.kernel)[0]
        except guest_boot.VmError as e:
            print(f"run.py: {e}", file=sys.stderr)
            return 2
    if a.seed is not None:
        if not 0 <= a.seed < 1 << 64:
            p.error("--seed: a number from 0 to 2^64-1")
        os.environ["KJOULE_SEED"] = str(a.seed)
    tests = [t for t in find_tests()
             if not a.names or any(n in t.name or fnmatch.fnmatch(t.name, n) for n in a.names)]
    if a.debug:
        tests = [t for t in tests if t.on_debug_kernel()]
    else:
        for t in tests:
            if t.debug == "only":
                t.skip("needs the debug kernel: make check-debug")
            elif t.named and not a.names and not a.all:
                t.skip(f"only with make check-all, or by its name: {t.named}")
    if a.list:
        show(tests)
        return 0
    if a.names and not tests:
        print(f"run.sh: no test matches {' '.join(a.names)}; see selftests/run.sh --list", file=sys.stderr)
        return 2
    for sig in ENDED_BY:
        signal.signal(sig, lambda number, _: ended.append(number))
    os.makedirs(log_path(""), exist_ok=True)
    os.chdir(TOP)
    report = Report(len(tests), a.verbose)
    for t in tests:
        if t.whole_skip or missing(t):
            report.add(t)
    run(plan([t for t in tests if not t.whole_skip and not t.problems]), report)
    report.end()
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
