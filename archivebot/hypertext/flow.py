"""The flow of a page: its text line by line, and the text around each link."""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Document, Element, Namespace

from archivebot.hypertext.links import SECTIONS, LinkWalk, shortened
from archivebot.hypertext.references import TAGS
from archivebot.hypertext.topictext import Line, topic_text
from archivebot.markup.tags import HEADINGS, LINES, MUTE
from archivebot.models import Link
from archivebot.text import collapse

# Characters kept on each side of a link: the 50 of ARC's window (Chakrabarti et al., "Automatic
# resource compilation by analyzing hyperlink structure and associated text", 1998) and as many again
# for a model that learns.
AROUND = 100

MOST_TITLE = 200

# Elements whose text is a heading; a line that is completely bold is one, too.
_HEADINGS = frozenset((*HEADINGS, "caption", "dt", "th", "legend"))
_BOLD = frozenset(("b", "strong"))

# Elements whose text is not running text, or not visible.
_MUTE = MUTE.union(("noscript", "title", "select", "textarea", "button"))

# Elements that end a line; cells of a row, images and forced breaks only separate words.
_LINES = LINES.union(("body", "dialog", "figcaption", "summary"))
_SPACES = frozenset(("br", "td", "img"))
_COUNTED = _LINES | _SPACES | _MUTE | _BOLD
_LEADING = frozenset((*TAGS, *SECTIONS, "script"))


@dataclass(slots=True)
class _Placed:
    """A link and its position in the current line, in characters."""

    url: str
    anchor: str
    rest: tuple[str, str, str]  # heading, role, kind
    start: int
    end: int | None = None


class FlowWalk(LinkWalk):
    """The walk that also follows the text: lines, headings, and the text around links."""

    tags = None  # every element

    def __init__(self, document: Document, url: str, skip_nofollow: bool, charset: str) -> None:
        super().__init__(document, url, skip_nofollow, charset)
        self.lines: list[Line] = []
        self.heading = ""
        self.titles: dict[str, str] = {}  # the first heading of each level
        self.mute = self.bold = 0  # elements of these kinds that are open
        self.naming: list[str] = []  # heading elements that are open
        self.leading: list[_Placed | None] = []  # anchors that are open
        self._clear()

    def _clear(self) -> None:
        self.pieces: list[str] = []
        self.placed: list[_Placed] = []
        self.length = 0
        self.solid = self.linked = self.emphasised = 0  # non-blank characters, by kind

    @property
    def title(self) -> str:
        """The title element, or the first heading of the highest level."""
        elements = self.document.find_all("title")
        named = (shortened(each.text, MOST_TITLE) for each in elements if each.namespace is Namespace.HTML)
        return next(filter(None, named), "") or (self.titles[min(self.titles)] if self.titles else "")

    @property
    def text(self) -> str:
        return topic_text(self.lines)

    def finish(self) -> None:
        self._end_line()

    def start(self, element: Element, tag: str) -> None:
        if tag in _COUNTED:
            self._count(tag, 1)
        if tag in _LEADING:
            before = len(self.placed)
            super().start(element, tag)
            placed = self.placed[-1] if len(self.placed) > before else None
            if tag == "a":
                self.leading.append(placed)
            elif placed:
                placed.end = placed.start

    def end(self, element: Element, tag: str) -> None:
        if tag in _COUNTED:
            self._count(tag, -1)
        if tag in _LEADING:
            if tag == "a" and (placed := self.leading.pop()):
                placed.end = self.length
            super().end(element, tag)

    def write(self, text: str) -> None:
        if not self.mute:
            self._add(text)

    def place(self, url: str, text: str, role: str, kind: str) -> None:
        self.placed.append(_Placed(url, text, (self.heading, role, kind), self.length))

    def _count(self, tag: str, step: int) -> None:
        """Note the start (1) or the end (-1) of an element."""
        if tag in _LINES:
            self._end_line()
            if tag in _HEADINGS:
                self.naming.append(tag) if step > 0 else self.naming.pop()
        elif tag in _SPACES:
            self._add(" ")
        elif tag in _MUTE:
            self.mute += step
        else:
            self.bold += step

    def _add(self, text: str) -> None:
        size = len(text)
        if not text.isspace():
            self.solid += size
            if self.anchors:
                self.linked += size
            if self.bold:
                self.emphasised += size
        elif not self.pieces:
            return
        self.pieces.append(text)
        self.length += size

    def _end_line(self) -> None:
        if not self.pieces and not self.placed:
            return
        raw = "".join(self.pieces)
        for placed in self.placed:
            self._settle(placed, raw)
        text = collapse(raw)
        if text:
            self.lines.append(Line(text, self.roles[-1], self.linked / self.solid))
            self._name(text)
        self._clear()

    def _settle(self, placed: _Placed, raw: str) -> None:
        """Add a link with the text on both sides of it."""
        end = len(raw) if placed.end is None else placed.end
        before = collapse(raw[max(0, placed.start - 4 * AROUND) : placed.start])[-AROUND:]
        after = shortened(raw[end : end + 4 * AROUND], AROUND)
        self.take(Link(placed.url, placed.anchor, before.lstrip(), after, *placed.rest))

    def _name(self, text: str) -> None:
        """Note the line as a heading, if it is one."""
        if self.naming and self.naming[-1] in HEADINGS:
            self.titles.setdefault(self.naming[-1], text[:MOST_TITLE])
        if self.naming or (self.emphasised == self.solid > self.linked and len(text) <= MOST_TITLE):
            self.heading = text[:MOST_TITLE]
