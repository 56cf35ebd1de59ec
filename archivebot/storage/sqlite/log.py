"""The log of a SQLite archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from archivebot.models import Capture
from archivebot.proof.merkle import WIDTH, leaf_hash, root_of
from archivebot.storage.log import lost_entry
from archivebot.storage.record import digest_of, removal_of
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.schema import is_unlogged

END = 1 << 62  # beyond the last entry

# The bytes of an entry; those of a damaged one may have become a text or a number, which is another entry.
BYTES = "CAST(iif(typeof(entry) = 'blob', entry, '') AS BLOB)"


class SQLiteLog:
    """A LogStore in tables of the archive."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def record(self, capture: Capture) -> None:
        """Write the entry of a stored capture, in the current transaction."""
        self._append(digest_of(capture))

    def record_removal(self, capture: Capture) -> None:
        """Write the entry of a removed capture, in the current transaction."""
        self._append(removal_of(digest_of(capture)))

    def _append(self, entry: bytes) -> None:
        database = self._file.database
        number = database.execute("INSERT INTO log (entry) VALUES (?)", (entry,)).lastrowid or 0
        if number % WIDTH == 0:
            found = database.execute(f"SELECT {BYTES} FROM log WHERE id > ? ORDER BY id", (number - WIDTH,))
            hashes = [leaf_hash(entry) for (entry,) in found]
            if len(hashes) == WIDTH:  # if an entry is lost, there is no root, and scrapy verify reports it
                root = root_of(hashes)
                database.execute("INSERT OR REPLACE INTO subtree VALUES (?, ?)", (number // WIDTH, root))

    def complete(self, captures: Iterable[Capture]) -> None:
        """Write the entries of the captures of an older archive, unless another process has done so."""
        if not is_unlogged(self._file.database):
            return
        with self._file.together():
            if is_unlogged(self._file.database):
                for capture in captures:
                    self.record(capture)
                self._file.database.execute("DROP TABLE unlogged")

    def size(self) -> int:
        return self._file.number("SELECT coalesce(max(id), 0) FROM log")

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        last = END if end is None else end
        sql = f"SELECT id, {BYTES} FROM log WHERE id > ? AND id <= ? ORDER BY id"
        index = start
        for number, entry in self._file.rows(tuple, sql, start, last):
            if number != index + 1:
                raise lost_entry(index)
            yield bytes(entry)
            index += 1
        if end is not None and index < end:
            raise lost_entry(index)

    def index(self, capture: Capture) -> int | None:
        # A scan: an index takes half the space of the entries, for a question that is rarely asked.
        sql = "SELECT id - 1 FROM log WHERE entry = ? ORDER BY id DESC LIMIT 1"
        return self._file.one(lambda row: int(row[0]), sql, digest_of(capture))

    def subtrees(self) -> Mapping[int, bytes]:
        return dict(self._file.all(tuple, "SELECT id - 1, CAST(root AS BLOB) FROM subtree"))
