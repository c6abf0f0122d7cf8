# SPDX-License-Identifier: GPL-2.0-or-later
#
# Do the constant power model's 95 % intervals have the truth? Recordings of the program "mix", of three of its functions, on a chip whose
# counter moves every 2 ms, cut into parts of a second: each is reported as if nothing else had been recorded (kjoule report
# --from --to), and held to what the oracle knows of that time, which the program had noted. Used by scripts/bench.
import collections
import concurrent.futures
import json
import math
import os
import sys

import bench
import mix

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

PROFILE, PERIOD_MS = "quick", 2
PART_MS, SECONDS, FUNCTIONS = 1000, 58, 3
INTERVAL_US, JITTER_US = 1000, 700
LEAST = 0.05          # of a part's time; a block that has less of it is not judged
STALLED = 0.01        # of its blocks' time: it tells of the build machine

MUST_PARTS = 2000

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


def record(runs, options=()):
    """Record and cut @runs times; return all Cases, parts that count, parts left out, blocks without an interval."""
    folder = os.path.join(bench.OUT, "coverage")
    os.makedirs(folder, exist_ok=True)
    everything, parts, left_out, without = [], 0, 0, 0
    symbols = chip.Symbols(mix.MIX)
    jobs = []
    for run in range(1, runs + 1):
        oracle_file, data = os.path.join(folder, f"{run}.oracle"), os.path.join(folder, f"{run}.data")
        jobs.append(bench.Job((data, oracle_file), f"""
cpupower -c all frequency-set -g performance >/dev/null
kjoule record -q -i {INTERVAL_US}us --jitter {JITTER_US}us -o /tmp/k.data -- $T/mix {SECONDS} {PERIOD_MS} {run} {PART_MS} {FUNCTIONS}
cp /tmp/k.data {data}
""", ("--profile", PROFILE, "--oracle", oracle_file, *options), 200))
    for data, oracle_file in bench.guests(jobs, 1):
        head = json.loads(bench.report(data, "--json", "--by", "process"))
        o = chip.Oracle(oracle_file, head["pid"])
        marks = [m for m in o.marks if m.label.startswith("part-")]

        def part(pair):
            ends = [f"{m.guest_ns - head['start_ns']}ns" for m in pair]
            return json.loads(bench.report(data, "--json", "--from", ends[0], "--to", ends[1]))

        pairs = list(zip(marks, marks[1:]))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for pair, report in zip(pairs, pool.map(part, pairs)):
                functions = chip.Span(o, *pair).functions(symbols, tgid=head["pid"])
                truth = {n: mix.true_figures(r) for n, r in functions.items() if n.startswith("work_")}
                # a mark stops the CPU, in the kernel, at the beginning of each part: that is no block's
                if sum(t["stall_s"] for t in truth.values()) > STALLED * sum(t["time_s"] for t in truth.values()):
                    left_out += 1
                    continue
                found, none = cases(report, truth)
                everything += found
                without += none
                parts += 1
        if not os.environ.get("KJOULE_BENCH_KEEP"):
            os.unlink(oracle_file)
    return everything, parts, left_out, without


def judge(out, everything, parts, left_out, without):
    """The rows of scripts/bench."""
    out.figure("parts", parts, "recordings", must=MUST_PARTS, at_most=False, note=f"of {PART_MS} ms, each a recording of its own; {left_out} more left out "
               f"for stalls; {without} figures without an interval")
    for what in ("time", "power", "energy"):
        of = [c for c in everything if c.what == what]
        if not of:
            raise bench.BenchError(f"no {what} had an interval")
        mean = sum(c.error for c in of) / len(of)
        spread = math.sqrt(sum((c.error - mean) ** 2 for c in of) / (len(of) - 1))
        half = sum(c.half for c in of) / len(of)
        out.figure(f"{what}_covered", 100 * sum(c.inside for c in of) / len(of), "%", must=93, at_most=False,
                   note=f"of {len(of)} true {what}s in their 95 % interval")
        out.figure(f"{what}_width", half / (1.959964 * spread), "spreads", must=1.5,
                   note=f"mean half interval {100 * half:.2f} %; errors spread by {100 * spread:.2f} %, mean {100 * mean:+.2f} %")
