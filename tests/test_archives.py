"""An archive of each older schema: what its version printed and exported is equal or a superset today.

The archives in ``tests/archives`` hold the sample site, crawled twice by the last version with each schema.
Beside each is what that version printed of it with ``--json``, and the feeds of the two crawls.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from archivebot.sample.server import STATES, SampleSite
from archivebot.storage.sqlite.schema import STEPS
from tests.conftest import Crawl
from tests.test_commands_readonly import forbid, told

ARCHIVES = Path(__file__).parent / "archives"
SCHEMAS = [
    pytest.param(schema, marks=() if schema == 1 else pytest.mark.long) for schema in range(1, len(STEPS))
]

# The fields of each command whose value may differ, with the reason. None of them may be missing.
DIFFERENT = {
    "stats": {
        "archive": "the name of the file",
        "bytes_stored": "the size of the file, now with the tables of later schemas and a log",
        "ratio": "follows from the size",
    },
    "text": {
        "text": "a better model chooses the main text, and line breaks are kept",
        "title_agreement": "follows from the text",
    },
    "duplicates": {"[].words": "the words of a block are cut in another way"},
    "delta": {
        "reason": "the deciding line is quoted in other words",
        "changes[].kind": "a better model weighs the lines",
    },
}


class Older(NamedTuple):
    """A folder with an archive of an older schema, and what its version printed and exported."""

    folder: Path
    commands: list[dict[str, Any]]
    feed: list[list[dict[str, Any]]]

    def answers(self) -> list[str]:
        """Return what the same commands print today, each with its exit code."""
        return told(self.folder, *(asked["command"] for asked in self.commands))


@pytest.fixture(params=SCHEMAS)
def older(request: pytest.FixtureRequest) -> Iterator[Older]:
    def unpacked(suffix: str) -> bytes:
        return lzma.decompress((ARCHIVES / f"schema-{request.param}{suffix}.xz").read_bytes())

    with TemporaryDirectory(prefix="archive-") as name:
        folder = Path(name)
        (folder / "a.db").write_bytes(unpacked(".db"))
        yield Older(folder, **json.loads(unpacked(".json")))
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
        for path, values in missing(before, json.loads(text)):
            if not values or path not in DIFFERENT.get(command[0], ()):
                yield f"{command}: {path} {values or 'is gone'}"


def schema_of(folder: Path) -> int:
    with closing(sqlite3.connect(f"file:{folder}/a.db?immutable=1", uri=True)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


def test_an_older_archive_that_is_brought_up_answers_as_its_version_did(older: Older) -> None:
    assert schema_of(older.folder) < len(STEPS)
    assert list(lost(older.commands, older.answers())) == []
    assert schema_of(older.folder) == len(STEPS)


@pytest.mark.long
def test_an_older_archive_that_cannot_be_written_answers_as_its_version_did(older: Older) -> None:
    schema = schema_of(older.folder)
    forbid(older.folder)
    assert list(lost(older.commands, older.answers())) == []
    assert schema_of(older.folder) == schema


def keys(value: Any, path: str = "") -> set[str]:
    """Return the paths of all keys of a record."""
    if isinstance(value, dict):
        inner = [keys(each, f"{path}.{key}") | {f"{path}.{key}"} for key, each in value.items()]
    else:
        inner = [keys(each, f"{path}[]") for each in value] if isinstance(value, list) else []
    return set().union(*inner)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """The feeds of two crawls of the sample site today."""
    crawl = Crawl(tmp_path_factory.mktemp("today"))
    with SampleSite(0).running() as site:
        found = []
        for site.state in STATES:
            found.append(crawl(seeds=site.url).records)
    return found


def test_a_feed_has_the_keys_of_the_feeds_of_older_versions(
    older: Older, feeds: list[list[dict[str, Any]]]
) -> None:
    for before, now in zip(older.feed, feeds, strict=True):
        assert keys(before) - keys(now) == set()
        assert len(before) == len(now)


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
