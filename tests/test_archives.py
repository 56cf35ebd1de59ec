"""An archive of each older schema: what its version printed and exported is equal or a superset today.

The archives in ``tests/archives`` hold the sample site, crawled twice by the last version with each schema.
If that version had topics, a focused crawl came third. Beside each are its frontier, its topic, what its
version printed with ``--json``, and the feeds of the crawls as JSON lines and CSV.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from archivebot.sample.server import STATES, SampleSite
from archivebot.storage.sqlite.schema import STEPS
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.permissions import forbid
from tests.test_commands_readonly import told

ARCHIVES = Path(__file__).parent / "archives"
SCHEMAS = [
    pytest.param(schema, marks=() if schema == 1 else pytest.mark.long) for schema in range(1, len(STEPS))
]
FOCUSED = "focused"  # the crawl that follows the topic in ``topics/``
REWRITTEN = ("/gallery.html",)  # pages of the sample site that have other bytes today
PORT = 8777  # of the site in the archives

# The fields of each command whose value may differ, with the reason. None of them may be missing.
DIFFERENT = {
    "stats": {
        "archive": "the name of the file",
        "bytes_stored": "the size of the file, now with the tables of later schemas and a log",
        "bytes_rows": "follows from the size",
        f"hosts.127.0.0.1:{PORT}.bytes_rows": "follows from the size",
        "ratio": "follows from the size",
    },
    "text": {
        "text": "a better model chooses the main text, and line breaks are kept",
        "title_agreement": "follows from the text",
    },
    "duplicates": {
        "[].words": "the words of a block are cut in another way",
        "[].members[].words": "the words of a block are cut in another way",
    },
    "topic": {"[].relevance": "a better model judges pages by a topic of words"},
    "template": {"learned_at": "the template is learned anew"},
    "crawl": {
        "[].captured_at": "the time of the crawl",
        "[].time": "the time of the crawl",
        "[].wire.started": "the time of the crawl",
        "[].wire.first_byte": "the time of the answer",
        "[].wire.ended": "the time of the answer",
        "[].stored_bytes": "a frame also keeps the fields and labels of its version",
        "[].blocks.items[].lineage": "depends on the port of the site",
        "[].changes[].lineage": "depends on the port of the site",
        "[].kind": "a capture in which only furniture changed is touched; it was changed before",
        "[].reason": "the line that decided that",
        "[].relevance": "a better model judges the page",
        "[].distance": "follows from the relevance of the pages before",
        "[].score": "a better model judges the link",
        "[].order": "follows from the scores",
    },
    "delta": {
        "reason": "the deciding line is quoted in other words",
        "changes[].kind": "a better model weighs the lines",
    },
}


class Older(NamedTuple):
    """A folder with an archive of an older schema and its feeds, and what its version printed."""

    folder: Path
    commands: list[dict[str, Any]]

    def answers(self) -> list[str]:
        """Return what the same commands print today, each with its exit code."""
        return told(self.folder, *(asked["command"] for asked in self.commands))


@pytest.fixture(params=SCHEMAS)
def older(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Older]:
    with TemporaryDirectory(prefix="archive-") as name:
        folder = Path(name)
        with tarfile.open(ARCHIVES / f"schema-{request.param}.tar.xz") as stored:
            stored.extractall(folder, filter="data")
        monkeypatch.setenv("ARCHIVE_TOPICS", f"{folder}/topics")
        yield Older(folder, json.loads((folder / "commands.json").read_text("utf-8")))
        folder.chmod(0o755)


def missing(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of what a record lacks of an earlier one, with "" for a key that is gone."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            inner = f"{path}.{key}".lstrip(".")
            yield from missing(value, now[key], inner) if key in now else [(inner, "")]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for value, other in zip(before, now, strict=True):
            yield from missing(value, other, f"{path}[]")
    elif before != now:
        yield path, f"{before!r} -> {now!r}"


def lost(commands: Sequence[dict[str, Any]], answers: Sequence[str]) -> Iterator[str]:
    """Yield what today's answers lack of earlier ones, except for values that may differ."""
    for asked, answer in zip(commands, answers, strict=True):
        command, before = asked["command"], asked["answer"]
        text, _, code = answer.rpartition("\n")
        if code != ("0" if before else "1"):  # 1: nothing found
            yield f"{command}: exit code {code}"
        yield from unlike(command, before, json.loads(text))


def unlike(command: Sequence[str], before: Any, now: Any) -> Iterator[str]:
    """Yield what a record of a command lacks of an earlier one, except for values that may differ."""
    for path, values in missing(before, now):
        if not values or path not in DIFFERENT.get(command[0], ()):
            yield f"{command}: {path} {values or 'is gone'}"


