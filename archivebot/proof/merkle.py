"""The Merkle tree of RFC 6962: roots, and the paths that prove that an entry is under a root.

https://www.rfc-editor.org/rfc/rfc6962#section-2.1 describes the tree and the paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

# Entries of one subtree whose root is stored. A power of two, so that these roots are nodes of every tree.
WIDTH = 256

# The root of a tree without entries.
EMPTY = sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of an entry of the log."""
    return sha256(b"\0" + entry).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over hashes: of leaves, or of subtrees of WIDTH entries, the last with fewer.

    >>> root_of([]).hex()[:16], root_of([leaf_hash(b"")]).hex()[:16]
    ('e3b0c44298fc1c14', '6e340b9cffb37a98')
    >>> leaves = [leaf_hash(bytes([number])) for number in range(5)]
    >>> root_of(leaves) == root_of([root_of(leaves[:4]), root_of(leaves[4:])])
    True
    """
    if not hashes:
        return EMPTY
    level = list(hashes)
    while len(level) > 1:
        # A node without a neighbour goes up as it is, which makes the tree of the RFC.
        level = [
            _node(*level[at : at + 2]) if at + 1 < len(level) else level[at] for at in range(0, len(level), 2)
        ]
    return level[0]


def path_of(index: int, hashes: Sequence[bytes]) -> list[bytes]:
    """Return the hashes beside the way from one of the hashes up to their root, the lowest first.

    >>> [len(path_of(index, [EMPTY] * 5)) for index in range(5)]
    [3, 3, 3, 3, 1]
    """
    path: list[bytes] = []
    level = list(hashes)
    while len(level) > 1:
        if index ^ 1 < len(level):
            path.append(level[index ^ 1])
        level = [root_of(level[at : at + 2]) for at in range(0, len(level), 2)]
        index //= 2
    return path


def root_by_path(entry: bytes, index: int, size: int, path: Iterable[bytes]) -> bytes | None:
    """Return the root to which a path leads from an entry; None if the path does not fit index and size.

    >>> entries = [bytes([number]) for number in range(7)]
    >>> hashes = [leaf_hash(entry) for entry in entries]
    >>> all(root_by_path(entries[at], at, 7, path_of(at, hashes)) == root_of(hashes) for at in range(7))
    True
    >>> root_by_path(entries[6], 6, 7, path_of(5, hashes)) is None
    True
    """
    if not 0 <= index < size:
        return None
    found, last, steps = leaf_hash(entry), size - 1, iter(path)
    while last:
        if index & 1 or index < last:  # otherwise there is no neighbour at this level
            beside = next(steps, None)
            if beside is None:
                return None
            found = _node(beside, found) if index & 1 else _node(found, beside)
        index, last = index >> 1, last >> 1
    return None if next(steps, None) is not None else found


def subtrees(entries: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the roots of the subtrees of WIDTH entries each; the last one may have fewer.

    >>> entries = [b"x"] * 300
    >>> root_of(list(subtrees(entries))) == root_of([leaf_hash(entry) for entry in entries])
    True
    """
    some: list[bytes] = []
    for entry in entries:
        some.append(leaf_hash(entry))
        if len(some) == WIDTH:
            yield root_of(some)
            some = []
    if some:
        yield root_of(some)


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()
