# SPDX-License-Identifier: GPL-2.0-or-later
#
# Latencies of frequency changes as kjoule latency has them in a guest, compared with what the chip's log says of the same
# requests; next to them the paper's method on the same series (peer(): the first single loop inside the quartiles of the
# target's loops). Used by scripts/bench. The log is read after the guest is over: nothing that measures sees it.
#
# A try tells when its request was made by the guest's clock, the log when it was by the chip's. A mark has both: they go
# equally fast.
import bisect
import json
import math
import os
import statistics

from bench import bench
from vchip import oracle as chip

PROFILES = os.path.join(bench.TOP, "vchip/profiles")
NEAR_NS = 200_000       # a request's two times are no further apart
LOOPS_OFF = 3           # a good try is off by no more
PART = 0.02             # a median may be off by so much, or by a loop
QUARTILE = 0.6745       # standard deviations of a normal distribution
CONFIRM, CONFIRM_LEAST = 100, 50

# The paper's section 3.2.
TRENDS = {"ivybridge": ("steps", "flat"), "westmere": ("steps", "flat"), "sandybridge": ("linear", "flat")}
IVYBRIDGE = (47059, 52941, 58824, 64706, 70588, 76471, 88235, 100000)

# Frequencies of the chip whose cores stop at random, and good tries of each way between them: 1,000 at least.
SMI = ("47059,100000", "64706,88235", "52941,76471", "58824,82353")
SMI_REPEATS = 126

# Changes that have no number, and one next to them that has; MHz.
NO_NUMBER = {"nevergrants": ([(25, 60), (100, 80)], (60, 40)),
             "othergrant": ([(40, 90), (100, 60), (90, 40), (60, 100)], (40, 100)),
             "slowgrant": ([(40, 90)], (100, 40)),
             "twins": ([(80, 80.04), (80.04, 80)], (40, 80))}


def pause_ns(profile):
    """What a profile says of the time that a core stops at a change."""
    value = 0
    with open(os.path.join(PROFILES, profile + ".profile"), encoding="utf-8") as f:
        for line in f:
            key, _, text = line.partition("#")[0].partition("=")
            if key.strip() == "pause_ns":
                value = int(text)
            elif key.strip() == "include":
                value = pause_ns(text.strip().removesuffix(".profile"))
    return value


class Try:
    """One series, and what the log has of its request."""

    def __init__(self, doc):
        self.verdict, self.asked_ns, self.irqs_off_us = doc["verdict"], doc["asked_ns"], doc["irqs_off_us"]
        self.ns = 1000 * doc["last_us"] if doc["last_us"] is not None else None
        self.starts, self.times = doc["start_ns"], doc["loop_ns"]
        self.true_ns = None       # granted after
        self.alone = False        # no system management interrupt around the change, and it was granted

    @property
    def good(self):
        return self.verdict == "good"


class Pair:
    """Both sides of one change."""

    def __init__(self, run, row, doc, levels):
        self.from_khz, self.to_khz, self.row = row["from_khz"], row["to_khz"], row
        self.tries = [Try(t) for t in doc["tries"]]
        self.level = levels[self.to_khz]
        self.loops = [levels[khz]["loop_median_us"] for khz in (self.from_khz, self.to_khz)]
        # no level, no loops
        self.loop_ns = 1000 * max(x or 0 for x in self.loops)
        for t in self.tries:
            run.match(self, t)
        known = [t.true_ns for t in self.tries if t.true_ns is not None]
        self.true_ns = statistics.median(known) if known else None
        self.told_ns = 1000 * row["latency_us"] if row["latency_us"] is not None else None

    def allowed_ns(self):
        return max(self.loop_ns, PART * self.true_ns)

    def error(self):
        return abs(self.told_ns - self.true_ns) / self.allowed_ns()

    def covered(self):
        return 1000 * self.row["latency_lo_us"] <= self.true_ns <= 1000 * self.row["latency_hi_us"]

    def wrong(self):
        """Good tries that are off by too much, or of a change that was not made."""
        return [t for t in self.tries if t.good and (t.true_ns is None or abs(t.ns - t.true_ns) > LOOPS_OFF * self.loop_ns)]

    def peer_ns(self):
        """The paper's method on these series: the median of when the first loop like the target's begins; None without any."""
        low, high = (self.level["loop_median_us"] + s * QUARTILE * self.level["loop_sd_us"] for s in (-1, 1))
        found = [peer(t, 1000 * low, 1000 * high, 1000 * self.level["loop_us"]) for t in self.tries]
        found = [ns for ns in found if ns is not None]
        return statistics.median(found) if found else None

    def told(self):
        why = f"; {self.row['why']}" if self.row["why"] else ""
        return f"{self.from_khz} to {self.to_khz} kHz: reported {self.row['latency_us']} us, true {self.true_ns and self.true_ns / 1e3} us{why}"


