# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the benchmarks share: running a command in a laboratory guest, and printing
# figures. A figure is measured in this run; nothing here knows a result.
import collections
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, "build")
OUT = os.path.join(BUILD, "bench", os.environ.get("KJOULE_TEST", ""))    # a test's own, where tests run side by side
GUEST_COST = 5    # seconds of this machine's, at most, for one of a guest's


JOBS = itertools.count()

# What one of several guests does, and what its caller knows it by.
Job = collections.namedtuple("Job", "key script options timeout")


class BenchError(Exception):
    """The figure could not be measured."""


def guest(script, *options, timeout=300):
    """Run a shell script in a guest, which may take so long by its clock; return what it printed."""
    os.makedirs(OUT, exist_ok=True)
    path = os.path.join(OUT, f"job-{os.getpid()}-{next(JOBS)}.sh")
    with open(path, "w", encoding="utf-8") as f:
        # a copy, so that a build meanwhile does not change what is measured
        f.write(f"set -e\ncd {TOP}\nmkdir /tmp/bench\ncp {BUILD}/user/kjoule /tmp/bench/\n"
                f"PATH=/tmp/bench:$PATH\nT=build/selftests\n" + script)
    command = [os.path.join(TOP, "scripts/vm"), "--timeout", str(GUEST_COST * timeout), *options, "--", "bash", path]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    finally:
        os.unlink(path)
    if done.returncode:
        raise BenchError(f"the guest's command failed with exit code {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def guests(jobs, cpus, alone=False):
    """Run guests of so many CPUs each, as many side by side as this machine has CPUs for; yield their keys.

    @alone: one after the other, where a neighbour is felt: edges, and code on the page of an armed breakpoint, which is emulated slowly.
    Nothing of them runs between two yields: what is done with one's result disturbs no guest.
    """
    beside = 1 if alone else max(1, os.cpu_count() // cpus)
    for first in range(0, len(jobs), beside):
        some = jobs[first:first + beside]
        share = ["--share"] if len(some) > 1 else []
        with concurrent.futures.ThreadPoolExecutor(len(some)) as pool:
            list(pool.map(lambda job, more=tuple(share): guest(job.script, "--cpus", str(cpus), *more, *job.options,
                                                               timeout=job.timeout), some))
        say(f"guest {first + len(some)} of {len(jobs)}")
        yield from (job.key for job in some)


def command(verb, *options):
    """What a verb says, here; the chip would take long."""
    done = subprocess.run([os.path.join(BUILD, "user/kjoule"), verb, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, cwd=TOP)
    if done.returncode:
        raise BenchError(f"{verb} {' '.join(options)} failed with exit code {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def report(data, *options):
    """What kjoule report says of a recording that a guest has made; read here, the chip would take long.

    It fails where it has no figure to tell, and says all else that there is to be said.
    """
    done = subprocess.run([os.path.join(BUILD, "user/kjoule"), "report", *options, os.path.relpath(data, TOP)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=TOP)
    if done.returncode and not done.stdout:
        raise BenchError(f"report {' '.join(options)} {data} failed with exit code {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def blocks(text):
    """Split output at lines '== NAME' into a dict of lists of lines."""
    result, lines = {}, []
    for line in text.splitlines():
        if line.startswith("== "):
            lines = result.setdefault(line[3:], [])
        else:
            lines.append(line)
    return result


def each_part(parts, only, measure, errors=()):
    """Measure each of these named parts, or @only those; where one fails the others are measured all the same."""
    failed = []
    for name, part in parts.items():
        if only and name not in only:
            continue
        try:
            measure(part)
        except (BenchError, *errors) as e:
            failed.append(f"{name}: {e}")
    if failed:
        raise BenchError("; ".join(failed))


class Printer:
    """Prints figures, as a table or as one JSON object a line."""

    def __init__(self, bench, as_json):
        self.bench, self.as_json, self.failed = bench, as_json, False

    def figure(self, name, value, unit, must=None, at_most=True, peer=None, peer_value=None, note=""):
        """@must: the bound that the value is held to, from above or (not at_most) from below."""
        row = {"bench": self.bench, "name": name, "value": value, "unit": unit, "must": must}
        if note:
            row["note"] = note
        if peer is not None:
            row.update(peer=peer, peer_value=peer_value, ratio=value / peer_value if peer_value else None)
        # what is no number has missed, too
        missed = must is not None and not (value <= must if at_most else value >= must)
        self.failed |= missed
        if self.as_json:
            print(json.dumps(row), flush=True)
            return
        text = f"{self.bench:<14} {name:<28} {value:>12.6g} {unit:<14}"
        if must is not None:
            text += f" must {'<=' if at_most else '>='} {must:g}{' MISSED' if missed else ''}"
        if peer is not None:
            ratio = "no ratio" if row["ratio"] is None else f"ratio {row['ratio']:.2f}"
            text += f"  {peer} {peer_value:.6g} ({ratio})"
        print(text + (f"  {note}" if note else ""), flush=True)


def say(text):
    """Talk goes to standard error; figures to standard output."""
    if sys.stderr.isatty():
        print(f"bench: {text}", file=sys.stderr, flush=True)
