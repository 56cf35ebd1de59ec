"""The tables of a frontier file and the steps from one schema to the next."""

from __future__ import annotations

import sqlite3

from archivebot.storage.base import outdated
from archivebot.storage.sqlite.migration import Step, schema_of, upgrade

# "afro" in ASCII: distinguishes archivebot's frontier from an archive.
APPLICATION_ID = 0x6166726F

ADVICE = "move it away, or crawl elsewhere"

# The states in the order of their numbers, and the answered URLs among `done`.
COUNTED = ("queued", "leased", "done", "failed", "rejected", "answered")


def _counted(*rows: tuple[str, str]) -> str:
    """Return the statement that adds rows of entries to the counts of their host, or subtracts them."""
    changes = {
        name: "".join(f" {sign} ({row}.state = {number})" for row, sign in rows)
        for number, name in enumerate(COUNTED[:5])
    }
    changes["answered"] = "".join(f" {sign} ({row}.state = 2 AND {row}.answered)" for row, sign in rows)
    sums = ", ".join(f"{name} = {name}{change}" for name, change in changes.items())
    return f"UPDATE host SET {sums} WHERE id = {rows[0][0]}.host"


def _first_schema(database: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE crawl (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            arguments TEXT NOT NULL,
            began REAL NOT NULL,
            ended TEXT NOT NULL DEFAULT '',
            most INTEGER,
            leases INTEGER NOT NULL DEFAULT 0,
            queued INTEGER NOT NULL DEFAULT 0,
            leased INTEGER NOT NULL DEFAULT 0,
            done INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0,
            answered INTEGER NOT NULL DEFAULT 0)""",
        """CREATE TABLE host (
            id INTEGER PRIMARY KEY,
            crawl INTEGER NOT NULL REFERENCES crawl,
            name TEXT NOT NULL,
            concurrency INTEGER NOT NULL DEFAULT 1,
            delay REAL NOT NULL DEFAULT 0,
            ready_at REAL NOT NULL DEFAULT 0,
            queued INTEGER NOT NULL DEFAULT 0,
            leased INTEGER NOT NULL DEFAULT 0,
            done INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0,
            answered INTEGER NOT NULL DEFAULT 0,
            standing INTEGER NOT NULL DEFAULT 0,
            best REAL,
            first INTEGER,
            UNIQUE (crawl, name))""",
        "CREATE INDEX host_ready ON host (crawl, best DESC, first) WHERE standing = 2",
        "CREATE INDEX host_busy ON host (crawl, best DESC) WHERE standing < 2",
        "CREATE INDEX host_waiting ON host (crawl, ready_at) WHERE standing = 1",
        """CREATE TABLE owner (
            id INTEGER PRIMARY KEY,
            crawl INTEGER NOT NULL REFERENCES crawl,
            name TEXT NOT NULL UNIQUE,
            beat REAL NOT NULL)""",
        """CREATE TABLE entry (
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE,
            host INTEGER NOT NULL REFERENCES host,
            state INTEGER NOT NULL,
            score REAL NOT NULL,
            url TEXT NOT NULL,
            request TEXT NOT NULL,
            source TEXT NOT NULL,
            distance INTEGER NOT NULL,
            parts TEXT NOT NULL,
            reason TEXT NOT NULL,
            number INTEGER,
            since REAL,
            owner INTEGER REFERENCES owner,
            answered INTEGER NOT NULL DEFAULT 0,
            relevance REAL,
            relevant INTEGER,
            note TEXT NOT NULL DEFAULT '')""",
        "CREATE INDEX entry_queue ON entry (host, state, score DESC)",
        "CREATE INDEX entry_owner ON entry (owner) WHERE owner IS NOT NULL",
        # Triggers maintain the counts, so that no writer can leave them wrong.
        f"CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN {_counted(('new', '+'))}; END",
        f"CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN {_counted(('old', '-'))}; END",
        "CREATE TRIGGER entry_moved AFTER UPDATE OF state, answered ON entry"
        f" BEGIN {_counted(('old', '-'), ('new', '+'))}; END",
        f"CREATE TRIGGER host_counted AFTER UPDATE OF {', '.join(COUNTED)} ON host BEGIN UPDATE crawl SET "
        + ", ".join(f"{count} = {count} + new.{count} - old.{count}" for count in COUNTED)
        + " WHERE id = new.crawl; END",
    ):
        database.execute(statement)


def _reliance(database: sqlite3.Connection) -> None:
    # The archive position that a crawl relies on, and whether the links of a leased page are in the frontier.
    for statement in (
        "ALTER TABLE crawl ADD COLUMN archive TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE crawl ADD COLUMN position INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE entry ADD COLUMN followed INTEGER NOT NULL DEFAULT 0",
        # Until this step the links of a page were always in before the page was stored.
        "UPDATE entry SET followed = 1 WHERE since IS NOT NULL",
    ):
        database.execute(statement)


def _budgets(database: sqlite3.Connection) -> None:
    database.execute(
        """CREATE TABLE budget (
            crawl INTEGER NOT NULL REFERENCES crawl,
            name TEXT NOT NULL,
            spent INTEGER NOT NULL,
            PRIMARY KEY (crawl, name)) WITHOUT ROWID"""
    )


def _arrivals(database: sqlite3.Connection) -> None:
    # A host that has answered may get the next request, although the lease is not settled yet.
    count = "(old.state = 1 AND old.arrived)", "(new.state = 1 AND new.arrived)"
    for statement in (
        "ALTER TABLE entry ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE host ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0",
        f"CREATE TRIGGER entry_arrived AFTER UPDATE OF state, arrived ON entry WHEN {count[0]} <> {count[1]}"
        f" BEGIN UPDATE host SET arrived = arrived - {count[0]} + {count[1]} WHERE id = old.host; END",
        f"CREATE TRIGGER arrived_removed AFTER DELETE ON entry WHEN {count[0]}"
        " BEGIN UPDATE host SET arrived = arrived - 1 WHERE id = old.host; END",
    ):
        database.execute(statement)


# One function per step; the position in the list is the version it leads to (PRAGMA user_version).
STEPS: list[Step] = [_first_schema, _reliance, _budgets, _arrivals]


def migrate(database: sqlite3.Connection, uri: str) -> None:
    """Upgrade a frontier to the newest schema; raises StorageError if it is newer, or not a frontier."""
    upgrade(database, uri, APPLICATION_ID, STEPS, ADVICE)


def check(database: sqlite3.Connection, uri: str) -> None:
    """Raise Outdated if the schema of a frontier is older, StorageError if newer or not a frontier."""
    schema = schema_of(database, uri, APPLICATION_ID, len(STEPS), ADVICE)
    if schema < len(STEPS):
        raise outdated(uri, schema, "frontier")
