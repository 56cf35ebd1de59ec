"""Elements and texts of a page as a browser shows them: where they stand and how they look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archivebot.vision.block import Box


@dataclass(frozen=True, slots=True)
class Font:
    """How a text is written: size in pixels, weight 100 to 900."""

    size: float = 16.0
    weight: int = 400


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or a piece of text (``tag`` is ""), with the rectangle that all that it shows is in.

    ``path`` is its XPath; ``inline`` tells that it flows in a line; ``lifted`` that it lies over the page,
    out of its flow; ``background`` is the colour behind it, its own or what shines through. Children are
    those that show something. ``is_text`` holds for text, and for inline elements of nothing else (the
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
