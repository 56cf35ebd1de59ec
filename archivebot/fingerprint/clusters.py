"""Clusters of near points, by density."""

from __future__ import annotations

from collections.abc import Callable, Iterable

NOISE = -1


def clusters(
    count: int,
    near: Callable[[int], Iterable[int]],
    least: int = 2,
) -> list[int]:
    """Return the number of the cluster of each of ``count`` points, or -1 for a point in no cluster.

    ``near`` returns the points near a point, including itself: the range query of an index. A point with at
    least the minimum of near points is a core; a cluster is all cores that are near to one another, directly
    or through others, and all points near to them (DBSCAN: Ester, Kriegel, Sander, Xu, "A Density-Based
    Algorithm for Discovering Clusters in Large Spatial Databases with Noise", 1996). A point at the border of
    two clusters is in the first. ``near`` is called once for each point.

    >>> numbers = [1, 2, 3, 9, 20, 21]
    >>> def near(point):
    ...     return [n for n, other in enumerate(numbers) if abs(other - numbers[point]) <= 1]
    >>> clusters(6, near), clusters(6, near, least=3), clusters(0, near)
    ([0, 0, 0, -1, 1, 1], [0, 0, 0, -1, -1, -1], [])
    """

    labels: list[int | None] = [None] * count
    found = 0
    for point in range(count):
        if labels[point] is not None:
            continue
        if len(around := list(near(point))) < least:
            labels[point] = NOISE  # preliminary: a core found later may include it
            continue
        labels[point] = found
        while around:
            neighbour = around.pop()
            if labels[neighbour] is None and len(further := list(near(neighbour))) >= least:
                around += further
            if labels[neighbour] in (None, NOISE):
                labels[neighbour] = found
        found += 1
    return [NOISE if label is None else label for label in labels]
