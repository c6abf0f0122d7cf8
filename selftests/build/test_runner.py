#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# beside: others
"""The test runner counts right: made-up tests, run by a copy of it in a tree of their own.

Its last line is exactly "N passed, N failed, N skipped", its exit code is 0 only when
something passed and nothing failed, and a skip that names no reason is a failure.
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "scripts/lib")]
import ktap  # noqa: E402
import kernel_log  # noqa: E402
import steal  # noqa: E402

SHELL, UNIT, GUEST = "#!/bin/sh\n", "unit", "#!/bin/sh\n# where: guest\n"

# what it is, its head, its text, the runner's last line and exit code, and what it has to say
CASES = [
    ("two results", SHELL, "echo 1..2; echo ok 1 - a; echo ok 2 - b", (2, 0, 0), 0, ""),
    ("a failure beside a success", SHELL, "echo 1..2; echo ok 1 - a; echo not ok 2 - broken; exit 1", (1, 1, 0), 1,
     "# failed: broken"),
    ("a skip with its reason", SHELL, "echo 1..2; echo ok 1 - a; echo 'ok 2 - b # SKIP no lamp'", (1, 0, 1), 0,
     "# skipped: b: no lamp"),
    ("a skip without reason", SHELL, "echo 1..2; echo ok 1 - a; echo 'ok 2 - b # SKIP'", (1, 1, 1), 1,
     "# failed: a skip names no reason"),
    ("a whole file skipped", SHELL, "echo '1..0 # SKIP no lamp'; exit 4", (0, 0, 1), 1, "# SKIP no lamp"),
    ("a whole file skipped without reason", SHELL, "exit 4", (0, 1, 0), 1, "# failed: skipped without saying why"),
    ("fewer results than planned", SHELL, "echo 1..2; echo ok 1 - a", (1, 1, 0), 1,
     "# failed: 2 results were planned, 1 came"),
    ("no plan", SHELL, "echo ok 1 - a", (1, 1, 0), 1, "# failed: no plan"),
    ("no results", SHELL, "echo 1..0", (0, 1, 0), 1, "# failed: no results"),
    ("an exit code without a failure", SHELL, "echo 1..1; echo ok 1 - a; exit 3", (1, 1, 0), 1,
     "# failed: exit code 3 although nothing failed"),
    ("no end", SHELL + "# timeout: 1\n", "echo 1..1; echo ok 1 - a; sleep 60", (1, 1, 0), 1,
     "# failed: no end after 5 s"),
    ("a unit test", UNIT, "", (1, 0, 0), 0, ""),
    ("a unit test that fails", UNIT, "fail();", (0, 1, 0), 1, "# failed: result"),
    ("a unit test's skip with its reason", UNIT, r'print_message("# SKIP no lamp\n"); skip();', (0, 0, 1), 1,
     "# skipped: result: no lamp"),
    ("a unit test's skip without reason", UNIT, "skip();", (0, 1, 1), 1, "# failed: a skip names no reason"),
    ("a test in a guest", GUEST, "echo 1..1; echo ok 1 - a", (1, 0, 0), 0, ""),
    ("a complaint of the guest's kernel", GUEST, "echo 1..1; echo ok 1 - a; echo 'BUG: made up' >>console",
     (1, 1, 0), 1, "# failed: kernel: BUG: made up"),
    ("a guest that dies", GUEST, "kill -9 $(cat vm.pid)", (0, 1, 0), 1, "# failed: the guest ended during this test"),
]

# The guests are made up too: the batch runs here, and marks a kernel log that is a file.
VM = """#!/bin/sh
arguments=
while [ "$1" != -- ]; do
	case $1 in
	--log) ln -sf "$2" console; shift ;;
	--timeout) shift ;;
	*) arguments="$arguments$1 " ;;
	esac
	shift
