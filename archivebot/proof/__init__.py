"""Proofs that the history in an archive was not rewritten: the tree of its log, checkpoints, time stamps."""
