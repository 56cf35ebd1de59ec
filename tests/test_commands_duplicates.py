"""scrapy duplicates: what it tells of mirrors, print versions and syndicated blocks, and what not."""

from __future__ import annotations

import json
import random
import sqlite3
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from archivebot.archive import Archive
from archivebot.commands.duplicates import Command
from archivebot.config import ArchiveConfig
from tests.commands import run_scrapy
from tests.factories import make_page

CHANCE = random.Random(20261122)
NAMES = "ferry harbour island lighthouse captain winter storm ticket deck anchor bridge island quay".split()
SMALL = "the of and in to was for on with as by from near after before over under".split()


def prose(words: int) -> str:
    """Return sentences that nobody else has."""
    found = [CHANCE.choice(SMALL if CHANCE.random() < 0.5 else NAMES) for _ in range(words)]
    return " ".join(found).capitalize() + "."


def paragraphs(count: int, words: int = 60) -> list[str]:
    return [prose(words) for _ in range(count)]


MENU = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in NAMES)


def page(title: str, *texts: str) -> bytes:
    """Build a page of the one template of all these sites."""
    body = "".join(f"<p>{text}</p>\n" for text in texts)
    return (
        f"<html><head><title>{title}</title></head><body><nav><ul>{MENU}</ul></nav>"
        f"<main><article><h1>{title}</h1>\n{body}</article></main>"
        f"<footer><p>{IMPRINT}</p></footer></body></html>"
    ).encode()


IMPRINT = "All rights reserved by the harbour office, which answers letters and calls " * 5
STORY = paragraphs(6)
AGENCY = prose(80)
NOTE = prose(50)

SITE, MIRROR, PRINT = "http://a.example/story", "http://mirror.example/story", "http://a.example/print/story"
ONE, OTHER = "http://a.example/news", "http://paper.example/today"
SHORTER = "http://a.example/news/short"
PAGES: list[tuple[str, bytes]] = [
    (SITE, page("The last ferry", *STORY)),
    (MIRROR, page("The last ferry", *STORY)),
    (PRINT, page("The last ferry", *STORY, "The office printed the story on 12 March, for all who asked.")),
    (ONE, page("News", *paragraphs(4), AGENCY)),
    (OTHER, page("Today", AGENCY, *paragraphs(5))),
    *((f"http://a.example/pier/{n}", page(f"Pier {n}", *paragraphs(3), NOTE)) for n in range(5)),
    ("http://a.example/logo", b"GIF89a" + bytes(99)),
]


@dataclass(frozen=True)
class Told:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    def pairs(self, scope: str) -> list[tuple[str, str]]:
        return [(found["a"], found["b"]) for found in self.document if found["scope"] == scope]


Run = Callable[..., Told]


def archive_of(pages: list[tuple[str, bytes]], folder: Path) -> str:
    uri = f"sqlite:///{folder}/a.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    for day, (url, body) in enumerate(pages):
        archive.add(archive.segment(make_page(body, day, url=url)))
    archive.close()
    return uri


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return archive_of(PAGES, tmp_path_factory.mktemp("duplicates"))


