"""Link density: the number of links per letter of text outside links."""

from __future__ import annotations

from math import inf

# Shorter texts do not count: a bar between links, a page number.
LEAST_LENGTH = 10

# Links per letter of other text. Of the blocks marked by hand in blocks-random 88 % of the menus and 68 %
# of the link lists lie above, 18 % of the articles and 31 % of the contents; at 0.02 it is 59 % of those.
DENSE = 0.05


def link_density(links: int, length: int) -> float:
    """Return the links per letter of text outside links; infinity without such text.

    >>> link_density(1, 50), link_density(0, 0)
    (0.02, inf)
    """
    return links / length if length else inf


def is_dense(links: int, length: int, threshold: float = DENSE) -> bool:
    """Return whether a part of a page is mostly links; at the threshold it is still text.

    >>> is_dense(1, 50, 0.02), is_dense(2, 50, 0.02), is_dense(0, 0, 0.02)
    (False, True, True)
    """
    return link_density(links, length) > threshold
