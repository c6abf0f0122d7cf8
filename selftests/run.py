#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The test runner: finds tests, runs them here or in guests, counts their results.

A test is selftests/SUBJECT/test_NAME.{sh,py}, or test_NAME.c built to
build/selftests/SUBJECT/test_NAME. Comment lines near its top say how it runs:
    where: host | guest      (host)
    vm: OPTIONS              options of scripts/vm; tests with equal ones share a boot, if all may run beside others, or none
    boot: own                this one gets a guest for itself
    timeout: SECONDS         (120), on a machine that is all ours
    when: named REASON       only with --all, or when a NAME on the command line says so, else it is skipped
    debug: only | too | no REASON    (too: tests of the host that start guests; others of guests do)
    stalls: PATTERN          results that are judged by time: a host that takes the machine away falsifies them
    beside: others | nobody  others: it judges nothing by time, also where it has half a CPU. Such tests run side by side, and
                             guests of such, if they let others run beside them (scripts/vm: --no-chip, --icount, --share), as
                             many as the machine has CPUs; with --debug one by one (others for unit tests, else nobody)
It prints KTAP; each of its results counts, and a skip names its reason. Unit tests are
build/user/tests/test_* (cmocka), which print "# SKIP REASON" before skip(). The guest's
side is selftests/vm/batch, what is a kernel complaint says scripts/lib/kernel_log.py.
The kernel that --kernel asks for reaches every test's scripts/vm in $KJOULE_KERNEL.

With --debug the tests of guests, and few others, run on the debug kernel, and memory that
a guest leaks is a complaint of its kernel. What can not hold there says so, with "debug: no".

A test of whose results only such with "stalls:" fail, while a host took the machine away, by the kernel's
books or, as not all hosts tell, by what the virtual chip's cores were held for, is no measurement: it is run again, twice at most, and each of them is told, there and at the end. Where hardly
any time was taken it has failed; so it has when it did not end or crashed, or a kernel complained.
"""
import argparse
import fnmatch
import functools
import glob
import itertools
import math
import os
import re
import select
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
sys.path.insert(0, os.path.join(TOP, "scripts", "lib"))
import guest_boot  # noqa: E402
import kernel_log  # noqa: E402
import steal  # noqa: E402

EXIT_SKIP, EXIT_EMULATOR, EXIT_TIMEOUT = 4, 98, 124
SLOWER = 5    # than what tests say of their time: it is there to end what hangs, on any host
DEBUG_SLOWER, DEBUG_BOOT = 5, 300    # times, and seconds, of the debug kernel
TAIL_LINES = 30
SHARING = {"--no-chip", "--icount", "--share"}    # scripts/vm lets such guests run beside each other
TRIES = 3    # of a test that judges by time
RESULT = re.compile(r"(not )?ok (\d+)\b *(?:- *)?(.*)")
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?", re.I)
SKIP = re.compile(r"#\s*SKIP\b\s*(.*)", re.I)


def log_path(name):
    """Return the file for a log; each kernel that was asked for has a folder of its own."""
    return os.path.join(TOP, "build/test-logs", os.environ.get("KJOULE_KERNEL", ""), name)


HELD = log_path("chip-held")    # by the build machine, see steal.held()


def marks():
    """What a host has taken so far, and what time it is."""
    return steal.marks(HELD), time.monotonic()


class Test:
    """One file of tests: how to run it, and what came of it."""

    def __init__(self, name, program, source, unit=False):
        self.name, self.program = name, program
        self.where, self.vm, self.own_boot, self.timeout = "host", "", False, SLOWER * 120.0
        self.unit, self.debug, self.named, self.kernel = unit, "", "", ""
        self.beside = unit
        self.stalls, self.tries = None, 1
        self.log = log_path(name.replace("/", "-") + ".log")
        self.guests = self.log + ".guests"    # where scripts/vm tells of guests that complained or did not end
        self.forget()
        if os.path.exists(source):
            self.read_header(source)

    def forget(self):
        """Nothing has come of it yet."""
        self.passed, self.failed, self.skipped = 0, [], []    # number, descriptions, (description, reason)
        self.problems, self.lines, self.whole_skip, self.seconds = [], [], None, 0.0
        self.taken = 0.0    # by the host
        self.code, self.bad_guests, self.emulator = None, False, False

    def read_header(self, source):
        with open(source, errors="replace") as f:
            head = f.read(4096).splitlines()[:40]
        for line in head:
            m = re.match(r"[\s#*/\"]*(where|vm|boot|timeout|debug|when|stalls|beside):\s*(.*?)\s*(\*/)?$", line)
            if not m:
                continue
            key, value = m.group(1), m.group(2)
            if key == "where":
                if value not in ("host", "guest"):
                    raise SystemExit(f"{source}: where: {value}: neither host nor guest")
                self.where = value
            elif key == "vm":
                self.vm = value
            elif key == "when":
                if not re.match(r"named \S", value):
                    raise SystemExit(f"{source}: when: {value}: not named with a reason")
                self.named = value.removeprefix("named ")
            elif key == "debug":
                if value not in ("only", "too") and not re.match(r"no \S", value):
                    raise SystemExit(f"{source}: debug: {value}: neither only nor too nor no with a reason")
                self.debug = value
            elif key == "stalls":
                if not value:
                    raise SystemExit(f"{source}: stalls: no pattern of results")
                self.stalls = re.compile(value)
            elif key == "beside":
                if value not in ("others", "nobody"):
                    raise SystemExit(f"{source}: beside: {value}: neither others nor nobody")
                self.beside = value == "others"
            elif key == "boot":
                self.own_boot = value == "own"
            else:
                self.timeout = SLOWER * float(value)
        if self.beside and (self.stalls or (self.where == "guest" and SHARING.isdisjoint(shlex.split(self.vm)))):
            raise SystemExit(f"{source}: beside: others: of a test that is judged by time, or in a guest that wants the machine alone")

    def end(self, start):
        """It began at these marks(), and is over."""
        self.taken, self.seconds = steal.since(start[0], HELD), time.monotonic() - start[1]

    def judge(self, code):
        """Read the test's log and its exit code."""
        planned, said, self.code = None, "", code
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
            reason = self.whole_skip or next((l for l in reversed(self.lines) if l.strip()), "")
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

    def falsified(self):
        """Whether what failed may be the host's doing, or is the emulator's, so that it is to be run again."""
        if self.emulator:
            return self.tries < TRIES and not self.good
        return (self.stalls is not None and self.tries < TRIES and
                steal.much(self.taken, self.seconds) and
                bool(self.failed) and all(self.stalls.search(text) for text in self.failed) and
                not self.problems and not self.bad_guests and self.code in (0, 1))

    def again(self):
        """Forget what came of it, but for its log."""
        os.replace(self.log, self.log_of(self.tries))
        self.tries += 1
        self.forget()

    def log_of(self, number):
        """The log of a try that will not be the last."""
        return f"{self.log}.{number}"

    def begin(self):
        """Nothing is left of another run of the tests."""
        for number in range(1, TRIES):
            if os.path.exists(self.log_of(number)):
                os.unlink(self.log_of(number))
        if os.path.exists(self.guests):
            os.unlink(self.guests)


