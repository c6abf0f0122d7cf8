#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# debug: only
# timeout: 2700
"""What is planted into the debug kernel is found: each fault of fault.ko is a complaint that names it.

Leaks are found by the scan at the guest's end; the fault that is none draws no complaint.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vm import kernel_log  # noqa: E402

# In this order: what finds locks out of order looks no more after the first report of any kind.
FAULTS = {
    "lock_inversion": r"WARNING: possible circular locking dependency",
    "sleep_in_atomic": r"BUG: sleeping function called from invalid context",
    "shift": r"UBSAN: shift-out-of-bounds in .*fault\.c",
    "active_timer": r"ODEBUG: free active .* timer_list",
    "use_after_free": r"BUG: KASAN: (slab-)?use-after-free in use_after_free",
    "out_of_bounds": r"BUG: KASAN: vmalloc-out-of-bounds in out_of_bounds",
}
MARK = "kjoule-test: "

INSIDE = """
for kind in none %s; do
	echo "%sbegin $kind" >/dev/kmsg
	insmod build/kmod-$(uname -r)/fault/fault.ko kind=$kind || exit 3
	[ $kind = leak ] || rmmod fault || exit 3	# with the module the names would go
	echo "%send $kind" >/dev/kmsg
done
""" % (" ".join([*FAULTS, "leak"]), MARK, MARK)


def part(lines, kind):
    """Return what the kernel said from the begin of a fault to its end."""
    at = [i for i, line in enumerate(lines) if line.endswith((f"{MARK}begin {kind}", f"{MARK}end {kind}"))]
    return lines[at[0]:at[1]] if len(at) == 2 else []


def main():
    ktap.plan(len(FAULTS) + 4)
    log = os.path.join(TOP, "build/test-logs/vm-planted.console")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--kernel", "debug", "--no-chip", "--no-modules", "--timeout", "1200",
                        "--log", log, "--", "sh", "-c", INSIDE], cwd=TOP, capture_output=True, text=True)
    with open(log, errors="replace") as f:
        lines = f.read().splitlines()
    none = part(lines, "none")
    ktap.check(none and not kernel_log.complaints(none), "a module without a fault draws no complaint",
               "\n".join(none) or p.stderr)
    for kind, pattern in FAULTS.items():
        bad = kernel_log.complaints(part(lines, kind))
        ktap.check(any(re.search(pattern, line) for line in bad), f"{kind.replace('_', ' ')} is a complaint",
                   "\n".join(part(lines, kind)))
    end = next((i for i, line in enumerate(lines) if line.endswith(f"{MARK}end leak")), len(lines))
    after = lines[end:]
    found = [line for line in kernel_log.complaints(after) if "kmemleak: 2 new suspected memory leaks" in line]
    ktap.check(len(found) == 1, "the two leaks are a complaint, and nothing else has leaked", "\n".join(after))
    ktap.check(sum(" leak+0x" in line and "[fault]" in line for line in after) == 2, "with the function that lost them",
               "\n".join(after))
    ktap.check(p.returncode == 99, "which fails the run", f"exit code {p.returncode}\n{p.stderr}")
    ktap.end()


if __name__ == "__main__":
    main()
