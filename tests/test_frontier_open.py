"""Opening a frontier by its URI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from archivebot.exceptions import NotArchived, StorageError, UsageError
from archivebot.frontier import frontier_uri, open_frontier
from tests.contracts.frontier_workers import ROOT


@pytest.mark.parametrize(
    "uri", ["", "sqlite", "sqlite://", "sqlite:///", "sqlite://x", "mongodb://x/y", "redis"]
)
def test_a_uri_that_names_no_frontier_is_refused_with_advice(uri: str) -> None:
    for crawl in ("crawl", None):
        with pytest.raises(UsageError, match=r"write sqlite:///archive\.frontier\.db or redis://host:6379/0"):
            open_frontier(uri, crawl)


def test_reading_creates_nothing(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/archive.frontier.db"
    for crawl, told in ((None, "no crawl has a frontier"), ("books", "'books' has no frontier")):
        with pytest.raises(NotArchived, match=rf"^{told} at {uri}; start one with: scrapy crawl "):
            open_frontier(uri, crawl, create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_holds_no_crawl_and_becomes_a_frontier(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    path.touch()
    with pytest.raises(NotArchived):
        open_frontier(f"sqlite:///{path}", None)
    assert path.stat().st_size == 0
    open_frontier(f"sqlite:///{path}", "crawl").close()
    assert path.stat().st_size > 0


def test_a_damaged_file_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match="move it away"):
        open_frontier(f"sqlite:///{path}", None)


def test_a_frontier_lies_beside_its_archive(tmp_path: Path) -> None:
    uri = frontier_uri(f"sqlite:///{tmp_path}/my.books.db")
    assert uri == f"sqlite:///{tmp_path}/my.books.frontier.db"


def test_importing_it_loads_no_back_end() -> None:
    code = "import sys, archivebot.frontier; print(sorted({'redis', 'sqlite3', 'scrapy'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert ran.stdout.strip() == "[]"