def in_turn(method):
    """Of a Report: what is told of one test stays together, whoever tells it."""
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
        self.bad, self.repeated = [], []    # what is told again at the end
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
              f"{len(t.skipped)} skipped, {t.seconds:.1f} s" + (f", run {t.tries} of {TRIES}" if t.tries > 1 else ""))
        for description, reason in t.skipped:
            print(f"# skipped: {description}: {reason}")
        if not t.good:
            for text in t.problems + t.failed:
                print(f"# failed: {text}")
                self.bad.append(f"{t.name}: {text}")
            if not self.verbose:
                self.show_end(t, t.log)
        sys.stdout.flush()

    @in_turn
    def add_try(self, t):
        """One that will be run again."""
        why = "QEMU ran a breakpoint that was gone" if t.emulator else f"the host took {t.taken:.1f} s of the CPUs' time"
        text = f"{t.name}: {why} in {t.seconds:.1f} s; failed then: {'; '.join(t.failed or t.problems)}"
        self.repeated.append(text)
        if self.verbose:
            self.show(t)
        print(f"# run again: {text}")
        if not self.verbose:
            self.show_end(t, t.log_of(t.tries))
        sys.stdout.flush()

    @staticmethod
    def show(t):
        for line in t.lines:
            print("    " + line)

    @staticmethod
    def show_end(t, log):
        print(f"# end of {os.path.relpath(log)}:")
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
            for text in self.repeated:
                print(f"# run again: {text}")
            for text in self.bad:
                print(f"# failed: {text}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")


