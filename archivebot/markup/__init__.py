"""Markup of any kind: charset, elements with their positions, and visible text."""
