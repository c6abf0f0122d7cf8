#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 180
"""record --user: the command has no right of root's, and its recording lacks nothing.

Samples, children, callers, regions and code that was made at run time are those of a process of another user
then. The recording stays root's.
"""
import os
import pwd
import shutil
import stat
import sys

from cli import ktap, run, kjoule, record, report, rows, script, says, path, need_root, KJOULE, MIX

USER = pwd.getpwnam("nobody")
REGIONS = os.path.join(os.path.dirname(MIX), "regions")
ASKS = "id; echo $HOME $USER; ls /proc/self/fd | tail -n 1; ulimit -n; umask; pwd; cat /proc/self/status; " \
    "cat /etc/shadow; "
# A loop of machine code in memory without a file, whose name is in /tmp/perf-PID.map.
JIT = """
import ctypes, mmap, os
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\\xb9\\x00\\xca\\x9a\\x3b\\xff\\xc9\\x75\\xfc\\xc3")
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
with open(f"/tmp/perf-{os.getpid()}.map", "w") as f:
    f.write(f"{at:x} a made_at_run_time\\n")
ctypes.CFUNCTYPE(None)(at)()
"""


def functions(doc, comm):
    """Samples of its functions, by name."""
    return {row["function"]: row["samples"] for row in rows(doc, "function") if row["comm"] == comm} if doc else {}


def programs():
    """In a folder where that user may look for them."""
    os.chmod(path(""), 0o1777)
    for name in (MIX, REGIONS):
        shutil.copy(name, path(os.path.basename(name)))
    return path("mix"), path("regions")


def rights(mix):
    os.umask(0o027)
    r = record("--user", USER.pw_name, "-o", path("rights"), "--", "sh", "-c", ASKS + f"{mix} 1; {mix} 1")
    os.umask(0o022)
    lines = [line.split(":", 1) for line in r.out.splitlines() if ":" in line]
    status = {name: value.split() for name, value in lines}
    ktap.check(status.get("Uid") == [str(USER.pw_uid)] * 4 and status.get("Gid") == [str(USER.pw_gid)] * 4 and
               status.get("Groups") == [str(USER.pw_gid)], "all ids and groups are the user's", r)
    ktap.check({f"Cap{s}": int(status.get(f"Cap{s}", ["f"])[0], 16) for s in ("Inh", "Prm", "Eff", "Amb")} ==
               {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0}, "and no capability is left", r)
    ktap.check("/etc/shadow: Permission denied" in r.err, "what is root's cannot be read", r)
    ktap.check(f"{USER.pw_dir} {USER.pw_name}" in r.out and "\n0027\n" in r.out and f"\n{os.getcwd()}\n" in r.out,
               "home and name are the user's, umask and folder stay", r)
    doc, _ = report(path("rights"))
    of_mix = [row for row in rows(doc, "process") if row["comm"] == "mix" and row["samples"] > 50] if doc else []
    ktap.check(len(of_mix) == 2, "the command and its children are recorded", doc and rows(doc, "process"))
    # which of them run in so short a time is random
    ktap.check(any(name.startswith("work_") and n > 50 for name, n in functions(doc, "mix").items()),
               "their functions have names", functions(doc, "mix"))
    st = os.stat(path("rights"))
    ktap.check((st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)) == (0, 0, 0o600), "the recording is root's alone", st)


def callers(mix):
    r = record("--user", USER.pw_uid, "--call-graph", "dwarf,2048", "-q", "-o", path("callers"), "--", mix, "1")
    says("by number, and with copies of its stack", r, 0)
    lines, _ = script(path("callers"))
    called = [line for line in lines if any(c["symbol"] == "main" for c in line.get("callers", []))]
    ktap.check(len(called) > 50, "which are unwound", (len(lines), lines[-1:]))


def regions(marks):
    for what, command in (("the command", (marks, "2")),
                          ("what it starts without our descriptor",
                           (sys.executable, "-c", f"import subprocess; subprocess.run(['{marks}', '2'], check=True)"))):
        r = record("--user", USER.pw_name, "-q", "-o", path("regions.data"), "--", *command)
        doc, _ = report(path("regions.data"), "--by", "region")
        seen = {row["region"] for row in rows(doc, "region") if row["comm"].startswith("regions")} if doc else set()
        # which of its phases come in so short a time is random
        ktap.check(r.code == 0 and len(seen - {"[outside of regions]"}) > 1, f"{what} marks its regions", (r, sorted(seen)))