def schema_of(folder: Path) -> int:
    with closing(sqlite3.connect(f"file:{folder}/a.db?immutable=1", uri=True)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.long
def test_an_older_archive_that_is_brought_up_answers_as_its_version_did(older: Older) -> None:
    assert schema_of(older.folder) < len(STEPS)
    assert list(lost(older.commands, older.answers())) == []
    assert schema_of(older.folder) == len(STEPS)


@pytest.mark.long
def test_an_older_archive_that_cannot_be_written_answers_as_its_version_did(older: Older) -> None:
    schema = schema_of(older.folder)
    reading = [asked for asked in older.commands if asked["command"][0] != "template"]
    reading = reading[schema % 3 :: 3]  # three schemas share the commands
    forbid(older.folder)
    assert list(lost(reading, Older(older.folder, reading).answers())) == []
    assert schema_of(older.folder) == schema


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the feeds of two crawls of the sample site today, and of a focused crawl after them."""
    folder = tmp_path_factory.mktemp("today")
    topics = f"ARCHIVE_TOPICS={folder}/topics"
    run_scrapy(("topic", "library", "--words", "library, books, reading group, events", "-s", topics))

    def export(crawl: Crawl, name: str, **arguments: str) -> None:
        feeds = [f"{folder}/{name}{suffix}" for suffix in (".json", ".jsonl", ".csv")]
        crawl(*(word for feed in feeds for word in ("-O", feed)), "-s", topics, seeds=site.url, **arguments)
        for feed in map(Path, feeds):
            feed.write_text(feed.read_text("utf-8").replace(f":{port}", f":{PORT}"), "utf-8")

    with SampleSite(0).running() as site:
        port = urlsplit(site.url).port
        for site.state in STATES:
            export(Crawl(folder), site.state)
        export(Crawl(folder, "topic"), FOCUSED, topic="library")
    return folder


def exported(feed: Path) -> list[dict[str, Any]]:
    """Return the records of a feed by URL, without those of rewritten pages."""
    text = feed.read_text("utf-8")
    if feed.suffix == ".csv":
        records = [each | _wire(each) for each in csv.DictReader(StringIO(text))]
    else:
        records = json.loads(text) if feed.suffix == ".json" else list(map(json.loads, text.splitlines()))
    records = [record for record in records if not record["url"].endswith(REWRITTEN)]
    for record in records:
        if feed.suffix != ".csv" and record["kind"] != "new":  # today only new versions list unchanged blocks
            items = record["blocks"]["items"]
            record["blocks"]["items"] = [item for item in items if item["change"] != "UNCHANGED"]
    return sorted(records, key=lambda record: record["url"])


def _wire(row: dict[str, str]) -> dict[str, Any]:
    """Return the exchange of a row of CSV; a row of an early version has none."""
    return {"wire": json.loads(row["wire"] or "null")} if "wire" in row else {}


def test_a_feed_is_equal_to_that_of_an_older_version_or_a_superset(older: Older, today: Path) -> None:
    feeds = [path for path in older.folder.iterdir() if path.suffix in (".jsonl", ".csv")]
    assert len(feeds) >= 4
    for feed in feeds:
        assert list(unlike(["crawl"], exported(feed), exported(today / feed.name))) == []


@pytest.mark.parametrize("name", [*STATES, FOCUSED])
def test_the_formats_of_a_feed_have_the_same_records(today: Path, name: str) -> None:
    lines, rows = exported(today / f"{name}.jsonl"), exported(today / f"{name}.csv")
    assert exported(today / f"{name}.json") == lines
    assert [(row["url"], row["digest"], row["blocks"], row["wire"]) for row in rows] == [
        (line["url"], line["digest"] or "", str(line["blocks"]["count"]), line["wire"]) for line in lines
    ]


def test_what_is_gone_or_differs_is_found() -> None:
    before = {"a": 1, "b": [{"c": 2}, {"c": 3}], "d": []}
    now = {"b": [{"c": 2, "e": 0}, {"c": 4}], "d": [1], "f": 0}
    assert list(missing(before, now)) == [("a", ""), ("b[].c", "3 -> 4"), ("d", "[] -> [1]")]
    asked = [{"command": ["stats"], "answer": {"ratio": 1, "pages": 2}}]
    assert list(lost(asked, ['{"ratio": 3, "pages": 2}\n0'])) == []
    assert list(lost(asked, ['{"pages": 3}\n3'])) == [
        "['stats']: exit code 3",
        "['stats']: ratio is gone",
        "['stats']: pages 2 -> 3",
    ]
