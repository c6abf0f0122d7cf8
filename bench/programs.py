# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of programs that others wrote, compared with the oracle. Which of a program's code is a
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

from bench import bench, mix
from vchip import oracle as chip

REAL = os.path.join(bench.TOP, "workloads/real")
UPDATE_PERIOD_S = 1e-3 * mix.UPDATE_PERIOD_MS
AROUND = 5          # update periods to both sides of a sample in which others are looked for
# A coarse block runs for ten update periods at a time, less what is between two samples at both ends. A tenth of such a time may be
# others' (page faults, a helper of everybody's), and a tenth of a block's time may be outside of such runs, where loops begin and end.
RUN_S = 9.6 * UPDATE_PERIOD_S
STRAY, AT_HOME = 0.1, 0.9
PRESENT = 0.75      # of the samples of a CPU that is never idle
# What has less of the time stays by itself. Code that is spread finely over that of a block, such as
# memmove() in a sort, is part of it: no counter tells the powers of the two apart. A hundredth was too
# much: blocks with 5 % of such code in them were up to 3.7 % off.
LEAST = 0.001
BLOCK = 0.05        # what has less of the time is not judged

Program = collections.namedtuple("Program", "name cpus package times prepare command")

# @package: Debian's, None: our own. @times: of the command in a recording, which is to last for 15 to 60 s. In the guest $P is a folder
# in its memory with the inputs, $R that of workloads/real, $T of what is built; $SEED differs from run to run, and $FOR is
# how many seconds it is to work, where a program asks for that.
PROGRAMS = [
    Program("mix", 1, None, 1, "", "exec $T/mix $FOR 10 $SEED"),
    Program("xz", 1, "xz-utils", 1, "head -c 400000 $P/text >$P/in",
            f"xz -6 -kc $P/in >$P/xz; cat {12 * ' $P/xz'} >$P/many; xz -dc $P/many >/dev/null"),
    Program("bzip2", 1, "bzip2", 2, "head -c 1000000 $P/text >$P/in",
            "bzip2 -kc $P/in >$P/bz2; cat $P/bz2 $P/bz2 >$P/many; bzip2 -dc $P/many >/dev/null"),
    Program("zstd", 1, "zstd", 1, "head -c 300000 $P/text >$P/in",
            "zstd -q -19 -c $P/in >$P/zst; zstd -q -5 -c $P/text >/dev/null; "
            f"cat {12 * ' $P/zst'} >$P/many; zstd -q -dc $P/many >/dev/null"),
    Program("sqlite3", 1, "sqlite3", 1, "", "sqlite3 :memory: '.read '$R/queries.sql"),
    Program("python3", 1, "python3", 1, "", "/usr/bin/python3 $R/phases.py $FOR $SEED"),
    Program("perl", 1, "perl", 1, "", "perl $R/phases.pl $FOR $SEED"),
    Program("minisat", 1, "minisat", 2, "", "minisat -verb=0 -cpu-lim=28 -rnd-seed=$SEED -rnd-init $P/problem.cnf; true"),
    Program("cc1", 1, "gcc", 1, "", "$(gcc -print-prog-name=cc1) -quiet -O2 $P/source.c -o /dev/null"),
    Program("flac", 1, "flac", 1, "for i in 1 2 3 4 5 6; do cp $P/sound.wav $P/$i.wav; done",
            "flac -s -8 $P/[1-6].wav; flac -s -d -c $P/[1-6].flac >/dev/null; rm $P/*.flac"),
    Program("xz-T2", 2, "xz-utils", 1, "head -c 800000 $P/text >$P/in", "xz -T2 --block-size=100KiB -6 -kc $P/in >/dev/null"),
    Program("zstd-T2", 2, "zstd", 1, "", "zstd -q -T2 -12 -B256K -c $P/text >/dev/null"),
    Program("pigz", 2, "pigz", 1, "", "for i in 1 2 3; do pigz -p2 -9 -kc $P/text >/dev/null; done"),
]
FOR_S, BRIEF_S = 45, 20        # seconds; what $FOR is, and in brief recordings, for which commands are not repeated


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


