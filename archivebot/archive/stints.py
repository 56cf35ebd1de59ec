"""The stints of a page: from when it showed which version, and the blocks that it had then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from archivebot.archive.bodies import Bodies, Content
from archivebot.markup.contenttype import content_type
from archivebot.markup.words import block_text, wordless
from archivebot.models import Capture, Kind, Label
from archivebot.storage.base import ArchiveStore, Damaged, StoredVersion
from archivebot.storage.content import Slot
from archivebot.versioning.presence import placed

Labelled = Callable[[StoredVersion, Content, Sequence[Slot]], Sequence[Slot]]

_AWAY = frozenset({Kind.GONE, Kind.REDIRECT})


@dataclass(frozen=True, slots=True)
class Stint:
    """The captures in a row that show one version; it lasts until the next stint of the page.

    ``number`` is the number of the version, None while the page is gone or leads to another. ``capture`` is
    the first of the captures.
    """

    number: int | None
    capture: Capture

    @property
    def began(self) -> datetime:
        """The time of the first capture."""
        return self.capture.captured_at


@dataclass(frozen=True, slots=True)
class Shown:
    """The bytes of a block while a page showed it, with their charset and the label of the block.

    ``is_whole`` is whether they are the whole body.
    """

    data: bytes
    charset: str
    label: Label | None
    is_whole: bool

    @property
    def text(self) -> str:
        """The visible text of the block, with the alternative texts of its pictures."""
        return block_text(self.data, self.charset, self.is_whole, pictures=True)


class Stints:
    """The stints of the pages of an archive."""

    def __init__(self, store: ArchiveStore, bodies: Bodies, labelled: Labelled) -> None:
        self._store, self._bodies, self._labelled = store, bodies, labelled

    def tallies(self, damaged: Damaged) -> Iterator[tuple[str, int]]:
        """Yield each URL with a number that changes if the stints of its page change.

        ``damaged`` gets the errors of pages that cannot be read.
        """
        return self._store.tallies(damaged)

    def of(self, url: str) -> list[Stint]:
        """Return the stints of a page, oldest first; a visit that failed or met a wall changes nothing."""
        found: list[Stint] = []
        for capture in placed(self._store.captures(url)):
            is_content = capture.number is not None and capture.kind is not Kind.FAILED
            number = capture.number if is_content else None
            if (is_content or (found and capture.kind in _AWAY)) and not (
                found and found[-1].number == number
            ):
                found.append(Stint(number, capture))
        return found

    def blocks(self, stint: Stint) -> dict[int, Shown]:
        """Return the blocks of a stint with text by lineage; raises Pruned, and CorruptObject if damaged."""
        version = self._store.find(stint.capture.url, stint.capture.sha256) if stint.number else None
        if version is None:
            return {}
        content = self._bodies.get(version)
        body = content.body
        if wordless(body, content_type(stint.capture.headers)):
            return {}
        return {
            slot.lineage: Shown(
                body[slot.start : slot.end], content.charset, slot.label, slot.is_all_of(body)
            )
            for slot in self._labelled(version, content, content.slots)
        }
