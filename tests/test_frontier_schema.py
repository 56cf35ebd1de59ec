"""The tables of the frontier file, and that the document names all that is kept."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.frontier import scripts
from archivebot.frontier.base import State
from archivebot.frontier.schema import COUNTED, STEPS, migrate

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs/frontier.md").read_text("utf-8")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "f.db", isolation_level=None)) as database:
        yield database


def test_the_states_are_counted_in_the_order_of_their_numbers() -> None:
    assert (*State, "answered") == COUNTED


def test_every_lease_uses_an_index_and_sorts_nothing(database: sqlite3.Connection) -> None:
    migrate(database, "uri")
    for sql, index in (
        (
            "SELECT id FROM host WHERE crawl = 1 AND standing = 2 ORDER BY best DESC, first LIMIT 1",
            "host_ready",
        ),
        ("SELECT id FROM host WHERE crawl = 1 AND standing = 1 AND ready_at <= 9", "host_waiting"),
        (
            "SELECT ready_at FROM host WHERE crawl = 1 AND standing < 2 AND best > 0.5 ORDER BY best DESC"
            " LIMIT 8",
            "host_busy",
        ),
        ("SELECT id FROM entry WHERE host = 1 AND state = 0 ORDER BY score DESC, id LIMIT 1", "entry_queue"),
        ("SELECT id FROM entry WHERE owner = 1", "entry_owner"),
    ):
        plan = " ".join(row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}"))
        assert index in plan
        assert "TEMP B-TREE" not in plan


def test_every_table_and_column_is_documented(database: sqlite3.Connection) -> None:
    migrate(database, "uri")
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert len(names) == 5
    for name in names:
        section = DOCUMENT.partition(f"\n### {name}\n")[2].partition("\n#")[0]
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
        shown = [
            word
            for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
            for word in re.findall(r"\w+", row)
        ]
        assert shown == columns


def test_every_key_and_field_of_redis_is_documented() -> None:
    section = DOCUMENT.partition("\n## The keys in Redis\n")[2].partition("\n## ")[0]
    keys = set(re.findall(r"prefix \.\. '(\w+)", scripts.COMMON))
    assert len(keys) == 15
    assert keys <= set(re.findall(r"^\| `(\w+)", section, re.MULTILINE))
    assert ", ".join(f"`{field}`" for field in scripts.FIELDS) in " ".join(section.split())


@pytest.mark.parametrize("state", State)
def test_every_state_is_documented(state: State) -> None:
    assert f"| `{state}` | {list(State).index(state)} |" in DOCUMENT


def test_an_interrupted_crawl_of_schema_1_still_knows_what_may_be_stored(
    database: sqlite3.Connection,
) -> None:
    STEPS[0](database)
    database.execute("PRAGMA application_id = 0x6166726f")
    database.execute("PRAGMA user_version = 1")
    database.execute("INSERT INTO crawl (id, name, arguments, began) VALUES (1, 'c', '', 0)")
    database.execute("INSERT INTO host (id, crawl, name) VALUES (1, 1, 'example.com')")
    for key, since in ((b"leased", 5.0), (b"queued", None)):
        database.execute(
            "INSERT INTO entry (key, host, state, score, url, request, source, distance, parts, reason,"
            " since) VALUES (?, 1, 0, 0, '', '', '', 0, '', '', ?)",
            (key, since),
        )
    migrate(database, "uri")
    assert database.execute("SELECT key FROM entry WHERE followed").fetchall() == [(b"leased",)]
    assert database.execute("SELECT archive, position FROM crawl").fetchall() == [("", 0)]
