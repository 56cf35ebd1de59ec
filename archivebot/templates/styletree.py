"""The site style tree: the common parts of the pages of a site, learned page by page."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from archivebot.exceptions import UsageError
from archivebot.models import Block
from archivebot.templates.parts import Part

STYLE_TREE_VERSION = 1

# Maximum of distinguished contents of one element. Further contents count as if each were on one page, which
# is nearly true: repeated contents were among the first.
MOST_FEATURES = 500

# A tree with more elements is full and learns no more. Twelve pages of a site made 3,700 to 9,600; with
# 200,000 the JSON is about 8 MB.
MOST_ELEMENTS = 200_000

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


@dataclass(frozen=True, slots=True)
class Share:
    """A block of a page, and the share of its site's pages with the same content there."""

    lineage: str
    topic: str
    repeats: float


class StyleTree:
    """The merged trees of a site's pages.

    Elements are numbered in the order in which they were seen, descendants after their ancestors. The first
    is the body, whose own attributes differ from page to page and do not count.

    >>> tree = StyleTree()
    >>> for text in "abc":
    ...     assert tree.add(Part("body", parts=(Part("h1", feature="Site"), Part("p", feature=text))))
    >>> tree.pages, [(element.look[0], element.count) for element in tree.elements]
    (3, [('body', 3), ('h1', 3), ('p', 3)])
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
