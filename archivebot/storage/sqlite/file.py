"""The SQLite file of an archive: opens, reads, writes, syncs and closes it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import struct
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, TypeVar

from archivebot.exceptions import CorruptObject, StorageError
from archivebot.models import Position
from archivebot.storage.base import Damaged
from archivebot.storage.sqlite.database import UNREADABLE, DatabaseFile
from archivebot.storage.sqlite.migration import failure, transaction
from archivebot.storage.sqlite.presence import Presence
from archivebot.storage.sqlite.readonly import FIXED, uri_of
from archivebot.storage.sqlite.schema import check_not_newer, is_newest, migrate
from archivebot.storage.sqlite.sums import intact, whole

Row = TypeVar("Row")

# Seconds that a writer waits for another writer.
BUSY_TIMEOUT = 30

# The write-ahead log is truncated to this size after it was copied into the database.
JOURNAL_LIMIT = 64 * 1024 * 1024

# The log is copied each time it has grown by this many pages of 1 KB: with SQLite's default of 1,000 the
# commits of a crawl took twice as long (0.55 and 0.28 ms for a page with 30 links).
CHECKPOINT = 16_000

POSITION = f"SELECT {intact('archive')}, identity, position FROM archive"
ADVANCE = (
    "UPDATE archive SET position = position + 1, sum = checksum(identity, position + 1)"
    f" WHERE {intact('archive')}"
)

# The beginning of a file: the name of the format, the size of a page, and how many pages there are.
HEADER = struct.Struct(">16sH10xI")
MAGIC = b"SQLite format 3\0"

# The exceptions that reading a damaged value raises.
MISREAD = (ValueError, TypeError, LookupError, ArithmeticError, struct.error, zlib.error)

# What reading a value of a damaged file raises.
FAULTS = (CorruptObject, *UNREADABLE, *MISREAD)


class ArchiveFile(DatabaseFile):
    """The file at a path, created if it does not exist.

    ``undone`` grows with each transaction that is rolled back: what was read in it may not be in the file.
    """

    damaged = "no archive; restore a copy, or give another ARCHIVE_URI"
    undone = 0
    _is_opening = True

    def __init__(self, path: str, writable: bool = True) -> None:
        self._writable = writable
        super().__init__(path)
        self._is_opening = False
        self._presence = Presence(path)
        self._durable = self.database.total_changes
        self._is_open = True

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=BUSY_TIMEOUT, isolation_level=None)

    def _prepare(self) -> None:
        try:
            migrate(self.database, self.uri)
        except sqlite3.OperationalError as error:
            if self._writable or not any(sign in str(error) for sign in ("readonly", "unable to open")):
                raise
            self._open_unwritable()
            return
        # A commit survives a crash of the process; after sync() all earlier commits survive a power cut.
        self.database.execute("PRAGMA synchronous = NORMAL")
        self.database.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")
        self.database.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
        if self._writable:
            with transaction(self.database):
                pass  # better reported now than after the first page was fetched

    def _open_unwritable(self) -> None:
        """Open an archive on a read-only medium as it is, or an upgraded temporary copy of an older one."""
        self.database.close()
        self.database = sqlite3.connect(uri_of(self._path, FIXED), uri=True)
        if not is_newest(self.database, self.uri):
            older, self.database = self.database, sqlite3.connect("", isolation_level=None)
            with closing(older):
                older.backup(self.database)
            migrate(self.database, self.uri)

    def _failure(self, error: sqlite3.Error | UnicodeDecodeError) -> StorageError:
        # To look into a file that this process has locked would end the locks: see require().
        is_broken = self._is_opening and not isinstance(error, sqlite3.OperationalError)
        short = cut_short(self._path) if is_broken else ""
        return failure(self.uri, error, short or self.damaged)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise CorruptObject if a value read in the block is damaged."""
        try:
            yield
        except FAULTS as error:
            told = self.damage(error)
            if told is error:
                raise
            raise told from error

    def damage(self, error: Exception) -> CorruptObject:
        """Return the error of a damaged value; raises StorageError if it is another one of SQLite."""
        if isinstance(error, UNREADABLE):
            found = self._failure(error)
            if isinstance(found, CorruptObject):
                return found
            raise found from error
        if isinstance(error, CorruptObject) and self.uri in str(error):
            return error
        return self._damaged(error)

    def _damaged(self, error: Exception) -> CorruptObject:
        return CorruptObject(
            f"{self.uri} is damaged: {error} (scrapy verify lists all damage; restore a copy)"
        )

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._translated():
            try:
                with transaction(self.database):
                    check_not_newer(self.database, self.uri)
                    yield
            except BaseException:
                self.undone += 1
                raise

    def position(self) -> Position:
        found = self.one(lambda row: Position(*whole(row)), POSITION)
        if found is None:
            raise self._damaged(CorruptObject("its identity is lost"))
        return found

    def changes(self) -> Hashable | None:
        with suppress(sqlite3.Error):
            version: int = self.database.execute("PRAGMA data_version").fetchone()[0]
            return version
        return None

    @property
    def is_durable(self) -> bool:
        return not self._is_open or self.database.total_changes == self._durable

    def sync(self) -> Position | None:
        if self.is_durable:
            return None
        self._presence.check()
        with self._translated():
            # A commit is written after all earlier ones, and this one is waited for.
            self.database.execute("PRAGMA synchronous = FULL")
            try:
                with transaction(self.database):
                    self.database.execute(ADVANCE)
            finally:
                self.database.execute("PRAGMA synchronous = NORMAL")
        position = self.position()  # raises if a damaged row was not updated
        self._durable = self.database.total_changes
        return position

    def close(self) -> None:
        if not self._is_open:
            return
        try:
            self.sync()
            with suppress(sqlite3.Error):  # a hint to the query planner; the archive may be damaged
                self.database.execute("PRAGMA optimize")
        finally:
            self._is_open = False
            self.database.close()

    def size(self) -> int:
        """Return the bytes of the file once all pages of its log are in it."""
        sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        return int(self.database.execute(sql).fetchone()[0])

    def one(self, make: Callable[[Any], Row], sql: str, *values: object) -> Row | None:
        with self.reading():
            row = self.database.execute(sql, values).fetchone()
            return None if row is None else make(row)

    def number(self, sql: str, *values: object) -> int:
        """Return the number in the first row of an answer, 0 if there is no row."""
        return self.one(lambda row: int(row[0]), sql, *values) or 0

    def all(self, make: Callable[[Any], Row], sql: str, *values: object) -> list[Row]:
        with self.reading():
            return list(map(make, self.database.execute(sql, values)))

    def sound(
        self, make: Callable[[Any], Row], sql: str, *values: object, damaged: Damaged | None = None
    ) -> Iterator[Row]:
        """Yield what each row makes; ``damaged`` gets the errors of rows that cannot be read.

        Without it, the last of these errors is raised at the end.
        """
        faults: list[CorruptObject] = []
        tell = damaged or faults.append
        with self.reading():
            for row in self.database.execute(sql, values):
                try:
                    value = make(row)
                except (CorruptObject, *MISREAD) as error:
                    tell(self.damage(error))
                else:
                    yield value
            if faults:
                raise faults[-1]

    def rows(self, make: Callable[[Any], Row], sql: str, *values: object) -> Iterator[Row]:
        with self.reading():
            yield from map(make, self.database.execute(sql, values))


def cut_short(path: str) -> str:
    """Return what is to be done with a file that lacks its end, as its header shows; "" for any other.

    SQLite reads nothing of such a file. If zeros fill its end, only the parts that are lost are damaged.
    """
    try:
        with open(path, "rb") as file:
            magic, unit, pages = HEADER.unpack(file.read(HEADER.size))
            size = file.seek(0, os.SEEK_END)
    except (OSError, struct.error):
        return ""
    full = pages * (1 << 16 if unit == 1 else unit)
    if magic != MAGIC or size >= full:
        return ""
    return (
        f"cut short: it has {size} of {full} bytes; restore a copy, or fill it with zeros, as"
        f" truncate -s {full} {shlex.quote(path)} does, and scrapy export writes what can still be read"
    )