def peer(t, low_ns, high_ns, mean_ns):
    """When the first loop begins that takes between these, if the hundred after it have the target's mean by the t-test."""
    first = bisect.bisect_left(t.starts, 0)
    for i in range(first, len(t.times)):
        if low_ns <= t.times[i] <= high_ns:
            after = t.times[i + 1:i + 1 + CONFIRM]
            if len(after) < CONFIRM_LEAST:
                return None
            off = abs(statistics.fmean(after) - mean_ns)
            return t.starts[i] if off <= 1.98 * statistics.stdev(after) / math.sqrt(len(after)) else None
    return None


class Run:
    """What kjoule latency said in a guest, between two marks of the chip's log."""

    def __init__(self, profile, name, folder, log):
        with open(f"{folder}/{name}.json", encoding="utf-8") as f:
            doc = json.load(f)
        with open(f"{folder}/{name}.out", encoding="utf-8") as f:
            self.table = json.load(f)
        with open(f"{folder}/{name}.code", encoding="utf-8") as f:
            self.code = int(f.read())
        self.pause_ns = pause_ns(profile)
        a, b = log.mark(f"{name}-begin"), log.mark(f"{name}-end")
        # the guest's time is read before the chip's: what is between them is least at the highest frequency
        self.ahead_ns = max(m.guest_ns - m.chip_ns for m in (a, b))
        cpu = self.table["cpu"]
        mine = [g for g in log.grants if g.cpu == cpu and a.chip_ns <= g.requested_ns <= b.chip_ns and not g.steps_left]
        self.grants = sorted(mine, key=lambda g: g.requested_ns)
        self.requested = [self.guest(g.requested_ns) for g in self.grants]
        self.smis = sorted((self.guest(s.end_ns), s.ns) for s in log.smis if s.cpu == cpu and a.chip_ns <= s.end_ns <= b.chip_ns)
        levels = {f["khz"]: f for f in doc["frequencies"]}
        self.loop_us = {khz: f["loop_median_us"] for khz, f in levels.items()}
        self.pairs = [Pair(self, row, p, levels) for row, p in zip(self.table["rows"], doc["pairs"])]

    def guest(self, chip_ns):
        return chip_ns + self.ahead_ns

    def match(self, pair, t):
        i = bisect.bisect_left(self.requested, t.asked_ns)
        near = [k for k in (i - 1, i) if 0 <= k < len(self.grants) and abs(self.requested[k] - t.asked_ns) < NEAR_NS and
                self.grants[k].asked_khz == pair.to_khz == self.grants[k].to_khz]
        if not near:
            return
        k = min(near, key=lambda k: abs(self.requested[k] - t.asked_ns))
        g = self.grants[k]
        t.true_ns = g.granted_ns - g.requested_ns
        begin = self.requested[k] - LOOPS_OFF * pair.loop_ns
        end = self.requested[k] + t.true_ns + self.pause_ns + LOOPS_OFF * pair.loop_ns
        t.alone = not any(e - ns <= end for e, ns in self.smis[bisect.bisect_left(self.smis, (begin,)):])

    def known(self):
        return [p for p in self.pairs if p.told_ns is not None and p.true_ns is not None]


