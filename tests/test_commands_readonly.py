"""The commands that only read, where they may not write, and while others do."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.frontier import Entry, State, frontier_uri, open_frontier
from tests.commands import run_scrapy
from tests.contracts.reader import keep
from tests.factories import URL
from tests.permissions import forbid

OTHER = "http://example.com/other"

COMMANDS = [
    ["history", URL],
    ["history", URL, "--block", "1"],
    ["delta", URL],
    ["replay", URL],
    ["text", URL],
    ["extract", URL],
    ["blocks", URL],
    ["verify"],
    ["duplicates"],
    ["links", URL],
    ["rank"],
    ["forms"],
    ["frontier"],
    ["explain", URL],
    ["harvest"],
    ["stats"],
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with an archive and its frontier."""
    with tempfile.TemporaryDirectory(prefix="archive-") as name:
        folder = Path(name)
        uri = f"sqlite:///{folder}/a.db"
        with Archive.open(ArchiveConfig(uri=uri)) as archive:
            keep(archive, 0, links=2)
            keep(archive, 1, links=2)
            keep(archive, 2, url=OTHER, links=1)
        with closing(open_frontier(frontier_uri(uri), "tides")) as frontier:
            frontier.begin("{}", None)
            frontier.add([Entry(URL, "example.com")])
            frontier.lease()
            frontier.settle(URL, State.DONE, answered=True, relevance=0.9, relevant=True)
        yield folder
        folder.chmod(0o755)


def told(folder: Path, *commands: list[str]) -> list[str]:
    """Return what commands print as JSON, each with its exit code."""
    environment = os.environ | {"ARCHIVE_URI": f"sqlite:///{folder}/a.db"}
    done = (run_scrapy((*each, "--json"), environment=environment, bound=True) for each in commands)
    return [f"{each.stdout}\n{each.returncode}" for each in done]


@pytest.mark.long
def test_reading_commands_need_no_right_to_write_and_wait_for_no_writer(folder: Path) -> None:
    files = sorted(path.name for path in folder.iterdir())
    usual = told(folder, *COMMANDS)
    assert [answer.rpartition("\n")[2] for answer in usual] == [
        "1" if command[0] in ("duplicates", "forms") else "0" for command in COMMANDS
    ]
    assert sorted(path.name for path in folder.iterdir()) == files
    with (
        closing(sqlite3.connect(folder / "a.db", isolation_level=None)) as archive,
        closing(sqlite3.connect(folder / "a.frontier.db", isolation_level=None)) as frontier,
    ):
        for database in (archive, frontier):
            database.execute("BEGIN IMMEDIATE")
            database.execute("CREATE TABLE half (done)")
        forbid(folder)
        assert told(folder, *COMMANDS[:-1:3]) == usual[:-1:3]  # the log counts in stats
        folder.chmod(0o755)
    forbid(folder)
    *answers, refused = told(folder, *COMMANDS, ["template", URL])
    assert answers == usual
    assert refused == "\n3"


def test_a_path_may_begin_with_two_slashes(folder: Path) -> None:
    # As in sqlite:////$HOME/a.db, the four slashes of a full path before one that has its own.
    environment = os.environ | {"ARCHIVE_URI": f"sqlite:////{folder}/a.db"}
    for command in (["index"], ["history", URL], ["frontier"], ["search", "tides"]):
        done = run_scrapy(command, environment=environment, bound=True)
        assert done.returncode in (0, 1), done.stderr


def test_a_path_may_lead_to_the_folder_above_a_link(folder: Path) -> None:
    (folder / "real" / "sub").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "real" / "sub")
    config = ArchiveConfig(uri=f"sqlite:///{folder}/link/../b.db")
    Archive.open(config).close()
    Archive.reader(config).close()
