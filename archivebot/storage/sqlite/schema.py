"""The tables of the SQLite archive and the steps from one schema to the next."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from archivebot.storage.base import outdated
from archivebot.storage.sqlite.migration import Step, check_version, schema_of, upgrade
from archivebot.storage.sqlite.slimming import pack_captures, pack_texts, slim_captures, slim_pages
from archivebot.storage.sqlite.sums import enable

# "abot" in ASCII; distinguishes an archive from any other SQLite file.
APPLICATION_ID = 0x61626F74

# Frames have 1 to 3 KB: small database pages waste the least space at their ends. The archives of five sites
# are 5 % smaller than with 2048; with 512 they are larger, because URLs are too long for such index pages.
PAGE_SIZE = 1024

ADVICE = "give another ARCHIVE_URI"


def _first_schema(database: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE page (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            urlkey TEXT NOT NULL,
            versions INTEGER NOT NULL,
            lineages INTEGER NOT NULL,
            sketch BLOB NOT NULL)""",
        "CREATE INDEX page_urlkey ON page (urlkey)",
        """CREATE TABLE version (
            id INTEGER PRIMARY KEY,
            page INTEGER NOT NULL REFERENCES page,
            number INTEGER,
            digest BLOB NOT NULL,
            length INTEGER NOT NULL,
            charset TEXT NOT NULL,
            level INTEGER NOT NULL,
            segmenter INTEGER NOT NULL,
            layout INTEGER NOT NULL,
            blocks INTEGER NOT NULL,
            new_blocks INTEGER NOT NULL,
            new_bytes INTEGER NOT NULL,
            cost INTEGER NOT NULL,
            base INTEGER REFERENCES version)""",
        "CREATE UNIQUE INDEX version_digest ON version (page, digest)",
        "CREATE INDEX version_page ON version (page)",
        """CREATE TABLE frame (
            version INTEGER PRIMARY KEY REFERENCES version,
            data BLOB NOT NULL)""",
        """CREATE TABLE capture (
            page INTEGER NOT NULL REFERENCES page,
            time INTEGER NOT NULL,
            version INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            kind TEXT NOT NULL,
            status INTEGER,
            stored_bytes INTEGER NOT NULL,
            new_blocks INTEGER NOT NULL,
            links INTEGER NOT NULL,
            reason TEXT,
            location TEXT,
            origin TEXT,
            headers BLOB,
            PRIMARY KEY (page, time, version, outcome)) WITHOUT ROWID""",
    ):
        database.execute(statement)


def _links(database: sqlite3.Connection) -> None:
    # Navigation repeats its URLs and labels on every page of a site: each text is stored once.
    for statement in (
        """CREATE TABLE text (
            id INTEGER PRIMARY KEY,
            value TEXT NOT NULL UNIQUE)""",
        """CREATE TABLE link (
            source INTEGER PRIMARY KEY REFERENCES text,
            links BLOB NOT NULL)""",
    ):
        database.execute(statement)


def _fingerprints(database: sqlite3.Connection) -> None:
    # The keys of a page are stored a second time beside its fingerprint: otherwise the removal of the
    # previous version's keys would need an index by page, which takes twice the space.
    for statement in (
        """CREATE TABLE fingerprint (
            page INTEGER PRIMARY KEY REFERENCES page,
            number INTEGER NOT NULL,
            digest INTEGER NOT NULL,
            simhash BLOB,
            words INTEGER NOT NULL,
            keys BLOB NOT NULL)""",
        """CREATE TABLE fingerprint_key (
            key INTEGER NOT NULL,
            page INTEGER NOT NULL REFERENCES page,
            PRIMARY KEY (key, page)) WITHOUT ROWID""",
        """CREATE TABLE duplicate (
            version INTEGER PRIMARY KEY REFERENCES version,
            url TEXT NOT NULL,
            number INTEGER NOT NULL,
            distance INTEGER,
            jaccard REAL NOT NULL,
            rule TEXT NOT NULL)""",
        "ALTER TABLE capture ADD COLUMN quality TEXT",
        """CREATE TABLE template (
            site TEXT NOT NULL,
            time INTEGER NOT NULL,
            pages INTEGER NOT NULL,
            tree BLOB NOT NULL,
            PRIMARY KEY (site, time)) WITHOUT ROWID""",
    ):
        database.execute(statement)


