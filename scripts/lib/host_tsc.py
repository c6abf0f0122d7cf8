# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of this machine's time stamp counter, which a guest under TCG sees as its own.

A slow kernel on a busy machine calibrates it wrongly, by a factor of four even, and then all
its times are wrong. Told by scripts/vm to the debug kernel, which refines it itself.
"""
import ctypes
import mmap
import platform
import time

RDTSC = bytes.fromhex("0f31" "48c1e220" "4809d0" "c3")    # rdtsc; shl $32, %rdx; or %rdx, %rax; ret


def measure(read):
    """Return (counter, time in ns) of one moment: the closest of some readings."""
    best = None
    for _ in range(20):
        before = time.monotonic_ns()
        count = read()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = after - before, count, (before + after) // 2
    return best[1:]


def tsc_khz():
    """Return the rate, or 0 where there is no such counter."""
    if platform.machine() != "x86_64":
        return 0
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(RDTSC)
        start = ctypes.c_char.from_buffer(page)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(start))
        count, at = measure(read)
        time.sleep(0.1)
        count_later, later = measure(read)
        del start
        return round((count_later - count) * 1e6 / (later - at))
