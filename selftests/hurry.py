# SPDX-License-Identifier: GPL-2.0-only
"""The laboratory's chip stands aside while a test measures nothing.

Meanwhile the guest runs as fast as it is emulated. On a machine without that chip
there is nothing to do.
"""
import contextlib
import os

HURRY = "/sys/kernel/debug/vchip/hurry"


def _set(value):
    with open(HURRY, "w") as f:
        f.write(str(value))


@contextlib.contextmanager
def hurry():
    here = os.path.exists(HURRY)
    if here:
        _set(1)
    try:
        yield
    finally:
        if here:
            _set(0)
