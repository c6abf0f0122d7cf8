# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual chip as scripts and tests see it; they put the top of the tree into sys.path and import from here."""
