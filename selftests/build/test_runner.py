#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
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
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

SHELL, UNIT, GUEST = "#!/bin/sh\n", "unit", "#!/bin/sh\n# where: guest\n"

# what it is, its head, its text, the runner's last line and exit code, and what it has to say
CASES = [
    ("two results", SHELL, "echo 1..2; echo ok 1 - a; echo ok 2 - b", (2, 0, 0), 0, ""),
    ("a failure next to a success", SHELL, "echo 1..2; echo ok 1 - a; echo not ok 2 - broken; exit 1", (1, 1, 0), 1,
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
     "# failed: no end after 1 s"),
    ("a unit test", UNIT, "", (1, 0, 0), 0, ""),
    ("a unit test that fails", UNIT, "fail();", (0, 1, 0), 1, "# failed: result"),
    ("a unit test's skip with its reason", UNIT, r'print_message("# SKIP no lamp\n"); skip();', (0, 0, 1), 1,
     "# skipped: result: no lamp"),
    ("a unit test's skip without reason", UNIT, "skip();", (0, 1, 1), 1, "# failed: a skip names no reason"),
    ("a test in a guest", GUEST, "echo 1..1; echo ok 1 - a", (1, 0, 0), 0, ""),
    ("a complaint of the guest's kernel", GUEST, "echo 1..1; echo ok 1 - a; echo 'BUG: made up' >>$CONSOLE",
     (1, 1, 0), 1, "# failed: kernel: BUG: made up"),
    ("a guest that dies", GUEST, "kill -9 $(cat vm.pid)", (0, 1, 0), 1, "# failed: the guest ended during this test"),
]

