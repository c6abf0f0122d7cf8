# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that stay in the tree import ktap from here; those that travel have its folder in sys.path."""