done
echo "$arguments" >arguments
: >console
"$2" "$3" &
echo $! >vm.pid
wait $!
code=$?
[ -e emulator ] && rm emulator && exit 98
exit $code
"""

UNIT_SOURCE = """
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
static void result(void **state) {{ (void)state; {} }}
int main(void)
{{
	const struct CMUnitTest tests[] = {{ cmocka_unit_test(result) }};

	return cmocka_run_group_tests(tests, NULL, NULL);
}}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o755)


GUEST_BOOT = """
class VmError(Exception):
    pass
def kernel_find(wanted):
    if wanted != "7.1":
        raise VmError("no kernel " + wanted)
    return ["7.1.2-made-up"]
"""


# What was taken is made up as well: what the tests write.
STEAL = """
import os
def seconds():
    return float(open("stolen").read()) if os.path.exists("stolen") else 0.0
"""

# Counts its runs, and is good from one of them on.
STALLED = """echo run >>{folder}.runs
n=$(wc -l <{folder}.runs)
awk "BEGIN {{ print $n * {taken} }}" >stolen
echo 1..2
echo "ok 1 - in order"
[ $n -ge {good} ] && echo "ok 2 - its time" && exit
echo "not ok 2 - its time"
{bad}
exit 1
"""


def make_tree(top):
    for name in ("selftests/run.py", "selftests/run.sh", "scripts/lib/kernel_log.py"):
        os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
        shutil.copy(os.path.join(TOP, name), os.path.join(top, name))
    with open(os.path.join(TOP, "selftests/vm/batch")) as f:
        write(os.path.join(top, "selftests/vm/batch"), f.read().replace(">/dev/kmsg", ">>console"))
    write(os.path.join(top, "scripts/vm"), VM)
    write(os.path.join(top, "scripts/lib/guest_boot.py"), GUEST_BOOT)
    with open(steal.__file__, encoding="utf-8") as f:
        write(os.path.join(top, "scripts/lib/steal.py"), f.read() + STEAL)


def add_test(top, folder, head, text):
    if head != UNIT:
        write(os.path.join(top, "selftests", folder, "test_it.sh"), head + text + "\n")
        return "selftests/" + folder
    tests = os.path.join(top, "build/user/tests")
    os.makedirs(tests, exist_ok=True)
    subprocess.run(["gcc", "-x", "c", "-", "-o", os.path.join(tests, "test_it"), "-lcmocka"],
                   input=UNIT_SOURCE.format(text).encode(), check=True)
    return "build/user"


