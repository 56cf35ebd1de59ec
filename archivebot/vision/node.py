"""Elements and texts of a rendered page: their positions and styles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archivebot.vision.block import Box


@dataclass(frozen=True, slots=True)
class Font:
    """The font of a text: size in pixels, weight 100 to 900."""

    size: float = 16.0
    weight: int = 400


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or a piece of text (``tag`` is ""), with the rectangle of its visible contents.

    ``path`` is its XPath; ``inline`` is whether it flows in a line; ``lifted`` whether it lies over the page,
    out of its flow; ``background`` is the colour behind it, its own or that of an element below. Only visible
    children are included. ``is_text`` is true for text, and for inline elements that contain only text (the
    virtual text nodes of VIPS).
    """

    tag: str
    box: Box
    path: str = ""
    text: str = field(default="", repr=False)
    font: Font = Font()
    background: str = "white"
    inline: bool = False
    lifted: bool = False
    children: tuple[Node, ...] = field(default=(), repr=False)
    is_text: bool = field(init=False)

    def __post_init__(self) -> None:
        wordy = self.inline and bool(self.children) and all(child.is_text for child in self.children)
        object.__setattr__(self, "is_text", not self.tag or wordy)

    def walk(self) -> Iterator[Node]:
        """Yield the node and all within it in the order of the page."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def texts(self) -> Iterator[Node]:
        """Yield the pieces of text in it."""
        return (node for node in self.walk() if not node.tag)
