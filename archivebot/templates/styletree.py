"""The site style tree: the common parts of the pages of a site, learned page by page."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from archivebot.exceptions import UsageError
from archivebot.models import Block
from archivebot.templates.importance import composite_importance, content_importance, node_importance
from archivebot.templates.parts import Part

STYLE_TREE_VERSION = 1

# Maximum of distinguished contents of one element. Further contents count as if each were on one page, which
# is nearly true: repeated contents were among the first.
MOST_FEATURES = 500

# A tree with more elements is full and learns no more. Twelve pages of a site made 3,700 to 9,600; with
# 200,000 the JSON is about 8 MB.
MOST_ELEMENTS = 200_000

# Below this an element is furniture. One style and one content have importance 0; one style and different
# contents on every page 0.9 of the level below.
NOISE = 0.2

Look = tuple[str, str]


@dataclass(slots=True)
class Style:
    """One sequence of elements below an element, and the number of pages with it."""

    looks: tuple[Look, ...]
    parts: list[int]  # numbers of elements
    count: int = 0


@dataclass(slots=True)
class Element:
    """An element of many pages: their number, the styles below it, the contents in it."""

    look: Look
    count: int = 0
    styles: dict[tuple[Look, ...], Style] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    once: int = 0

    def hold(self, feature: str) -> None:
        """Count the content of another page."""
        if feature in self.features or len(self.features) < MOST_FEATURES:
            self.features[feature] = self.features.get(feature, 0) + 1
        else:
            self.once += 1


class StyleTree:
    """The merged trees of a site's pages.

    Elements are numbered in the order in which they were seen, descendants after their ancestors. The first
    is the body, whose own attributes differ from page to page and do not count.

    >>> tree = StyleTree()
    >>> for text in "abc":
    ...     assert tree.add(Part("body", parts=(Part("h1", feature="Site"), Part("p", feature=text))))
    >>> tree.pages, [(element.look[0], element.count) for element in tree.elements]
    (3, [('body', 3), ('h1', 3), ('p', 3)])
    >>> [round(value, 2) for value in tree.importances]
    [0.45, 0.0, 1.0]
    """

    def __init__(self, elements: Sequence[Element] = ()) -> None:
        self.elements = list(elements) or [Element(("body", ""))]

    @property
    def pages(self) -> int:
        return self.elements[0].count

    def add(self, page: Part) -> bool:
        """Merge another page into the tree; False if the tree is full and remains unchanged."""
        if len(self.elements) > MOST_ELEMENTS:
            return False
        self.__dict__.pop("importances", None)
        stack = [(0, page)]
        while stack:
            number, part = stack.pop()
            element = self.elements[number]
            element.count += 1
            if part.parts:
                style = self._style(element, part.parts)
                style.count += 1
                stack.extend(zip(style.parts, part.parts, strict=True))
            elif part.feature:
                element.hold(part.feature)
        return True

    def _style(self, element: Element, parts: Sequence[Part]) -> Style:
        looks = tuple(part.style for part in parts)
        style = element.styles.get(looks)
        if style is None:
            first = len(self.elements)
            self.elements.extend(Element(look) for look in looks)
            style = element.styles[looks] = Style(looks, list(range(first, len(self.elements))))
        return style

    @cached_property
    def importances(self) -> list[float]:
        """Return the composite importance (0..1) of every element, by its number."""
        values = [0.0] * len(self.elements)
        for number in range(len(self.elements) - 1, -1, -1):  # descendants come first
            values[number] = _importance(self.elements[number], values)
        return values

    def weigh(self, page: Part) -> Iterator[tuple[Part, float]]:
        """Yield every part of a page in order with its importance; 1 if no page had it before."""
        values = self.importances
        for part, number in self._places(page):
            yield part, 1.0 if number is None else values[number]

    def _places(self, page: Part) -> Iterator[tuple[Part, int | None]]:
        """Yield every part of a page in order with the number of its element, None if there is none."""
        stack: list[tuple[int | None, Part]] = [(0, page)]
        while stack:
            number, part = stack.pop()
            yield part, number
            style = None
            if number is not None:
                style = self.elements[number].styles.get(tuple(inner.style for inner in part.parts))
            below = [None] * len(part.parts) if style is None else style.parts
            stack.extend(reversed(list(zip(below, part.parts, strict=True))))

    def noise(self, page: Part, threshold: float = NOISE) -> list[Part]:
        """Return the largest parts of a page without any importance above the threshold, in order."""
        values = list(self.weigh(page))
        last = [0] * len(values)  # the end of each part's descendants in the list
        quiet = [False] * len(values)
        for index in range(len(values) - 1, -1, -1):
            part, value = values[index]
            position, below = index + 1, value < threshold
            for _ in part.parts:
                below = below and quiet[position]
                position = last[position]
            last[index], quiet[index] = position, below
        found, index = [], 0
        while index < len(values):
            if quiet[index]:
                found.append(values[index][0])
            index = last[index] if quiet[index] else index + 1
        return found

    def repeats(self, page: Part, blocks: Iterable[Block]) -> dict[Block, float]:
        """Return for each block of a page the share (0..1) of the site's pages with the same content there.

        It is the mean over the contents of the block, weighted by their bytes; 0 for a block without any.
        """
        starts, shares, sizes = [], [0.0], [0]
        for part, number in self._places(page):
            if part.feature and not part.parts:
                size = part.end - part.start
                count = 0 if number is None else self.elements[number].features.get(part.feature, 0)
                starts.append(part.start)
                shares.append(shares[-1] + size * count / max(self.pages, 1))
                sizes.append(sizes[-1] + size)
        found = {}
        for block in blocks:
            first, last = bisect_left(starts, block.start), bisect_left(starts, block.end)
            size = sizes[last] - sizes[first]
            found[block] = (shares[last] - shares[first]) / size if size else 0.0
        return found

    def to_json(self) -> str:
        """Return the tree as JSON, in flat lists, so that deep pages can be read again."""
        elements = [
            [*element.look, element.count, element.features, element.once] for element in self.elements
        ]
        styles = [
            [number, style.count, style.parts]
            for number, element in enumerate(self.elements)
            for style in element.styles.values()
        ]
        return json.dumps(
            {"version": STYLE_TREE_VERSION, "elements": elements, "styles": styles}, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str) -> StyleTree:
        """Read a tree; raises UsageError for another version."""
        data = json.loads(text)
        if data.get("version") != STYLE_TREE_VERSION:
            raise UsageError(
                f"style tree of version {data.get('version')}, not {STYLE_TREE_VERSION}: learn it again"
            )
        elements = [
            Element((tag, attributes), count, features=features, once=once)
            for tag, attributes, count, features, once in data["elements"]
        ]
        for number, count, parts in data["styles"]:
            looks = tuple(elements[part].look for part in parts)
            elements[number].styles[looks] = Style(looks, parts, count)
        return cls(elements)


def _importance(element: Element, below: Sequence[float]) -> float:
    contents = content_importance(list(element.features.values()), element.count, element.once)
    if not element.styles or element.count <= 1:
        return contents
    styles = [(style.count, fmean(below[part] for part in style.parts)) for style in element.styles.values()]
    bare = element.count - sum(count for count, _ in styles)
    if bare:  # on some pages it has no descendants: one more style
        styles.append((bare, contents))
    node = node_importance([count for count, _ in styles], element.count)
    return composite_importance(node, ((count / element.count, value) for count, value in styles))
