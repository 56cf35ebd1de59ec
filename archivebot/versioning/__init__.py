"""The relation between versions of a page: aligned blocks, deltas, and the kinds of visits."""
