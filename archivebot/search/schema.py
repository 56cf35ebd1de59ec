"""The tables of an index file."""

from __future__ import annotations

import sqlite3

from archivebot.exceptions import CorruptObject, StorageError
from archivebot.storage.sqlite.migration import Step, failure

# "asch" in ASCII: distinguishes an index from an archive and from a frontier.
APPLICATION_ID = 0x61736368

# The index of the sample site has 41 kB; with 4096 it has 78 kB, more than its archive. Large indexes have
# the same size with both, and are searched as fast.
PAGE_SIZE = 1024

ADVICE = "name another file by ARCHIVE_SEARCH_INDEX"
ANEW = "scrapy index --rebuild makes it anew"

# The settings of the full-text table. Without columnsize it is 6 % smaller; only ranking by bm25 needs it.
# Without positions it would have a third of the size, but phrases could not be found: for history-dev they
# take 2.0 of 3.0 MB.
WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0,"
    " tokenize=\"unicode61 remove_diacritics 2 categories 'L* N* Co M*'\")"
)


def _first_schema(database: sqlite3.Connection) -> None:
    for statement in (
        # The archive, its position when the index was made, the number of texts, and the number of removed
        # pages whose lives remain. The position is -1 until the first run has ended.
        """CREATE TABLE state (
            archive TEXT NOT NULL,
            position INTEGER NOT NULL,
            texts INTEGER NOT NULL,
            removed INTEGER NOT NULL)""",
        # Ids are not used again: lives of removed pages remain until the end of a run.
        """CREATE TABLE page (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            url TEXT NOT NULL UNIQUE,
            site TEXT NOT NULL,
            tally INTEGER)""",
        "CREATE INDEX page_site ON page (site)",
        """CREATE TABLE stint (
            page INTEGER NOT NULL REFERENCES page,
            n INTEGER NOT NULL,
            time INTEGER NOT NULL,
            number INTEGER,
            PRIMARY KEY (page, n)) WITHOUT ROWID""",
        # Texts are packed: alone they take twice the space.
        "CREATE TABLE pack (first INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        "CREATE TABLE text_key (key INTEGER PRIMARY KEY, text INTEGER NOT NULL)",
        """CREATE TABLE life (
            text INTEGER NOT NULL,
            page INTEGER NOT NULL REFERENCES page,
            lineage INTEGER NOT NULL,
            born INTEGER NOT NULL,
            gone INTEGER,
            label TEXT,
            PRIMARY KEY (text, page, lineage, born)) WITHOUT ROWID""",
        WORDS,
    ):
        database.execute(statement)


def _empty(database: sqlite3.Connection) -> None:
    """Empty the index, so that it is made anew: the words of its texts were other ones, or joined."""
    for table in ("state", "page", "stint", "pack", "text_key", "life"):
        database.execute(f"DELETE FROM {table}")
    database.execute("INSERT INTO words (words) VALUES ('delete-all')")


# One function per step; the position in the list is the version it leads to (PRAGMA user_version).
STEPS: list[Step] = [_first_schema, _empty, _empty]


def failed(uri: str, error: sqlite3.Error | UnicodeDecodeError) -> StorageError:
    """Return the error of an index file, CorruptObject if the index is to be made anew.

    >>> failed("sqlite:///a.db", sqlite3.OperationalError("vtable constructor failed: words"))
    CorruptObject('sqlite:///a.db: vtable constructor failed: words (scrapy index --rebuild makes it anew)')
    """
    if "no such module" in str(error):
        return StorageError(f"{uri}: this Python has a SQLite without full-text search: {error}")
    if any(sign in str(error) for sign in ("vtable", "fts5", "missing row", "not a database")):
        return CorruptObject(f"{uri}: {error} ({ANEW})")
    return failure(uri, error, f"no index; {ANEW}")
