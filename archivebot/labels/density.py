"""Link density: how many links come on a letter of text that is not a link."""

from __future__ import annotations

from math import inf

# Texts shorter than this say nothing: a bar between links, a page number.
LEAST_LENGTH = 10

# Links to a letter of other text. Of the blocks marked by hand in blocks-random 88 % of the menus and 68 %
# of the link lists lie above, 18 % of the articles and 31 % of the contents; at 0.02 it is 59 % of those.
DENSE = 0.05


def link_density(links: int, length: int) -> float:
    """Return the links per letter of text outside links; without such text it is beyond any bound.

    >>> link_density(1, 50), link_density(0, 0)
    (0.02, inf)
    """
    return links / length if length else inf


def is_dense(links: int, length: int, threshold: float = DENSE) -> bool:
    """Return whether a part of a page is links rather than text; equality is still text.

    >>> is_dense(1, 50, 0.02), is_dense(2, 50, 0.02), is_dense(0, 0, 0.02)
    (False, True, True)
    """
    return link_density(links, length) > threshold
