#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read the virtual chip's oracle: what really ran, and what it really cost.

Library and command. Owns the reading of the oracle's text (its format is in
vchip/README), the difference of two marks, and the summing up by function.
Tests use it to judge what the guest measured; nothing that measures may use it.

    oracle.py FILE                              the marks in the file
    oracle.py FILE --elf PROG --tgid N          by function, from the first mark to the last
    oracle.py FILE --from A --to B --elf PROG --tgid N [--pid N] [--json]
"""
import argparse
import bisect
import collections
import json
import subprocess
import sys

# The numbers of one instruction, in the order of the file.
FIELDS = ("exec", "cycles", "dyn_pj", "time_ns", "paused_ns",
          "alone_exec", "alone_cycles", "alone_dyn_pj", "alone_time_ns", "alone_paused_ns",
          "alone_static_pj", "dram_pj", "alone_dram_pj")
CPU_FIELDS = ("cycles_user", "cycles_kernel", "instr_user", "instr_kernel", "ref_ns", "energy_pj",
              "grants", "cur_khz")

CYCLE_UNITS = 1 << 18        # of a nanosecond
TASK_OTHER = 4294967294      # what the chip had no room to count by task

Grant = collections.namedtuple("Grant", "cpu from_khz to_khz requested_ns granted_ns asked_khz steps_left")
Turbo = collections.namedtuple("Turbo", "ns khz active why mean_uw temp_mc pkg_pj package")
Refusal = collections.namedtuple("Refusal", "cpu khz asked_khz requested_ns why")
Smi = collections.namedtuple("Smi", "cpu end_ns ns pid tgid address")


class OracleError(Exception):
    """The file is not an oracle, or lacks what was asked for."""


# Of a package, each cumulative: energy, of the memory besides; time and static energy while all its CPUs were halted, and while
# several ran; what time alone has more than its instructions.
PACKAGE_FIELDS = ("pkg_pj", "core_pj", "static_pj", "dram_pj", "dram_dyn_pj", "idle_ns", "idle_pj", "shared_ns", "shared_static_pj",
                  "residual_ns", "residual_pj")


class Package:
    """What one package has spent up to a mark, or between two."""

    def __init__(self, values=None, vectors=None):
        for name in PACKAGE_FIELDS:
            setattr(self, name, values[name] if values else 0)
        self.vectors = vectors or {}    # (task or None, ...) of its CPUs -> (ns, static pJ, dynamic pJ)

    def since(self, first):
        return Package({name: getattr(self, name) - getattr(first, name) for name in PACKAGE_FIELDS},
                       _minus(first.vectors, self.vectors))


class Mark:
    """What the chip had counted at one moment; the counters that changed since the mark before."""

    def __init__(self, seq, label, chip_ns, guest_ns):
        self.seq, self.label = seq, label
        self.chip_ns, self.guest_ns = chip_ns, guest_ns
        self.cpus = []            # a dict of CPU_FIELDS each
        self.packages = []
        self.alone = []           # [(ns, static pJ)] of each CPU while it alone ran of its package
        self.counts = {}          # (cpu, index) -> VALUES
        self.backs = {}           # (cpu, index) -> VALUES, taken back
        self.pauses = {}          # (cpu, index) -> (ns, ns alone, static fJ alone)
        self.lost = []            # what there were too many of since the mark before: (kind, number)

    @classmethod
    def zero(cls, like):
        """The moment before the first mark, when nothing was counted."""
        m = cls(0, "start", 0, 0)
        m.cpus = [dict.fromkeys(CPU_FIELDS, 0) for _ in like.cpus]
        m.alone = [(0, 0)] * len(like.alone)
        m.packages = [Package() for _ in like.packages]
        return m

    @property
    def pkg_pj(self):
        """Energy of all packages."""
        return sum(p.pkg_pj for p in self.packages)


class Oracle:
    """A whole file: marks in their order, grants, refusals, system management interrupts and what the turbo allowed."""

    def __init__(self, path, tgid=None, partial=False, until=None):
        """With a thread group, or several, only their instructions are read: quicker.

        @partial: also one that had no room for all that tasks did, see others.
        @until: what comes after the mark of that label is not read.
        """
        self.marks, self.grants, self.refusals, self.smis, self.turbos, self.lost = [], [], [], [], [], []
        self.others = False    # whether some of what tasks did is known of no task: there were too many pairs of blocks and tasks
        self.khz, self.cycle_ns, self.classes = [], [], []   # by P-state; (name, cycles, [pJ])
        self.dram_base_uw, self.dram_pj = 0, []              # of each package; by class
        self.blocks = {}       # id -> (address, ((offset, class), ...))
        self.heads = {}        # (cpu, index) -> (pid, tgid, block, P-state)
        self.back_heads, self.pause_heads = {}, {}           # (cpu, index) -> ((cpu, count), position)
        with open(path, encoding="utf-8") as f:
            head = f.readline().rstrip("\n").split(",")
            if head[:2] != ["vchip-oracle", "4"]:
                raise OracleError(f"{path}: not an oracle of version 4")
            self.profile, self.cpus, self.scale = head[2], int(head[3]), int(head[4])
            several = isinstance(tgid, (set, list, tuple))
            self._read(f, None if tgid is None else set(map(int, tgid if several else [tgid])), until)
        if tgid is not None and self.others and not partial:
            raise OracleError(f"{path}: there was no room for all that tasks did; record less in a guest")

    def _read(self, lines, tgids, until):
        mark = p = None
        for line in lines:
            if not line.endswith("\n"):
                break                     # still being written
            kind, _, rest = line.rstrip("\n").partition(",")
            word = rest.split(",")
            if kind == "count":
                self.others |= int(word[2]) == TASK_OTHER
                if tgids is not None and int(word[3]) not in tgids:
                    continue
                n = list(map(int, word))
                key = (n[0], n[1])
                self.heads[key] = tuple(n[2:6])
                mark.counts[key] = tuple(n[6:])
            elif kind in ("back", "paused"):
                n = list(map(int, word))
                key, owner = (n[0], n[1]), (n[0], n[2])
                if owner not in self.heads:
                    continue              # of a task that is not wanted
                if kind == "back":
                    self.back_heads[key] = (owner, n[3])
                    mark.backs[key] = tuple(n[4:])
                else:
                    self.pause_heads[key] = (owner, n[3])
                    mark.pauses[key] = tuple(n[4:7])
            elif kind == "block":
                self.blocks[int(word[0])] = (int(word[1], 16), tuple(tuple(map(int, w.split(":"))) for w in word[2:]))
            elif kind == "pstate":
                self.khz.append(int(word[1]))
                self.cycle_ns.append(int(word[2]) / CYCLE_UNITS)
            elif kind == "class":
                self.classes.append((word[1], int(word[2]), [int(w) for w in word[3:]]))
            elif kind == "mark":
                mark = Mark(int(word[0]), word[1], *map(int, word[2:4]))
            elif kind == "cpu":
                mark.cpus.append(dict(zip(CPU_FIELDS, map(int, word[1:]))))
            elif kind == "dram":
                self.dram_base_uw, *self.dram_pj = map(int, word)
            elif kind == "package":
                p = Package()
                p.pkg_pj, p.core_pj, p.static_pj, p.dram_pj, p.dram_dyn_pj = map(int, word[1:])
                mark.packages.append(p)
            elif kind == "idle":
                p.idle_ns, p.idle_pj = map(int, word[1:])
            elif kind == "shared":
                p.shared_ns, p.shared_static_pj = map(int, word[1:])
            elif kind == "alone":
                mark.alone.append((int(word[1]), int(word[2])))
            elif kind == "residual":
                p.residual_ns, p.residual_pj = map(int, word[1:])
            elif kind == "vector":
                tasks = tuple(None if t == "-" else tuple(map(int, t.split(":"))) for t in word[4:])
                p.vectors[tasks] = tuple(map(int, word[1:4]))
            elif kind == "grant":
                self.grants.append(Grant(*map(int, word)))
            elif kind == "refusal":
                self.refusals.append(Refusal(*map(int, word[:4]), word[4]))
            elif kind == "turbo":
                self.turbos.append(Turbo(*map(int, word)))
            elif kind == "smi":
                self.smis.append(Smi(*map(int, word[:5]), int(word[5], 16)))
            elif kind == "lost":
                self.lost.append(word)
                mark.lost.append(word)
            elif kind == "done":
                self.marks.append(mark)
                if mark.label == until:
                    break

    def mark(self, name):
        """The last mark of that label, or the one of that number ("#3")."""
        for m in reversed(self.marks):
            if m.label == name or name == f"#{m.seq}":
                return m
        raise OracleError(f"no mark {name}; there are: {', '.join(m.label for m in self.marks) or 'none'}")

    def span(self, first=None, last=None):
        """From one mark to another, by name; by default from the beginning to the last."""
        last = self.mark(last) if last else self.marks[-1]
        return Span(self, self.mark(first) if first else None, last)

    def _values(self, last, which):
        """All counters as they were at a mark: what did not change keeps its value."""
        values = {}
        for m in self.marks:
            values.update(getattr(m, which))
            if m is last:
                break
        return values


class Span:
    """What happened between two marks."""

    def __init__(self, oracle, first, last):
        self.oracle = oracle
        start = first or Mark.zero(last)
        self.chip_ns = last.chip_ns - (first.chip_ns if first else last.chip_ns)
        self.guest_ns = last.guest_ns - start.guest_ns
        self.packages = [b.since(a) for a, b in zip(start.packages, last.packages)]
        for name in PACKAGE_FIELDS:    # of all packages
            setattr(self, name, sum(getattr(p, name) for p in self.packages))
        self.cpus = [{k: b[k] - a[k] for k in CPU_FIELDS} for a, b in zip(start.cpus, last.cpus)]
        self.alone = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(start.alone, last.alone)]
        # of a chip with one package; see packages
        self.vectors = self.packages[0].vectors if len(self.packages) == 1 else {}
        self._counts, self._backs, self._pauses = (
            _minus(oracle._values(first, w) if first else {}, oracle._values(last, w))
            for w in ("counts", "backs", "pauses"))
        self._insns = {}

    def insns(self, tgid=None):
        """(pid, tgid, address) -> a list of FIELDS, of one thread group or of all."""
        if tgid not in self._insns:
            self._insns[tgid] = self._expand(tgid)
        return self._insns[tgid]

    def _add(self, rows, key, values, sign, first):
        """Spread a block's counter over its instructions, from position `first` on."""
        pid, tgid, block, pstate = self.oracle.heads[key]
        address, insns = self.oracle.blocks[block]
        classes, cycle_ns, dram = self.oracle.classes, self.oracle.cycle_ns[pstate], self.oracle.dram_pj
        both, alone, cont, cont_alone, static_fj = values
        whole = sum(classes[c][1] for _, c in insns[first:])
        for i in range(first, len(insns)):
            offset, c = insns[i]
            cycles, pj = classes[c][1], classes[c][2][pstate]
            row = rows.get((pid, tgid, address + offset))
            if row is None:
                row = rows[(pid, tgid, address + offset)] = [0] * len(FIELDS)
            passes, more = sign * (both + alone), sign * (cont + cont_alone)
            row[0] += passes - (0 if i else more)
            row[1] += passes * cycles
            row[2] += passes * pj
            row[3] += passes * cycles * cycle_ns
            row[5] += sign * (alone - (0 if i else cont_alone))
            row[6] += sign * alone * cycles
            row[7] += sign * alone * pj
            row[8] += sign * alone * cycles * cycle_ns
            row[10] += sign * static_fj * cycles / whole / 1000
            row[11] += passes * dram[c]
            row[12] += sign * alone * dram[c]

    def _expand(self, tgid):
        rows, heads = {}, self.oracle.heads
        for key, values in self._counts.items():
            if tgid is None or heads[key][1] == tgid:
                self._add(rows, key, values, 1, 0)
        for key, values in self._backs.items():
            owner, pos = self.oracle.back_heads[key]
            if tgid is None or heads[owner][1] == tgid:
                self._add(rows, owner, values, -1, pos)
        for key, (ns, alone_ns, static_fj) in self._pauses.items():
            owner, pos = self.oracle.pause_heads[key]
            pid, group, block, _ = heads[owner]
            if tgid is None or group == tgid:
                address, insns = self.oracle.blocks[block]
                row = rows.setdefault((pid, group, address + insns[pos][0]), [0] * len(FIELDS))
                row[3] += ns + alone_ns
                row[4] += ns + alone_ns
                row[8] += alone_ns
                row[9] += alone_ns
                row[10] += static_fj / 1000
        return rows

    def _sum(self, tgid, pid, address=None):
        sums = [0] * len(FIELDS)
        for (p, _, a), values in self.insns(tgid).items():
            if (pid is None or p == pid) and (address is None or a == address):
                for i, v in enumerate(values):
                    sums[i] += v
        return dict(zip(FIELDS, sums))

    def total(self, tgid=None, pid=None):
        """The sum over instructions, as a dict of FIELDS."""
        return self._sum(tgid, pid)

    def address(self, address, tgid=None, pid=None):
        """One instruction's numbers."""
        return self._sum(tgid, pid, address)

    def functions(self, symbols, tgid=None, pid=None):
        """Function name -> a dict of FIELDS and entries (executions of its first instruction).

        Kernel code is "[kernel]", what the table does not know "[unknown]".
        """
        result = {}
        for (p, _, address), values in self.insns(tgid).items():
            if pid is not None and p != pid:
                continue
            start, name = symbols.find(address)
            row = result.setdefault(name, dict.fromkeys(FIELDS + ("entries",), 0))
            for field, v in zip(FIELDS, values):
                row[field] += v
            if address == start:
                row["entries"] += values[0]
        return result


