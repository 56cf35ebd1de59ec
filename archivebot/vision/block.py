"""Visual blocks: rectangles of a rendered page, their contents, and their coherence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# Degrees of coherence: of a page with several parts, and of one text in one font.
LEAST_DOC, MOST_DOC = 1, 10

# Maximum overlap in pixels of rectangles that are side by side: browsers use fractions of pixels.
SLACK = 1.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in CSS pixels from the left upper corner of the page.

    >>> box = Box(10, 20, 110, 50)
    >>> box.width, box.height, box.area
    (100, 30, 3000)
    """

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height

    def holds(self, other: Box) -> bool:
        """Return whether another rectangle lies within this one.

        >>> Box(0, 0, 9, 9).holds(Box(0, 1, 9, 9)), Box(0, 0, 9, 9).holds(Box(0, 1, 9, 9.5))
        (True, False)
        """
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def overlaps(self, other: Box) -> bool:
        """Return whether two rectangles overlap by more than :data:`SLACK`.

        >>> Box(0, 0, 9, 9).overlaps(Box(5, 5, 20, 20)), Box(0, 0, 9, 9).overlaps(Box(9, 0, 20, 9))
        (True, False)
        """
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > SLACK and down > SLACK


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle that contains all boxes; raises ValueError if there are none.

    >>> around([Box(0, 0, 1, 1), Box(5, 2, 6, 3)])
    Box(left=0, top=0, right=6, bottom=3)
    """
    lefts, tops, rights, bottoms = zip(
        *((box.left, box.top, box.right, box.bottom) for box in boxes), strict=True
    )
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


@dataclass(frozen=True, slots=True)
class Separator:
    """An empty stripe between blocks of one parent that crosses none of them.

    ``weight`` (1..9) is its strength; ``explicit`` is whether the page draws a line there (HR).
    """

    box: Box
    vertical: bool
    weight: int = 1
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class VisionBlock:
    """One block of a rendered page.

    ``doc`` is its degree of coherence, 1 to 10, at least that of the block around it; ``tag`` and ``path``
    (XPath) belong to its first element, or for text to the element around it; ``elements`` is the number of
    its elements and texts. Inner blocks do not overlap; ``separators`` are between them.
    """

    box: Box
    doc: int
    tag: str
    path: str
    text: str = field(repr=False)
    elements: int = 1
    children: tuple[VisionBlock, ...] = field(default=(), repr=False)
    separators: tuple[Separator, ...] = field(default=(), repr=False)

    def walk(self) -> Iterator[VisionBlock]:
        """Yield the block and all within it in the order of the page."""
        stack = [self]
        while stack:
            block = stack.pop()
            yield block
            stack.extend(reversed(block.children))

    def leaves(self) -> Iterator[VisionBlock]:
        """Yield the blocks without inner blocks."""
        return (block for block in self.walk() if not block.children)
