#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""What cannot be done is refused before anything is started, and the message helps.

Each promise takes otherwise valid input, wants the exit code, and wants a message that
says what was asked, what was found and what to do. A command that was to be recorded
must not have run. What one command line shows is in the file stanzas.
"""
import json
import os
import shutil
import subprocess
import sys

from cli import ktap, kjoule, run, says, path, start, end, rows, KJOULE, MODULES

RAN = path("ran")
COMMAND = ("--", "touch", RAN)
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def not_run(description, result, code, *parts):
    """As says(), and the command did not run."""
    ran = os.path.exists(RAN)
    if ran:
        os.unlink(RAN)
        ktap.not_ok(description, "the command ran all the same\n" + result.err)
    else:
        says(description, result, code, *parts)


def record(*options, **more):
    return kjoule("record", "--no-calibrate", "-o", path("data"), *options, **more)


def the_target():
    threads = start(sys.executable, "-c",
                    "import threading, time; t = threading.Thread(target=time.sleep, args=(60,)); t.start();"
                    "print(t.native_id, flush=True); t.join()")
    tid = int(threads.stdout.readline())
    says("a thread is no process", record("-p", tid), 1, f"-p {tid}: that is a thread; name its process")
    end(threads)


def planted():
    """What another user has laid where root records, in a folder that all can write to."""
    os.chmod(path(""), 0o755)
    os.mkdir(path("sticky"))
    os.chmod(path("sticky"), 0o1777)
    with open(path("victim"), "w") as f:
        f.write("precious")
    subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
                    "umask 0; echo planted >file; mkfifo fifo; ln -s ../victim link"], cwd=path("sticky"), check=True)
    os.link(path("victim"), path("sticky/names"))
    for name, what in (("file", "belongs to user 65534, not to user 0"), ("fifo", "is not a regular file"),
                       ("link", "is a symbolic link"), ("names", "is known by 2 names")):
        not_run(f"an output that was planted: {what}",
                kjoule("record", "--no-calibrate", "-o", path("sticky/" + name), *COMMAND), 1,
                path("sticky/" + name), what, "name another file with -o")
    with open(path("sticky/file")) as f, open(path("victim")) as g:
        ktap.check(f.read() == "planted\n" and g.read() == "precious", "nothing was written to it")
    r = kjoule("record", "--no-calibrate", "-o", path("sticky/own"), "--", "true")
    ktap.check(r.code == 0 and os.stat(path("sticky/own")).st_mode & 0o777 == 0o600,
               "a new file there is root's alone", r)
    ktap.check(sorted(os.listdir(path("sticky"))) == ["fifo", "file", "link", "names", "own"],
               "and leaves no other", os.listdir(path("sticky")))
    os.rename(path("sticky/file"), path("sticky/kjoule.data"))
    says("a kjoule.data of another user, unnamed", kjoule("report", cwd=path("sticky")), 1,
         "'kjoule.data' belongs to user 65534, not to user 0 or root; give its name to read it")


def the_permission():
    binary = path("kjoule")
    shutil.copy(KJOULE, binary)
    os.chmod(binary, 0o755)
    os.chmod(path(""), 0o777)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary)
    bare = ("setpriv", "--bounding-set=-perfmon,-sys_admin", "--inh-caps=-perfmon,-sys_admin", binary)
    wanted = ("/dev/kjoule: ", "it needs CAP_PERFMON: run it with sudo")
    says("list as an ordinary user", run(*nobody, "list"), 1, *wanted)
    not_run("record as an ordinary user", run(*nobody, "record", "-o", path("nobody"), *COMMAND), 1, *wanted)
    ktap.check(not os.path.exists(path("nobody")), "no file is made for it")
    says("list as root without CAP_PERFMON and CAP_SYS_ADMIN", run(*bare, "list"), 1, *wanted)
    not_run("record as root without CAP_PERFMON and CAP_SYS_ADMIN",
            run(*bare, "record", "-o", path("data"), *COMMAND), 1, *wanted)
    perfmon = ("setpriv", "--bounding-set=-all,+perfmon", "--inh-caps=-all", binary, "record", "--no-calibrate",
               "-o", path("perfmon.data"), *COMMAND)
    with open(PARANOID) as f:
        before = f.read()
    try:
        with open(PARANOID, "w") as f:
            f.write("2")
        r = run(*perfmon)
        ktap.check(r.code == 0 and os.path.exists(RAN), "CAP_PERFMON alone is enough for a command", r)
        if os.path.exists(RAN):
            os.unlink(RAN)
        with open(PARANOID, "w") as f:
            f.write("3")    # what Debian adds: perf is for CAP_SYS_ADMIN only
        with open(path("perfmon.data"), "rb") as f:
            measured = f.read()
        not_run("where perf wants more, that is said", run(*perfmon), 1,
                "side band", "CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2: run it with sudo")
        with open(path("perfmon.data"), "rb") as f:
            ktap.check(f.read() == measured, "and what was measured before is still there")
    finally:
        with open(PARANOID, "w") as f:
            f.write(before)


def the_group():
    """As the manual says: no root, but a group that the device is open to, and CAP_PERFMON."""
    device = os.stat("/dev/kjoule")
    binary = path("kjoule")

    def member(caps, *command):
        return run("setpriv", "--reuid=65534", "--regid=65533", "--clear-groups", "--inh-caps=-all" + caps,
                   "--ambient-caps=-all" + caps, binary, *command)

    with open(PARANOID) as f:
        before = f.read()
    try:
        with open(PARANOID, "w") as f:
            f.write("2")
        os.chmod("/dev/kjoule", 0o660)
        says("who is not of the device's group reads so", member(",+perfmon", "list"), 1, "/dev/kjoule: Permission denied")
        os.chown("/dev/kjoule", -1, 65533)
        ktap.check(member(",+perfmon", "list").code == 0, "who is may look at the sources")
        whole = ("record", "--no-calibrate", "-q", "-a", "-F", "1000", "-o", path("group.data"), "--", "dd", "if=/dev/zero",
                 "of=/dev/null", "bs=1M", "count=300")
        for caps, named in ((",+perfmon", False), (",+perfmon,+syslog", True)):
            r = member(caps, *whole)
            # read by who may not see the running kernel's names either
            told = member("", "report", "--json", path("group.data"))
            doc = json.loads(told.out) if told.code == 0 else {"rows": []}
            names = {row["function"] for row in rows(doc, "function") if row["object"] == "[kernel]"}
            ktap.check(r.code == 0 and names and ("[unknown]" not in names) == named,
                       f"{caps[1:]} records all, {'with' if named else 'without'} the kernel's names", (r, sorted(names)[:9]))
            ktap.check(("CAP_SYSLOG" in r.err) != named, "and says what is missing, if it is", r.err)
    finally:
        os.chown("/dev/kjoule", device.st_uid, device.st_gid)
        os.chmod("/dev/kjoule", device.st_mode & 0o7777)
        with open(PARANOID, "w") as f:
            f.write(before)


def the_quota():
    """Rings that a user may not have are made smaller, but not those that he has asked for."""
    parameter = "/sys/module/kjoule/parameters/ring_kib_per_cpu"
    mine = ("prlimit", "--memlock=4194304", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", KJOULE,
            "record", "--no-calibrate", "-o", path("quota"), "--call-graph", "dwarf")
    with open(parameter) as f:
        before = f.read()
    try:
        with open(parameter, "w") as f:
            f.write("1024")     # for two CPUs, and 4 MiB: three rings of 2 MiB or less
        r = run(*mine, *COMMAND)
        ktap.check(r.code == 0 and os.path.exists(RAN) and
                   "a ring has 2048 KiB instead of 8192 KiB" in r.err and "you may have 6144" in r.err,
                   "rings for stacks are as large as they may be", r)
        if os.path.exists(RAN):
            os.unlink(RAN)
        not_run("a size that was given is refused where it is too large", run(*mine, "--ring-bytes", "8M", *COMMAND), 1,
                "make a session: rings of ", "you may have 6144", "smaller rings (--ring-bytes)")
    finally:
        with open(parameter, "w") as f:
            f.write(before)


def the_module():
    subprocess.run(["rmmod", "kjoule"], check=True)
    try:
        wanted = ("/dev/kjoule: no such device; load the module with `sudo modprobe kjoule`",)
        says("list without the module", kjoule("list"), 1, *wanted)
        with open(path("before"), "w") as f:
            f.write("measured")
        not_run("record without the module", kjoule("record", "-o", path("before"), *COMMAND), 1, *wanted)
        with open(path("before")) as f:
            ktap.check(f.read() == "measured", "an older file is left alone then")
    finally:
        subprocess.run(["insmod", os.path.join(MODULES, "kjoule/kjoule.ko")], check=True)
    r = kjoule("list")
    ktap.check(r.code == 0 and "rapl-msr" in r.out, "it works when the module is back", r)


def main():
    the_target()
    planted()
    the_permission()
    the_group()
    the_quota()
    the_module()
    ktap.end()


main()
