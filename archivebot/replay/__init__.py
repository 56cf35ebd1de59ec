"""Replay of archived pages: their addresses, their links rewritten, TimeMaps, and the index of captures."""
