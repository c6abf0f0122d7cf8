# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests, for scripts/vm and the runner of tests; scripts put the top of the tree into sys.path and import from here."""
