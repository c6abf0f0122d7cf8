# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts as a complaint of the kernel in a console log.

Owns the list of patterns and the taint bits that an out-of-tree module may set.
scripts/vm judges a whole run with it, selftests/run.py each test of a shared boot.
"""
import re

# Out-of-tree (O) and unsigned (E) modules are what we are; any other taint is a fault.
TAINT_ALLOWED = 1 << 12 | 1 << 13
TAINT_LETTERS = "PFSRMBUDAWCIOELKXTN"

COMPLAINTS = re.compile("|".join((
    r"\bWARNING: (?!.*CPU.*vulnerab)",
    r"\bBUG: ", r"\bkernel BUG at\b", r"\bOops\b", r"\bKernel panic\b",
    r"general protection fault", r"double fault", r"\bstack segment: ",
    r"unable to handle", r"unchecked MSR access",
    r"\bCall Trace:",
    r"rcu: INFO:", r"rcu: .*(stall|starved)", r"suspicious RCU usage", r"rcu: .*Possible timer handling",
    r"INFO: task .* blocked for more than", r"INFO: possible ", r"INFO: trying to register",
    r"inconsistent lock state", r"possible (circular|recursive|irq) lock", r"bad unlock balance",
    r"held lock freed", r"lock held when returning", r"DEBUG_LOCKS_WARN_ON",
    r"scheduling while atomic", r"sleeping function called", r"bad: scheduling from",
    r"do not call blocking ops",
    r"soft lockup", r"hard LOCKUP", r"nobody cared",
    r"\bKASAN\b.*:", r"\bUBSAN:", r"\bKCSAN:", r"kmemleak: \d+ new",
    r"refcount_t: ", r"list_(add|del) corruption", r"Bad page (state|map)", r"ODEBUG:",
    r"cannot create duplicate filename", r"kobject_add_internal failed",
    r"Directory '.*' with parent .* already present",
    r"Objects remaining in ", r"Slab cache still has objects",
    r"Error: Driver .* is already registered",
)))

# Lines that users put there themselves (marks), and known harmless boot lines.
HARMLESS = re.compile(r"kjoule-test: |RAS: Correctable|KASAN.*initialized|Kernel command line:|Command line:")


# Where a test makes allocations fail, the kernel may say that one did: in a line, or with
# a stack that begins some lines below. selftests/kmod/fail.c sets the marks.
FAILING = re.compile(r"kjoule-test: allocations fail (from|until) here")
TOLD = re.compile(r"kobject_add_internal failed for .* \(error: -12 ")
TOLD_WITH_STACK = re.compile(r"page allocation failure: |vmalloc error: |FAULT_INJECTION: forcing a failure")
STACK_WITHIN = 8


def complaints(lines):
    """Return the lines in which the kernel complains."""
    bad, failing, stack_until = [], False, -1
    for i, line in enumerate(lines):
        mark = FAILING.search(line)
        if mark:
            failing = mark.group(1) == "from"
        elif failing and TOLD_WITH_STACK.search(line):
            stack_until = i + STACK_WITHIN
        elif failing and i <= stack_until and "Call Trace:" in line:
            stack_until = -1    # that one only
        elif COMPLAINTS.search(line) and not HARMLESS.search(line) and not (failing and TOLD.search(line)):
            bad.append(line)
    return bad


def taint_names(taint):
    """Return the letters of the taint bits that are not ours."""
    bad = taint & ~TAINT_ALLOWED
    return "".join(c for i, c in enumerate(TAINT_LETTERS) if bad >> i & 1) or (str(bad) if bad else "")
