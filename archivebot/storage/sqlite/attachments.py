"""The attachments in the SQLite archive, and their blocks, which are rows of the same table.

An attachment has the number of its URL in ``text``. A block has 0 in its place, its digest as ``key``, and no
``block`` of its own. A table of its own would take two database pages in each archive without attachments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from archivebot.storage.attachments import Packed
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.links import NUMBER, numbers, text_reader
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.times import milliseconds, moment

HELD = "attachment AS held ON held.url = 0 AND held.time = 0 AND held.key = attachment.block"
ROW = (
    f"SELECT {intact('attachment')} AND {intact('attachment').replace('attachment.', 'held.')},"
    " attachment.url, attachment.time, attachment.key, attachment.data, held.key, held.data"
    f" FROM attachment LEFT JOIN {HELD} WHERE"
)
ORDER = "ORDER BY attachment.url, attachment.time, attachment.key"

# Attachments whose block is missing.
LOST = (
    f"SELECT attachment.time FROM attachment LEFT JOIN {HELD} WHERE attachment.url > 0 AND held.key IS NULL"
)

# Removes the blocks that no attachment has.
SWEEP = (
    "DELETE FROM attachment WHERE url = 0 AND key NOT IN"
    " (SELECT other.block FROM attachment AS other WHERE other.url > 0)"
)


class SQLiteAttachments:
    """The AttachmentStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def add(self, packed: Packed) -> bool:
        database, time = self._file.database, milliseconds(packed.when)
        with self._file.together():
            number = numbers(database, [packed.url])[packed.url]
            values = (number, time, packed.key, packed.digest, packed.head)
            if not database.execute(insert("attachment", "OR IGNORE"), values).rowcount:
                return False
            database.execute(insert("attachment", "OR IGNORE"), (0, 0, packed.digest, None, packed.frame))
        return True

    def of(self, url: str, when: datetime | None = None) -> Iterator[Packed]:
        where, times = ("", ()) if when is None else (" AND attachment.time = ?2", (milliseconds(when),))
        sql = f"{ROW} attachment.url = {NUMBER}{where} {ORDER}"
        return self._file.sound(lambda row: _packed(url, whole(row)), sql, url, *times)

    def times(self, url: str) -> set[datetime]:
        sql = f"SELECT DISTINCT time FROM attachment WHERE url = {NUMBER}"
        return set(self._file.all(lambda row: moment(row[0]), sql, url))

    def all(self) -> Iterator[Packed]:
        text = text_reader(self._file.database)

        def packed(row: Any) -> Packed:
            values = whole(row)
            return _packed(text(values[0]), values)

        return self._file.sound(packed, f"{ROW} attachment.url > 0 {ORDER}")

    def places(self) -> Iterator[tuple[str, datetime]]:
        text = text_reader(self._file.database)
        sql = "SELECT DISTINCT url, time FROM attachment WHERE url > 0 ORDER BY url, time"
        return self._file.sound(lambda row: (text(row[0]), moment(row[1])), sql)

    def remove(self, url: str, times: Iterable[datetime]) -> None:
        places = [(url, milliseconds(when)) for when in times]
        with self._file.together():
            sql = f"DELETE FROM attachment WHERE url = {NUMBER} AND time = ?2"
            self._file.database.executemany(sql, places)


def _packed(url: str, values: Any) -> Packed:
    _, time, key, head, digest, frame = values
    return Packed(bytes(key), url, moment(time), bytes(head), bytes(digest), bytes(frame))