def find_tests():
    tests = []
    for program in sorted(glob.glob(os.path.join(TOP, "build/user/tests/test_*"))):
        if os.access(program, os.X_OK) and os.path.isfile(program) and not os.path.splitext(program)[1]:
            base = os.path.basename(program)
            tests.append(Test("unit/" + base[5:], program, os.path.join(TOP, f"user/tests/{base}.c"), unit=True))
    sources = sorted(glob.glob(os.path.join(TOP, "selftests/**/test_*.*"), recursive=True))
    for source in sources:
        stem, ext = os.path.splitext(source)
        inside = os.path.relpath(stem, os.path.join(TOP, "selftests"))
        subject, base = os.path.split(inside)
        name = os.path.join(subject, base[5:])
        if ext in (".sh", ".py"):
            tests.append(Test(name, source, source))
        elif ext == ".c":
            tests.append(Test(name, os.path.join(TOP, "build/selftests", inside), source))
    return sorted(tests, key=lambda t: (not t.unit, t.where != "host"))


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
        self.test, self.process, self.start, self.until = t, None, None, None

    def begin(self, _):
        t = self.test
        env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1", KJOULE_SLOWER=str(SLOWER),
                   KJOULE_BAD_GUESTS=t.guests, KJOULE_CHIP_HELD=HELD)
        if t.kernel:
            env["KJOULE_KERNEL"] = t.kernel
        self.start = marks()
        self.until = time.monotonic() + t.timeout
        with open(t.log, "wb") as log:
            self.process = subprocess.Popen([t.program], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            cwd=TOP, env=env, start_new_session=True)

    def end(self, report):
        """End what is left of it, and judge it; return what has to be run yet."""
        t, code = self.test, self.process.poll()
        kill([self])
        t.end(self.start)
        t.bad_guests = os.path.exists(t.guests)
        if t.bad_guests:
            with open(t.guests, encoding="utf-8") as f:
                t.emulator = {line.strip() for line in f} == {str(EXIT_EMULATOR)} and code in (0, 1)
            os.unlink(t.guests)
        t.judge(EXIT_TIMEOUT if code is None else code)
        return [Here(t) for t in settle(t, report)]


class Guest:
    """Tests that share a boot. What is told of them comes as they end, so that a thread reads it."""

    numbers = itertools.count(1)

    def __init__(self, tests):
        self.tests, self.process, self.reader = tests, None, None
        self.until = math.inf    # scripts/vm ends in time, once it has the machine
        self.left = {t.name: t for t in tests}
        self.current, self.start, self.blamed, self.again, self.broken = None, None, False, [], None

    def begin(self, report):
        number = next(self.numbers)
        listing, self.console, self.talk = (log_path(f"boot-{number}.{kind}") for kind in ("list", "console", "err"))
        with open(listing, "w") as f:
            for t in self.tests:
                f.write(f"{t.name}\t{t.timeout:g}\t{t.log}\t{t.program}\n")
                open(t.log, "w").close()
        total = sum(t.timeout + 10 for t in self.tests) + (DEBUG_BOOT if "--kernel debug" in self.tests[0].vm else 60)
        command = [os.path.join(TOP, "scripts/vm"), "--log", self.console, "--timeout", f"{total:g}", *shlex.split(self.tests[0].vm)]
        self.command = shlex.join(command[5:])
        with open(self.talk, "w") as err:
            self.process = subprocess.Popen([*command, "--", os.path.join(TOP, "selftests/vm/batch"), listing],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, cwd=TOP, text=True, errors="replace",
                                            env=dict(os.environ, KJOULE_CHIP_HELD=HELD), start_new_session=True)
        self.reader = threading.Thread(target=self.read, args=(report,), daemon=True)
        self.reader.start()

    def read(self, report):
        """What the batch says, until there is nobody left to say more."""
        try:
            for line in self.process.stdout:
                words = line.split()
                if words[:1] == ["begin"] and words[1:] and words[1] in self.left:
                    self.current, self.start = self.left.pop(words[1]), marks()
                elif words[:1] == ["end"] and words[2:] and self.current and words[1] == self.current.name:
                    self.judge(int(words[2]), report)
        except Exception as e:    # pylint: disable=broad-except
            self.broken = e    # for who waits for the guest
            self.process.terminate()

    def judge(self, code, report):
        """The current test has ended."""
        t, self.current = self.current, None
        t.end(self.start)
        t.judge(code)
        bad = kernel_log.complaints(kernel_part(self.console, t.name))
        self.blamed |= bool(bad)
        t.problems += ["kernel: " + l for l in bad[:10]]
        self.again += settle(t, report)

    def end(self, report):
        """The guest is over; return what is to be run in another one: it died, or the host took its time."""
        code = self.process.poll()
        kill([self])
        self.reader.join()
        if self.broken:
            raise self.broken
        with open(self.talk) as f:
            said = f.read().splitlines()
        t, left = self.current, self.left
        if t:    # the guest ended in the middle of this one
            t.end(self.start)
            t.judge(code)
            t.problems = [f"the guest ended during this test (scripts/vm: exit code {code})"]
            t.lines += said
            t.emulator = code == EXIT_EMULATOR
            self.again += settle(t, report)
        elif left:    # it never began
            for t in left.values():
                t.problems.append(f"no guest to run in: {self.command} (scripts/vm: exit code {code})")
                t.lines = said
                report.add(t)
            left = {}
        elif code and not (code == 99 and self.blamed):
            report.add_failure(f"the guest of {', '.join(t.name for t in self.tests)} (scripts/vm: exit code {code})", said)
        rest = [*left.values(), *self.again]
        return [Guest(rest)] if rest else []


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


