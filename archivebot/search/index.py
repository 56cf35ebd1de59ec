"""The index file of a run that updates it: pages with their stints, texts, and the lives of blocks."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from archivebot.exceptions import StorageError
from archivebot.models import Position
from archivebot.search.file import IndexFile
from archivebot.search.schema import ADVICE, APPLICATION_ID, PAGE_SIZE, STEPS, failed
from archivebot.search.words import spaced
from archivebot.storage.frames import encode
from archivebot.storage.sqlite.migration import schema_of, transaction, upgrade
from archivebot.storage.sqlite.readonly import uri_of

# Texts in a pack. With 16 the texts of history-dev take 2.1 MB, with 64 1.7 MB, and 3.7 MB alone. One pack of
# 64 takes 20 microseconds to read.
PACK = 64
LEVEL = 10

# Seconds that a run waits for another run, which commits after each batch of pages.
BUSY_TIMEOUT = 60

# A time in milliseconds, and the number of the version shown from then on.
StintRow = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Life:
    """A text of a block of a page, from the stint ``born`` up to the stint ``gone``; None: to the last."""

    text: int
    lineage: int
    born: int
    gone: int | None
    label: str | None


class Index(IndexFile):
    """The index at a path, created if it does not exist.

    Raises StorageError if it belongs to another program, and CorruptObject if it is damaged.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._pack: list[bytes] = []

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=BUSY_TIMEOUT, isolation_level=None)

    def _prepare(self) -> None:
        upgrade(self.database, self.uri, APPLICATION_ID, STEPS, ADVICE, PAGE_SIZE)
        self.database.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a block as one transaction."""
        self._pack.clear()
        with self._translated(), transaction(self.database):
            yield
            self._flush()

    def position(self) -> Position | None:
        """Return the archive of the index, and its position when the index was up to date; None if new."""
        row = self._one("SELECT archive, position FROM state")
        return Position(*row) if row else None

    def begin(self, archive: str) -> None:
        """Make an empty index that of an archive."""
        with self.writing():
            self.database.execute(
                "INSERT INTO state SELECT ?, -1, 0, 0 WHERE NOT EXISTS (SELECT * FROM state)", (archive,)
            )

    def end(self, position: Position) -> None:
        """Note the position of the archive up to which the index is complete; removes lives of no page."""
        with self.writing():
            if self._one("SELECT removed FROM state")[0]:  # it reads all lives
                self.database.execute("DELETE FROM life WHERE page NOT IN (SELECT id FROM page)")
            self.database.execute(
                "UPDATE state SET removed = 0, position = max(position, ?) WHERE archive = ?",
                (position.number, position.archive),
            )

    def merge(self) -> None:
        """Merge the parts of the full-text table, and shorten the file: both are faster to search then."""
        with self.writing():
            self.database.execute("INSERT INTO words(words) VALUES ('optimize')")
        with self._translated():
            self.database.execute("VACUUM")

    def tally(self, url: str) -> int | None:
        """Return the tally of a page, None if it is not in the index."""
        row = self._one("SELECT tally FROM page WHERE url = ?", url)
        return row[0] if row else None

    def stints(self, url: str) -> list[StintRow]:
        """Return the stints of a page."""
        sql = "SELECT time, number FROM stint JOIN page ON id = page WHERE url = ? ORDER BY n"
        with self._translated():
            return self.database.execute(sql, (url,)).fetchall()

    def remove(self, url: str) -> None:
        """Remove a page with its stints; its lives remain until the end of the run."""
        self.database.execute("DELETE FROM stint WHERE page = (SELECT id FROM page WHERE url = ?)", (url,))
        self.database.execute("DELETE FROM page WHERE url = ?", (url,))
        self.database.execute("UPDATE state SET removed = removed + 1")

    def put(
        self,
        url: str,
        site: str,
        tally: int,
        stints: Iterable[tuple[int, StintRow]],
        lives: Iterable[Life],
        ended: Iterable[Life],
    ) -> None:
        """Store a page with further stints, each with its place, further lives, and lives that ended.

        A life that ended is found by its text and its lineage.
        """
        self.database.execute("INSERT OR IGNORE INTO page (url, site) VALUES (?, ?)", (url, site))
        self.database.execute("UPDATE page SET tally = ? WHERE url = ?", (tally, url))
        page = self._one("SELECT id FROM page WHERE url = ?", url)[0]
        self.database.executemany(
            "INSERT INTO stint VALUES (?, ?, ?, ?)", [(page, n, *stint) for n, stint in stints]
        )
        self.database.executemany(
            "UPDATE life SET gone = ? WHERE text = ? AND page = ? AND lineage = ? AND gone IS NULL",
            [(life.gone, life.text, page, life.lineage) for life in ended],
        )
        self.database.executemany(
            "INSERT INTO life VALUES (?, ?, ?, ?, ?, ?)",
            [(life.text, page, life.lineage, life.born, life.gone, life.label) for life in lives],
        )

    def text(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        data = text.replace("\0", " ").encode("utf-8", "replace")
        key = int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
        row = self._one("SELECT text FROM text_key WHERE key = ?", key)
        if row:
            return int(row[0])
        (number,) = self.database.execute("UPDATE state SET texts = texts + 1 RETURNING texts").fetchone()
        self.database.execute("INSERT INTO text_key VALUES (?, ?)", (key, number))
        self.database.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, spaced(text)))
        self._pack.append(data)
        if len(self._pack) == PACK:
            self._flush()
        return int(number)

    def _flush(self) -> None:
        """Store the texts that are not in a pack yet; they are the last ones."""
        if self._pack:
            data = encode(b"\0".join(self._pack), None, LEVEL)
            last = self._one("SELECT texts FROM state")[0]
            self.database.execute("INSERT INTO pack VALUES (?, ?)", (last - len(self._pack) + 1, data))
            self._pack.clear()

    def texts(self) -> int:
        """Return the number of texts."""
        row = self._one("SELECT texts FROM state")
        return int(row[0]) if row else 0

    def _one(self, sql: str, *values: object) -> Any:
        with self._translated():
            return self.database.execute(sql, values).fetchone()


def delete(path: str) -> None:
    """Delete an index, damaged or not.

    Raises StorageError if the file belongs to another program, or cannot be opened to find that out.
    """
    uri = f"sqlite:///{path}"
    try:
        with closing(sqlite3.connect(uri_of(path, "mode=ro"), uri=True)) as database:
            schema_of(database, uri, APPLICATION_ID, len(STEPS), ADVICE)
    except sqlite3.OperationalError as error:
        if os.path.exists(path):
            raise failed(uri, error) from error
    except sqlite3.DatabaseError:
        pass  # it is damaged
    for end in ("", "-wal", "-shm"):
        try:
            os.unlink(path + end)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StorageError(f"{uri} cannot be deleted: {error.strerror}") from error
