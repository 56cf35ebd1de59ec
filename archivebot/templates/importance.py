"""The importance of an element: the measures of the site style tree.

Yi, Liu, Li, "Eliminating Noisy Information in Web Pages for Data Mining", KDD 2003, definitions 5 to 8.
Elements with the same style and content on all pages are unimportant (0); elements that vary are important
(1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import log

GAMMA = 0.9


def node_importance(counts: Collection[int], pages: int) -> float:
    """Return the importance of an element by its presentation: the entropy of its styles over its pages.

    ``counts`` are the pages of each style, ``pages`` those with the element:
    ``-sum of p_i log_m p_i``, and 1 for a single page.

    >>> node_importance([100], 100), round(node_importance([35, 25, 25, 15], 100), 4)
    (0.0, 0.2921)
    >>> node_importance([1], 1), node_importance([1] * 7, 7)
    (1.0, 1.0)
    """
    if pages <= 1:
        return 1.0
    return _clipped(-sum(n / pages * log(n / pages, pages) for n in counts if n))


def content_importance(counts: Collection[int], pages: int, once: int = 0) -> float:
    """Return the importance of an element without parts by its contents.

    ``counts`` are the pages of each feature, ``once`` the number of further features on one page each. ``1 -
    sum of H(a_i) / N``, where the entropy of a feature that k of m pages hold alike is ``log_m k``; 1 for a
    single page, and for an element of many pages without content 0.

    >>> content_importance([3, 1, 1, 1], 3), content_importance([3], 3, once=3)
    (0.75, 0.75)
    >>> content_importance([1], 1), content_importance([], 5), content_importance([5], 5)
    (1.0, 0.0, 0.0)
    """
    if pages <= 1:
        return 1.0
    features = len(counts) + once
    if not features:
        return 0.0
    return _clipped(1 - sum(log(n, pages) for n in counts if n) / features)


def composite_importance(node: float, styles: Iterable[tuple[float, float]], gamma: float = GAMMA) -> float:
    """Return the importance of an element including its descendants.

    ``styles`` are pairs of the share of pages p_i and the importance of the l styles:
    ``(1 - gamma^l) NodeImp + gamma^l sum of p_i CompImp(S_i)``.

    >>> composite_importance(0.0, [(1.0, 1.0)]), composite_importance(1.0, [(0.5, 0.0), (0.5, 0.0)])
    (0.9, 0.18999999999999995)
    """
    pairs = list(styles)
    weight = gamma ** len(pairs)
    return (1 - weight) * node + weight * sum(share * below for share, below in pairs)


def _clipped(value: float) -> float:
    """Return a value clipped to [0, 1], without its rounding error."""
    return min(max(0.0, value), 1.0)  # in this order: no -0.0
