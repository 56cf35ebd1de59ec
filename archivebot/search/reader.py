"""Looking words up in an index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from archivebot.exceptions import CorruptObject, NotArchived, Outdated
from archivebot.models import Position
from archivebot.search.events import Presence, Row, presences
from archivebot.search.file import IndexFile
from archivebot.search.schema import ADVICE, ANEW, APPLICATION_ID, STEPS
from archivebot.search.words import expression
from archivebot.storage.frames import decode
from archivebot.storage.sqlite.migration import schema_of
from archivebot.storage.sqlite.readonly import connect, require

# In one row, because other threads may stop this one at each step from row to row.
_LIVES = """
SELECT json_group_array(json_array(
    page, lineage, text, born, born_at, born_version, gone, gone_at, gone_version))
FROM (
    SELECT life.page, lineage, life.text, born, a.time AS born_at, a.number AS born_version,
        gone, b.time AS gone_at, b.number AS gone_version
    FROM words CROSS JOIN life ON life.text = words.rowid
    CROSS JOIN stint AS a ON a.page = life.page AND a.n = born
    LEFT JOIN stint AS b ON b.page = life.page AND b.n = gone
    WHERE words MATCH :words AND (:label IS NULL OR label = :label)
        AND (:site IS NULL OR life.page IN (SELECT id FROM page WHERE site = :site))
    ORDER BY words.rowid DESC LIMIT :most + 1)"""


_PACK = "SELECT first, data FROM pack WHERE first <= ? ORDER BY first DESC LIMIT 1"


class IndexReader(IndexFile):
    """The index at a path, opened for reading.

    Raises NotArchived if there is none, StorageError if it cannot be read, belongs to another program or was
    written by another archivebot, and CorruptObject if it is damaged.
    """

    def _connected(self) -> sqlite3.Connection:
        require(self._path, NotArchived(f"there is no index at {self.uri}: scrapy index makes it"))
        return connect(self._path)[0]

    def _prepare(self) -> None:
        schema = schema_of(self.database, self.uri, APPLICATION_ID, len(STEPS), ADVICE)
        if schema < len(STEPS):
            raise Outdated(
                f"{self.uri} is of an earlier archivebot, or not complete: scrapy index makes it anew"
            )

    def position(self) -> Position:
        """Return the archive of the index and its position, -1 before a first run has ended."""
        with self._translated():
            row = self.database.execute("SELECT archive, position FROM state").fetchone()
        return Position(*row) if row else Position("", -1)

    def find(
        self, words: str, most: int, site: str | None = None, label: str | None = None
    ) -> tuple[list[Presence], bool]:
        """Return for how long pages had words, and whether all blocks with the words were looked at.

        Of more than ``most`` lives of blocks those of the texts indexed last are looked at. The words are in
        one block, with a label (None: any), of a page on a site, the part of a urlkey before the closing
        parenthesis (None: any). Raises UsageError if the words cannot be searched for.
        """
        given = {"words": expression(words), "most": most, "site": site, "label": label}
        with self._translated():
            (found,) = self.database.execute(_LIVES, given).fetchone()
        rows = list(map(Row._make, json.loads(found)))
        return presences(rows[:most]), len(rows) <= most

    def url(self, page: int) -> str:
        """Return the URL of a page."""
        with self._translated():
            row = self.database.execute("SELECT url FROM page WHERE id = ?", (page,)).fetchone()
        if row is None:
            raise CorruptObject(f"{self.uri} has lost a page ({ANEW})")
        return str(row[0])

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return texts by their numbers."""
        packs: dict[int, list[bytes]] = {}
        found: dict[int, str] = {}
        for number in numbers:
            with self._translated():
                row = self.database.execute(_PACK, (number,)).fetchone()
            first, data = row or (0, b"")
            if first not in packs:
                packs[first] = decode([data] if row else []).split(b"\0")
            if number - first >= len(packs[first]):
                raise CorruptObject(f"{self.uri} has lost a text ({ANEW})")
            found[number] = packs[first][number - first].decode("utf-8", "replace")
        return found
