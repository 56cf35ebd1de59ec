"""The link graph: numbered URLs and weighted edges, with methods to read and clean it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from archivebot.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinkGraph:
    """A directed graph of weighted links.

    ``urls`` are the nodes in the order of their numbers, ``numbers`` the inverse mapping, ``matrix`` a sparse
    square of float64 with a row for each source and a column for each target. A link of weight 0 is
    still a link.
    """

    urls: tuple[str, ...]
    numbers: dict[str, int]
    matrix: Any

    @classmethod
    def of(cls, edges: Iterable[tuple[str, str, float]], urls: Iterable[str] = ()) -> LinkGraph:
        """Return the graph of (source, target, weight) triples, and of URLs that may have no link.

        A repeated edge keeps the larger weight.

        >>> graph = LinkGraph.of([("a", "b", 0.5), ("a", "b", 2.0), ("a", "b", 1.0)], ["c"])
        >>> graph.urls, graph.weight("a", "b"), graph.weight("b", "a")
        (('c', 'a', 'b'), 2.0, 0.0)
        """
        numbers: dict[str, int] = {}
        for url in urls:
            numbers.setdefault(url, len(numbers))
        sources, targets, weights = array("q"), array("q"), array("d")
        for source, target, weight in edges:
            sources.append(numbers.setdefault(source, len(numbers)))
            targets.append(numbers.setdefault(target, len(numbers)))
            weights.append(weight)
        matrix = _matrix(np.asarray(sources), np.asarray(targets), np.asarray(weights), len(numbers))
        return cls(tuple(numbers), numbers, matrix)

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def edges(self) -> tuple[Numbers, Numbers, Weights]:
        """The edges as three arrays: numbers of sources, numbers of targets, weights; sorted by source."""
        found = self.matrix.tocoo()
        return found.row.astype(np.int64), found.col.astype(np.int64), found.data

    def weight(self, source: str | int, target: str | int) -> float:
        """Return the weight of an edge between two nodes, by URL or number; 0 if there is none."""
        row = source if isinstance(source, int) else self.numbers.get(source)
        column = target if isinstance(target, int) else self.numbers.get(target)
        return float(self.matrix[row, column]) if row is not None and column is not None else 0.0

    def in_links(self) -> Numbers:
        """Return the number of links to each node."""
        return np.bincount(np.asarray(self.matrix.indices, dtype=np.int64), minlength=len(self))

    def linking_sites(self, site: Callable[[str], str]) -> Numbers:
        """Return the number of different sites that link to each node; ``site`` returns the site of a URL.

        >>> graph = parse(["http://a/1 -> x", "http://a/2 -> x", "http://b/ -> x"])
        >>> int(graph.linking_sites(lambda url: url[:8])[graph.numbers["x"]])
        2
        """
        sources, targets, _ = self.edges
        names: dict[str, int] = {}
        of = np.array([names.setdefault(site(url), len(names)) for url in self.urls], dtype=np.int64)
        pairs = np.unique(targets * len(names) + of[sources])
        return np.bincount(pairs // max(1, len(names)), minlength=len(self))

    def unweighted(self) -> LinkGraph:
        """Let every link count the same.

        >>> parse(["a -> b 2", "b -> a 0"]).unweighted().edges[2].tolist()
        [1.0, 1.0]
        """
        matrix = self.matrix.copy()
        matrix.data[:] = 1.0
        return LinkGraph(self.urls, self.numbers, matrix)

    def external(self, site: Callable[[str], str]) -> LinkGraph:
        """Return the graph without edges inside one site, where pages recommend themselves.

        >>> graph = parse(["a.x -> b.x", "a.x -> a.y"]).external(lambda url: url[-1])
        >>> graph.weight("a.x", "b.x"), graph.weight("a.x", "a.y"), len(graph)
        (0.0, 1.0, 3)
        """
        sites = np.array([site(url) for url in self.urls], dtype=object)
        sources, targets, weights = self.edges
        keep = np.asarray(sites[sources] != sites[targets], dtype=bool)
        return self._with(sources[keep], targets[keep], weights[keep])

    def among(self, nodes: Sequence[int] | Numbers) -> LinkGraph:
        """Return the graph of some nodes, by number, and of the edges between them.

        >>> parse(["a -> b", "b -> c"]).among([0, 1]).urls
        ('a', 'b')
        """
        urls = tuple(self.urls[node] for node in nodes)
        return LinkGraph(urls, {url: number for number, url in enumerate(urls)}, self.matrix[nodes][:, nodes])

    def _with(self, sources: Numbers, targets: Numbers, weights: Weights) -> LinkGraph:
        return LinkGraph(self.urls, self.numbers, _matrix(sources, targets, weights, len(self)))


def parse(lines: Iterable[str]) -> LinkGraph:
    """Read a graph from text.

    ``a -> b 2.5`` is an edge with its weight, ``a -> b`` one of weight 1; ``a b c`` are edges of weight
    1 from a to b and c; ``a`` is a node. Empty lines are skipped. Raises UsageError for other lines.

    >>> graph = parse(["a -> b 2.5", "b -> a", "c", "", "d a c"])
    >>> [graph.weight(*pair) for pair in ("ab", "ba", "da", "dc", "ca")]
    [2.5, 1.0, 1.0, 1.0, 0.0]
    >>> parse(["a -> b two"])
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: 'a -> b two' is no link: write a -> b, a -> b 2.5, or a b c
    """
    edges: list[tuple[str, str, float]] = []
    nodes: list[str] = []
    for line in lines:
        match line.split():
            case [source, "->", target]:
                edges.append((source, target, 1.0))
            case [source, "->", target, weight] if weight.replace(".", "", 1).isdecimal():
                edges.append((source, target, float(weight)))
            case [source, *targets] as words if "->" not in words:
                nodes.append(source)
                edges.extend((source, target, 1.0) for target in targets)
            case [_, *_]:
                raise UsageError(f"{line.strip()!r} is no link: write a -> b, a -> b 2.5, or a b c")
    return LinkGraph.of(edges, nodes)


def _matrix(sources: Numbers, targets: Numbers, weights: Weights, size: int) -> Any:
    """Return a matrix of edges in which each occurs once, with its largest weight."""
    pairs, places = np.unique(sources * size + targets, return_inverse=True)
    largest = np.full(len(pairs), -np.inf)
    np.maximum.at(largest, places, weights)
    return csr_array((largest, (pairs // max(1, size), pairs % max(1, size))), shape=(size, size))
