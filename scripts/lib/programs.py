# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of programs that others wrote, held to the oracle's truth. Which of a program's code is a
# coarse block is found from the recording's own samples (coarse_blocks()); a block is a set of address ranges
# of ELF files, the same ones for kjoule report (--block) and for the oracle. Used by scripts/bench. The reports are
# made from what the guest measured; the oracle is read afterwards, for the comparison.
import bisect
import collections
import json
import os
import re
import subprocess
import sys

import bench
import mix

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

REAL = os.path.join(bench.TOP, "selftests/programs/real")
UPDATE_PERIOD_S = 1e-3 * mix.UPDATE_PERIOD_MS
AROUND = 5          # update periods to both sides of a sample in which its block is looked for
# A block that always runs for ten update periods, between others, has this part of the time around its samples.
COARSE_PURITY = 0.75
IN_A_GUEST = 4      # recordings
# At the ends of such a run it is half; so few samples may be where it is less than this.
AT_HOME, ASTRAY = 0.4, 0.05
LEAST = 0.01        # what has less of the time is made one with nothing
# The chip stands still while QEMU translates code that is new to it, which is why each program runs once before it is
# recorded; a stall costs static power and time, as the measurement sees it. More than this of the time is the build machine's.
MANY_STALLS = 0.15
BLOCK = 0.05        # what has less of the time is judged by nobody

Program = collections.namedtuple("Program", "name cpus package prepare command")