def _minus(first, last):
    result = {}
    for key, b in last.items():
        a = first.get(key)
        d = tuple(y - x for x, y in zip(a, b)) if a else b
        if any(d):
            result[key] = d
    return result


class Symbols:
    """The functions of an ELF file, by nm; for programs that are not position independent,
    or with the address at which the file is loaded."""

    def __init__(self, path, base=0):
        out = subprocess.run(["nm", "--defined-only", "-n", "-S", path], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        found = {}        # start -> (end, name); of several names the first that has a size
        self.labels = {}
        for line in out.splitlines():
            word = line.split()
            if len(word) < 3 or word[-2] not in "tTwWiI":
                continue
            start = int(word[0], 16) + base
            size = int(word[1], 16) if len(word) == 4 else 0
            self.labels.setdefault(word[-1], start)
            if start not in found or (size and not found[start][0]):
                found[start] = (size, word[-1])
        # A label without a size inside a function that has one is not a function.
        self.starts, self.ends, self.names = [], [], []
        starts = sorted(found)
        for i, start in enumerate(starts):
            size, name = found[start]
            if not size:
                if self.ends and start < self.ends[-1]:
                    continue
                size = starts[i + 1] - start if i + 1 < len(starts) else 16
            self.starts.append(start)
            self.ends.append(start + size)
            self.names.append(name)

    def find(self, address):
        """(start, name) of the function at an address."""
        if address >> 63:
            return None, "[kernel]"
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0 and address < self.ends[i]:
            return self.starts[i], self.names[i]
        return None, "[unknown]"

    def address(self, name):
        """Where a function or a label is."""
        return self.labels[name]


def truth(row):
    """The numbers that a measurement is compared with, in SI units, from a row of FIELDS.

    Energy is package energy while this code ran alone, scaled to all of its time
    when it also ran next to others (alone_share tells how much of it was alone).
    """
    alone_j = (row["alone_dyn_pj"] + row["alone_static_pj"]) * 1e-12
    return {"executions": row["exec"], "entries": row.get("entries", 0), "cycles": row["cycles"],
            "time_s": row["time_ns"] * 1e-9, "paused_s": row["paused_ns"] * 1e-9,
            "dynamic_j": row["dyn_pj"] * 1e-12, "alone_time_s": row["alone_time_ns"] * 1e-9,
            "alone_j": alone_j,
            "alone_share": row["alone_time_ns"] / row["time_ns"] if row["time_ns"] else 1.0}


def _arguments():
    p = argparse.ArgumentParser(prog="oracle.py", description="The virtual chip's truth, by function.")
    p.add_argument("file")
    p.add_argument("--from", dest="first", metavar="MARK", help="label, or #NUMBER (the file's beginning)")
    p.add_argument("--to", dest="last", metavar="MARK", help="label, or #NUMBER (the last mark)")
    p.add_argument("--elf", help="program whose functions are meant")
    p.add_argument("--base", type=lambda s: int(s, 0), default=0, help="its load address, if it is position independent")
    p.add_argument("--tgid", type=int)
    p.add_argument("--pid", type=int)
    p.add_argument("--json", action="store_true")
    return p.parse_args()


def _print_marks(oracle, as_json):
    if as_json:
        print(json.dumps([{"seq": m.seq, "label": m.label, "chip_ns": m.chip_ns, "guest_ns": m.guest_ns, "pkg_j": m.pkg_pj * 1e-12,
                           "cpus": m.cpus} for m in oracle.marks]))
        return
    print(f"profile {oracle.profile}, {oracle.cpus} CPUs, {len(oracle.grants)} grants, {len(oracle.smis)} system management interrupts")
    for m in oracle.marks:
        print(f"#{m.seq:<4} {m.label:<20} chip {m.chip_ns * 1e-9:.6f} s  package {m.pkg_pj * 1e-12:.6f} J  "
              f"{len(m.counts)} counters changed")


def _print_functions(rows, span, as_json):
    table = sorted(((name, truth(row)) for name, row in rows.items()), key=lambda r: -r[1]["time_s"])
    if as_json:
        print(json.dumps({"chip_s": span.chip_ns * 1e-9, "package_j": span.pkg_pj * 1e-12,
                          "functions": dict(table)}))
        return
    print(f"{'function':<32} {'entries':>10} {'executions':>14} {'time s':>11} {'energy J':>11} {'mean W':>8} {'alone':>6}")
    for name, t in table:
        watt = t["alone_j"] / t["alone_time_s"] if t["alone_time_s"] else 0
        print(f"{name:<32} {t['entries']:>10} {t['executions']:>14} {t['time_s']:>11.6f} "
              f"{t['alone_j']:>11.6f} {watt:>8.4f} {100 * t['alone_share']:>5.1f}%")


def main():
    args = _arguments()
    try:
        oracle = Oracle(args.file, args.tgid)
        if not args.elf and args.tgid is None and args.pid is None:
            _print_marks(oracle, args.json)
            return 0
        span = oracle.span(args.first, args.last)
        symbols = Symbols(args.elf, args.base) if args.elf else None
        if symbols:
            rows = span.functions(symbols, args.tgid, args.pid)
        else:
            rows = {"[all]": span.total(args.tgid, args.pid)}
        _print_functions(rows, span, args.json)
    except (OracleError, OSError, subprocess.CalledProcessError) as e:
        print(f"oracle.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
