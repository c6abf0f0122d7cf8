# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is measured on chips at the scale of real processors (profiles client and server): energy of functions, blocks shorter than
# the counter's update period, the cost of ticks, and latencies on a grid of 500 us. Recordings are short: a second of a CPU
# at 1 GHz takes some three of the build machine. Used by scripts/bench.
import os
import statistics

from bench import alternate, bench, latency, mix

SECONDS = 6
PERIOD_MS = alternate.PERIODS_MS["client"]
CHIPS = {"client": "1", "server": "8"}      # with so many CPUs
LENGTHS = (0.4, 0.2, 0.1)
RATES = (1000, 4000)
LOOP = 400_000_000
PAIRS = ((800, 2400), (2400, 800), (1200, 1600), (2000, 1200))
REPEATS = 30


def judge_functions(out, seeds):
    """The six functions of mix, each call 10 to 30 update periods long."""
    for profile, cpus in CHIPS.items():
        recordings = []
        for r, data in mix.record(seeds, SECONDS, folder=os.path.join(bench.OUT, profile), period_ms=PERIOD_MS,
                                  options=("--profile", profile, "--cpus", cpus)):
            bench.remove(data)
            recordings.append(r)
        out.seeded(f"{profile}_function", {r.seed: r.worst() for r in recordings}, "%")
        out.seeded(f"{profile}_whole", {r.seed: abs(r.whole_error()) for r in recordings}, "%")
        inside = [row["energy_lo_package_j"] <= true["energy_j"] <= row["energy_hi_package_j"]
                  for r in recordings for _, row, true in r.functions]
        out.figure(f"{profile}_inside", 100 * sum(inside) / len(inside), "%", note="intervals of energy that hold the truth")
        out.figure(f"{profile}_tick", statistics.median(r.report["cost"]["calibrated_tick_ns"] for r in recordings), "ns",
                   note=f"median of {len(recordings)}, as calibrated")


def judge_edge(out, seeds):
    """Blocks of parts of the update period, by edge windows, at the lowest frequency: twenty ticks to the period, the most there are."""
    for length in LENGTHS:
        recordings = alternate.record((length, length), seeds, SECONDS, "--edge=50 -i 50us", ("edge", "cpm"), profile="client",
                                      governor="powersave")
        reported = alternate.all_told(recordings, "edge", 2)
        out.figure(f"edge_{length}_reported", reported, "recordings", must=len(seeds), at_most=False)
        if not reported:
            continue
        windows = min(r.reports["edge"]["model"]["edge_windows"][0]["used"] for r in recordings)
        out.seeded(f"edge_{length}", {r.seed: r.worst("edge") for r in recordings if r.worst("edge") is not None}, "%", peer="cpm",
                   peer_value=alternate.worst(recordings, "cpm", "power"), note=f"power; {windows} windows of use, the fewest of a recording")
        out.figure(f"edge_{length}_inside", alternate.inside(recordings, "edge"), "%", note="intervals of energy that hold the truth")


def judge_cost(out, seeds):
    """By how much longer a loop takes on one CPU that is recorded."""
    seen = {rate: {} for rate in RATES}
    script = "cpupower -c all frequency-set -g performance >/dev/null\n" + f"echo == none; $T/spread 1 {LOOP}\n" + "".join(
        f"echo == {rate}; kjoule record -q -F {rate} -o /tmp/k.data -- $T/spread 1 {LOOP}\n" for rate in RATES)
    for seed, text in bench.each_seed(seeds, script, "--profile", "client", "--cpus", "1"):
        cycles = {name: next(float(line.split()[0]) for line in lines if line) for name, lines in bench.blocks(text).items()}
        for rate in RATES:
            seen[rate][seed] = 100 * (cycles[str(rate)] / cycles["none"] - 1)
    for rate in RATES:
        out.seeded(f"cost_{rate}_hz", seen[rate], "%", note="in the chip's cycles, the recorder's own included, on the only CPU")


def judge_latency(out, seeds):
    """Changes that are granted at the next 500 us: the median, and how far it is off."""
    jobs = {f"{a}-{b}": latency.options_of(a, b, f"--repeats {REPEATS}") for a, b in PAIRS}
    off, reported = {}, 0
    for seed in seeds:
        pairs = [p for _, run in latency.measure("client", jobs, seed) for p in run.pairs]
        known = [p for p in pairs if p.told_ns is not None and p.true_ns is not None]
        reported += len(known)
        off[seed] = max((p.error() for p in known), default=float("nan"))
        for p in pairs:
            bench.say(f"seed {seed}: {p.told()}")
    out.figure("latency_reported", reported, "pairs", must=len(seeds) * len(PAIRS), at_most=False)
    out.seeded("latency_error_rel", off, "of the bound", must=0.5, note="a loop, or 2 % of the latency")


PARTS = {"functions": judge_functions, "edge": judge_edge, "cost": judge_cost, "latency": judge_latency}


def judge(out, only, seeds):
    bench.each_part(PARTS, only, lambda part: part(out, seeds))