def wait_for_one(running):
    """Until one of them ends or its time is over, without waking up meanwhile: what is measured has the machine to itself."""
    poll, fds = select.poll(), []
    try:
        for h in running:
            try:
                fds.append(os.pidfd_open(h.process.pid))
            except ProcessLookupError:
                return
            poll.register(fds[-1], select.POLLIN)
        until = min(h.until for h in running)
        poll.poll(None if until == math.inf else max(1000 * (until - time.monotonic()), 1))
    finally:
        for fd in fds:
            os.close(fd)


def over(job):
    """Whether it has ended, or its time is over."""
    return job.process.poll() is not None or time.monotonic() >= job.until


def run(jobs, report, at_once=1):
    """Run tests and guests, so many at a time, and again what has to be."""
    jobs, running = list(jobs), []
    try:
        while jobs or running:
            while jobs and len(running) < at_once:
                running.append(jobs.pop(0))
                running[-1].begin(report)
            wait_for_one(running)
            for job in [j for j in running if over(j)]:
                jobs += job.end(report)
                running.remove(job)
    finally:
        # a second signal is no reason to leave them behind
        if running:
            for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(sig, signal.SIG_IGN)
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


def settle(t, report):
    """Report what came of it; return what has to be run again."""
    if not t.falsified():
        report.add(t)
        return []
    report.add_try(t)
    t.again()
    return [t]


def main():
    p = argparse.ArgumentParser(prog="selftests/run.sh", description="Run kjoule's tests.")
    p.add_argument("-v", "--verbose", action="store_true", help="show each test's output")
    p.add_argument("--debug", action="store_true", help="run what runs in guests on the debug kernel")
    p.add_argument("--all", action="store_true", help="run also those that say that they run only when they are named")
    p.add_argument("--list", action="store_true", help="list the tests")
    p.add_argument("--kernel", default=os.environ.get("KJOULE_KERNEL", ""), metavar="VERSION",
                   help="of the guests, and of what is built for a kernel: a release or its beginning, such as 6.12")
    p.add_argument("names", nargs="*", metavar="NAME", help="run only tests whose name contains or matches NAME")
    a = p.parse_args()
    if a.kernel:
        try:
            os.environ["KJOULE_KERNEL"] = guest_boot.kernel_find(a.kernel)[0]
        except guest_boot.VmError as e:
            print(f"run.py: {e}", file=sys.stderr)
            return 2
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
        for t in tests:
            print(f"{t.name:40} {t.where:6} {t.timeout:5g} s at most  {t.vm}{'  (own boot)' if t.own_boot else ''}")
        return 0
    if a.names and not tests:
        print(f"run.sh: no test matches {' '.join(a.names)}; see selftests/run.sh --list", file=sys.stderr)
        return 2
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda number, _: sys.exit(128 + number))
    os.makedirs(log_path(""), exist_ok=True)
    os.chdir(TOP)
    report = Report(len(tests), a.verbose)
    here, guests = [], {}
    for t in tests:
        t.begin()
        if t.whole_skip or missing(t):
            report.add(t)
        elif t.where == "host":
            here.append(Here(t))
        else:
            guests.setdefault((shlex.join(shlex.split(t.vm)), t.name if t.own_boot else "", t.beside), []).append(t)
    # guests take the longest
    beside = [Guest(g) for (_, _, beside), g in guests.items() if beside] + [h for h in here if h.test.beside]
    run(beside, report, 1 if a.debug else os.cpu_count())
    run([h for h in here if not h.test.beside], report)
    run([Guest(g) for (_, _, beside), g in guests.items() if not beside], report)
    report.end()
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
