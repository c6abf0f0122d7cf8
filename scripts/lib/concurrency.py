# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "together", parallel coarse code around a sequential fine block (ALEA, section 5.2.2), by
# vector, and of "pricing", a process that is idle mostly (section 7.1), by readings of a meter that starts on command, and
# beside that by the energy counter alone; held to the oracle's truth. Used by scripts/bench. The reports are made from what the guest measured; the oracle is read afterwards.
import json
import os
import sys

import bench
import mix

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

TOGETHER = os.path.join(bench.BUILD, "selftests/together")
PRICING = os.path.join(bench.BUILD, "selftests/pricing")
# The meter that starts on command senses for 20 ms; both cases are the paper's variation-aware model's.
METER = "--vpm-meter vchip-ina@45ms -F 250"
# At half of the chip's speed the emulator is behind for a fifth as long: it takes what it is late with out of the code that runs next.
MHZ = 50
FINE = 0.4            # of the counter's update periods that the sequential block lasts: 4 ms, a fifth of the meter's
NODES = 185           # an option's price takes 12 ms on the chip, 0.6 of the meter's interval
WAIT_MS = 60          # between two requests
IN_A_GUEST = 5        # recordings
SEQUENTIAL, PARALLEL = ("sequential",), ("parallel_multiply", "parallel_store")


def guests(name, command, runs, seconds, cpus, options):
    """Record a command @runs times, some in a guest; yield file and oracle of each."""
    folder = os.path.join(bench.OUT, name)
    os.makedirs(folder, exist_ok=True)
    jobs = []
    for first in range(1, runs + 1, IN_A_GUEST):
        some = range(first, min(first + IN_A_GUEST, runs + 1))
        oracle_file = os.path.join(folder, f"{first}.oracle")
        jobs.append(bench.Job((some, oracle_file), f"""
cpupower -c all frequency-set -f {MHZ}MHz >/dev/null
for i in $(seq {some[0]} {some[-1]}); do
	kjoule record -q {options} {METER} -o /tmp/k.data -- {command} $i
	cp /tmp/k.data {folder}/$i.data
done
""", ("--profile", "exynos", "--oracle", oracle_file), 120 + len(some) * (seconds + 60)))
    for some, oracle_file in bench.guests(jobs, cpus, alone=True):
        for i in some:
            yield f"{folder}/{i}.data", oracle_file
        if not os.environ.get("KJOULE_BENCH_KEEP"):
            os.unlink(oracle_file)


def report(data, *options):
    return json.loads(bench.report(data, "--json", *options))


def by_function(rows):
    """Watt of what ran together, by the names of all functions in it."""
    return {tuple(sorted(m["function"] for m in r["together"])): r["power_package_w"] for r in rows}


def block_power(data, name):
    """Watt of a block that there are readings of, None if it is not told, and its row."""
    row = next(r for r in report(data, "--model", "vpm")["rows"] if r["function"] == name)
    return row["power_w"], row


def record_together(runs, seconds=45):
    """For each run and way the error of the power of both vectors in percent, the true powers, and the row of the readings.

    Its readings have the sequential block's power, other CPUs idle; *cpm* that of what runs in parallel.
    """
    symbols, result = chip.Symbols(TOGETHER), []
    for data, oracle_file in guests("concurrency", f"$T/together {seconds} {mix.UPDATE_PERIOD_MS} {FINE * mix.UPDATE_PERIOD_MS}",
                                    runs, seconds, 2, "-a --vpm sequential"):
        rows = report(data, "--vectors", "--model", "cpm")["rows"]
        pids = {}        # the task that each of them is of; the rows begin with the most energy
        for m in (m for r in rows for m in r["together"]):
            if m["function"] in SEQUENTIAL + PARALLEL:
                pids.setdefault(m["function"], m["pid"])
        watts = {"cpm": by_function(rows)}
        alone, row = block_power(data, SEQUENTIAL[0])
        watts["vpm"] = {SEQUENTIAL: alone, PARALLEL: watts["cpm"].get(PARALLEL)}
        span = chip.Oracle(oracle_file, set(pids.values())).span()
        of = span.functions(symbols, tgid=pids[SEQUENTIAL[0]])[SEQUENTIAL[0]]
        true = {SEQUENTIAL: mix.watts_without_stalls(of)}
        two = sorted(pids[f] for f in PARALLEL)
        vectors = [v for tasks, v in span.vectors.items() if sorted(t[1] for t in tasks if t) == two]
        true[PARALLEL] = 1e-3 * sum(v[1] + v[2] for v in vectors) / sum(v[0] for v in vectors)
        errors = {way: {v: mix.Recording.off(w[v], true[v]) for v in true if w.get(v) is not None} for way, w in watts.items()}
        result.append((errors, true, row, of["stall_ns"] / of["time_ns"]))
    return result


