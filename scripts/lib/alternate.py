# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "alternate", whose blocks are shorter than the counter's update
# period, held to the oracle's truth. Used by scripts/bench and selftests/bench. The reports are
# made from what the guest measured; the oracle is read afterwards, for the comparison.
import json
import os
import sys

import bench
import mix

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

SLOW_PERIOD_MS = 18    # of the slow profile
IN_A_GUEST = 5         # recordings: one that goes wrong takes no more than these with it
STALLED = 0.01         # of its blocks' time: such a recording tells of the build machine, is shown and replaced
# the same where a breakpoint is armed at times: until it is met, its page is emulated so slowly that 2.4 to 3.3 % are stalls
READINGS_STALLED = 0.035
BLOCKS = ("block_low", "block_high", "block_middle")    # in the order of the lengths
PROGRAM = os.path.join(bench.BUILD, "selftests/alternate")


class Recording:
    """By model and block, how far energy and power are off, in percent; and whether the intervals hold the truth."""

    def __init__(self, reports, truth):
        self.energy, self.power, self.inside, self.reports = {}, {}, {}, reports
        for model, report in reports.items():
            rows = {r["function"]: r for r in report["rows"] if r["kind"] == "function" and r["pid"] == report["pid"] and
                    r["function"] in truth and r["energy_package_j"] is not None}
            self.energy[model] = {n: mix.Recording.off(r["energy_package_j"], truth[n]["energy_j"]) for n, r in rows.items()}
            self.power[model] = {n: mix.Recording.off(r["power_package_w"], truth[n]["energy_j"] / truth[n]["time_s"])
                                 for n, r in rows.items()}
            self.inside[model] = {n: r["energy_lo_package_j"] <= truth[n]["energy_j"] <= r["energy_hi_package_j"]
                                  for n, r in rows.items() if r["energy_lo_package_j"] is not None}
        self.truth, self.stalled = truth, stalled(truth)

    def worst(self, model):
        """Largest error of a block's power, None if none is told."""
        return max(map(abs, self.power[model].values()), default=None)


class Readings:
    """The same of the variation-aware model, whose rows are blocks.

    Power is held to that of the code without stalls: nearly all of these fall into the time that a breakpoint is waited for,
    which is in no reading. Energy and time have them.
    """

    def __init__(self, report, truth):
        rows = {r["function"]: r for r in report["rows"] if r["function"] in truth and r["power_w"] is not None}
        self.report, self.truth, self.rows = report, truth, rows
        watts = {n: truth[n]["ran_w"] for n in rows}
        self.power = {n: mix.Recording.off(r["power_w"], watts[n]) for n, r in rows.items()}
        self.energy = {n: mix.Recording.off(r["energy_j"], truth[n]["energy_j"]) for n, r in rows.items() if r["energy_j"] is not None}
        self.power_with_stalls = {n: mix.Recording.off(r["power_w"], truth[n]["energy_j"] / truth[n]["time_s"]) for n, r in rows.items()}
        self.inside = {n: r["power_lo_w"] <= watts[n] <= r["power_hi_w"] for n, r in rows.items()}
        self.stalled = stalled(truth)

    def worst(self, _model):
        return max(map(abs, self.power.values()), default=None)


def stalled(truth):
    """The part of the blocks' time for which the build machine kept the chip waiting."""
    return sum(t["stall_s"] for t in truth.values()) / sum(t["time_s"] for t in truth.values())


def truths(oracle_file, pid):
    """True figures of the blocks, by name."""
    functions = chip.Oracle(oracle_file, pid).span().functions(chip.Symbols(PROGRAM), tgid=pid)
    return {n: {**mix.true_figures(r), "ran_w": mix.watts_without_stalls(r)} for n, r in functions.items() if n.startswith("block_")}


