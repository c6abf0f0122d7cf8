# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "alternate", whose blocks are shorter than the counter's update
# period, compared with the oracle. Used by scripts/bench and selftests/bench. The reports are
# made from what the guest measured; the oracle is read afterwards, for the comparison.
import json
import os

from bench import bench, mix
from vchip import oracle as chip

PERIODS_MS = {"plain": mix.UPDATE_PERIOD_MS, "slow": 18, "client": 1}    # of the profiles' counters
BLOCKS = ("block_low", "block_high", "block_middle")    # in the order of the lengths
PROGRAM = os.path.join(bench.BUILD, "selftests/alternate")


class Recording:
    """By model and block, how far energy and power are off, in percent; and whether the intervals hold the truth."""

    def __init__(self, seed, reports, truth):
        self.seed, self.energy, self.power, self.inside, self.reports = seed, {}, {}, {}, reports
        for model, report in reports.items():
            rows = {r["function"]: r for r in report["rows"] if r["kind"] == "function" and r["pid"] == report["pid"] and
                    r["function"] in truth and r["energy_package_j"] is not None}
            self.energy[model] = {n: mix.Recording.off(r["energy_package_j"], truth[n]["energy_j"]) for n, r in rows.items()}
            self.power[model] = {n: mix.Recording.off(r["power_package_w"], truth[n]["energy_j"] / truth[n]["time_s"])
                                 for n, r in rows.items()}
            self.inside[model] = {n: r["energy_lo_package_j"] <= truth[n]["energy_j"] <= r["energy_hi_package_j"]
                                  for n, r in rows.items() if r["energy_lo_package_j"] is not None}
        self.truth = truth

    def worst(self, model):
        """Largest error of a block's power, None if none is known."""
        return max(map(abs, self.power[model].values()), default=None)


class Readings:
    """The same of the variation-aware model, whose rows are blocks."""

    def __init__(self, seed, report, truth):
        self.seed, self.report, self.truth = seed, report, truth
        self.rows = rows = {r["function"]: r for r in report["rows"] if r["function"] in truth and r["power_w"] is not None}
        watts = {n: truth[n]["energy_j"] / truth[n]["time_s"] for n in rows}
        self.power = {n: mix.Recording.off(r["power_w"], watts[n]) for n, r in rows.items()}
        self.energy = {n: mix.Recording.off(r["energy_j"], truth[n]["energy_j"]) for n, r in rows.items() if r["energy_j"] is not None}
        self.inside = {n: r["power_lo_w"] <= watts[n] <= r["power_hi_w"] for n, r in rows.items()}

    def worst(self, _model):
        return max(map(abs, self.power.values()), default=None)


def truths(oracle_file, pid):
    """True figures of the blocks, by name."""
    functions = chip.Oracle(oracle_file, pid).span().functions(chip.Symbols(PROGRAM), tgid=pid)
    return {n: mix.true_figures(r) for n, r in functions.items() if n.startswith("block_")}


def in_guests(name, profile, seeds, seconds, options, arguments, governor="performance"):
    """Record it with these arguments and the seed on one CPU, in a guest of each seed; yield seed, file and oracle of each."""
    stem = f"{bench.OUT}/{name}-{{seed}}"
    os.makedirs(bench.OUT, exist_ok=True)
    for seed, _ in bench.each_seed(seeds, f"""
cpupower -c all frequency-set -g {governor} >/dev/null
kjoule record -q {options} -o /tmp/k.data -- $T/alternate {seconds} {arguments} {{seed}}
cp /tmp/k.data {stem}.data
""", "--cpus", "1", "--profile", profile, "--oracle", f"{stem}.oracle"):
        yield seed, f"{bench.OUT}/{name}-{seed}.data", f"{bench.OUT}/{name}-{seed}.oracle"
        bench.remove(f"{bench.OUT}/{name}-{seed}.oracle", f"{bench.OUT}/{name}-{seed}.data")


def read_blocks(blocks, micros, seeds, seconds, options):
    """Have readings of @blocks, @micros being the lengths of both, on a chip that has a meter for it; return the Readings."""
    options = " ".join(f"--vpm {b}" for b in blocks) + " " + options
    result = []
    for seed, data, oracle_file in in_guests("readings", "exynos", seeds, seconds, options, f"{micros[0]} {micros[1]} 0"):
        report = bench.report_json(data, "--model", "vpm")
        result.append(Readings(seed, report, truths(oracle_file, report["pid"])))
    return result


def constant_power(micros, seeds, seconds):
    """
    The paper's constant power model on the meter that starts on command: a block's power is the mean of the readings
    right after which it was sampled. Yield: error of each block's power in percent, and how many readings it has.
    """
    for _, data, oracle_file in in_guests("constant", "exynos", seeds, seconds, "--source vchip,vchip-ina@31ms -i 1ms --jitter 900us",
                                          f"{micros[0]} {micros[1]} 0"):
        yield constant_power_of(data, oracle_file)


def constant_power_of(data, oracle_file):
    lines = map(json.loads, bench.command("script", "--json", data).splitlines())
    pid = bench.report_json(data)["pid"]
    truth, powers, reading = truths(oracle_file, pid), {}, None
    for line in sorted(lines, key=lambda x: x["time_ns"] + (x["duration_ns"] or 0 if x["type"] == "value" else 0)):
        if line["type"] == "value":
            reading = line["vchip_ina_power_uw"] * 1e-6
        elif line["type"] == "sample" and reading is not None:
            powers.setdefault(line.get("symbol"), []).append(reading)
            reading = None
    return {n: (mix.Recording.off(sum(p) / len(p), truth[n]["energy_j"] / truth[n]["time_s"]), len(p))
            for n, p in powers.items() if n in truth}


def record(lengths, seeds, seconds, options, models, profile="plain", governor="performance"):
    """Record it on one CPU; @lengths in update periods, @options of kjoule record; return the Recordings."""
    micros = " ".join(str(round(1000 * PERIODS_MS[profile] * length)) for length in lengths) + ("" if len(lengths) > 2 else " 0")
    result = []
    for seed, data, oracle_file in in_guests(f"alternate-{profile}", profile, seeds, seconds, options, micros, governor):
        reports = {m: bench.report_json(data, "--model", m) for m in models}
        result.append(Recording(seed, reports, truths(oracle_file, reports[models[0]]["pid"])))
    return result


def worst(recordings, model, what="energy"):
    """The largest error of any block in any recording."""
    return max(abs(e) for r in recordings for e in getattr(r, what)[model].values())


def all_told(recordings, model, blocks):
    """In how many recordings each block has an energy of its own."""
    return sum(len(r.energy[model]) == blocks for r in recordings)


def inside(recordings, model):
    """Percent of the intervals of energy that hold the truth."""
    held = [i for r in recordings for i in r.inside[model].values()]
    return 100 * sum(held) / len(held) if held else 0