def measure(profile, jobs, seed):
    """Run kjoule latency with the options of each of @jobs, by name, in one guest; yield a Run of each."""
    folder = os.path.join(bench.OUT, f"latency-{profile}")
    os.makedirs(folder, exist_ok=True)
    oracle_file = os.path.join(folder, "oracle.txt")
    # a name that is refused is in what the guest prints
    script = "".join(f"""
echo {name}-begin >/sys/kernel/debug/vchip/mark
code=0; kjoule latency -q --json -o /tmp/series {options} >/tmp/out 2>/tmp/err || code=$?
echo {name}-end >/sys/kernel/debug/vchip/mark
if [ $code -gt 1 ] || ! [ -s /tmp/series ]; then echo "{options}: exit code $code"; cat /tmp/err; exit 1; fi
cp /tmp/series {folder}/{name}.json; cp /tmp/out {folder}/{name}.out; echo $code >{folder}/{name}.code; rm /tmp/series
""" for name, options in jobs.items())
    bench.guest(script, "--profile", profile, "--cpus", "2", "--oracle", oracle_file, seed=seed)
    log = chip.Oracle(oracle_file, tgid=0)
    if log.lost:
        raise bench.BenchError(f"{profile}: the chip's log is not whole: {log.lost}")
    for name in jobs:
        yield name, Run(profile, name, folder, log)
    bench.remove(oracle_file)


def options_of(from_mhz, to_mhz, more=""):
    return f"--from {from_mhz}MHz --to {to_mhz}MHz {more}"


def judge_matrix(out, run):
    """All pairs of the Ivy Bridge shaped chip against its log."""
    known = run.known()
    out.figure("pairs", len(run.pairs), "pairs", note=f"loops of {', '.join(f'{us:.1f}' for us in run.loop_us.values())} us")
    out.figure("pairs_told", len(known), "pairs", must=len(run.pairs), at_most=False,
               note="; ".join(p.told() for p in run.pairs if p not in known))
    if not known:
        return
    worst = max(known, key=Pair.error)
    # the paper's latency has the pause in it
    peers = [(p, p.peer_ns()) for p in known]
    peer_errors = [abs(ns - p.true_ns - run.pause_ns) / p.allowed_ns() for p, ns in peers if ns is not None]
    out.figure("worst_error_rel", worst.error(), "of the bound", must=0.5, peer="the paper's, pause allowed for",
               peer_value=max(peer_errors, default=0), note=f"{worst.told()}; the peer reported {len(peer_errors)} pairs")
    out.figure("median_error_rel", statistics.median(p.error() for p in known), "of the bound", peer="the paper's, pause allowed for",
               peer_value=statistics.median(peer_errors) if peer_errors else 0)
    held = [p for p in known if p.covered()]
    out.figure("coverage", 100 * len(held) / len(run.pairs), "%", must=95, at_most=False,
               note=f"{len(held)} of {len(run.pairs)}; not " + "; ".join(p.told() for p in known if p not in held)[:400])
    pauses = [100 * (1000 * p.row["pause_us"] / run.pause_ns - 1) for p in known]
    out.figure("pause_error", max(map(abs, pauses)), "%", must=20, note=f"worst pair of {len(pauses)}, median {statistics.median(pauses):+.2f} %")
    out.figure("matrix_seconds", run.table["seconds"], "s", must=60)
    out.figure("irqs_off_max_us", run.table["irqs_off_max_us"], "us", must=1000)
    judge_tries(out, "", run)


