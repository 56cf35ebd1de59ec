"""The checksums of the rows of a SQLite archive: writes, reads and verifies them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from archivebot.exceptions import CorruptObject
from archivebot.storage.checksum import checksum
from archivebot.storage.sqlite.texts import listed as listed_texts
from archivebot.storage.sqlite.texts import text_at
from archivebot.storage.sqlite.visits import listed as listed_visits
from archivebot.urls import urlkey

# The columns that the checksum of a row covers, in this order: all but ``id`` and ``sum``. The tables without
# a checksum repeat data of other tables: ``fingerprint_key`` of ``fingerprint``, ``page_key`` of ``page`` and
# ``text_key`` of ``text``; ``frame`` is covered by ``version.frame_sum``.
SUMMED: dict[str, tuple[str, ...]] = {
    "archive": ("identity", "position"),
    "page": ("url", "versions", "lineages", "sketch"),
    "version": (
        *("page", "number", "digest", "length", "charset", "level", "segmenter", "layout", "blocks"),
        *("new_blocks", "new_bytes", "cost", "base", "frame_sum"),
    ),
    "dictionary": ("host", "length", "frame_sum"),
    "capture": ("page", "time", "visits"),
    "shape": ("outcome", "kind", "status", "origin", "quality", "reference"),
    "reference": ("host", "data"),
    "text": ("data",),
    "link": ("source", "links"),
    "fingerprint": ("page", "number", "digest", "simhash", "words", "keys"),
    "duplicate": ("version", "url", "number", "distance", "jaccard", "rule"),
    "template": ("site", "time", "pages", "tree"),
    "form": ("site", "signature", "data"),
    "form_page": ("form", "page", "first", "last"),
    "payload": ("payload", "version"),
    "waiting": ("page", "time", "payload", "refers_to", "refers_time"),
    "attachment": ("url", "time", "key", "block", "data"),
}

# How a row of each table is named in messages, by columns.
NAMES = {
    "archive": "'the identity of the archive'",
    "page": "url",
    "version": "'version ' || id",
    "dictionary": "'the dictionary ' || -id || ' of ' || host",
    "capture": "'the run of captures from ' || time || ' of page ' || page",
    "shape": "'the shape ' || id || ' of captures'",
    "reference": "'the reference ' || id || ' of ' || host",
    "text": "'the pack of texts from ' || id",
    "link": "'the links of page ' || source",
    "fingerprint": "'the fingerprint of page ' || page",
    "duplicate": "'the mark of version ' || version",
    "template": "'the template of ' || site",
    "form": "'a form of ' || site",
    "form_page": "'a page of form ' || form",
    "payload": "'the payload of version ' || version",
    "waiting": "'the visit at ' || time || ' of page ' || page || ' that waits'",
    "attachment": "iif(url, 'an attachment at ' || time || ' of the URL ' || url, 'a block of attachments')",
}


# Keys of URLs in the cache: each page that is stored needs its key several times.
_KEYS = 256


def enable(database: sqlite3.Connection) -> None:
    """Define the SQL functions on a connection that statements and steps of the schema use."""
    database.create_function("checksum", -1, checksum, deterministic=True)
    database.create_function("urlkey", 1, lru_cache(_KEYS)(urlkey), deterministic=True)
    database.create_function("visits", 2, listed_visits, deterministic=True)
    database.create_function("texts", 1, listed_texts, deterministic=True)
    database.create_function("text_at", 2, text_at, deterministic=True)


def sum_of(table: str) -> str:
    """Return the expression for the checksum of a row.

    >>> sum_of("link")
    'checksum(link.source, link.links)'
    """
    return f"checksum({', '.join(f'{table}.{column}' for column in SUMMED[table])})"


def intact(table: str) -> str:
    """Return the expression that checks the stored checksum of a row.

    >>> intact("link")
    '(link.sum IS checksum(link.source, link.links))'
    """
    return f"({table}.sum IS {sum_of(table)})"


def insert(table: str, otherwise: str = "") -> str:
    """Return the statement that adds a row with its checksum.

    >>> insert("link", "OR REPLACE")
    'INSERT OR REPLACE INTO link (source, links, sum) VALUES (?1, ?2, checksum(?1, ?2))'
    """
    columns = SUMMED[table]
    values = ", ".join(f"?{number}" for number in range(1, len(columns) + 1))
    into = f"INSERT {otherwise} INTO" if otherwise else "INSERT INTO"
    return f"{into} {table} ({', '.join(columns)}, sum) VALUES ({values}, checksum({values}))"


def value_of(number: str, is_sure: str = "1") -> str:
    """Return the expression for the text with a number; NULL if its pack is lost, or not ``is_sure``.

    >>> value_of("source")  # doctest: +ELLIPSIS
    '(SELECT iif(1, text_at(text.data, source - text.id), NULL) FROM text WHERE text.id <= source ...)'
    """
    return (
        f"(SELECT iif({is_sure}, text_at(text.data, {number} - text.id), NULL) FROM text"
        f" WHERE text.id <= {number} ORDER BY text.id DESC LIMIT 1)"
    )


def renew(table: str) -> str:
    """Return the statement that writes the checksums of changed rows; a WHERE may follow.

    >>> renew("link")
    'UPDATE link SET sum = checksum(link.source, link.links)'
    """
    return f"UPDATE {table} SET sum = {sum_of(table)}"


def whole(row: Any) -> Any:
    """Return the values of a row after its first one, which is the result of ``intact``.

    Raises CorruptObject if the row does not match its checksum.
    """
    if row[0] != 1:
        raise CorruptObject("a row does not have the checksum that was stored with it")
    return row[1:]


def damage(database: sqlite3.Connection) -> Iterator[str]:
    """Check all rows, and yield a message for each damaged row."""
    for table in SUMMED:
        sql = f"SELECT {NAMES[table]} FROM {table} WHERE NOT {intact(table)}"
        yield from _named(database, table, sql, "{} does not have its checksum")
    sql = f"SELECT {NAMES['archive']} WHERE NOT EXISTS (SELECT 1 FROM archive)"
    yield from _named(database, "archive", sql, "{} is lost")
    yield from _named(
        database,
        "frame",
        "SELECT id FROM version JOIN frame ON version = id WHERE frame_sum IS NOT checksum(data)",
        "the frame of version {} does not have its checksum",
    )
    yield from _named(
        database,
        "frame",
        f"SELECT {NAMES['dictionary']} FROM dictionary LEFT JOIN frame ON version = id"
        " WHERE frame_sum IS NOT checksum(data)",
        "the frame of {} does not have its checksum",
    )
    yield from _named(
        database,
        "page_key",
        "SELECT url FROM page LEFT JOIN page_key ON page = id AND key = urlkey(url) WHERE page IS NULL",
        "{} is not found by its key",
    )
    yield from _named(
        database,
        "page_key",
        "SELECT key FROM page_key LEFT JOIN page ON id = page WHERE key IS NOT urlkey(url)",
        "{} is not the key of its page",
    )
    yield from _named(
        database,
        "text_key",
        "SELECT part.value FROM text JOIN json_each(texts(data)) AS part LEFT JOIN text_key"
        " ON text_key.key = checksum(part.value) AND number = text.id + part.key WHERE number IS NULL",
        "the text {!r} is not found by its key",
    )
    yield from _named(
        database,
        "text_key",
        f"SELECT number FROM text_key WHERE key IS NOT checksum({value_of('number')})",
        "the key of the text {} is not that of its text",
    )


def _named(database: sqlite3.Connection, table: str, sql: str, message: str) -> Iterator[str]:
    try:
        for (name,) in database.execute(sql):
            yield message.format(name)
    except sqlite3.Error as error:
        yield f"the table {table} cannot be read ({error})"
