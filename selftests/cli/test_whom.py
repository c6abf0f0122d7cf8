#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""Children, one thread, a cgroup: who is recorded is who was asked for, and no others."""
import os
import time

from cli import (ktap, record, start, start_threads, end, report, rows, script, says, path, need_root,
                 MIX)

CGROUP = "/sys/fs/cgroup/kjoule-test"


def children():
    command = ("sh", "-c", f"{MIX} 3; {MIX} 3")
    record("-o", path("family"), "--", *command)
    doc, _ = report(path("family"))
    busy = [x for x in rows(doc, "process") if x["comm"] == "mix" and x["samples"] > 50]
    ktap.check(len({x["pid"] for x in busy}) == 2 and doc["inherit"], "a command is recorded with its children", busy)
    record("--no-inherit", "-o", path("alone"), "--", *command)
    doc, _ = report(path("alone"))
    busy = [x for x in rows(doc, "process") if x["comm"] == "mix" and x["samples"]]
    ktap.check(not busy and not doc["inherit"], "--no-inherit: without them", busy)


def thread():
    p = start_threads(0)
    tids = [int(p.stdout.readline()) for _ in range(2)]
    r = record("-t", tids[1], "--duration", "1500ms", "-o", path("thread"))
    lines, _ = script(path("thread"))
    seen = {line["tid"] for line in lines if line["type"] == "sample"}
    ktap.check(r.code == 0 and seen == {tids[1]}, "-t: one thread and no other", (tids, seen, r))
    doc, _ = report(path("thread"))
    ktap.check(doc and doc["target"] == "thread" and doc["pid"] == tids[1], "the report says so")
    ktap.check(doc and any("libz" in row["object"] for row in rows(doc, "function")), "and finds its code",
               doc and rows(doc, "function")[:3])
    end(p)
    says("a thread that is not there", record("-t", 4000000), 1, "-t 4000000: there is no such thread")


def cgroup():
    if not os.path.exists("/sys/fs/cgroup/cgroup.procs"):
        ktap.skip("--cgroup", "no cgroup of version 2: mount -t cgroup2 none /sys/fs/cgroup")
        return
    os.makedirs(CGROUP, exist_ok=True)
    inside, outside = start(MIX, "20"), start(MIX, "20")
    with open(CGROUP + "/cgroup.procs", "w") as f:
        f.write(str(inside.pid))
    r = record("--cgroup", "kjoule-test", "--duration", "1500ms", "-o", path("cgroup"))
    doc, _ = report(path("cgroup"))
    seen = {row["pid"] for row in rows(doc, "process") if row["samples"]} if doc else None
    ktap.check(r.code == 0 and seen == {inside.pid}, "--cgroup: its processes and no others",
               (inside.pid, outside.pid, seen, r))
    ktap.check(doc and doc["cgroup"] == "kjoule-test", "the report says so")
    for p in (inside, outside):
        end(p)
    time.sleep(0.2)
    os.rmdir(CGROUP)
    says("a cgroup that is not there", record("--cgroup", "kjoule-test", "--duration", "1s"), 1,
         "--cgroup kjoule-test: /sys/fs/cgroup/kjoule-test: No such file or directory")
    says("a folder that is none", record("--cgroup", "/tmp", "--duration", "1s"), 1, "/tmp is no cgroup")


def main():
    need_root()
    children()
    thread()
    cgroup()
    ktap.end()


main()
