# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "together", parallel coarse code around a sequential fine block (ALEA, section 5.2.2), by
# vector, and of "pricing", a process that is idle mostly (section 7.1), by readings of a meter that starts on command, and
# next to that by the energy counter alone; compared with the oracle. Used by scripts/bench. The reports are made from
# what the guest measured; the oracle is read afterwards.
import os

from bench import bench, mix
from vchip import oracle as chip

TOGETHER = os.path.join(bench.BUILD, "selftests/together")
PRICING = os.path.join(bench.BUILD, "selftests/pricing")
# The meter that starts on command senses for 20 ms; both cases are the paper's variation-aware model's.
METER = "--vpm-meter vchip-ina@45ms -F 250"
FINE = 0.4            # of the counter's update periods that the sequential block lasts: 4 ms, a fifth of the meter's
NODES = 262           # an option's price takes 12 ms on the chip, 0.6 of the meter's interval
WAIT_MS = 60          # between two requests
SEQUENTIAL, PARALLEL = ("sequential",), ("parallel_multiply", "parallel_store")


def guests(name, command, seeds, cpus, options):
    """Record a command in a guest of each seed; yield seed, file and oracle of each."""
    folder = os.path.join(bench.OUT, name)
    os.makedirs(folder, exist_ok=True)
    for seed, _ in bench.each_seed(seeds, f"""
cpupower -c all frequency-set -g performance >/dev/null
kjoule record -q {options} {METER} -o /tmp/k.data -- {command} {{seed}}
cp /tmp/k.data {folder}/{{seed}}.data
""", "--profile", "exynos", "--cpus", str(cpus), "--oracle", f"{folder}/{{seed}}.oracle"):
        yield seed, f"{folder}/{seed}.data", f"{folder}/{seed}.oracle"
        bench.remove(f"{folder}/{seed}.oracle", f"{folder}/{seed}.data")


def report(data, *options):
    return bench.report_json(data, *options)


def by_function(rows):
    """Watt of each co-running set, by the names of all functions in it."""
    return {tuple(sorted(m["function"] for m in r["corunning"])): r["power_package_w"] for r in rows}


def block_power(data, name):
    """Watt of a block that there are readings of, None if it is not known, and its row."""
    row = next(r for r in report(data, "--model", "vpm")["rows"] if r["function"] == name)
    return row["power_w"], row


def record_together(seeds, seconds=45):
    """For each seed and way the error of the power of both vectors in percent, the true powers, and the row of the readings.

    Its readings have the sequential block's power, other CPUs idle; *cpm* that of what runs in parallel.
    """
    symbols, result = chip.Symbols(TOGETHER), []
    for seed, data, oracle_file in guests("concurrency", f"$T/together {seconds} {mix.UPDATE_PERIOD_MS} {FINE * mix.UPDATE_PERIOD_MS}",
                                          seeds, 2, "-a --vpm sequential"):
        rows = report(data, "--vectors", "--model", "cpm")["rows"]
        pids = {}        # the task that each of them is of; the rows begin with the most energy
        for m in (m for r in rows for m in r["corunning"]):
            if m["function"] in SEQUENTIAL + PARALLEL:
                pids.setdefault(m["function"], m["pid"])
        watts = {"cpm": by_function(rows)}
        alone, row = block_power(data, SEQUENTIAL[0])
        watts["vpm"] = {SEQUENTIAL: alone, PARALLEL: watts["cpm"].get(PARALLEL)}
        span = chip.Oracle(oracle_file, set(pids.values())).span()
        of = span.functions(symbols, tgid=pids[SEQUENTIAL[0]])[SEQUENTIAL[0]]
        true = {SEQUENTIAL: mix.watts(of)}
        two = sorted(pids[f] for f in PARALLEL)
        vectors = [v for tasks, v in span.vectors.items() if sorted(t[1] for t in tasks if t) == two]
        true[PARALLEL] = 1e-3 * sum(v[1] + v[2] for v in vectors) / sum(v[0] for v in vectors)
        errors = {way: {v: mix.Recording.off(w[v], true[v]) for v in true if w.get(v) is not None} for way, w in watts.items()}
        result.append((errors, true, row, seed))
    return result


def judge_together(out, recordings):
    for errors, true, row, seed in recordings:
        for way, of in errors.items():
            out.figure(f"concurrency_{way}", max(map(abs, of.values()), default=0), "%", seed=seed,
                       note="; ".join(f"{'+'.join(v)} {e:+.2f} % of {true[v]:.3f} W" for v, e in of.items()) +
                       (f"; {row['readings']} readings" if way == "vpm" else ""))
    told = sum(len(r[0]["vpm"]) == 2 for r in recordings)
    out.figure("concurrency_told", told, "recordings", must=len(recordings), at_most=False)
    if told:
        worst = {way: max((abs(e) for r in recordings for e in r[0][way].values()), default=0)
                 for way in ("cpm", "vpm")}
        out.figure("concurrency_cpm_worst", worst["cpm"], "%", peer="ALEA, CPM", peer_value=16)
        out.figure("concurrency", worst["vpm"], "%", must=4,
                   peer="ALEA, VPM", peer_value=5.4, note=f"power, worst of {len(recordings)} recordings")


def record_pricing(seeds, seconds=58):
    """For each seed the report's row of the block, its power by the counter's models, and the truth."""
    symbols, result = chip.Symbols(PRICING), []
    for seed, data, oracle_file in guests("pricing", f"$T/pricing {seconds} {NODES} {WAIT_MS}", seeds, 1, "--vpm price"):
        cpm = report(data, "--model", "cpm")
        watts = {"cpm": next((r["power_package_w"] for r in cpm["rows"] if r["kind"] == "function" and r["function"] == "price"), None)}
        watts["vpm"], row = block_power(data, "price")
        pid = cpm["pid"]
        of = chip.Oracle(oracle_file, pid).span().functions(symbols, tgid=pid)["price"]
        result.append((watts, row, of, cpm["duration_s"], seed))
    return result


def judge_pricing(out, recordings):
    worst = {}
    for watts, row, of, duration_s, seed in recordings:
        true = mix.watts(of)
        for way, w in watts.items():
            if w is None:
                continue
            error = mix.Recording.off(w, true)
            worst.setdefault(way, []).append(abs(error))
            out.figure(f"option_pricing_{way}", abs(error), "%", seed=seed, note=f"{error:+.2f} % of {true:.3f} W; "
                       f"{1e-6 * of['time_ns'] / of['entries']:.2f} ms a price, {1e-7 * of['time_ns'] / duration_s:.0f} % of the "
                       f"time" +
                       (f"; {row['readings']} readings" if way == "vpm" else ""))
    told = worst.get("vpm", [])
    out.figure("option_pricing_told", len(told), "recordings", must=len(recordings), at_most=False)
    if told:
        out.figure("option_pricing", max(told), "%", must=3, peer="cpm", peer_value=max(worst.get("cpm", [0])),
                   note=f"power, worst of {len(recordings)} recordings")