def code_made_at_run_time():
    r = record("--user", USER.pw_name, "-q", "-o", path("jit"), "--", sys.executable, "-c", JIT)
    doc, _ = report(path("jit"))
    seen = {row["function"]: row["samples"] for row in rows(doc, "function")} if doc else {}
    ktap.check(r.code == 0 and seen.get("made_at_run_time", 0) > 50, "names of code that the user's process made are taken",
               (r, seen))


def refusals():
    ran = path("ran")
    for name in ("no-such-user", "4000000000"):
        r = record("--user", name, "-o", path("none"), "--", "touch", ran)
        says(f"no user {name}", r, 1, f"cannot run the command as '{name}': no such user")
    binary = path("kjoule")
    shutil.copy(KJOULE, binary)
    r = run("setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups", "--inh-caps=+perfmon",
            "--ambient-caps=+perfmon", binary, "record", "--user", "root", "-o", path("none"), "--", "touch", ran)
    says("who is not root cannot become root", r, 1,
         "cannot run the command as 'root': Operation not permitted; run kjoule as root, with sudo")
    r = run("unshare", "--map-root-user", KJOULE, "record", "--user", USER.pw_name, "-o", path("none"),
            "--", "touch", ran)
    says("nor a root of its own user namespace", r, 1, f"cannot run the command as '{USER.pw_name}': ")
    ktap.check(not os.path.exists(ran) and not os.path.exists(path("none")), "nothing was started, and no file made")
    os.mkdir(path("mine"), 0o700)
    shutil.copy("/bin/true", path("mine/true"))
    says("a program that the user may not execute", record("--user", USER.pw_name, "--", path("mine/true")), 126,
         path("mine/true"), "Permission denied")


def other_verbs():
    r = kjoule("sweep", "--freq", "keep", "--no-calibrate", "-q", "--user", USER.pw_name, "-o", path("swept"), "--", "id", "-u")
    said = run("sh", "-c", f"cat {path('swept')}/*.out").out
    ktap.check(said == f"{USER.pw_uid}\n", "sweep runs it as that user", (r, said))
    r = kjoule("boost", "run", "--runs", "1", "--history", "as-is", "--boosted", "2GHz", "--sustained", "1GHz", "--show-output",
               "--user", USER.pw_name, "--", "id", "-u")
    ktap.check(f"{USER.pw_uid}\n" in r.err, "so does boost run", r)
    # so short a load gives no result, which is its exit code
    r = kjoule("boost", "trace", "--idle", "100ms", "--duration", "3s", "--user", USER.pw_name, "--",
               "sh", "-c", f"id -u >>{path('load')}")
    with open(path("load"), encoding="utf-8") as f:
        ktap.check(set(f.read().split()) == {str(USER.pw_uid)}, "and boost trace its load", r)


def sudo():
    env = dict(os.environ, SUDO_USER=USER.pw_name)
    note = f"kjoule: the command runs as root; run it as yourself with --user {USER.pw_name}\n"
    r = record("--runs", "2", "-o", path("runs.data"), "--", "true", env=env)
    ktap.check(r.code == 0 and r.err.count(note) == 1, "sudo kjoule record says once whom its runs run as", r)
    r = record("--user", USER.pw_name, "--runs", "2", "-o", path("runs.data"), "--", "id", "-u", env=env)
    ktap.check(r.code == 0 and note not in r.err and r.out == f"{USER.pw_uid}\n" * 2,
               "not with --user, which is for each of them", r)
    r = record("-a", "--duration", "100ms", "-o", path("all.data"), env=env)
    ktap.check(r.code == 0 and note not in r.err, "nor without a command", r)


def main():
    need_root()
    mix, marks = programs()
    rights(mix)
    callers(mix)
    regions(marks)
    code_made_at_run_time()
    refusals()
    other_verbs()
    sudo()
    ktap.end()


main()
