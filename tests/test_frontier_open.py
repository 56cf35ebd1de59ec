"""Opening a frontier by its URI."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.exceptions import NotArchived, StorageError, UsageError
from archivebot.frontier import Entry, FrontierReader, frontier_uri, open_frontier, read_frontier
from archivebot.jobs import frontier as frontier_jobs
from archivebot.jobs.frontier import found_in
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


def test_a_url_is_looked_for_in_each_crawl_once_and_itself_before_its_variants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"sqlite:///{tmp_path}/f.db"
    met = {
        "a": "http://a.example/",
        "b": "https://a.example/",
        "c": "https://a.example/",
        "d": "http://b.example/",
    }
    for name, url in met.items():
        with closing(open_frontier(uri, name)) as frontier:
            frontier.begin("{}", None)
            frontier.add([Entry(url, url.split("/")[2])])
    opened: list[str | None] = []

    def read(uri: str, crawl: str | None = None) -> FrontierReader:
        opened.append(crawl)
        return read_frontier(uri, crawl)

    monkeypatch.setattr(frontier_jobs, "read_frontier", read)
    assert found_in(uri, "http://a.example/", None)["crawl"] == "a"
    assert found_in(uri, "a.example", None)["url"] == "http://a.example/"
    assert found_in(uri, "https://www.a.example/", None)["crawl"] in ("b", "c")
    opened.clear()
    with pytest.raises(NotArchived):
        found_in(uri, "http://c.example/", None)
    assert sorted(filter(None, opened)) == ["a", "b", "c", "d"]
