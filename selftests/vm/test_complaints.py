#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
"""Lines in which a kernel complains are separate from those in which it only talks."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vm import kernel_log  # noqa: E402

BAD = {
    "a warning": """
WARNING: CPU: 0 PID: 1 at kernel/workqueue.c:1823 __queue_delayed_work+0x5e/0x90
 Call Trace:""",
    "a bug": """
kernel BUG at mm/slub.c:435!
BUG: sleeping function called from invalid context at kernel/locking/mutex.c:580
BUG: scheduling while atomic: swapper/0/0/0x00000002
BUG: Bad page state in process mix  pfn:0001f
bad: scheduling from the idle thread!
do not call blocking ops when !TASK_RUNNING; state=1 set at [<0>] prepare_to_wait+0x3e/0xb0""",
    "an oops or a panic": """
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: unable to handle page fault for address: ffffc90000a00000
Oops: 0002 [#1] PREEMPT SMP NOPTI
general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1]
PANIC: double fault, error_code: 0x0
stack segment: 0000 [#1] PREEMPT SMP NOPTI
unchecked MSR access error: RDMSR from 0x606 at rIP: 0xffffffffc0a1d0f2 (kjoule_rapl_init+0x32/0x90)
Kernel panic - not syncing: Fatal exception in interrupt""",
    "an RCU stall": """
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: rcu_preempt kthread starved for 5250 jiffies! g1753 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=1
rcu: \tPossible timer handling issue on cpu=1 timer-softirq=512""",
    "a lock-up": """
watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [mix:123]
NMI watchdog: Watchdog detected hard LOCKUP on cpu 0
INFO: task kjoule:123 blocked for more than 120 seconds.
irq 9: nobody cared (try booting with the "irqpoll" option)""",
    "a finding of lockdep": """
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: possible irq lock inversion dependency detected
WARNING: inconsistent lock state
WARNING: bad unlock balance detected!
WARNING: held lock freed!
WARNING: lock held when returning to user space!
WARNING: suspicious RCU usage
include/linux/rcupdate.h:696 suspicious RCU usage!
DEBUG_LOCKS_WARN_ON(depth <= 0)
INFO: trying to register non-static key.
INFO: possible recursive locking detected""",
    "a checker of memory": """
BUG: KASAN: slab-out-of-bounds in ring_write+0x1c/0x40 [kjoule]
UBSAN: array-index-out-of-bounds in kmod/ring/ring.c:12:3
BUG: KCSAN: data-race in ring_write / ring_read
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
refcount_t: underflow; use-after-free.
list_add corruption. prev->next should be next (ffff8880), but was 0000.
list_del corruption, ffff8880->next is LIST_POISON1 (dead000000000100)
ODEBUG: free active (active state 0) object type: hrtimer hint: sampler_tick+0x0/0x90
BUG kmalloc-64 (Tainted: G           O      ): Objects remaining in kmalloc-64 on __kmem_cache_shutdown()
kmem_cache_destroy kjoule: Slab cache still has objects""",
    "a name that is taken": """
sysfs: cannot create duplicate filename '/class/misc/kjoule'
kobject_add_internal failed for kjoule with -EEXIST, don't try to register things with the same name
debugfs: Directory 'kjoule' with parent '/' already present!
Error: Driver 'vchip' is already registered, aborting...""",
}

GOOD = """
Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0)
Command line: console=ttyS0 oops=panic panic=-1 BUG: WARNING: Oops
Kernel command line: console=ttyS0 oops=panic panic=-1 BUG: WARNING: Oops
rcu: Hierarchical RCU implementation.
rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
rcu: Hierarchical SRCU implementation.
NMI watchdog: Perf NMI watchdog permanently disabled
Spectre V2 : WARNING: CPU is vulnerable to a made-up attack, see Documentation
RAS: Correctable Errors collector initialized.
kasan: KASAN shadow memory initialized
kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)
ACPI BIOS Error (bug): Could not resolve symbol [\\_SB.PCI0], AE_NOT_FOUND
hrtimer: interrupt took 1234567 ns
clocksource: tsc: mask: 0xffffffffffffffff max_cycles: 0x1d3af5e1, max_idle_ns: 440795202126 ns
sysrq: Show Blocked State
kjoule: loading out-of-tree module taints kernel.
kjoule: module verification failed: signature and/or required key missing - tainting kernel
DEBUG: a debugger's line
kjoule-test: begin kmod/BUG: a test's mark
"""


# What a kernel says when a test makes its allocations fail.
FAILED = """
test_alloc: vmalloc error: size 28672, vm_struct allocation failed, mode:0xcc0(GFP_KERNEL), nodemask=(null)
CPU: 1 PID: 72 Comm: test_alloc Tainted: G           O       6.1.192-kjoule-debug #2
Call Trace:
 <TASK>
kobject_add_internal failed for kjoule (error: -12 parent: misc)
"""
FROM, UNTIL = "kjoule-test: allocations fail from here\n", "kjoule-test: allocations fail until here\n"


def lines(text):
    return [f"[{i + 1:5}.123456] {line}" for i, line in enumerate(text.strip("\n").splitlines())]


def main():
    ktap.plan(len(BAD) + 6)
    for what, text in BAD.items():
        missed = [line for line in lines(text) if kernel_log.complaints([line]) != [line]]
        ktap.check(not missed, f"{what} is a complaint", "\n".join(missed))
    ktap.check(not kernel_log.complaints(lines(GOOD)), "talk is none", "\n".join(kernel_log.complaints(lines(GOOD))))
    bad = lines(BAD["a warning"])
    ktap.check(kernel_log.complaints(lines(GOOD) + bad + lines(GOOD)) == bad, "complaints are found among talk")
    failing = lines(FROM + FAILED + BAD["a checker of memory"] + "\n Call Trace:\n" + UNTIL)
    got = kernel_log.complaints(failing)
    ktap.check(len(got) == len(lines(BAD["a checker of memory"])) + 1,
               "where allocations fail on purpose, it is none to say so, but all else is", "\n".join(got))
    got = kernel_log.complaints(lines(FROM + UNTIL + FAILED))
    ktap.check(len(got) == 2, "and elsewhere it is one", "\n".join(got))
    ktap.check(kernel_log.taint_names(0) == kernel_log.taint_names(1 << 12 | 1 << 13) == "",
               "modules that are ours do not taint")
    got = [kernel_log.taint_names(1 << bit | 1 << 12) for bit in (4, 7, 9, 14)]
    ktap.check(got == ["M", "D", "W", "L"], "machine check, oops, warning and lock-up do", got)
    ktap.end()


if __name__ == "__main__":
    main()
