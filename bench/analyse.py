# SPDX-License-Identifier: GPL-2.0-or-later
#
# Speed and memory of analysis: kjoule report next to perf report, on the same samples of the same program, on one core.
# What they are made with is bench/recordings.c.
import collections
import os
import subprocess
import time

from bench import bench

FUNCTIONS = 10_000
SAMPLES = 100_000_000
PERF_SAMPLES = 10_000_000    # a file of perf's has 48 bytes for each

Run = collections.namedtuple("Run", "seconds megabytes text")


def run(*command):
    """A command on one core: how long it took, how much memory it had at most, what it said."""
    with open(os.path.join(bench.OUT, "analyse.out"), "w+", encoding="utf-8") as out:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL,
                                 preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        out.seek(0)
        text = out.read()
    if child.returncode:
        raise bench.BenchError(f"{' '.join(command)} failed with exit code {child.returncode}")
    return Run(seconds, usage.ru_maxrss / 1024, text)


def path(name):
    return os.path.join(bench.OUT, name)


def make(samples, perf_samples):
    """The program, the recording and perf's; return how many functions the program has."""
    tool = os.path.join(bench.BUILD, "user/bench/recordings")
    if not os.path.exists(tool):
        raise bench.BenchError(f"{tool} is not there; build it with `make user`")
    os.makedirs(bench.OUT, exist_ok=True)
    with open(path("analyse.S"), "w", encoding="utf-8") as f:
        subprocess.run([tool, "source", str(FUNCTIONS)], stdout=f, check=True)
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id", "-o", path("analyse.program"), path("analyse.S")],
                   check=True)
    subprocess.run([tool, "samples", path("analyse.program"), str(samples), path("analyse.data"), path("analyse.perf"),
                    str(perf_samples)], check=True)


def kjoule(*options):
    return run(os.path.join(bench.BUILD, "user/kjoule"), "report", *options, path("analyse.data"))


def perf():
    """perf report of its file; the fastest of three, the first of which reads the file from the disk."""
    return min(run("perf", "report", "--stdio", "-s", "sym", "-i", path("analyse.perf")) for _ in range(3))


def clean():
    for name in ("analyse.S", "analyse.program", "analyse.data", "analyse.perf", "analyse.out"):
        if os.path.exists(path(name)):
            os.unlink(path(name))