def _forms(database: sqlite3.Connection) -> None:
    # A search box is on every page of its site: its description is stored once.
    for statement in (
        """CREATE TABLE form (
            id INTEGER PRIMARY KEY,
            site TEXT NOT NULL,
            signature TEXT NOT NULL,
            data TEXT NOT NULL,
            UNIQUE (site, signature))""",
        """CREATE TABLE form_page (
            form INTEGER NOT NULL REFERENCES form,
            page INTEGER NOT NULL REFERENCES text,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY (form, page)) WITHOUT ROWID""",
    ):
        database.execute(statement)


def _revisits(database: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE payload (
            payload BLOB PRIMARY KEY,
            version INTEGER NOT NULL REFERENCES version) WITHOUT ROWID""",
        """CREATE TABLE waiting (
            page INTEGER NOT NULL REFERENCES page,
            time INTEGER NOT NULL,
            payload BLOB NOT NULL,
            refers_to TEXT,
            refers_time INTEGER,
            PRIMARY KEY (page, time)) WITHOUT ROWID""",
        "CREATE INDEX waiting_payload ON waiting (payload)",
        "CREATE INDEX waiting_refers_to ON waiting (refers_to, refers_time)",
    ):
        database.execute(statement)


def _checksums(database: sqlite3.Connection) -> None:
    # Frames may be large, and a column after a large value is slow to read: their checksums are in another
    # table.
    database.execute("ALTER TABLE version ADD COLUMN frame_sum INTEGER")
    database.execute(
        "UPDATE version SET frame_sum = (SELECT checksum(data) FROM frame WHERE frame.version = version.id)"
    )
    # The columns of this schema are written out: SUMMED has the columns of the newest schema.
    for table, columns in (
        ("page", "url, urlkey, versions, lineages, sketch"),
        (
            "version",
            "page, number, digest, length, charset, level, segmenter, layout, blocks, new_blocks, new_bytes,"
            " cost, base, frame_sum",
        ),
        (
            "capture",
            "page, time, version, outcome, kind, status, stored_bytes, new_blocks, links, reason, location,"
            " origin, headers, quality",
        ),
        ("link", "source, links"),
        ("fingerprint", "page, number, digest, simhash, words, keys"),
        ("duplicate", "version, url, number, distance, jaccard, rule"),
        ("template", "site, time, pages, tree"),
        ("form", "site, signature, data"),
        ("form_page", "form, page, first, last"),
        ("payload", "payload, version"),
        ("waiting", "page, time, payload, refers_to, refers_time"),
    ):
        database.execute(f"ALTER TABLE {table} ADD COLUMN sum INTEGER")
        database.execute(f"UPDATE {table} SET sum = checksum({columns})")
    database.execute(
        """CREATE TABLE archive (
            identity TEXT NOT NULL,
            position INTEGER NOT NULL,
            sum INTEGER)"""
    )
    database.execute("INSERT INTO archive VALUES (?1, 0, checksum(?1, 0))", (secrets.token_hex(8),))


def _wire(database: sqlite3.Connection) -> None:
    # The columns are written out as in the step before. A row that was damaged keeps a wrong checksum.
    before = (
        "page, time, version, outcome, kind, status, stored_bytes, new_blocks, links, reason, location,"
        " origin, headers, quality"
    )
    for statement in (
        """CREATE TABLE reference (
            id INTEGER PRIMARY KEY,
            host TEXT NOT NULL,
            data BLOB NOT NULL,
            sum INTEGER)""",
        "CREATE INDEX reference_host ON reference (host)",
        "ALTER TABLE capture ADD COLUMN reference INTEGER REFERENCES reference",
        "ALTER TABLE capture ADD COLUMN wire BLOB",
        f"UPDATE capture SET sum = checksum({before}, NULL, NULL) WHERE sum IS checksum({before})",
    ):
        database.execute(statement)


def _kept(database: sqlite3.Connection) -> None:
    """Keep a program of the schema before from an archive whose frames it cannot read."""


def _dictionaries(database: sqlite3.Connection) -> None:
    slim_pages(database)
    slim_captures(database)
    # The ids are negative, so that they can be the base of a version, and their frames are in ``frame``.
    for statement in (
        """CREATE TABLE dictionary (
            id INTEGER PRIMARY KEY,
            host TEXT NOT NULL,
            length INTEGER NOT NULL,
            frame_sum INTEGER NOT NULL,
            sum INTEGER)""",
        "CREATE INDEX dictionary_host ON dictionary (host)",
        # Whole digests are 28 bytes longer for each version.
        "DROP INDEX version_digest",
        "CREATE INDEX version_digest ON version (page, substr(digest, 1, 4))",
        # An index of the texts themselves was larger than their table.
        "CREATE TABLE summed (id INTEGER PRIMARY KEY, value TEXT NOT NULL, sum INTEGER)",
        "INSERT INTO summed SELECT id, value, checksum(value) FROM text",
        "DROP TABLE text",
        "ALTER TABLE summed RENAME TO text",
        "CREATE INDEX text_sum ON text (sum)",
    ):
        database.execute(statement)


def _log(database: sqlite3.Connection) -> None:
    # The entries of the captures are computed from the newest schema: the store writes them after all steps.
    for statement in (
        "CREATE TABLE log (id INTEGER PRIMARY KEY, entry BLOB NOT NULL)",
        "CREATE TABLE subtree (id INTEGER PRIMARY KEY, root BLOB NOT NULL)",
    ):
        database.execute(statement)
    if database.execute("SELECT 1 FROM capture LIMIT 1").fetchone():
        database.execute("CREATE TABLE unlogged (id INTEGER PRIMARY KEY)")


def _attachments(database: sqlite3.Connection) -> None:
    database.execute(
        """CREATE TABLE attachment (
            url INTEGER NOT NULL,
            time INTEGER NOT NULL,
            key BLOB NOT NULL,
            block BLOB,
            data BLOB NOT NULL,
            sum INTEGER,
            PRIMARY KEY (url, time, key)) WITHOUT ROWID"""
    )


# One function per step; the position in the list is the version it leads to (PRAGMA user_version).
STEPS: list[Step] = [
    _first_schema,
    _links,
    _fingerprints,
    _forms,
    _revisits,
    _checksums,
    _wire,
    _kept,
    _dictionaries,
    pack_captures,
    pack_texts,
    _log,
    _attachments,
]


def migrate(database: sqlite3.Connection, uri: str) -> None:
    """Upgrade an archive to the newest schema; raises StorageError if it is newer, or not an archive."""
    enable(database)
    upgrade(database, uri, APPLICATION_ID, STEPS, ADVICE, PAGE_SIZE)


def is_newest(database: sqlite3.Connection, uri: str) -> bool:
    """Return whether an archive has the newest schema; raises StorageError as :func:`migrate` does."""
    enable(database)
    schema = schema_of(database, uri, APPLICATION_ID, len(STEPS), ADVICE)
    return schema == len(STEPS) and not is_unlogged(database)


def check_not_newer(database: sqlite3.Connection, uri: str) -> None:
    """Raise StorageError if a newer archivebot has upgraded an archive since it was opened."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    check_version(version, len(STEPS), uri)


def is_unlogged(database: sqlite3.Connection) -> bool:
    """Return whether the captures of an older archive are not in its log yet."""
    sql = "SELECT 1 FROM sqlite_master WHERE name = 'unlogged'"
    return database.execute(sql).fetchone() is not None


def is_archive(database: sqlite3.Connection, uri: str) -> bool:
    """Return whether a file holds an archive of the newest schema; False if it is empty.

    Raises Outdated if the schema is older, StorageError if it is newer or the file is not an archive.
    """
    enable(database)
    schema = schema_of(database, uri, APPLICATION_ID, len(STEPS), ADVICE)
    if 0 < schema < len(STEPS) or is_unlogged(database):
        raise outdated(uri, schema)
    return schema > 0


def altered(database: sqlite3.Connection) -> Iterator[str]:
    """Yield the tables and indexes of the newest schema that differ or are missing in an archive."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, "")
        missing = _definitions(fresh) - _definitions(database)
    yield from (
        f"the definition of the {kind} {name} is not what it was" for kind, name, _ in sorted(missing)
    )


def _definitions(database: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {(kind, name, "".join(sql.split())) for kind, name, sql in rows}
