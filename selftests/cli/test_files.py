#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 150
"""A disk that fills up, a file that was cut or damaged, a file that is none: nothing good is lost.

Every reader ends with 0 or 1, says what is wrong, and never by a signal.
"""
import os
import random
import subprocess

from cli import (ktap, kjoule, start, finish, end, report, script, samples, complaints, says,
                 path, KJOULE, MIX)

CUTS, FLIPS = 8, 16


def disk_full():
    os.mkdir(path("small"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path("small")], check=True)
    data, mark = path("small/data"), path("done")
    busy = start(MIX, "30")
    t = start(KJOULE, "record", "--no-calibrate", "-F", "4000", "-o", data, "-a", "--", "sh", "-c",
              f"{MIX} 6; echo on >{mark}")
    r = finish(t)
    end(busy)
    ktap.check(r.code == 1 and f"{data}: writing: No space left on device; what was written before is kept" in r.err,
               "a disk that is full is said, and the recording has failed", r)
    ktap.check(r.err.count("No space left") == 1, "it is said once", r)
    ktap.check(os.path.exists(mark), "the command is not ended by it")
    doc, r = report(data)
    ktap.check(doc and r.code == 1 and samples(doc) > 1000, "what was written before is reported",
               doc and samples(doc) or r)
    ktap.check(len(complaints(r)) == 1 and "cut short" in r.err, "all that is wrong with the file is that it has no end",
               r.err)
    r = kjoule("record", "--no-calibrate", "-o", data, "--", "true")
    ktap.check(r.code == 0, "the file's own place can be used again", r)
    subprocess.run(["umount", path("small")], check=True)


def not_a_recording():
    says("report of a file that is missing", kjoule("report", path("missing")), 1, path("missing"), "No such file")
    says("script of a file that is missing", kjoule("script", path("missing")), 1, path("missing"), "No such file")
    r = kjoule("report", cwd=path(""))
    says("report without a file in a folder without kjoule.data", r, 1, "kjoule.data", "No such file")
    with open(path("empty"), "w"):
        pass
    for name, what in ((path("empty"), "an empty file"), (KJOULE, "a program"),
                       ("/etc/passwd", "a text")):
        for verb in ("report", "script"):
            says(f"{verb} of {what}", kjoule(verb, name), 1, name, "not a kjoule data file")
    for name in (path(""), "/dev/null"):
        says(f"report of {'the null device' if name == '/dev/null' else 'a directory'}", kjoule("report", name), 1,
             f"{name}: not a regular file")


def damaged(whole, total):
    with open(whole, "rb") as f:
        data = f.read()
    # The header is 24 bytes, the one of a chunk 32; whole chunks as well as parts of one.
    cuts = [1, 23, 24, 40] + [len(data) * i // CUTS for i in range(1, CUTS)] + [len(data) - 8]    # less is padding
    seen, bad = [], []
    last = 0
    for cut in cuts:
        with open(path("cut"), "wb") as f:
            f.write(data[:cut])
        doc, r = report(path("cut"))
        seen.append(bool(doc))
        found = samples(doc) if doc else 0
        if r.code != 1 or not complaints(r) or found > total or found < last:
            bad.append((cut, r.code, found, r.err))
        last = max(last, found)
    ktap.check(not bad, "a file that was cut anywhere: reported as far as it goes, and said to be cut", bad)
    ktap.check(seen[:4] == [False] * 4 and seen[-1], "without its beginning there is nothing to report", seen)
    ktap.check(last > 0.5 * total, "cut at its very end it has most of its samples", (last, total))
    rng = random.Random(1)
    bad = []
    for at in [0, 9, 13, 21, 25, 30, 41, 50] + [rng.randrange(56, len(data)) for _ in range(FLIPS)]:
        broken = bytearray(data)
        broken[at] ^= 1 << rng.randrange(8)
        with open(path("flipped"), "wb") as f:
            f.write(broken)
        doc, r = report(path("flipped"))
        # A bit of the padding between chunks means nothing.
        if r.code not in (0, 1) or (r.code == 1) != bool(complaints(r)) or (doc and samples(doc) > total):
            bad.append((at, r.code, doc and samples(doc), r.err))
    ktap.check(not bad, "a file with a bit flipped anywhere: no crash, and said to be damaged", bad)
    broken = bytearray(data)
    for i in range(16):
        broken[len(data) // 2 + i] ^= 0xff
    with open(path("flipped"), "wb") as f:
        f.write(broken)
    lines, r = script(path("flipped"))
    ktap.check(r.code == 1 and "damaged" in r.err and f"{path('flipped')}:" in r.err and
               sum(line["type"] == "sample" for line in lines) > 0, "script gives what is good of a damaged file", r.err)
    with open(path("newer"), "wb") as f:
        f.write(data[:12] + b"\x63" + data[13:])
    r = kjoule("report", path("newer"))
    ktap.check(r.code == 1 and complaints(r), "a header that is damaged is no valid one", r)
    with open(path("twice"), "wb") as f:
        f.write(data + b"\0" * 4096)
    doc, r = report(path("twice"))
    ktap.check(r.code in (0, 1) and complaints(r) and doc and samples(doc) == total,
               "zeros behind the end, as after a power cut, cost nothing", r.err)


def main():
    disk_full()
    not_a_recording()
    r = kjoule("record", "--no-calibrate", "-q", "-F", "2000", "-o", path("whole"), "--", MIX, "2")
    doc, r = report(path("whole"))
    ktap.check(doc and r.code == 0 and not complaints(r), "a whole file is reported without complaint", r.err)
    damaged(path("whole"), samples(doc))
    ktap.end()


main()
