"""How the versions of a page relate: aligned blocks, deltas, and what a visit means."""
