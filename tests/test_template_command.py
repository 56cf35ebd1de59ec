"""scrapy template: what a site repeats, learned from its pages, kept, and told by scrapy blocks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject
from archivebot.jobs.templates import learn, sample
from archivebot.models import Capture
from archivebot.templates.styletree import StyleTree
from archivebot.urls import host_of
from tests.commands import run_scrapy
from tests.factories import make_page

SITE = "http://library.example"
HOURS = "We are open on all working days from nine in the morning until six in the evening."
Run = Callable[..., subprocess.CompletedProcess[str]]


def page(number: int) -> bytes:
    """Return a page whose second paragraph is on all pages of the site, with nothing that says so."""
    news = f"Item {number}: the reading room has got {number} new chairs, which are in use since Monday."
    return f"<html><body><div><p>{news}</p></div><div><p>{HOURS}</p></div></body></html>".encode()


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = f"sqlite:///{tmp_path_factory.mktemp('template')}/a.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    for number in range(6):
        archive.add(archive.segment(make_page(page(number), 0, url=f"{SITE}/{number}")))
    archive.add(archive.segment(make_page(b"%PDF-1.7", 0, url=f"{SITE}/a.pdf")))
    archive.add(archive.segment(make_page(page(1), 0, url="http://alone.example/")))
    archive.close()
    return uri


@pytest.fixture
def run(uri: str) -> Run:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return run_scrapy(args, environment={**os.environ, "ARCHIVE_URI": uri})

    return run


def test_what_repeats_is_learned_kept_and_labelled(run: Run, uri: str) -> None:
    before = json.loads(run("blocks", f"{SITE}/3", "--json").stdout)
    learned = run("template", f"{SITE}/3", "--json")
    assert learned.returncode == 0, learned.stderr
    found = json.loads(learned.stdout)
    assert (found["site"], found["pages"], found["url"]) == ("library.example", 6, f"{SITE}/3")
    news, hours = (block["repeats"] for block in found["blocks"])
    assert news == pytest.approx(1 / 6, abs=0.001)
    assert hours == 1
    after = json.loads(run("blocks", f"{SITE}/3", "--json").stdout)
    assert [block["label"] for block in before] == ["main", "main"]
    assert [block["label"] for block in after] == ["main", "footer"]
    assert after[1]["reason"] == "on 1.00 of the site's pages"
    archive = Archive.open(ArchiveConfig(uri=uri))
    kept = archive.templates.latest(host_of(SITE))
    archive.close()
    assert kept is not None
    assert StyleTree.from_json(kept.tree).pages == kept.pages == 6


def test_people_read_how_much_repeats(run: Run) -> None:
    told = run("template", f"{SITE}/2", "--pages", "2").stdout
    assert "library.example  learned from 2 pages" in told
    assert told.splitlines()[2].split() == ["repeats", "lineage", "topic"]


@pytest.mark.parametrize(
    ("args", "code", "advice"),
    [
        (("http://alone.example/",), 1, "what repeats shows from 2 on"),
        ((f"{SITE}/a.pdf",), 1, "has no markup"),
        ((f"{SITE}/3", "--pages", "1"), 2, "give a number from 2 on"),
        (("http://nowhere.example/",), 1, "never captured"),
    ],
)
def test_what_cannot_be_learned_is_said(run: Run, args: tuple[str, ...], code: int, advice: str) -> None:
    result = run("template", *args)
    assert result.returncode == code
    assert advice in result.stderr


def test_a_sample_is_spread_over_the_site() -> None:
    assert sample([f"{number:03}" for number in range(100)], 4) == ["000", "025", "050", "075"]


def test_pages_that_are_damaged_are_left_out(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive.open(ArchiveConfig(uri=uri))
    whole = archive.body

    def body(capture: Capture) -> bytes:
        if capture.url.endswith("/3"):
            raise CorruptObject("damaged")
        return whole(capture)

    monkeypatch.setattr(archive, "body", body)
    assert learn(archive, archive.site(f"{SITE}/0"), 100).pages == 5
    archive.close()


def test_images_are_not_counted_as_pages_of_a_sample(run: Run, uri: str) -> None:
    site = "http://pictures.example"
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for number in range(3):
            archive.add(archive.segment(make_page(page(number), 0, url=f"{site}/{number}")))
        for number in range(20):
            picture = b"\x89PNG\r\n\x1a\n%d" % number
            archive.add(archive.segment(make_page(picture, 0, url=f"{site}/i/{number}.png")))
    told = run("template", f"{site}/0", "--pages", "2")
    assert told.returncode == 0, told.stderr
    assert "learned from 2 pages" in told.stdout
