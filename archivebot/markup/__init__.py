"""Markup of any kind: its charset, its elements and where they stand, and what a person reads in it."""