# The guests are made up too: the batch runs here, and marks a kernel log that is a file.
VM = """#!/bin/sh
arguments=
while [ "$1" != -- ]; do
	case $1 in
	--log) export CONSOLE="$2"; shift ;;
	--timeout) shift ;;
	*) arguments="$arguments$1 " ;;
	esac
	shift
done
echo "$arguments" >>arguments
: >"$CONSOLE"
"$2" "$3" &
echo $! >vm.pid
wait $!
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


def make_tree(top):
    for name in ("selftests/run.py", "selftests/run.sh", "vm/kernel_log.py"):
        os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
        shutil.copy(os.path.join(TOP, name), os.path.join(top, name))
    with open(os.path.join(TOP, "vm/batch")) as f:
        write(os.path.join(top, "vm/batch"), f.read().replace(">/dev/kmsg", '>>"$CONSOLE"'))
    write(os.path.join(top, "scripts/vm"), VM)
    write(os.path.join(top, "vm/guest_boot.py"), GUEST_BOOT)


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
    for name in ("KJOULE_KERNEL", "KJOULE_SEED"):    # of the runner that runs this
        os.environ.pop(name, None)
    return subprocess.run([os.path.join(top, "selftests/run.sh"), *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def remove(top, *folders):
    for folder in folders:
        shutil.rmtree(os.path.join(top, "selftests", folder))


# Good when the other one begins while it runs.
MEET = """touch {me}.here
for i in $(seq 100); do [ -e {other}.here ] && break; sleep 0.1; done
echo 1..1
[ -e {other}.here ] || echo -n "not "
echo ok 1 - they meet
[ -e {other}.here ] || rm {me}.here
"""


def runs(pid):
    """Whether it is there, and no zombie is left of it."""
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


def check_side_by_side(top):
    """Tests and guests run side by side; what is ended from outside is ended with all that runs."""
    one, two = (GUEST + f"# vm: --{vm}\n" for vm in ("one", "two"))
    for what, heads, *options in (
            ("two of the host", (SHELL, SHELL)), ("two guests", (one, two)), ("a guest and one of the host", (one, SHELL)),
            ("two that want a boot for themselves", (one + "# boot: own\n", one + "# boot: own\n")),
            ("two guests of the debug kernel", (one, two), "--debug")):
        if os.cpu_count() < 2:
            ktap.skip(f"{what} meet", "this machine has one CPU")
            continue
        for me, other, head in (("this", "that", heads[0]), ("that", "this", heads[1])):
            add_test(top, me, head, MEET.format(me=me, other=other))
        r = run(top, *options, "this", "that")
        for here in glob.glob(os.path.join(top, "*.here")):
            os.unlink(here)
        ktap.check(r.stdout.splitlines()[-1:] == ["2 passed, 0 failed, 0 skipped"] and r.returncode == 0, f"{what} meet", r.stdout)

    # what is ended would go on for much longer than anybody waits for it here
    for me in ("this", "that"):
        add_test(top, me, SHELL, f"echo $$ >>{top}/pids; sleep 60 & echo $! >>{top}/pids; wait")
    check_ended(top, 2 * min(2, os.cpu_count()), "it ends all that run", "this", "that")
    # the made-up guest's batch; a real guest takes its tests along
    add_test(top, "this", one, f"cat vm.pid >>{top}/pids; echo $$ >{top}/inside; exec sleep 60")
    check_ended(top, 1, "it ends the guest", "this")
    with open(os.path.join(top, "inside"), encoding="ascii") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    remove(top, "this", "that")


def check_once(top):
    """What fails is reported once, and nothing is run again; what a dead guest has not begun is."""
    count = "echo run >>{0}.runs; echo 1..1; echo not ok 1 - broken; exit 1"
    for head, where in ((SHELL, "here"), (GUEST, "in a guest")):
        add_test(top, "once", head, count.format("once"))
        r = run(top, "once")
        with open(os.path.join(top, "once.runs"), encoding="ascii") as f:
            ran = len(f.readlines())
        os.unlink(os.path.join(top, "once.runs"))
        ktap.check(ran == r.stdout.count("not ok 1 once/it #") == r.stdout.count("# failed: broken") == 1,
                   f"what fails {where} is run once and reported once", r.stdout)
    remove(top, "once")
    add_test(top, "dies", GUEST, "kill -9 $(cat vm.pid)")
    add_test(top, "unharmed", GUEST, CASES[0][2])
    boots(top)
    r = run(top, "dies", "unharmed")
    ktap.check(r.stdout.splitlines()[-1] == "2 passed, 1 failed, 0 skipped" and boots(top) == 2,
               "where a guest dies, the rest is run in another", r.stdout)
    remove(top, "dies", "unharmed")


def boots(top):
    """Return how many guests were started since this was asked last."""
    path = os.path.join(top, "arguments")
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as f:
        n = len(f.readlines())
    os.unlink(path)
    return n


def check_boots(top):
    """Tests that ask for the same guest share boots, but not too many of them one."""
    names = [f"guest{i:02}" for i in range(13)]
    for name in names:
        add_test(top, name, GUEST + "# vm: --some\n", "echo 1..1; echo ok 1 - a")
    listed = [run(top, "--list", "guest").stdout for _ in range(2)]
    of_boot = [line.split(" boot ")[1].split(":")[0] for line in listed[0].splitlines()]
    ktap.check(sorted(map(of_boot.count, set(of_boot))) == [4, 4, 5] and listed[0] == listed[1],
               "a large group is split into boots, each time the same", listed)
    boots(top)
    r = run(top, "guest")
    ktap.check(r.stdout.splitlines()[-1] == "13 passed, 0 failed, 0 skipped" and boots(top) == 3, "and run in them", r.stdout)
    r = run(top, *names[:6])
    ktap.check(r.returncode == 0 and boots(top) == 1, "a small one shares one boot", r.stdout)
    add_test(top, names[0], GUEST + "# vm: --other\n", "echo 1..1; echo ok 1 - a")
    add_test(top, names[1], GUEST + "# vm: --some\n# boot: own\n", "echo 1..1; echo ok 1 - a")
    r = run(top, *names[:6])
    ktap.check(r.returncode == 0 and boots(top) == 3, "other options are another guest, and so is a boot of its own", r.stdout)
    remove(top, *names)


def check_heads(top):
    """What the runner does not know it does not pass over."""
    add_test(top, "head", SHELL, "")
    for head, complaint in (("stalls: its time", "is no head"), ("where: host\n# stalls: its time", "is no head"), ("beside: others", "is no head"),
                            ("where: here", "is not as"), ("boot: mine", "is not as"), ("timeout: long", "is not as"), ("timeout: 0", "is not as"),
                            ("when: named", "is not as"), ("debug: no", "is not as")):
        add_test(top, "head", SHELL, f"\n# {head}\n" + CASES[0][2])
        r = run(top, "head")
        wrong = head.split("# ")[-1].split(":")[0] + ":"
        ktap.check(r.returncode == 1 and "passed," not in r.stdout and f"head/test_it.sh: {wrong}" in r.stdout and complaint in r.stdout,
                   f"an error: {head!r}", r.stdout)
    add_test(top, "head", SHELL, "# In prose a line may begin with any word and that\n# sign: like this.\n# where: host\n" + CASES[0][2])
    ktap.check(run(top, "head").returncode == 0, "prose is none")
    remove(top, "head")


def main():
    ktap.plan(len(CASES) + 39)
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
                   "not executable" in r.stdout, "a test that cannot be run is a failure", r.stdout)
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
        add_test(top, "guest", GUEST, "echo 1..1; echo ok 1 - the seed is ${KJOULE_SEED-none}")
        add_test(top, "host", SHELL, "echo 1..1; echo ok 1 - the seed is ${KJOULE_SEED-none}")
        for options, seed in (["--seed", "7"], "7"), ([], "none"):
            r = run(top, *options, "-v", "guest", "host")
            ktap.check(r.stdout.count(f"    ok 1 - the seed is {seed}\n") == 2, f"the seed that reaches them: {seed}", r.stdout)
        ktap.check(run(top, "--seed", "many").returncode == 2, "a seed that is no number is an error")
        remove(top, "guest", "host")
        ktap.check(run(top, "three").returncode == 2, "a name that no test has is an error")
        r = run(top, "--list")
        ktap.check([line.split()[0] for line in r.stdout.splitlines()] == ["one/it", "two/it"], "--list names them",
                   r.stdout)

        remove(top, "one", "two")
        check_once(top)
        check_side_by_side(top)
        check_boots(top)
        check_heads(top)

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
            ktap.check(f.readlines()[-1].startswith("--kernel debug "), "with the debug kernel")
    ktap.end()


if __name__ == "__main__":
    main()