class Homes:
    """Where blocks are at home: ten update periods in a row that are theirs, but for stray samples and little idle time."""

    def __init__(self, samples):
        """@samples: (seconds, block), in their order."""
        self.times = [t for t, _ in samples]
        self.blocks = [b for _, b in samples]
        gaps = sorted(b - a for a, b in zip(self.times, self.times[1:]))
        # what a window has where nothing is idle
        self.full = RUN_S / gaps[len(gaps) // 2] if gaps and gaps[len(gaps) // 2] > 0 else 1
        # for the window that begins with a sample, what comes behind it
        self.ends, end = [], 0
        for t in self.times:
            while end < len(self.times) and self.times[end] < t + RUN_S:
                end += 1
            self.ends.append(end)

    def count(self, block):
        """How many of a block's samples are in a run of its own, and how many it has."""
        ours = [0]
        for b in self.blocks:
            ours.append(ours[-1] + (b == block))
        last = self.times[-1] - RUN_S if self.times else 0
        inside, covered = 0, 0
        for i, end in enumerate(self.ends):
            # what begins within the last ten update periods has no whole window
            if self.times[i] > last:
                break
            if self.blocks[i] == block and end - i >= PRESENT * self.full and ours[end] - ours[i] >= (1 - STRAY) * (end - i):
                inside += ours[end] - ours[max(i, covered)]
                covered = end
        return inside, ours[-1]

    def at_home(self, *blocks):
        """The part of the samples of a block, or of the same one in several processes, that are in a run of its own."""
        counts = [self.count(b) for b in blocks]
        whole = sum(n for _, n in counts)
        return sum(inside for inside, _ in counts) / whole if whole else 0

    def is_coarse(self, *blocks):
        return self.at_home(*blocks) >= AT_HOME


def coarse_blocks(samples):
    """Functions put together until each block runs for ten update periods at a time; sets of ranges.

    What does not is made one with what is around it most.
    """
    bins = collections.defaultdict(collections.Counter)
    samples = [s for s in samples if s[2] not in (KERNEL, UNKNOWN)]
    homes = Homes([(t, unit) for t, _, unit in samples])
    for t, _, unit in samples:
        bins[int(t / UPDATE_PERIOD_S)][unit] += 1
    totals = collections.Counter(homes.blocks)
    members = {unit: {unit} for unit in totals}
    everything = sum(totals.values())
    around = {i: sum((bins[k] for k in range(i - AROUND, i + AROUND + 1) if k in bins), collections.Counter())
              for i in list(bins)}

    def beside(block):
        """What is around a block's samples, itself left out, as parts."""
        sums = collections.Counter()
        for i, content in bins.items():
            n = content.get(block, 0)
            if n:
                whole = sum(around[i].values())
                for other, m in around[i].items():
                    sums[other] += n * m / whole
        del sums[block]
        return sums

    checked = set()
    while True:
        candidates = [b for b in members if totals[b] >= LEAST * everything and b not in checked]
        if not candidates:
            break
        block = max(candidates, key=lambda b: totals[b])
        sums = beside(block)
        if not sums or homes.is_coarse(block):
            checked.add(block)
            continue
        other = max(sums, key=lambda b: sums[b])
        members[block] |= members.pop(other)
        totals[block] += totals.pop(other)
        checked.discard(other)
        homes.blocks = [block if b == other else b for b in homes.blocks]
        for content in list(bins.values()) + list(around.values()):
            if other in content:
                content[block] += content.pop(other)
        checked -= {b for b in checked if b in sums}
    return [(members[b], totals[b] / everything) for b in sorted(members, key=lambda b: -totals[b])
            if b in checked and totals[b] >= BLOCK * everything]


def homes_of(samples, names):
    """Of the blocks of each process, (pid, name), next to other processes and the kernel."""
    block_of = {unit: name for name, ranges in names.items() for unit in ranges}
    return Homes([(t, (pid, block_of.get(unit, unit))) for t, pid, unit in samples])


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

    def __init__(self, program, seed, data, oracle_file):
        self.program, self.seed = program, seed
        samples, maps = read_samples(data)
        options, names = [], {}
        for i, (ranges, _) in enumerate(coarse_blocks(samples) if program.cpus == 1 else []):
            names[f"block{i}"] = ranges
            options += ["--block", f"block{i}=" + ",".join(f"{path}:{a:#x}-{b:#x}" for path, a, b in merged(ranges))]
        self.report = bench.report_json(data, *options)
        pids = sorted({r["pid"] for r in self.report["rows"] if r["kind"] == "process" and r["pid"]})
        truth = Truth(oracle_file, pids, maps)
        self.time_s = sum(truth.of(pid)["time_s"] for pid in pids)
        self.blocks = []        # (name, measured row, true figures, whether it is coarse)
        # a command that is repeated is several processes, whose blocks are the same
        homes, same = homes_of(samples, names), {}
        for (pid, block), row in by_process(r for r in self.report["rows"] if r["kind"] == "named" and r["function"] in names):
            same.setdefault((row["comm"], block), []).append((row, truth.of(pid, names[block]), (pid, block)))
        for (comm, block), parts in same.items():
            row = {k: sum(p[0][k] for p in parts) for k in ("time_s", "energy_package_j")}
            true = {k: sum(p[1][k] for p in parts) for k in ("time_s", "energy_j")}
            if true["time_s"] >= BLOCK * self.time_s:
                self.blocks.append((f"{comm}:{named(names[block], samples)}", row, true, homes.is_coarse(*(p[2] for p in parts))))
        if program.cpus == 1:
            mine = sum(r["energy_package_j"] for r in self.report["rows"] if r["kind"] == "process" and r["pid"] in pids)
            true = sum(truth.of(pid)["energy_j"] for pid in pids)
        else:
            # what the package spent while any of it ran: vectors, in which nothing is shared out
            rows = bench.report_json(data, "--vectors", "--by", "process")["rows"]
            mine = sum(r["energy_package_j"] for r in rows if any(m["pid"] in pids for m in r["corunning"]))
            true = 1e-12 * sum(v[1] + v[2] for tasks, v in truth.span.vectors.items()
                               if any(t and t[1] in pids for t in tasks))
        self.whole = mine, true


def judge(out, recordings):
    """The rows of scripts/bench: errors of coarse blocks and of whole programs, those of the worst seed."""
    blocks, wholes = collections.defaultdict(list), collections.defaultdict(list)    # by seed
    other, coarse_of = [], collections.Counter()    # errors of blocks that are not coarse; coarse blocks by program
    for r in recordings:
        name, (mine, true) = r.program.name, r.whole
        whole = 100 * abs(mine / true - 1)
        out.figure(f"{name}_whole", whole, "%", seed=r.seed, note=f"{mine:.4g} J, truth {true:.4g} J, {r.time_s:.1f} s")
        wholes[r.seed].append(whole)
        if r.program.cpus == 1:
            coarse_of[name] += 0    # programs of several threads are known as a whole only
        for n, row, t, coarse in r.blocks:
            energy, time = mix.Recording.off(row["energy_package_j"], t["energy_j"]), mix.Recording.off(row["time_s"], t["time_s"])
            out.figure(f"{name}_block", abs(energy), "%", seed=r.seed,
                       note=f"{n}: {100 * t['time_s'] / r.time_s:.0f} % of the time; energy {energy:+.2f} %, time {time:+.2f} %" +
                       ("" if coarse else "; not coarse in this process"))
            (blocks[r.seed] if coarse else other).append(abs(energy))
            coarse_of[name] += coarse
    if other:
        out.figure("other_blocks_mean", sum(other) / len(other), "%", note=f"{len(other)} blocks that are not coarse")
        out.figure("other_blocks_worst", max(other), "%")
    if blocks:
        without = [p for p, n in coarse_of.items() if not n]
        out.figure("coarse_mean", max(sum(b) / len(b) for b in blocks.values()), "%", must=0.4, peer="ALEA, 180 runs", peer_value=2.1,
                   note=f"worst seed's; {coarse_of.total()} blocks, of {', '.join(p for p, n in coarse_of.items() if n)}" +
                   (f"; no coarse block in {', '.join(without)}" if without else ""))
        out.figure("coarse_worst", max(map(max, blocks.values())), "%", must=1.2, peer="ALEA, one run", peer_value=32)
    elif coarse_of:
        raise bench.BenchError("there is no coarse block in what was recorded")
    out.figure("whole_program", max(map(max, wholes.values())), "%", must=0.2, peer="ALEA, 180 runs", peer_value=1.6)
    out.figure("whole_program_mean", max(sum(w) / len(w) for w in wholes.values()), "%")


def named(ranges, samples):
    """The function of a block with the most samples, and how many more there are."""
    counts = collections.Counter(unit for _, _, unit in samples if unit in ranges)
    (path, start, _), _ = counts.most_common(1)[0]
    return f"{os.path.basename(path)}+{start:#x}" + (f"+{len(ranges) - 1}" if len(ranges) > 1 else "")


def record(programs, seeds, brief=False):
    """Record each program in a guest of each seed; yield the Recordings."""
    folder = os.path.join(bench.OUT, "programs")
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, os.path.join(REAL, "inputs.py"), os.path.join(folder, "inputs")], check=True)
    jobs = []
    for p in programs:
        again = f"for n in {' '.join(map(str, range(p.times)))}; do {p.command}; done"
        for seed in seeds:
            stem = f"{folder}/{p.name}-{seed}"
            jobs.append(bench.Job((p, seed, stem), f"""
export T P=/tmp/inputs R={os.path.relpath(REAL, bench.TOP)} SEED={seed} FOR={BRIEF_S if brief else FOR_S}
cp -r {folder}/inputs $P
cpupower -c all frequency-set -g performance >/dev/null
{p.prepare}
kjoule record -q -o /tmp/k.data -- sh -c {sh_quote(p.command if brief or p.times == 1 else again)}
cp /tmp/k.data {stem}.data
""", ("--cpus", str(p.cpus), "--oracle", f"{stem}.oracle"), seed))
    for (p, seed, stem), _ in bench.guests(jobs):
        yield Recording(p, seed, f"{stem}.data", f"{stem}.oracle")
        bench.remove(f"{stem}.oracle", f"{stem}.data")


def sh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"