def judge_tries(out, prefix, *runs):
    """What was passed as good and is not, and what nothing disturbed and is not good."""
    pairs = [p for run in runs for p in run.pairs]
    tries = [t for p in pairs for t in p.tries]
    wrong = [(p, t) for p in pairs for t in p.wrong()]
    out.figure(f"{prefix}off_tries", len(wrong), "tries", must=0, note="passed as good, off by more than three loops; " + "; ".join(
        f"{p.from_khz} to {p.to_khz} kHz {t.ns / 1e3:.0f} us, true {t.true_ns and t.true_ns / 1e3} us" for p, t in wrong[:5]))
    alone = [t for t in tries if t.alone]
    bad = [t.verdict for t in alone if not t.good]
    if alone:
        out.figure(f"{prefix}undisturbed_good", 100 * (1 - len(bad) / len(alone)), "%", must=95, at_most=False,
                   note=f"of {len(alone)}; {', '.join(f'{v} {bad.count(v)}' for v in sorted(set(bad)))}")
    out.figure(f"{prefix}disturbed_tries", len(tries) - len(alone), "tries",
               note=f"of {len(tries)}; {sum(t.good for t in tries)} were good")


def judge_trends(out, runs):
    told = {name: (run.table["up"]["shape"], run.table["down"]["shape"]) for name, run in runs.items()}
    right = sum(a == b for name, shapes in TRENDS.items() for a, b in zip(told[name], shapes))
    out.figure("trends_right", right, "trends", must=2 * len(TRENDS), at_most=False,
               note="; ".join(f"{name} up {up}, down {down}" for name, (up, down) in told.items()))


def judge_refused(out, runs):
    """@runs: (profile, whether it may have a number, Run)."""
    wrong = [(name, p) for name, may, run in runs for p in run.pairs
             if not may and (p.told_ns is not None or not p.row["why"] or run.code != 1)]
    tries = [(name, p) for name, may, run in runs for p in run.pairs for t in p.tries if not may and t.good]
    out.figure("wrong_numbers", len(wrong), "pairs", must=0, note=f"of {sum(not may for _, may, _ in runs)}; " +
               "; ".join(f"{name} {p.told()}" for name, p in wrong))
    out.figure("wrong_tries", len(tries), "tries",
               note="passed as good in these pairs; " + "; ".join(sorted({f"{n} {p.from_khz} to {p.to_khz}" for n, p in tries})))
    beside = [(name, p) for name, may, run in runs for p in run.pairs if may]
    out.figure("told_beside", sum(p.told_ns is not None for _, p in beside), "pairs", must=len(beside), at_most=False,
               note="of the same chips; " + "; ".join(f"{name} {p.told()}" for name, p in beside))
    for name, _, run in runs:
        for p in run.pairs:
            bench.say(f"{name}: {p.told()}")


def record_refused(seed):
    runs = []
    for profile, (without, beside) in NO_NUMBER.items():
        more = "--timeout 50ms"
        jobs = {f"no{i}": options_of(*pair, more) for i, pair in enumerate(without)}
        jobs["beside"] = options_of(*beside)
        runs += [(profile, name == "beside", run) for name, run in measure(profile, jobs, seed)]
    return runs


def judge(out, seed):
    """All figures."""
    jobs = {name: {"all": ""} for name in TRENDS}
    jobs["ivybridge"] = {"all": f"--freq {','.join(map(str, IVYBRIDGE))}"}
    trends = {profile: next(run for _, run in measure(profile, some, seed)) for profile, some in jobs.items()}
    judge_matrix(out, trends["ivybridge"])
    judge_trends(out, trends)
    judge_refused(out, record_refused(seed))
    # some for each mark, at which the chip's log is emptied
    smi = [run for _, run in measure("smi", {f"pairs{i}": f"--freq {pair} --repeats {SMI_REPEATS}" for i, pair in enumerate(SMI)}, seed)]
    out.figure("smi_tries", sum(len(p.tries) for run in smi for p in run.pairs), "tries", must=1000, at_most=False)
    judge_tries(out, "smi_", *smi)