def run(top, *args):
    os.environ.pop("KJOULE_KERNEL", None)    # of the runner that runs this
    return subprocess.run([os.path.join(top, "selftests/run.sh"), *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def stalled(top, head, taken, good, bad="", folder="stalls"):
    add_test(top, folder, head, STALLED.format(folder=folder, taken=taken, good=good, bad=bad))


def held(seconds):
    """What tells that the chip was held for so long, in the time of all CPUs, with each run once more."""
    return f'echo $((n * {int(1e9 * seconds / os.cpu_count() / steal.LONG_OF_ALL)})) >"${{KJOULE_CHIP_HELD:-build/test-logs/chip-held}}"'


def stalled_gone(top, folder="stalls"):
    """Remove it, and return how many runs it had and the logs that were kept."""
    logs = glob.glob(os.path.join(top, "build/test-logs", folder + "-it.log.*"))
    with open(os.path.join(top, folder + ".runs"), encoding="utf-8") as f:
        ran = len(f.readlines())
    os.unlink(os.path.join(top, folder + ".runs"))
    for name in ("stolen", "build/test-logs/chip-held"):
        if os.path.exists(os.path.join(top, name)):
            os.unlink(os.path.join(top, name))
    shutil.rmtree(os.path.join(top, "selftests", folder))
    return ran, len(logs)


def check_stalls(top):
    """A host that takes the machine away: what is judged by time is run again, nothing else is, and nothing for ever."""
    here, there = (head + "# stalls: its t[a-z]me$\n" for head in (SHELL, GUEST))
    for what, head, taken, good, bad, runs, counts in (
            ("what is judged by time", here, 1, 2, "", 2, (2, 0, 0)),
            ("the same in a guest", there, 1, 2, "", 2, (2, 0, 0)),
            ("what never passes", here, 1, 9, "", 3, (1, 1, 0)),
            ("what never passes in a guest", there, 1, 9, "", 3, (1, 1, 0)),
            ("what is judged by time, while only the chip sees it", here, 0, 2, held(1), 2, (2, 0, 0)),
            ("the same in a guest while only the chip sees it", there, 0, 2, held(1), 2, (2, 0, 0)),
            ("what fails while the chip is held for little", here, 0, 2, held(0.03), 1, (1, 1, 0)),
            ("what fails while nothing is taken", here, 0, 2, "", 1, (1, 1, 0)),
            ("what fails while little is taken", here, 0.03, 2, "", 1, (1, 1, 0)),
            ("what fails while little is taken for its length", here, 0.11, 2, "sleep 12", 1, (1, 1, 0)),
            ("what does not say that it is judged by time", SHELL, 1, 2, "", 1, (1, 1, 0)),
            ("a guest's that does not", GUEST, 1, 2, "", 1, (1, 1, 0)),
            ("a result that is not judged by time", SHELL + "# stalls: order\n", 1, 2, "", 1, (1, 1, 0)),
            ("what crashes", here, 1, 2, "kill -9 $$", 1, (1, 1, 0)),
            ("what does not end", here + "# timeout: 1\n", 1, 2, "sleep 60", 1, (1, 2, 0)),
            ("one whose kernel complains", there, 1, 2, "echo 'BUG: made up' >>console", 1, (1, 2, 0)),
            ("one whose own guest complains", here, 1, 2, 'echo 99 >>"$KJOULE_BAD_GUESTS"', 1, (1, 1, 0))):
        stalled(top, head, taken, good, bad)
        r = run(top, "stalls")
        ran, logs = stalled_gone(top)
        want = "{} passed, {} failed, {} skipped".format(*counts)
        told = r.stdout.count("# run again: stalls/it: the host took 1.0 s of the CPUs' time in ")
        said = f", run {ran} of 3" in r.stdout
        ktap.check(ran == runs and r.stdout.splitlines()[-1:] == [want] and r.returncode == bool(counts[1]) and
                   told == runs - 1 == logs and said == (runs > 1),
                   f"on a machine that is taken away, {what}: {runs} run{'s' * (runs > 1)}, {want}", r.stdout)

    # beside others: they are not run again, and all is told at the end
    add_test(top, "beside", GUEST, CASES[0][2])
    stalled(top, there, 1, 2)
    r = run(top, "-v", "beside", "stalls")
    ktap.check(r.stdout.splitlines()[-2].startswith("# run again: stalls/it") and r.stdout.count("beside/it #") == 1 and
               r.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped" and "    not ok 2 - its time" in r.stdout,
               "beside another test of its guest: only that one again, told in the end as well", r.stdout)
    stalled_gone(top)
    stalled(top, there, 0, 1)
    run(top, "stalls")
    ktap.check(stalled_gone(top) == (1, 0), "the logs of what was run again do not outlive the next run")

    # the guest dies after it: the rest, and what was falsified, in another one
    add_test(top, "tdies", GUEST, "kill -9 $(cat vm.pid)")
    add_test(top, "unharmed", GUEST, CASES[0][2])
    stalled(top, there, 1, 2)
    r = run(top, "stalls", "tdies", "unharmed")
    ktap.check(r.stdout.splitlines()[-1] == "4 passed, 1 failed, 0 skipped" and stalled_gone(top)[0] == 2,
               "where the guest of what was falsified dies: it and the rest are run in another", r.stdout)
    for folder in ("beside", "tdies", "unharmed"):
        shutil.rmtree(os.path.join(top, "selftests", folder))
    stalled(top, SHELL + "# stalls:\n", 1, 2)
    ktap.check(run(top, "stalls").returncode == 1, "to be judged by time, without saying what, is an error")
    shutil.rmtree(os.path.join(top, "selftests/stalls"))


# What dies of the emulator at first, in a guest and in one that it starts itself.
STALE = """echo run >>stale.runs
n=$(wc -l <stale.runs)
[ $n -ge {good} ] && echo 1..1 && echo ok 1 - a && exit
{die}
"""
DIES = {GUEST: ">emulator; kill -9 $(cat vm.pid)",
        SHELL: "echo 98 >>$KJOULE_BAD_GUESTS; echo 1..1; echo not ok 1 - a; exit 1"}


# Good when the other one begins while it runs.
MEET = """touch {me}.here
for i in $(seq {tries}); do [ -e {other}.here ] && break; sleep 0.1; done
echo 1..1
[ -e {other}.here ] || echo -n "not "
echo ok 1 - they meet
[ -e {other}.here ] || rm {me}.here
"""


def runs(pid):
    """Whether it is there, and no remains that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def check_ended(top, count, what, *names):
    """The runner is ended while so many processes, which have told who they are, run: none of them is left."""
    file, pids = os.path.join(top, "pids"), []
    p = subprocess.Popen([os.path.join(top, "selftests/run.sh"), *names], stdout=subprocess.DEVNULL)
    for _ in range(300):
        if os.path.exists(file):
            with open(file, encoding="ascii") as f:
                pids = f.read().split()
        if len(pids) == count:
            break
        time.sleep(0.1)
    p.terminate()
    code = p.wait(60)
    for _ in range(100):
        if not any(map(runs, pids)):
            break
        time.sleep(0.1)
    ktap.check(len(pids) == count and code == 143 and not any(map(runs, pids)), f"ended from outside {what}", (code, pids))
    os.unlink(file)


def check_beside(top):
    """What does not judge by time runs side by side, everything else alone."""
    others, one, two = (head + "# beside: others\n" for head in (SHELL, GUEST + "# vm: --no-chip --one\n", GUEST + "# vm: --share --two\n"))
    for what, heads, tries, counts, *options in (
            ("two that may run beside others meet", (others, others), 100, (2, 0, 0)),
            ("one that may does not meet one that may not", (others, SHELL), 10, (0, 2, 0)),
            ("nor do two that may not", (SHELL, SHELL), 10, (0, 2, 0)),
            ("two guests where nothing is judged by time meet", (one, two), 100, (2, 0, 0)),
            ("such a guest and one that may run beside others", (one, others), 100, (2, 0, 0)),
            ("not one that may not", (one, GUEST + "# vm: --share --two\n"), 10, (0, 2, 0)),
            ("not even with the same options", (one, GUEST + "# vm: --no-chip --one\n"), 10, (0, 2, 0)),
            ("nor two tests of a guest", (one, one), 10, (0, 2, 0)),
            ("nor two guests of the debug kernel", (one, two), 10, (0, 2, 0), "--debug")):
        if os.cpu_count() < 2 and counts[0]:
            ktap.skip(what, "this machine has one CPU")
            continue
        for me, other, head in (("this", "that", heads[0]), ("that", "this", heads[1])):
            add_test(top, me, head, MEET.format(me=me, other=other, tries=tries))
        r = run(top, *options, "this", "that")
        for here in glob.glob(os.path.join(top, "*.here")):
            os.unlink(here)
        want = "{} passed, {} failed, {} skipped".format(*counts)
        ktap.check(r.stdout.splitlines()[-1:] == [want] and r.returncode == bool(counts[1]), f"{what}: {want}", r.stdout)

    # what is ended would go on for much longer than anybody waits for it here
    for me in ("this", "that"):
        add_test(top, me, others, f"echo $$ >>{top}/pids; sleep 60 & echo $! >>{top}/pids; wait")
    check_ended(top, 2 * min(2, os.cpu_count()), "it ends all that run", "this", "that")
    # the made-up guest's batch; a real guest takes its tests along
    add_test(top, "this", one, f"cat vm.pid >>{top}/pids; echo $$ >{top}/inside; exec sleep 60")
    check_ended(top, 1, "it ends the guest", "this")
    with open(os.path.join(top, "inside"), encoding="ascii") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    for wrong in (SHELL + "# beside: those\n", others + "# stalls: time\n", one + "# stalls: time\n", GUEST + "# beside: others\n"):
        add_test(top, "this", wrong, "echo 1..1; echo ok 1 - a")
        r = run(top, "this")
        ktap.check(r.returncode == 1 and "passed," not in r.stdout, f"an error: {wrong!r}", r.stdout)
    for folder in ("this", "that"):
        shutil.rmtree(os.path.join(top, "selftests", folder))


def check_emulator(top):
    """A guest that the emulator has killed is no result, and another one is started; not for ever."""
    for head, die in DIES.items():
        for what, good, runs, counts in (("once", 2, 2, (1, 0, 0)), ("always", 9, 3, (0, 1, 0))):
            where = "its guest" if head == GUEST else "a guest of its own"
            add_test(top, "stale", head, STALE.format(good=good, die=die))
            r = run(top, "stale")
            with open(os.path.join(top, "stale.runs"), encoding="utf-8") as f:
                ran = len(f.readlines())
            os.unlink(os.path.join(top, "stale.runs"))
            want = "{} passed, {} failed, {} skipped".format(*counts)
            ktap.check(ran == runs and r.stdout.splitlines()[-1:] == [want] and
                       r.stdout.count("# run again: stale/it: QEMU ran a breakpoint that was gone in") == runs - 1,
                       f"the emulator ends {where} {what}: {runs} runs, {want}", r.stdout)
    shutil.rmtree(os.path.join(top, "selftests/stale"))


OOPS = ["[    1.0] fine", "[    2.0] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI", "[    2.1] RIP: 0010:somewhere+0x68/0x2f0",
        "[    2.2] Code: 44 00 00 {} <1f> 44 00 00", "[    2.3] Call Trace:"]


def check_stale_breakpoint():
    """What the kernel's log says of it: not with a breakpoint that is there, nor behind another complaint."""
    oops = lambda byte, first="": [first] + [line.format(byte) for line in OOPS]
    told = [kernel_log.stale_breakpoint(lines) for lines in (
        oops("0f"), oops("cc"), oops("0f", "BUG: before that"), OOPS[:3], OOPS[:1],
        [line.replace("int3", "general protection fault") for line in oops("0f")])]
    ktap.check(told == [True, False, False, False, False, False],
               "a breakpoint that was gone is known by the bytes that the kernel found", told)


def check_steal(top):
    """What the kernel says of it."""
    stat, told = os.path.join(top, "stat"), []
    for text in ("cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 100 0 0\n", "cpu  1 2 3 4\n", ""):
        write(stat, text)
        told.append(steal.seconds(stat))
    told.append(steal.seconds(stat + ".not-there"))
    chip = []
    for text in (f"{1500000000:020}\n", "", "no number"):
        write(stat, text)
        chip.append(steal.held(stat))
    chip.append(steal.held(stat + ".not-there"))
    ktap.check(chip == [1.5, 0, 0, 0], "and what the chip's cores were held for what the chip counted", chip)
    ktap.check(told == [250 / os.sysconf("SC_CLK_TCK"), 0, 0, 0], "the time that was taken is what the kernel counted, if it does",
               told)


def main():
    ktap.plan(len(CASES) + 56)
    with tempfile.TemporaryDirectory(prefix="kjoule-runner-") as top:
        make_tree(top)
        for i, (what, head, text, counts, code, says) in enumerate(CASES):
            folder = add_test(top, f"case{i}", head, text)
            r = run(top)
            want = "{} passed, {} failed, {} skipped".format(*counts)
            ktap.check(r.stdout.splitlines()[-1:] == [want] and r.returncode == code and says in r.stdout,
                       f"{what}: {want}, exit code {code}", f"exit code {r.returncode}, says:\n{r.stdout}")
            shutil.rmtree(os.path.join(top, folder))

        add_test(top, "one", *CASES[0][1:3])
        add_test(top, "two", *CASES[2][1:3])
        os.chmod(os.path.join(top, "selftests/two/test_it.sh"), 0o644)
        r = run(top)
        ktap.check(r.stdout.splitlines()[-1:] == ["2 passed, 1 failed, 0 skipped"] and r.returncode == 1 and
                   "not executable" in r.stdout, "a test that can not be run is a failure", r.stdout)
        r = run(top, "one")
        ktap.check(r.stdout.splitlines()[-1:] == ["2 passed, 0 failed, 0 skipped"] and r.returncode == 0,
                   "a name chooses", r.stdout)
        add_test(top, "guest", GUEST, "echo 1..1; echo ok 1 - $KJOULE_KERNEL")
        add_test(top, "host", SHELL, "echo 1..1; echo ok 1 - $KJOULE_KERNEL")
        r = run(top, "--kernel", "7.1", "-v", "guest", "host")
        ktap.check(r.stdout.count("    ok 1 - 7.1.2-made-up") == 2 and r.returncode == 0 and
                   os.path.exists(os.path.join(top, "build/test-logs/7.1.2-made-up/guest-it.log")),
                   "the release of the kernel that is asked for reaches the tests and scripts/vm", r.stdout)
        ktap.check(run(top, "--kernel", "7", "guest").returncode == 2, "a kernel that is not there is an error")
        shutil.rmtree(os.path.join(top, "selftests/guest"))
        shutil.rmtree(os.path.join(top, "selftests/host"))
        ktap.check(run(top, "three").returncode == 2, "a name that no test has is an error")
        r = run(top, "--list")
        ktap.check([line.split()[0] for line in r.stdout.splitlines()] == ["one/it", "two/it"], "--list names them",
                   r.stdout)

        shutil.rmtree(os.path.join(top, "selftests/one"))
        shutil.rmtree(os.path.join(top, "selftests/two"))
        check_stalls(top)
        check_beside(top)
        check_emulator(top)
        check_steal(top)
        check_stale_breakpoint()

        # What runs where, of the tests of the host and of guests.
        add_test(top, "one", *CASES[0][1:3])
        good = "echo 1..1; echo ok 1 - a"
        add_test(top, "only", SHELL + "# debug: only\n", good)
        add_test(top, "guest", GUEST, good)
        add_test(top, "slow", GUEST + "# debug: no it is about time\n", good)
        r = run(top)
        ktap.check(r.stdout.splitlines()[-1:] == ["4 passed, 0 failed, 1 skipped"] and "make check-debug" in r.stdout,
                   "what needs the debug kernel is skipped elsewhere", r.stdout)
        add_test(top, "long", SHELL + "# when: named it takes hours\n", good)
        r = run(top)
        ktap.check("it takes hours" in r.stdout and "make check-all" in r.stdout and r.stdout.splitlines()[-1:] == ["4 passed, 0 failed, 2 skipped"],
                   "what takes long is left out, and why", r.stdout)
        for names in (["--all"], ["long"]):
            r = run(top, *names)
            ktap.check(" long/it # 1 passed" in r.stdout and r.returncode == 0, f"but runs with {names[0]}", r.stdout)
        add_test(top, "too", SHELL + "# debug: too\n",
                 'echo 1..1; [ "$KJOULE_KERNEL" = debug ] || echo -n "not "; echo ok 1 - its guests have the kernel')
        r = run(top, "--debug")
        ktap.check(r.stdout.splitlines()[-1:] == ["3 passed, 0 failed, 1 skipped"] and "it is about time" in r.stdout,
                   "with --debug guests run, the host's tests that are for that, and no other", r.stdout)
        with open(os.path.join(top, "arguments")) as f:
            ktap.check(f.read().startswith("--kernel debug "), "with the debug kernel")
        add_test(top, "slow", GUEST + "# debug: no\n", good)
        ktap.check(run(top, "--debug").returncode == 1, "to leave one out, without saying why, is an error")
    ktap.end()


if __name__ == "__main__":
    main()
