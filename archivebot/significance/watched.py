"""The watched parts of a page: every change of their text and of the attributes that visitors meet counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from turbohtml import Element, Text

from archivebot.models import ChangeKind
from archivebot.significance.linediff import changed
from archivebot.significance.quote import quoted
from archivebot.significance.reading import Reading
from archivebot.significance.significance import Significance
from archivebot.text import composed

_MUTE = ("script", "style", "template")
_SHOWN = ("href", "src", "alt", "content", "value", "datetime")


def with_watched(
    found: Significance, before: Reading, after: Reading, selectors: Sequence[str]
) -> Significance:
    """Return the significance of a change, with the changes inside the parts that CSS selectors select.

    >>> pages = [Reading(b"<p id=n>%d visitors" % n) for n in range(2)]
    >>> with_watched(Significance(ChangeKind.FURNITURE, "only counts"), *pages, ["#n"])
    Significance(kind=<ChangeKind.CONTENT: 'content'>, reason='watched: [-0-]{+1+} visitors')
    """
    then, now = (_Parts(page, selectors) for page in (before, after))
    removed, added = changed(then.texts, now.texts) if then.words != now.words else ([], [])
    if not removed and not added:
        return found
    return replace(
        found,
        kind=ChangeKind.CONTENT,
        reason=f"watched: {quoted(then.texts, removed, now.texts, added, {})}",
        removed=tuple(sorted({*found.removed, *(then.starts[index] for index in removed)})),
        added=tuple(sorted({*found.added, *(now.starts[index] for index in added)})),
    )


class _Parts:
    """The selected elements of a page: their ``words``, and the ``texts`` that consist of these.

    ``starts`` are the byte offsets of the elements with these texts. ``words`` are the same whatever the
    markup inside a text.
    """

    def __init__(self, page: Reading, selectors: Sequence[str]) -> None:
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.words: list[str] = []
        parts = [part for css in selectors for part in page.document.select(css)] if page.document else []
        seen: set[Element] = set()
        for part in parts:
            if part not in seen:
                words = [*_words(part)]
                start = 0
                for element in (part, *part.iter_elements()):
                    seen.add(element)
                    start = _start(page, element, start)
                    attributes = [*_attributes(element)]
                    words += attributes
                    own = "" if element is not part and element.tag in _MUTE else _own(element)
                    texts = [*attributes, *([own] if own else [])]
                    self.texts += texts
                    self.starts += [start] * len(texts)
                self.words += words


def _start(page: Reading, element: Element, start: int) -> int:
    """Return the byte offset of an element; of one without a tag in the source, that of the tag before."""
    location = element.source_location
    assert page.content is not None
    return page.content.page.at(location.start_tag.start_offset) if location else start


def _words(part: Element) -> list[str]:
    """Return the words of an element in order, whatever the elements inside it."""
    texts = (node for node in part.descendants if isinstance(node, Text))
    words = (node.data for node in texts if node.parent == part or _tag(node) not in _MUTE)
    return composed("".join(words)).split()


def _tag(text: Text) -> str:
    return text.parent.tag if isinstance(text.parent, Element) else ""


def _own(element: Element) -> str:
    """Return the text of an element without the elements inside it."""
    return composed(
        " ".join("".join(n.data if isinstance(n, Text) else " " for n in element.children).split())
    )


def _attributes(element: Element) -> Iterator[str]:
    for name in _SHOWN:
        if value := " ".join(str(element.attrs.get(name) or "").split()):
            yield composed(value)