@pytest.fixture
def run(uri: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the command as Scrapy runs it, in this process."""

    def run(*args: str, archive: str = uri) -> Told:
        command = Command()
        command.settings = Settings({"ARCHIVE_URI": archive})
        parser = ArgumentParser()
        command.add_options(parser)
        options, rest = parser.parse_known_args(args)
        command.run(rest, options)
        return Told(command.exitcode, *capsys.readouterr())

    return run


@pytest.mark.long
def test_mirrors_and_print_versions_are_told_with_the_page_captured_first_in_front(run: Run) -> None:
    found = run("--json")
    assert found.code == 0
    assert found.pairs("page") == [(SITE, MIRROR), (SITE, PRINT), (MIRROR, PRINT)]
    copy, *printed = [record for record in found.document if record["scope"] == "page"]
    assert (copy["distance"], copy["jaccard"]) == (0, 1.0)
    assert all(0.9 < record["jaccard"] < 1 for record in printed)


def test_a_syndicated_block_is_told_once_and_with_its_lineages(run: Run) -> None:
    [block] = [record for record in run("--json").document if record["scope"] == "block"]
    assert (block["a"], block["b"], block["words"]) == (ONE, OTHER, 80)
    assert block["distance"] == 0
    assert block["jaccard"] == 1.0
    assert block["block_a"] != block["block_b"]


def test_pages_of_one_template_are_not_told(run: Run) -> None:
    """Neither by menu and imprint, nor by a paragraph that all piers have."""
    assert "pier" not in run("--json").out


def test_with_a_url_only_what_is_like_that_page_is_told(run: Run) -> None:
    assert run(PRINT, "--json").pairs("page") == [(PRINT, SITE), (PRINT, MIRROR)]
    found = run(OTHER, "--json")
    assert (found.pairs("page"), found.pairs("block")) == ([], [(OTHER, ONE)])


def test_pages_that_share_less_than_near_duplicates_do_are_found_on_demand(tmp_path: Path, run: Run) -> None:
    shorter = (SHORTER, page("The last ferry, in short", *STORY[:4]))
    uri = archive_of([*PAGES, shorter], tmp_path)
    assert SHORTER not in run("--pages", "--json", archive=uri).out
    found = run("--jaccard", "0.55", "--json", archive=uri)
    assert found.pairs("page") == [(SITE, MIRROR), (SITE, PRINT), (SITE, SHORTER), (PRINT, SHORTER)]
    assert found.pairs("block") == []
    assert [record["jaccard"] > 0.55 for record in found.document] == [True] * 4
    assert run("--jaccard", "0.8", "--json", archive=uri).pairs("page") == [(SITE, MIRROR), (SITE, PRINT)]
    like = run(MIRROR, "--jaccard", "0.55", "--json", archive=uri).pairs("page")
    assert like == [(MIRROR, SITE), (MIRROR, PRINT), (MIRROR, SHORTER)]
    assert "4 pages" in run("--jaccard", "0.55", "--clusters", archive=uri).out


def test_a_share_that_chance_gives_is_refused(run: Run) -> None:
    found = run("--jaccard", "0.2")
    assert (found.code, "give 0.5 to 1" in found.err) == (2, True)


def test_whole_pages_only(run: Run) -> None:
    found = run("--pages", "--json")
    assert len(found.pairs("page")) == 3
    assert found.pairs("block") == []


def test_k_leaves_only_what_is_as_near(run: Run) -> None:
    assert run("--k", "0", "--pages", "--json").pairs("page") == [(SITE, MIRROR)]
    distances = [record["distance"] for record in run("--k", "3", "--json").document]
    assert max(distances) <= 3


@pytest.mark.parametrize("k", ["4", "-1"])
def test_a_radius_that_no_table_covers_is_refused_with_the_reason(run: Run, k: str) -> None:
    found = run("--k", k)
    assert (found.code, found.out) == (2, "")
    assert "chance" in found.err


def test_clusters_are_groups_of_what_is_near(run: Run) -> None:
    pages, blocks = run("--clusters", "--json").document
    assert (pages["cluster"], pages["scope"]) == (1, "page")
    assert [member["url"] for member in pages["members"]] == [SITE, MIRROR, PRINT]
    assert (blocks["cluster"], blocks["scope"]) == (2, "block")
    assert [member["url"] for member in blocks["members"]] == [ONE, OTHER]
    assert all(member["block"] for member in blocks["members"])
    told = run("--clusters").out.splitlines()
    assert told[0].startswith("1: 3 pages of ")
    assert told[1] == f"    {SITE}"


def test_a_reader_sees_pages_first_then_blocks_and_what_to_do_next(run: Run) -> None:
    found = run()
    lines = found.out.splitlines()
    assert lines[0].split() == ["distance", "jaccard", "words", "page", "is", "like"]
    assert lines[1].split()[:2] == ["0", "1.000"]
    assert lines[4].split() == ["distance", "jaccard", "words", "block", "of", "is", "also", "in"]
    assert lines[5].endswith(OTHER)
    assert "scrapy text URL" in found.err


def test_an_archive_without_near_duplicates_says_so(run: Run, tmp_path: Path) -> None:
    uri = archive_of(PAGES[3:4], tmp_path)
    found = run(archive=uri)
    assert (found.code, found.out) == (1, "")
    assert f"no page of {uri} is like another, whole or in part (1 read)" in found.err
    assert run("--json", archive=uri).document == []


def test_only_the_latest_version_counts(run: Run, tmp_path: Path) -> None:
    uri = archive_of([*PAGES[:2], (MIRROR, page("Another story", *paragraphs(6)))], tmp_path)
    assert run(archive=uri).code == 1


def test_a_damaged_page_is_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    uri = archive_of([*PAGES[:2], PAGES[4]], tmp_path)
    with sqlite3.connect(uri.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE frame SET data = x'00' WHERE version = 3")
    database.close()
    found = run(archive=uri)
    assert (found.code, len(found.out.splitlines())) == (0, 2)
    assert "pages left out, as they could not be read: 1; see scrapy verify" in found.err


def test_an_unknown_url_is_named(run: Run) -> None:
    found = run("http://nowhere.example/")
    assert found.code == 1
    assert "http://nowhere.example/ was never captured" in found.err


def test_scrapy_knows_the_command(uri: str) -> None:
    assert SITE in run_scrapy(("duplicates", MIRROR, "--pages", "-s", f"ARCHIVE_URI={uri}")).stdout
