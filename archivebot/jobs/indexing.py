"""Brings the index of words up to date with the archive, or makes it anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from archivebot.archive import ArchiveReader
from archivebot.archive.stints import Shown, Stint
from archivebot.exceptions import CorruptObject, Pruned
from archivebot.search.index import Index, Life, delete
from archivebot.storage.times import milliseconds
from archivebot.urls import host_part, urlkey

# Pages in a transaction: after a kill so many are read again at most.
BATCH = 64

# Blocks whose text is remembered by their bytes: the furniture of a site is on each of its pages.
REMEMBERED = 1 << 16


@dataclass(slots=True)
class Indexed:
    """What a run did: the pages that it read, the texts that it added, the versions it could not read.

    ``anew`` is why the index was made anew, "" if it was not.
    """

    anew: str = ""
    pages: int = 0
    texts: int = 0
    size: int = 0
    damaged: list[str] = field(default_factory=list)

    def record(self) -> dict[str, object]:
        """Return the result as a record for ``--json``."""
        return {
            "pages": self.pages,
            "texts": self.texts,
            "bytes": self.size,
            "anew": self.anew or None,
            "damaged": self.damaged,
        }


class IndexProgress:
    """What is called while an index is updated; a subclass prints it."""

    def began(self, anew: str) -> None:
        """A run begins; ``anew`` is why the index is made anew, "" if it is not."""

    def read(self, done: int, pages: int) -> None:
        """Of ``pages`` pages that changed, ``done`` are in the index."""


def update_index(
    archive: ArchiveReader, path: str, progress: IndexProgress, *, rebuild: bool = False
) -> Indexed:
    """Bring the index at a path up to date, and return what was done.

    An index that is damaged, of another archive, or of a later state of this archive is made anew. Raises
    StorageError if the index cannot be written, or if the archive cannot be read.
    """
    anew = "as asked" if rebuild else _unusable(archive, path)
    if not anew:
        try:
            return _updated(archive, path, "", progress)
        except CorruptObject as error:
            if path not in str(error):
                raise
            anew = str(error)
    delete(path)
    return _updated(archive, path, anew, progress)


def _unusable(archive: ArchiveReader, path: str) -> str:
    """Return why an index cannot be updated, "" if it can."""
    if not Path(path).exists():
        return ""
    now = archive.position()
    try:
        with Index(path) as index:
            then = index.position()
    except CorruptObject as error:
        return str(error)
    if then is None or (then.archive == now.archive and then.number <= now.number):
        return ""
    other = "another archive" if then.archive != now.archive else "a later state of this archive"
    return f"sqlite:///{path} is the index of {other}"


def _updated(archive: ArchiveReader, path: str, anew: str, progress: IndexProgress) -> Indexed:
    position = archive.position()  # what is stored meanwhile is left to the next run
    done = Indexed(anew)
    progress.began(anew)
    with Index(path) as index:
        index.begin(position.archive)
        before = index.texts()
        run = _Run(archive, index, done)
        tallies = archive.stints.tallies(lambda error: done.damaged.append(str(error)))
        changed = [(url, tally) for url, tally in tallies if index.tally(url) != tally]
        pages = iter(changed)
        while batch := list(islice(pages, BATCH)):
            with index.writing():
                for url, tally in batch:
                    run.page(url, tally)
            progress.read(done.pages, len(changed))
        done.texts = index.texts() - before
        index.end(position)
        if done.texts > before:  # of most texts; merging writes all of them again
            index.merge()
    done.size = Path(path).stat().st_size
    return done


class _Blocks:
    """The blocks of a page from stint to stint, and the lives of their texts.

    ``shown`` are the blocks of the last stint in the index. Of their lives only the ends are noted, in
    ``ended``; ``lives`` are those that began since.
    """

    def __init__(self, text: Callable[[Shown], int], shown: Mapping[int, Shown]) -> None:
        self._text = text
        self._there: dict[int, tuple[Shown, int | None]] = {
            lineage: (block, None) for lineage, block in shown.items()
        }
        self.lives: list[Life] = []
        self.ended: list[Life] = []

    def show(self, n: int, blocks: Mapping[int, Shown]) -> None:
        """Note the blocks of the next stint; a block with the same text in other markup lives on."""
        for lineage in self._there.keys() - blocks.keys():
            self._end(lineage, n)
        for lineage, block in blocks.items():
            before = self._there[lineage][0] if lineage in self._there else None
            if before and (before.data == block.data or self._text(before) == self._text(block)):
                continue
            if before:
                self._end(lineage, n)
            self._there[lineage] = block, n

    def finish(self) -> None:
        """Note the blocks that the page still shows."""
        for lineage, (_, born) in list(self._there.items()):
            if born is not None:
                self._end(lineage, None)

    def _end(self, lineage: int, n: int | None) -> None:
        block, born = self._there.pop(lineage)
        if text := self._text(block):
            label = block.label.value if block.label else None
            (self.ended if born is None else self.lives).append(Life(text, lineage, born or 0, n, label))


class _Run:
    """One run over the pages that changed."""

    def __init__(self, archive: ArchiveReader, index: Index, done: Indexed) -> None:
        self._archive, self._index, self._done = archive, index, done
        self._known: dict[bytes, int] = {}

    def page(self, url: str, tally: int) -> None:
        """Bring a page up to date in the transaction under way, by its stints since the last run."""
        index = self._index
        if index.tally(url) == tally:
            return  # by another run
        self._done.pages += 1
        try:
            stints = self._archive.stints.of(url)
        except CorruptObject as error:
            self._done.damaged.append(str(error))
            return
        rows = [(milliseconds(stint.began), stint.number) for stint in stints]
        known = index.stints(url)
        start = len(known)
        shown = self._blocks(stints[start - 1]) if start and rows[:start] == known else {}
        if shown is None or rows[:start] != known:  # an earlier capture was stored later
            index.remove(url)
            start, shown = 0, {}
        blocks = _Blocks(self._text, shown)
        for n, stint in enumerate(stints[start:], start):
            if (found := self._blocks(stint)) is not None:
                blocks.show(n, found)
        blocks.finish()
        site = host_part(urlkey(url))
        index.put(url, site, tally, list(enumerate(rows))[start:], blocks.lives, blocks.ended)

    def _blocks(self, stint: Stint) -> dict[int, Shown] | None:
        """Return the blocks of a stint; None if its version was pruned, or is damaged, which is noted."""
        try:
            return self._archive.stints.blocks(stint)
        except Pruned:
            return None
        except CorruptObject as error:
            self._done.damaged.append(str(error))
            return None

    def _text(self, block: Shown) -> int:
        """Return the number of the text of a block, 0 if it has no text."""
        key = blake2b(block.data, digest_size=16, person=block.charset.encode()[:16]).digest()
        found = self._known.get(key)
        if found is None:
            text = block.text
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[key] = self._index.text(text) if text else 0
        return found
