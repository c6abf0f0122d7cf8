# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/bench and scripts/demo measure; scripts put the top of the tree into sys.path and import from here."""
