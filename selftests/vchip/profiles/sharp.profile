# SPDX-License-Identifier: GPL-2.0-only
# The plain chip for whoever times single short things: what the build machine takes is a hole
# in one of them, and not made up for by those after it.
include = plain.profile
name = sharp
