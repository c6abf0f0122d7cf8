# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the benchmarks share: running a command in a laboratory guest, and printing
# figures. A figure is measured in this run; nothing here knows a result.
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import zlib

from selftests import figures

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, "build")
OUT = os.path.join(BUILD, "bench", os.environ.get("KJOULE_TEST", ""))    # a test's own, where tests run side by side
# Of this machine's, that a guest may take at most: in a test less than that may, so that its log is seen.
TIMEOUT_S = 0.9 * float(os.environ.get("KJOULE_TEST_S", 3600))

# What one of several guests does, and what its caller knows it by.
Job = collections.namedtuple("Job", "key script options seed")


class BenchError(Exception):
    """The figure could not be measured."""


def first_seed():
    """The seed that the first of several guests has, a number that is not negative."""
    text = os.environ.get("KJOULE_SEED", "1")
    if not text.isascii() or not text.isdigit():
        raise BenchError(f"$KJOULE_SEED is '{text}', which is no number of 0 or more")
    return int(text)


def guest(script, *options, seed):
    """Run a shell script in a guest with the noise of that seed; return what it printed."""
    os.makedirs(OUT, exist_ok=True)
    # the guest sees the name: it is the same whenever the job is
    path = os.path.join(OUT, f"job-{seed}-{zlib.crc32(script.encode()):08x}.sh")
    with open(path, "w", encoding="utf-8") as f:
        # a copy, so that a build meanwhile does not change what is measured
        f.write(f"set -e\ncd {TOP}\nmkdir /tmp/bench\ncp {BUILD}/user/kjoule /tmp/bench/\n"
                f"PATH=/tmp/bench:$PATH\nT=build/selftests\n" + script)
    command = [os.path.join(TOP, "scripts/vm"), "--timeout", f"{TIMEOUT_S:g}", "--seed", str(seed), *options, "--", "bash", path]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    finally:
        os.unlink(path)
    if done.returncode:
        raise BenchError(f"seed {seed}: the guest's command failed with exit code {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def remove(*paths):
    """Remove recordings and oracles, unless $KJOULE_BENCH_KEEP asks for them."""
    if not os.environ.get("KJOULE_BENCH_KEEP"):
        for path in paths:
            os.unlink(path)


def guests(jobs):
    """Run guests side by side, one on each CPU of this machine; yield key and output of each, in their order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for job, text in zip(jobs, pool.map(lambda job: guest(job.script, *job.options, seed=job.seed), jobs)):
            say(f"guest {job.key} is over")
            yield job.key, text


def each_seed(seeds, script, *options):
    """Run the same in a guest of each seed; yield seed and output. {seed} in the script and the options is its number."""
    def numbered(text, seed):
        return text.replace("{seed}", str(seed))
    yield from guests([Job(seed, numbered(script, seed), [numbered(o, seed) for o in options], seed) for seed in seeds])


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


def report_json(data, *options):
    """The same as a document, see selftests/figures.py."""
    return figures.loads(report(data, "--json", *options))


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

    def __init__(self, bench, as_json, count=None):
        """@count: how many seeds were asked for; None: as many as the benchmark has usually."""
        self.bench, self.as_json, self.count, self.failed = bench, as_json, count, False
        self.seeds = ()    # that the figures are of

    def use_seeds(self, usual):
        """The seeds that were asked for, or as many as this benchmark has usually: what follows is of all of them."""
        self.seeds = range(first_seed(), first_seed() + (self.count or usual))
        return self.seeds

    def each_seed(self):
        """The seeds that were asked for, or the first: what follows is of one after the other."""
        for seed in self.use_seeds(1):
            self.seeds = [seed]
            yield seed

    def figure(self, name, value, unit, must=None, at_most=True, peer=None, peer_value=None, note="", seed=None):
        """@must: the bound of the value, from above or (not at_most) from below. @seed: it is of that one alone."""
        row = {"bench": self.bench, "name": name, "value": value, "unit": unit, "must": must}
        seeds = [seed] if seed is not None else list(self.seeds)
        if seeds:
            row["seeds"] = seeds
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
        if seeds:
            text += f"  seed {seeds[0]}" if len(seeds) == 1 else f"  seeds {seeds[0]} to {seeds[-1]}"
        print(text + (f"; {note}" if note and seeds else f"  {note}" if note else ""), flush=True)

    def seeded(self, name, values, unit, at_most=True, note="", **bound):
        """A figure by its seed: that of each, and the worst, which the bound is for."""
        worst = (max if at_most else min)(values, key=values.get)
        if len(values) > 1:
            for seed, value in values.items():
                self.figure(name, value, unit, seed=seed)
            note = f"worst with seed {worst}" + (f"; {note}" if note else "")
        self.figure(name, values[worst], unit, at_most=at_most, note=note, **bound)


def say(text):
    """Talk goes to standard error; figures to standard output."""
    if sys.stderr.isatty():
        print(f"bench: {text}", file=sys.stderr, flush=True)