def in_guests(name, profile, numbers, seconds, options, arguments, alone=False):
    """Record it with these arguments, and the number of the run, on one CPU, some in a guest; yield file and oracle of each."""
    folder = bench.OUT
    os.makedirs(folder, exist_ok=True)
    jobs = []
    for some in (numbers[i:i + IN_A_GUEST] for i in range(0, len(numbers), IN_A_GUEST)):
        oracle_file = os.path.join(folder, f"{name}-{some[0]}.oracle")
        jobs.append(bench.Job((some, oracle_file), f"""
cpupower -c all frequency-set -g performance >/dev/null
for i in $(seq {some[0]} {some[-1]}); do
	kjoule record -q {options} -o /tmp/$i.data -- $T/alternate {seconds} {arguments} $i
	cp /tmp/$i.data {folder}/{name}-$i.data
done
""", ("--profile", profile, "--oracle", oracle_file), 120 + len(some) * (3 * seconds + 40)))
    for some, oracle_file in bench.guests(jobs, 1, alone):
        for i in some:
            yield f"{folder}/{name}-{i}.data", oracle_file
        os.unlink(oracle_file)


def read_blocks(profile, blocks, micros, runs, seconds, options, show=lambda *_: None):
    """Have readings of @blocks, @micros being the lengths of both, @runs times on a chip that has a meter for it."""
    options = " ".join(f"--vpm {b}" for b in blocks) + " " + options
    def made(numbers):
        for data, oracle_file in in_guests("readings", profile, numbers, seconds, options, f"{micros[0]} {micros[1]} 0", alone=True):
            report = json.loads(bench.report(data, "--model", "vpm", "--json"))
            yield Readings(report, truths(oracle_file, report["pid"]))

    return that_count(made, runs, show, "vpm", READINGS_STALLED)


def that_count(made, runs, show, model, most_stalled=STALLED):
    """Of recordings, those of which the build machine took little; others are made instead, but no more than as many again.

    @made: makes those of these numbers. @show: is called with each, its number, and why it does not count.
    """
    result, n = [], 0
    while len(result) < runs and n < 2 * runs:
        numbers = range(n + 1, min(n + runs - len(result), 2 * runs) + 1)
        n = numbers[-1]
        for number, recording in zip(numbers, made(numbers)):
            counts = recording.stalled <= most_stalled
            show(number, recording.worst(model), f"{100 * recording.stalled:.2f} % stalled" + ("" if counts else ", does not count"))
            if counts:
                result.append(recording)
    return result


def constant_power(micros, runs, seconds):
    """
    The paper's constant power model on the meter that starts on command: a block's power is the mean of the readings
    right after which it was sampled. Yield: error of each block's power in percent, and how many readings it has.
    """
    for data, oracle_file in in_guests("constant", "exynos", range(1, runs + 1), seconds, "--source vchip,vchip-ina@31ms -i 1ms --jitter 900us",
                                       f"{micros[0]} {micros[1]} 0"):
        yield constant_power_of(data, oracle_file)


def constant_power_of(data, oracle_file):
    lines = map(json.loads, bench.command("script", "--json", data).splitlines())
    pid = json.loads(bench.report(data, "--json"))["pid"]
    truth, powers, reading = truths(oracle_file, pid), {}, None
    for line in sorted(lines, key=lambda x: x["time_ns"] + (x["duration_ns"] or 0 if x["type"] == "value" else 0)):
        if line["type"] == "value":
            reading = line["vchip_ina_power_uw"] * 1e-6
        elif line["type"] == "sample" and reading is not None:
            powers.setdefault(line.get("symbol"), []).append(reading)
            reading = None
    return {n: (mix.Recording.off(sum(p) / len(p), truth[n]["energy_j"] / truth[n]["time_s"]), len(p))
            for n, p in powers.items() if n in truth}


def record(lengths, runs, seconds, options, models, slow=False, show=lambda *_: None, most_stalled=STALLED):
    """Record it @runs times on one CPU; @lengths in update periods, @options of kjoule record.

    @slow: on the chip whose counter moves less often.
    """
    period_ms = SLOW_PERIOD_MS if slow else mix.UPDATE_PERIOD_MS
    micros = " ".join(str(round(1000 * period_ms * length)) for length in lengths)

    def made(numbers):
        # two guests side by side take from each other what edges need: 1 to 2 % of the time were stalls, and alone 0.2 to 0.6 %
        for data, oracle_file in in_guests("alternate", "slow" if slow else "plain", numbers, seconds, options,
                                           micros + ("" if len(lengths) > 2 else " 0"), alone=slow):
            reports = {m: json.loads(bench.report(data, "--model", m, "--json")) for m in models}
            yield Recording(reports, truths(oracle_file, reports[models[0]]["pid"]))

    return that_count(made, runs, show, models[0], most_stalled)


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