# @package: Debian's, None: our own. In the guest $P is a folder in its memory with the inputs, $R that of selftests/programs/real,
# $T of what is built, and $SEED differs from run to run.
PROGRAMS = [
    Program("mix", 1, None, "", "exec $T/mix 25 10 $SEED"),
    Program("xz", 1, "xz-utils", "head -c 400000 $P/text >$P/in",
            "xz -6 -kc $P/in >$P/xz; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat $P/xz; done >$P/many; xz -dc $P/many >/dev/null"),
    Program("bzip2", 1, "bzip2", "head -c 1000000 $P/text >$P/in",
            "bzip2 -kc $P/in >$P/bz2; cat $P/bz2 $P/bz2 >$P/many; bzip2 -dc $P/many >/dev/null"),
    Program("zstd", 1, "zstd", "head -c 300000 $P/text >$P/in",
            "zstd -q -19 -c $P/in >$P/zst; zstd -q -5 -c $P/text >/dev/null; "
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat $P/zst; done >$P/many; zstd -q -dc $P/many >/dev/null"),
    Program("sqlite3", 1, "sqlite3", "", "sqlite3 :memory: '.read '$R/queries.sql"),
    Program("python3", 1, "python3", "", "/usr/bin/python3 $R/phases.py 20 $SEED"),
    Program("perl", 1, "perl", "", "perl $R/phases.pl 20 $SEED"),
    Program("minisat", 1, "minisat", "", "minisat -verb=0 -rnd-seed=$SEED -rnd-init $P/problem.cnf; true"),
    Program("cc1", 1, "gcc", "", "$(gcc -print-prog-name=cc1) -quiet -O2 $P/source.c -o /dev/null"),
    Program("flac", 1, "flac", "for i in 1 2 3 4 5 6; do cp $P/sound.wav $P/$i.wav; done",
            "flac -s -8 $P/[1-6].wav; flac -s -d -c $P/[1-6].flac >/dev/null; rm $P/*.flac"),
    Program("xz-T2", 2, "xz-utils", "head -c 800000 $P/text >$P/in", "xz -T2 --block-size=100KiB -6 -kc $P/in >/dev/null"),
    Program("zstd-T2", 2, "zstd", "", "zstd -q -T2 -12 -B256K -c $P/text >/dev/null"),
    Program("pigz", 2, "pigz", "", "for i in 1 2 3; do pigz -p2 -9 -kc $P/text >/dev/null; done"),
]


class Ranges:
    """An ELF file's code as the unwinding table divides it, function by function; gaps are ranges as well."""

    _files = {}

    def __init__(self, path):
        text = subprocess.run(["readelf", "-W", "--debug-dump=frames", path], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout    # it fails for what it only warns of
        # A function may have several parts, and alignment between them that nothing runs in
        self.starts = sorted({int(a, 16) for a in re.findall(r" FDE .*pc=([0-9a-f]+)\.\.", text)} | {0})
        headers = subprocess.run(["readelf", "-Wl", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        loads = re.findall(r"LOAD\s+0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x[0-9a-f]+ 0x([0-9a-f]+) (R?) ?(W?) ?E", headers)
        if not loads:
            raise bench.BenchError(f"{path}: has no code")
        self.first = int(loads[0][1], 16) & ~0xfff
        self.end = max(int(v, 16) + int(size, 16) for _, v, size, _, _ in loads)

    @classmethod
    def of(cls, path):
        if path not in cls._files:
            cls._files[path] = cls(path) if path.startswith("/") and os.path.exists(path) else None
        return cls._files[path]

    def find(self, address):
        """[from, to) of the function that has an address."""
        i = bisect.bisect_right(self.starts, address) - 1
        return self.starts[i], self.starts[i + 1] if i + 1 < len(self.starts) else self.end


KERNEL, UNKNOWN = ("[kernel]",), ("[unknown]",)      # in place of a range; what no block can be made of


class Maps:
    """Where a process had which files."""

    def __init__(self):
        self.at = []        # (start, end, path), the last one counts

    def place(self, ip):
        """(path, address as the file counts), or None."""
        for start, end, path in reversed(self.at):
            if start <= ip < end:
                ranges = Ranges.of(path)
                return (path, ip - start + ranges.first) if ranges else None
        return None


def read_samples(data):
    """Samples: (seconds, pid, range), KERNEL or UNKNOWN for a range; and the maps of each process."""
    maps, samples, cache = collections.defaultdict(Maps), [], {}
    command = [os.path.join(bench.BUILD, "user/kjoule"), "script", "--json", data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        for line in p.stdout:
            r = json.loads(line)
            if r["type"] == "map":
                start = int(r["ip"], 16)
                maps[r["pid"]].at.append((start, start + r["count"], r["text"]))
            elif r["type"] == "exec":
                maps[r["pid"]] = Maps()
                cache = {k: v for k, v in cache.items() if k[0] != r["pid"]}
            elif r["type"] == "fork":
                parent = int(r["text"].split()[-1])
                if parent != r["pid"]:
                    maps[r["pid"]].at = list(maps[parent].at)
            elif r["type"] == "sample" and r["mode"] != "u":
                samples.append((r["time_ns"] * 1e-9, r["pid"], KERNEL))
            elif r["type"] == "sample":
                ip = int(r["ip"], 16)
                key = r["pid"], ip
                if key not in cache:
                    place = maps[r["pid"]].place(ip)
                    cache[key] = (place[0],) + Ranges.of(place[0]).find(place[1]) if place else UNKNOWN
                samples.append((r["time_ns"] * 1e-9, r["pid"], cache[key]))
    if p.returncode:
        raise bench.BenchError(f"kjoule script {data} failed")
    return samples, maps


def coarse_blocks(samples):
    """Functions put together until each block runs for about ten update periods at a time; sets of ranges.

    What is not, as purely as such a block would be, is made one with what is around it most.
    """
    bins = collections.defaultdict(collections.Counter)
    samples = [s for s in samples if s[2] not in (KERNEL, UNKNOWN)]
    for t, _, unit in samples:
        bins[int(t / UPDATE_PERIOD_S)][unit] += 1
    totals = collections.Counter(unit for _, _, unit in samples)
    members = {unit: {unit} for unit in totals}
    everything = sum(totals.values())
    around = {i: sum((bins[k] for k in range(i - AROUND, i + AROUND + 1) if k in bins), collections.Counter())
              for i in list(bins)}

    def beside(block):
        """What is around a block's samples, itself included, as parts; and how many are where it is not at home."""
        sums, astray = collections.Counter(), 0
        for i, content in bins.items():
            n = content.get(block, 0)
            if n:
                whole = sum(around[i].values())
                astray += n if around[i][block] < AT_HOME * whole else 0
                for other, m in around[i].items():
                    sums[other] += n * m / whole
        return sums, astray

    checked = set()
    while True:
        candidates = [b for b in members if totals[b] >= LEAST * everything and b not in checked]
        if not candidates:
            break
        block = max(candidates, key=lambda b: totals[b])
        sums, astray = beside(block)
        purity = sums.pop(block, 0) / totals[block]
        if (purity >= COARSE_PURITY and astray <= ASTRAY * totals[block]) or not sums:
            checked.add(block)
            continue
        other = max(sums, key=lambda b: sums[b])
        members[block] |= members.pop(other)
        totals[block] += totals.pop(other)
        checked.discard(other)
        for content in list(bins.values()) + list(around.values()):
            if other in content:
                content[block] += content.pop(other)
        checked -= {b for b in checked if b in sums}
    return [(members[b], totals[b] / everything) for b in sorted(members, key=lambda b: -totals[b])
            if b in checked and totals[b] >= BLOCK * everything]


def coarse_rows(samples, names):
    """(pid, name) of the blocks that are coarse in a process, beside other processes and the kernel."""
    block_of = {unit: name for name, ranges in names.items() for unit in ranges}
    bins, totals = collections.defaultdict(collections.Counter), collections.Counter()
    for t, pid, unit in samples:
        key = pid, block_of.get(unit, unit)
        bins[int(t / UPDATE_PERIOD_S)][key] += 1
        totals[key] += 1
    pure, astray = collections.Counter(), collections.Counter()
    for i, content in list(bins.items()):
        around = sum((bins[k] for k in range(i - AROUND, i + AROUND + 1) if k in bins), collections.Counter())
        whole = sum(around.values())
        for key, n in content.items():
            pure[key] += n * around[key] / whole
            astray[key] += n if around[key] < AT_HOME * whole else 0
    return {key for key, n in totals.items() if pure[key] >= COARSE_PURITY * n and astray[key] <= ASTRAY * n}


def merged(ranges):
    """(path, from, to), neighbours put together."""
    result = []
    for path, start, end in sorted(ranges):
        if result and result[-1][0] == path and result[-1][2] == start:
            result[-1] = (path, result[-1][1], end)
        else:
            result.append((path, start, end))
    return result


class Truth:
    """What the oracle knows of processes, by the ranges of files."""

    def __init__(self, oracle_file, pids, maps):
        self.span = chip.Oracle(oracle_file, set(pids)).span()
        self.by_range = {}        # pid -> {(path, from, to): FIELDS}
        for pid in pids:
            sums = self.by_range[pid] = {}
            for (_, _, ip), values in self.span.insns(pid).items():
                place = None if ip >> 63 else maps[pid].place(ip)
                key = (place[0],) + Ranges.of(place[0]).find(place[1]) if place else ("[kernel]" if ip >> 63 else "[unknown]",)
                row = sums.setdefault(key, [0] * len(chip.FIELDS))
                for i, v in enumerate(values):
                    row[i] += v

    def of(self, pid, ranges=None):
        """Energy and time of code, or of all that a process did."""
        rows = [v for k, v in self.by_range[pid].items() if ranges is None or k in ranges]
        return mix.true_figures(dict(zip(chip.FIELDS, map(sum, zip(*rows)))) if rows else dict.fromkeys(chip.FIELDS, 0))


def by_process(rows):
    """((pid, block), time and energy): a process has two names, that of the shell before it became the program."""
    sums = {}
    for row in sorted(rows, key=lambda r: -r["time_s"]):
        s = sums.setdefault((row["pid"], row["function"]), {"comm": row["comm"], "time_s": 0, "energy_package_j": 0})
        s["time_s"] += row["time_s"]
        s["energy_package_j"] += row["energy_package_j"]
    return sums.items()


class Recording:
    """One recording of one program."""

    def __init__(self, program, data, oracle_file):
        self.program = program
        samples, maps = read_samples(data)
        options, names = [], {}
        for i, (ranges, _) in enumerate(coarse_blocks(samples) if program.cpus == 1 else []):
            names[f"block{i}"] = ranges
            options += ["--block", f"block{i}=" + ",".join(f"{path}:{a:#x}-{b:#x}" for path, a, b in merged(ranges))]
        self.report = json.loads(bench.report(data, "--json", *options))
        pids = sorted({r["pid"] for r in self.report["rows"] if r["kind"] == "process" and r["pid"]})
        truth = Truth(oracle_file, pids, maps)
        self.time_s = sum(truth.of(pid)["time_s"] for pid in pids)
        self.stalled = sum(truth.of(pid)["stall_s"] for pid in pids) / self.time_s
        self.blocks = []        # (name, measured row, true figures, whether it is coarse)
        coarse = coarse_rows(samples, names)
        for (pid, block), row in by_process(r for r in self.report["rows"] if r["kind"] == "named" and r["function"] in names):
            true = truth.of(pid, names[block])
            if true["time_s"] >= BLOCK * self.time_s:
                self.blocks.append((f"{row['comm']}:{named(names[block], samples)}", row, true, (pid, block) in coarse))
        if program.cpus == 1:
            mine = sum(r["energy_package_j"] for r in self.report["rows"] if r["kind"] == "process" and r["pid"] in pids)
            true = sum(truth.of(pid)["energy_j"] for pid in pids)
        else:
            # what the package spent while any of it ran: vectors, in which nothing is shared out
            rows = json.loads(bench.report(data, "--json", "--vectors", "--by", "process"))["rows"]
            mine = sum(r["energy_package_j"] for r in rows if any(m["pid"] in pids for m in r["together"]))
            true = 1e-12 * sum(v[1] + v[2] for tasks, v in truth.span.vectors.items()
                               if any(t and t[1] in pids for t in tasks))
        self.whole = mine, true

    def noisy(self):
        cost = self.report["cost"]
        return cost["calibration_error"] > mix.NOISY or cost["other_interrupts_error"] > mix.OTHER_NOISY


class Counted:
    """What of each program counts: a program of which nothing does is in no mean, and must not be missed there."""

    def __init__(self):
        self.recordings, self.whole = collections.Counter(), collections.Counter()
        self.coarse, self.blocks, self.why = collections.Counter(), collections.Counter(), {}

    def missing(self):
        """What is to be said of programs of which there is no figure."""
        said = [f"{p}: none of {n} recordings counts ({self.why[p]})" for p, n in self.recordings.items() if not self.whole[p]]
        return said + [f"{p}: none of {self.coarse[p]} coarse blocks counts" for p in self.recordings
                       if self.whole[p] and self.coarse[p] and not self.blocks[p]]

    def without_blocks(self):
        """Programs that count, and have nothing coarse in them."""
        return [p for p in self.recordings if self.whole[p] and not self.coarse[p]]


def judge(out, recordings, runs):
    """The rows of scripts/bench: errors of coarse blocks and of whole programs, the worst run's."""
    blocks, wholes, counted = collections.defaultdict(list), collections.defaultdict(list), Counted()
    for i, r in recordings:
        name, (mine, true) = r.program.name, r.whole
        why = "" if r.stalled < MANY_STALLS else f"; {100 * r.stalled:.1f} % stalled, does not count"
        why = why or ("; calibration noisy, does not count" if r.noisy() else "")
        stalled = f", {100 * r.stalled:.1f} % of them stalled" if not why else ""
        whole = 100 * abs(mine / true - 1)
        out.figure(f"{name}_{i}_whole", whole, "%", note=f"{mine:.4g} J, truth {true:.4g} J, {r.time_s:.1f} s{stalled}{why}")
        errors = [(n, mix.Recording.off(row["energy_package_j"], t["energy_j"]), mix.Recording.off(row["time_s"], t["time_s"]),
                   t["time_s"] / r.time_s, t["stall_s"] / t["time_s"], coarse) for n, row, t, coarse in r.blocks]
        for n, energy, time, share, stalled, coarse in errors:
            out.figure(f"{name}_{i}_block", abs(energy), "%",
                       note=f"{n}: {100 * share:.0f} % of the time; energy {energy:+.2f} %, time {time:+.2f} %" +
                       ("" if coarse else "; not coarse in this process, does not count") + (f"; {100 * stalled:.1f} % stalled, does not count" if stalled > mix.MANY_STALLS else ""))
        coarse = [e for e in errors if e[5]]
        counted.recordings[name] += 1
        counted.coarse[name] += len(coarse)
        if why:
            counted.why[name] = why.removeprefix("; ").removesuffix(", does not count")
            continue
        good = [abs(e[1]) for e in coarse if e[4] <= mix.MANY_STALLS]
        counted.whole[name] += 1
        counted.blocks[name] += len(good)
        wholes[i].append(whole)
        blocks[i] += good
    missing = counted.missing()
    out.figure("not_measured", len(missing), "programs", must=0, note="; ".join(missing))
    if not all(wholes.get(i) for i in range(1, runs + 1)):
        raise bench.BenchError("the build machine takes the chip away: there is a run of which nothing counts")
    n = sum(map(len, blocks.values()))
    # programs of several threads are told as a whole only
    if n:
        judge_blocks(out, {i: b for i, b in blocks.items() if b}, runs, n, counted)
    out.figure("whole_program", max(map(max, wholes.values())), "%", must=0.5, peer="ALEA, 180 runs", peer_value=1.6)
    out.figure("whole_program_mean", max(sum(w) / len(w) for w in wholes.values()), "%")


def judge_blocks(out, blocks, runs, n, counted):
    have = [p for p, k in counted.blocks.items() if k]
    without = counted.without_blocks()
    out.figure("coarse_mean", max(sum(b) / len(b) for b in blocks.values()), "%", must=1, peer="ALEA, 180 runs", peer_value=2.1,
               note=f"worst of {runs} runs; {n} blocks of {sum(counted.whole.values())} recordings; of {', '.join(have)}" +
               (f"; no coarse block in {', '.join(without)}" if without else ""))
    out.figure("coarse_worst", max(map(max, blocks.values())), "%", must=2, peer="ALEA, one run", peer_value=32)


def named(ranges, samples):
    """The function of a block with the most samples, and how many more there are."""
    counts = collections.Counter(unit for _, _, unit in samples if unit in ranges)
    (path, start, _), _ = counts.most_common(1)[0]
    return f"{os.path.basename(path)}+{start:#x}" + (f"+{len(ranges) - 1}" if len(ranges) > 1 else "")


def record(programs, runs, rate=500, options=()):
    """Record each program @runs times, some in a guest; yield the number of the run and the Recording."""
    folder = os.path.join(bench.OUT, "programs")
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, os.path.join(REAL, "inputs.py"), os.path.join(folder, "inputs")], check=True)
    for cpus in sorted({p.cpus for p in programs}):
        jobs = [(p, i) for p in programs if p.cpus == cpus for i in range(1, runs + 1)]
        guests = []
        for some in (jobs[first:first + IN_A_GUEST] for first in range(0, len(jobs), IN_A_GUEST)):
            oracle_file = os.path.join(folder, f"{some[0][0].name}-{some[0][1]}.oracle")
            script = f"""
cpupower -c all frequency-set -g performance >/dev/null
export T P=/tmp/inputs R={os.path.relpath(REAL, bench.TOP)} SEED
cp -r {folder}/inputs $P
"""
            for k, (p, i) in enumerate(some):
                if not k or some[k - 1][0] != p:
                    # QEMU translates it here, not while it is recorded
                    script += f"SEED=0\n{p.prepare}\n(sh -c {sh_quote(p.command)}) >/dev/null\n"
                script += f"""
SEED={i}
{p.prepare}
kjoule record -q -F {rate} --jitter 1900us -o /tmp/k.data -- sh -c {sh_quote(p.command)}
cp /tmp/k.data {folder}/{p.name}-{i}.data
"""
            guests.append(bench.Job((some, oracle_file), script, ("--oracle", oracle_file, *options), 120 + len(some) * 200))
        for some, oracle_file in bench.guests(guests, cpus):
            for p, i in some:
                yield i, Recording(p, f"{folder}/{p.name}-{i}.data", oracle_file)
            if not os.environ.get("KJOULE_BENCH_KEEP"):
                os.unlink(oracle_file)


def sh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"