def judge_together(out, recordings):
    for i, (errors, true, row, stalled) in enumerate(recordings, 1):
        for way, of in errors.items():
            out.figure(f"concurrency_{i}_{way}", max(map(abs, of.values()), default=0), "%",
                       note="; ".join(f"{'+'.join(v)} {e:+.2f} % of {true[v]:.3f} W" for v, e in of.items()) +
                       (f"; {row['readings']} readings, {100 * stalled:.1f} % of it stalled" if way == "vpm" else ""))
    told = sum(len(r[0]["vpm"]) == 2 for r in recordings)
    out.figure("concurrency_told", told, "recordings", must=len(recordings), at_most=False)
    if told:
        worst = {way: max((abs(e) for r in recordings for e in r[0][way].values()), default=0)
                 for way in ("cpm", "vpm")}
        out.figure("concurrency_cpm", worst["cpm"], "%", peer="ALEA, CPM", peer_value=16)
        out.figure("concurrency", worst["vpm"], "%", must=4,
                   peer="ALEA, VPM", peer_value=5.4, note=f"power, worst of {len(recordings)} recordings")


def record_pricing(runs, seconds=58):
    """For each run the report's row of the block, its power by the counter's models, and the truth."""
    symbols, result = chip.Symbols(PRICING), []
    for data, oracle_file in guests("pricing", f"$T/pricing {seconds} {NODES} {WAIT_MS}", runs, seconds, 1, "--vpm price"):
        cpm = report(data, "--model", "cpm")
        watts = {"cpm": next((r["power_package_w"] for r in cpm["rows"] if r["kind"] == "function" and r["function"] == "price"), None)}
        watts["vpm"], row = block_power(data, "price")
        pid = cpm["pid"]
        of = chip.Oracle(oracle_file, pid).span().functions(symbols, tgid=pid)["price"]
        result.append((watts, row, of, cpm["duration_s"]))
    return result


def judge_pricing(out, recordings):
    worst = {}
    for i, (watts, row, of, duration_s) in enumerate(recordings, 1):
        true = mix.watts_without_stalls(of)
        for way, w in watts.items():
            if w is None:
                continue
            error = mix.Recording.off(w, true)
            worst.setdefault(way, []).append(abs(error))
            out.figure(f"option_pricing_{i}_{way}", abs(error), "%", note=f"{error:+.2f} % of {true:.3f} W; "
                       f"{1e-6 * of['time_ns'] / of['entries']:.2f} ms a price, {1e-7 * of['time_ns'] / duration_s:.0f} % of the "
                       f"time, {100 * of['stall_ns'] / of['time_ns']:.1f} % of it stalled" +
                       (f"; {row['readings']} readings" if way == "vpm" else ""))
    told = worst.get("vpm", [])
    out.figure("option_pricing_told", len(told), "recordings", must=len(recordings), at_most=False)
    if told:
        out.figure("option_pricing", max(told), "%", must=3, peer="cpm", peer_value=max(worst.get("cpm", [0])),
                   note=f"power, worst of {len(recordings)} recordings")
