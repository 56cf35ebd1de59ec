"""The links of a page as one value of the SQLite archive: numbers of texts, grouped by time.

For a page with 30 links, 29 of them navigation, a row for each link and an index of the targets took 1,430
bytes. This format takes 550 including the page's own texts (2026-11), and each visit writes one row.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from archivebot.exceptions import CorruptObject
from archivebot.models import Link
from archivebot.storage.checksum import checksum
from archivebot.storage.edges import LONGEST_ANCHOR, Edge, chosen
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.sums import insert, intact, value_of, whole
from archivebot.storage.sqlite.texts import packs, unpacked
from archivebot.storage.times import milliseconds, moment

# Target -> its label, and when the link was seen first and last, in milliseconds since 1970. Target and label
# are numbers of texts.
Links = dict[int, tuple[int, int, int]]

ROW = f"SELECT {intact('link')}, source, links FROM link"

# The number of the text that is the first parameter of a statement.
NUMBER = f"(SELECT number FROM text_key WHERE key = checksum(?1) AND {value_of('number')} = ?1)"

# The texts with one of some keys, each with its number; few other texts have the key of a text.
ALIKE = (
    f"SELECT {value_of('number')}, number FROM json_each(?) AS given"
    " CROSS JOIN text_key ON text_key.key = given.value"
)

GROUP = struct.Struct(">qqI")
LINK = struct.Struct(">II")

# URLs and labels in the cache while links are read: more than the pages of a site share.
TEXTS = 16_384


class SQLiteLinks:
    """The LinkStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file
        self._numbers: dict[str, int] = {}  # of the texts of the links added last; a number never changes
        self._undone = 0  # of the file when these numbers were read
        self._read: tuple[sqlite3.Connection, int, Callable[[int], str]] | None = None

    def add(self, source: str, links: Sequence[Link], when: datetime) -> None:
        rows = [
            (link.url, label(link.role, link.kind, link.anchor[:LONGEST_ANCHOR])) for link in chosen(links)
        ]
        with self._file.together():
            database = self._file.database
            number = self._numbered(dict.fromkeys([source, *chain.from_iterable(rows)]))
            page = number[source]
            known = self._file.one(links_of, f"{ROW} WHERE source = ?", page)
            seen = [(number[target], number[words]) for target, words in rows]
            found = merged(known[1] if known else {}, seen, milliseconds(when))
            database.execute(insert("link", "OR REPLACE"), (page, pack(found)))
        self._read = None  # a transaction that is rolled back takes its numbers with it

    def last(self, url: str) -> tuple[datetime, list[str]] | None:
        with self._file.reading():
            for _, links in self._file.rows(links_of, f"{ROW} WHERE source = {NUMBER}", url):
                latest = max(last for _, _, last in links.values())
                text = self._text()
                return moment(latest), [text(at) for at, seen in links.items() if seen[2] == latest]
        return None

    def _text(self) -> Callable[[int], str]:
        """Return the reader of texts, which keeps what the pages of a site share from page to page."""
        database, undone = self._file.database, self._file.undone
        if self._read is None or self._read[:2] != (database, undone):
            self._read = database, undone, text_reader(database)
        return self._read[2]

    def again(self, url: str, seen: datetime, when: datetime) -> None:
        before, time = milliseconds(seen), milliseconds(when)
        with self._file.together():
            known = self._file.one(links_of, f"{ROW} WHERE source = {NUMBER}", url)
            if known is None or time <= before:
                return
            page, links = known
            found = {
                target: (words, first, time if last == before else last)
                for target, (words, first, last) in links.items()
            }
            self._file.database.execute(insert("link", "OR REPLACE"), (page, pack(found)))

    def _numbered(self, texts: Collection[str]) -> dict[str, int]:
        """Return the numbers of some texts, at least; only those that are not remembered are looked up."""
        if self._undone != self._file.undone or len(self._numbers) > TEXTS:
            self._numbers.clear()
            self._undone = self._file.undone
        if missing := [text for text in texts if text not in self._numbers]:
            self._numbers |= numbers(self._file.database, missing)
        return self._numbers

    def all(self) -> Iterator[Edge]:
        return self._edges(ROW)

    def of(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        start = self._number(after)
        sql = f"{ROW} WHERE source = {NUMBER}"
        return islice(self._edges(sql, url, after=start), limit) if start is not None else iter(())

    def to(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        known, start = self._number(url), self._number(after)
        if not known or start is None:
            return iter(())
        # All pages are searched: an index would take more space than the links.
        sql = f"{ROW} WHERE instr(links, ?) AND source > ? ORDER BY source"
        found = self._edges(sql, holding(known), start)
        return islice((edge for edge in found if edge.target == url), limit)

    def sources(self, urls: Collection[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        with self._file.reading():
            database, text = self._file.database, self._text()
            wanted = {number: url for url, number in known_numbers(database, urls).items()}
            # One pass for all URLs: a search for each takes 50 ms among the links of 100,000 pages.
            for row in database.execute(f"{ROW} ORDER BY source") if wanted else ():
                source, links = links_of(row)
                for target in (links.keys() & wanted.keys()) - {source}:
                    found[wanted.pop(target)] = text(source)
                if not wanted:
                    break
        return found

    def _number(self, text: str) -> int | None:
        """Return the number of a text, 0 for the empty text, None if the archive does not have it."""
        if not text:
            return 0
        return self._file.one(
            lambda row: int(row[0]),
            f"SELECT found FROM (SELECT {NUMBER} AS found) WHERE found IS NOT NULL",
            text,
        )

    def _edges(self, sql: str, *values: object, after: int = 0) -> Iterator[Edge]:
        with self._file.reading():
            yield from edges(self._file.database, self._text(), sql, *values, after=after)


def numbers(database: sqlite3.Connection, texts: Collection[str]) -> dict[str, int]:
    """Return the number of each text; new texts are added, in the current transaction.

    One statement for all texts: each statement yields to other threads, and a page has some fifty texts.
    """
    found = known_numbers(database, texts)
    if missing := [text for text in texts if text not in found]:
        found |= _added(database, missing)
    return found


def _added(database: sqlite3.Connection, texts: Sequence[str]) -> dict[str, int]:
    """Add texts to the last pack and to new ones; return their numbers."""
    last = database.execute(
        f"SELECT {intact('text')}, id, data FROM text ORDER BY id DESC LIMIT 1"
    ).fetchone()
    known: tuple[str, ...] = ()
    if last is None:
        start = 1
    elif last[0]:
        start, known = last[1], unpacked(last[2])
    else:  # the number of texts in a damaged pack is only known from the index
        ((end,),) = database.execute("SELECT max(number) FROM text_key")
        start = max(end or 0, last[1]) + 1
    database.executemany(
        "INSERT OR REPLACE INTO text (id, data, sum) VALUES (?1, ?2, checksum(?2))",
        packs(start, [*known, *texts]),
    )
    found = {text: number for number, text in enumerate(texts, start + len(known))}
    database.executemany(
        "INSERT INTO text_key VALUES (?, ?)", [(checksum(text), number) for text, number in found.items()]
    )
    return found


def known_numbers(database: sqlite3.Connection, texts: Collection[str]) -> dict[str, int]:
    """Return the numbers of the texts that are stored."""
    keys = json.dumps([checksum(text) for text in texts])
    found = dict(database.execute(ALIKE, (keys,)).fetchall())
    return {text: found[text] for text in texts if text in found}


def label(role: str, kind: str, anchor: str) -> str:
    """Return the words of a link as one text; most labels are on every page of a site.

    >>> label("footer", "link", "About us")
    'footer\\tlink\\tAbout us'
    """
    return f"{role}\t{kind}\t{anchor}".replace("\0", "\ufffd")  # where SQLite ends a text of JSON


def merged(links: Links, seen: Iterable[tuple[int, int]], time: int) -> Links:
    """Return links with the links (target, label) of a page at a time; the label seen last is kept.

    >>> merged({1: (7, 20, 30), 2: (7, 20, 30)}, [(1, 8), (3, 8)], 40)
    {1: (8, 20, 40), 2: (7, 20, 30), 3: (8, 40, 40)}
    >>> merged({1: (7, 20, 30)}, [(1, 8)], 10)
    {1: (7, 10, 30)}
    """
    found = dict(links)
    for target, words in seen:
        known, first, last = links.get(target, (words, time, time))
        found[target] = words if time >= last else known, min(first, time), max(last, time)
    return found


def pack(links: Links) -> bytes:
    """Pack links: for each pair of first and last time both times, the number of links, and the links.

    >>> pack({5: (7, 20, 30)}).hex(" ", 4)
    '00000000 00000014 00000000 0000001e 00000001 00000005 00000007'
    """
    groups: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)
    for target, (words, first, last) in sorted(links.items()):
        groups[first, last].append(LINK.pack(target, words))
    return b"".join(GROUP.pack(*times, len(group)) + b"".join(group) for times, group in groups.items())


def unpack(data: bytes) -> Links:
    """Read links.

    >>> unpack(pack({5: (7, 20, 30), 6: (8, 20, 20)}))
    {5: (7, 20, 30), 6: (8, 20, 20)}
    """
    links: Links = {}
    position = 0
    while position < len(data):
        first, last, count = GROUP.unpack_from(data, position)
        position += GROUP.size
        end = position + count * LINK.size
        for target, words in LINK.iter_unpack(data[position:end]):
            links[target] = words, first, last
        position = end
    return links


def links_of(row: Any) -> tuple[int, Links]:
    """Read a source and its links, after the column that shows whether the row is intact."""
    source, data = whole(row)
    return source, unpack(data)


def edges(
    database: sqlite3.Connection, text: Callable[[int], str], sql: str, *values: object, after: int = 0
) -> Iterator[Edge]:
    """Yield the links in the rows of a statement (see ``links_of``), by the numbers of their targets.

    ``text`` reads a text by its number. Only targets with a number greater than ``after`` are returned.
    """
    for source, links in map(links_of, database.execute(sql, values)):
        for target, (words, first, last) in sorted(links.items()):
            if target <= after:
                continue
            role, kind, anchor = text(words).split("\t", 2)
            yield Edge(text(source), text(target), anchor, role, kind, moment(first), moment(last))


def text_reader(database: sqlite3.Connection) -> Callable[[int], str]:
    """Return a function that reads a text by its number; it raises CorruptObject if the text is lost."""

    @lru_cache(maxsize=TEXTS)
    def text(number: int) -> str:
        ((found,),) = database.execute(f"SELECT {value_of('?1', intact('text'))}", (number,))
        if found is None:
            raise CorruptObject(f"the text {number} of links is lost")
        return str(found)

    return text


def holding(target: int) -> bytes:
    """Return bytes that all packed links to a target contain, and few other links."""
    return struct.pack(">I", target)
