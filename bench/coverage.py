# SPDX-License-Identifier: GPL-2.0-or-later
#
# Do the constant power model's 95 % intervals have the truth? Recordings of the program "mix", of three of its functions, on a chip whose
# counter moves every 2 ms, cut into parts of a second: each is reported as if nothing else had been recorded (kjoule report
# --from --to), and compared with what the oracle knows of that time, which the program had noted. Used by scripts/bench.
import collections
import math
import os

from bench import bench, mix
from vchip import oracle as chip

PROFILE, PERIOD_MS = "quick", 2
PART_MS, SECONDS, FUNCTIONS = 1000, 58, 3
INTERVAL_US, JITTER_US = 1000, 700
LEAST = 0.05          # of a part's time; a block that has less of it is not judged

MUST_PARTS, MUST_COVER, MOST_COVERED = 2000, 93, 98

# of a block in a part: what of it, how far off, half of its interval, and whether that has the truth
Case = collections.namedtuple("Case", "what error half inside")


def cases(report, truth):
    """Time, power and energy of each block, relative to the truth; and how many blocks had no interval."""
    rows = {r["function"]: r for r in report["rows"] if r["kind"] == "function" and r["pid"] == report["pid"]}
    found, without = [], 0
    whole = sum(t["time_s"] for t in truth.values())
    for name, true in truth.items():
        row = rows.get(name)
        if true["time_s"] < LEAST * whole:
            continue
        power = true["energy_j"] / true["time_s"]
        for what, key, of in (("time", "time{}_s", true["time_s"]), ("power", "power{}_package_w", power),
                              ("energy", "energy{}_package_j", true["energy_j"])):
            low, value, high = (row[key.format(end)] if row else None for end in ("_lo", "", "_hi"))
            if low is None or high is None:
                without += 1
                continue
            found.append(Case(what, value / of - 1, (high - low) / 2 / of, low <= of <= high))
    return found, without


def record(seeds, options=()):
    """Record and cut with each seed; return all Cases, how many parts there are, blocks without an interval."""
    folder = os.path.join(bench.OUT, "coverage")
    os.makedirs(folder, exist_ok=True)
    everything, parts, without = [], 0, 0
    symbols = chip.Symbols(mix.MIX)
    for seed, _ in bench.each_seed(seeds, f"""
cpupower -c all frequency-set -g performance >/dev/null
kjoule record -q -i {INTERVAL_US}us --jitter {JITTER_US}us -o /tmp/k.data -- $T/mix {SECONDS} {PERIOD_MS} {{seed}} {PART_MS} {FUNCTIONS}
cp /tmp/k.data {folder}/{{seed}}.data
""", "--cpus", "1", "--profile", PROFILE, "--oracle", f"{folder}/{{seed}}.oracle", *options):
        data, oracle_file = f"{folder}/{seed}.data", f"{folder}/{seed}.oracle"
        head = bench.report_json(data, "--by", "process")
        o = chip.Oracle(oracle_file, head["pid"])
        marks = [m for m in o.marks if m.label.startswith("part-")]
        for pair in zip(marks, marks[1:]):
            ends = [f"{m.guest_ns - head['start_ns']}ns" for m in pair]
            report = bench.report_json(data, "--from", ends[0], "--to", ends[1])
            functions = chip.Span(o, *pair).functions(symbols, tgid=head["pid"])
            found, none = cases(report, {n: mix.true_figures(r) for n, r in functions.items() if n.startswith("work_")})
            everything += found
            without += none
            parts += 1
        bench.remove(oracle_file, data)
    return everything, parts, without


def judge(out, everything, parts, without):
    """The rows of scripts/bench."""
    out.figure("parts", parts, "recordings", must=MUST_PARTS, at_most=False,
               note=f"of {PART_MS} ms, each a recording of its own; {without} figures without an interval")
    for what in ("time", "power", "energy"):
        of = [c for c in everything if c.what == what]
        if not of:
            raise bench.BenchError(f"no {what} had an interval")
        mean = sum(c.error for c in of) / len(of)
        spread = math.sqrt(sum((c.error - mean) ** 2 for c in of) / (len(of) - 1))
        half = sum(c.half for c in of) / len(of)
        out.figure(f"{what}_covered", 100 * sum(c.inside for c in of) / len(of), "%", must=MUST_COVER, at_most=False,
                   note=f"of {len(of)} true {what}s in their 95 % interval")
        out.figure(f"{what}_not_covered", 100 * sum(not c.inside for c in of) / len(of), "%", must=100 - MOST_COVERED, at_most=False)
        out.figure(f"{what}_width", half / (1.959964 * spread), "spreads", must=1.3,
                   note=f"mean half interval {100 * half:.2f} %; errors spread by {100 * spread:.2f} %, mean {100 * mean:+.2f} %")
