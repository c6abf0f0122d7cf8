# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "together", parallel coarse code around a sequential fine block (ALEA, section 5.2.2), by
# vector, and of "pricing", a process that is idle mostly (section 7.1), held to the oracle's truth. Used by
# scripts/bench. The reports are made from what the guest measured; the oracle is read afterwards.
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
FINE = 0.4            # update periods that the sequential block lasts
NODES = 185           # an option's price takes 0.6 update periods on the plain chip
WAIT_MS = 30          # between two requests
# ten ticks to the update period, and twenty
RATES = {1: "-i 1000us --jitter 999us", 2: "-i 500us --jitter 499us"}
SEQUENTIAL, PARALLEL = ("sequential",), ("parallel_multiply", "parallel_store")


def guest(name, command, runs, seconds, cpus, options):
    folder = os.path.join(bench.OUT, name)
    os.makedirs(folder, exist_ok=True)
    oracle_file = os.path.join(folder, "oracle.txt")
    bench.guest(f"""
cpupower -c all frequency-set -g performance >/dev/null
for i in $(seq {runs}); do
	kjoule record -q {options} -o /tmp/k.data -- {command} $i
	cp /tmp/k.data {folder}/$i.data
done
""", "--cpus", str(cpus), "--oracle", oracle_file, timeout=120 + runs * (seconds + 60))
    return folder, oracle_file


def by_function(rows):
    """Watt of what ran together, by the names of all functions in it."""
    return {tuple(sorted(m["function"] for m in r["together"])): r["power_package_w"] for r in rows}


def record_together(runs, seconds=45):
    """For each run and model the error of the power of both vectors in percent, and the true powers."""
    folder, oracle_file = guest("concurrency", f"$T/together {seconds} {mix.UPDATE_PERIOD_MS} {FINE * mix.UPDATE_PERIOD_MS}",
                                runs, seconds, 2, "-a " + RATES[2])
    symbols, result = chip.Symbols(TOGETHER), []
    for i in range(1, runs + 1):
        reports = {model: json.loads(bench.report(f"{folder}/{i}.data", "--json", "--vectors", "--model", model))
                   for model in ("mixture", "cpm")}
        pids = {}        # the task that each of them is of; the rows begin with the most energy
        for m in (m for r in reports["cpm"]["rows"] for m in r["together"]):
            if m["function"] in SEQUENTIAL + PARALLEL:
                pids.setdefault(m["function"], m["pid"])
        span = chip.Oracle(oracle_file, set(pids.values())).span()
        t = chip.truth(span.functions(symbols, tgid=pids[SEQUENTIAL[0]])[SEQUENTIAL[0]])
        true = {SEQUENTIAL: t["alone_j"] / t["alone_time_s"]}
        two = sorted(pids[f] for f in PARALLEL)
        vectors = [v for tasks, v in span.vectors.items() if sorted(t[1] for t in tasks if t) == two]
        true[PARALLEL] = 1e-3 * sum(v[1] + v[2] for v in vectors) / sum(v[0] for v in vectors)
        errors = {}
        for model, report in reports.items():
            watts = by_function(report["rows"])
            errors[model] = {v: mix.Recording.off(watts[v], true[v]) for v in true if watts.get(v) is not None}
        result.append((errors, true, reports))
    if not os.environ.get("KJOULE_BENCH_KEEP"):
        os.unlink(oracle_file)
    return result


def judge_together(out, recordings):
    for i, (errors, true, _) in enumerate(recordings, 1):
        for model, of in errors.items():
            out.figure(f"concurrency_{i}_{model}", max(map(abs, of.values()), default=0), "%",
                       note="; ".join(f"{'+'.join(v)} {e:+.2f} % of {true[v]:.3f} W" for v, e in of.items()))
    told = sum(len(errors["mixture"]) == 2 for errors, _, _ in recordings)
    out.figure("concurrency_told", told, "recordings", must=len(recordings), at_most=False)
    if told:
        out.figure("concurrency_cpm", max(abs(e) for errors, _, _ in recordings for e in errors["cpm"].values()), "%",
                   peer="ALEA, CPM", peer_value=16)
        out.figure("concurrency", max(abs(e) for errors, _, _ in recordings for e in errors["mixture"].values()), "%", must=4,
                   peer="ALEA, VPM", peer_value=5.4, note=f"power, worst of {len(recordings)} recordings")


def record_pricing(runs, seconds=45):
    """For each run and model the report's row of the block, and the truth."""
    folder, oracle_file = guest("pricing", f"$T/pricing {seconds} {NODES} {WAIT_MS}", runs, seconds, 1, RATES[1])
    symbols, result = chip.Symbols(PRICING), []
    for i in range(1, runs + 1):
        reports = {model: json.loads(bench.report(f"{folder}/{i}.data", "--json", "--model", model)) for model in ("auto", "cpm")}
        pid = reports["cpm"]["pid"]
        row = chip.Oracle(oracle_file, pid).span().functions(symbols, tgid=pid)["price"]
        rows = {model: next((r for r in report["rows"] if r["kind"] == "function" and r["function"] == "price"), None)
                for model, report in reports.items()}
        result.append((rows, row, reports))
    if not os.environ.get("KJOULE_BENCH_KEEP"):
        os.unlink(oracle_file)
    return result


def judge_pricing(out, recordings):
    worst = {"auto": [], "cpm": []}
    for i, (rows, of, reports) in enumerate(recordings, 1):
        # with stalls left out: a tick that is missed in one tells nothing of what ran, nor does its window
        ran_ns, all_ns = of["alone_time_ns"] - of["alone_stall_ns"], of["alone_time_ns"]
        watts = 1e-3 * (of["alone_dyn_pj"] + of["alone_static_pj"] * ran_ns / all_ns) / ran_ns
        for model, row in rows.items():
            if row and row["power_package_w"] is not None:
                error = mix.Recording.off(row["power_package_w"], watts)
                worst[model].append(abs(error))
                out.figure(f"option_pricing_{i}_{model}", abs(error), "%", note=f"{error:+.2f} % of {watts:.3f} W; model "
                           f"{reports[model]['model']['name']}; {1e-6 * of['time_ns'] / of['entries']:.2f} ms a price, "
                           f"{1e-7 * of['time_ns'] / reports[model]['duration_s']:.0f} % of the time, "
                           f"{100 * of['stall_ns'] / of['time_ns']:.1f} % of it stalled")
    out.figure("option_pricing_told", len(worst["auto"]), "recordings", must=len(recordings), at_most=False)
    if worst["auto"]:
        out.figure("option_pricing", max(worst["auto"]), "%", must=3, peer="cpm", peer_value=max(worst["cpm"], default=0),
                   note=f"power, worst of {len(recordings)} recordings")
