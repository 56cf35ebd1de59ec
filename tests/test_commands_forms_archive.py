"""scrapy forms on an archive: the forms that it keeps, and those found in the pages that it has."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.commands import run_scrapy
from tests.contracts.store import at
from tests.factories import make_page
from tests.test_deepweb import BOOKS

HOME, OTHER = "http://a.example/", "http://a.example/books"
GET, POST = BOOKS.format(method="get"), BOOKS.format(method="post")
MORE = GET.replace("<input type", "Publisher <input name=publisher><input type")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """An archive in which the form of a page got one more field."""
    uri = f"sqlite:///{tmp_path}/archive.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    for url, minute, body in ((HOME, 0, GET), (OTHER, 1, POST), (HOME, 2, MORE), (HOME, 3, MORE)):
        page = make_page(f"<title>t</title><p>Books</p>{body}".encode(), url=url)
        archive.add(archive.segment(replace(page, captured_at=at(minute))))
    archive.close()
    return uri


def forms(uri: str, *options: object) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("forms", *map(str, options), "-s", f"ARCHIVE_URI={uri}"))


def told(uri: str, *options: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(forms(uri, "--json", *options).stdout)
    return found


@pytest.mark.long
def test_a_scan_finds_the_forms_of_all_versions(uri: str, tmp_path: Path) -> None:
    answer = forms(uri, "--scan")
    assert (answer.returncode, answer.stderr) == (0, "pages read: 2; forms that search, seen on them: 4\n")
    found = told(uri)
    assert [(form["method"], form["version"], form["versions"]) for form in found] == [
        ("get", 1, 2),
        ("get", 2, 2),
        ("post", 1, 1),
    ]
    first, second, _ = found
    assert (first["first"], second["first"], second["last"]) == tuple(
        f"202601020{minute:05}" for minute in (0, 200, 300)
    )
    assert (first["action"], first["page"], first["multi_field"]) == ("http://a.example/find", HOME, True)
    assert [field["label"] for field in second["fields"]] == ["Author", "Title", "Year", "Publisher"]


@pytest.mark.long
def test_a_scan_done_twice_gives_one_record_for_each_form(uri: str) -> None:
    forms(uri, "--scan")
    once = told(uri)
    assert forms(uri, "--scan").returncode == 0
    assert told(uri) == once


@pytest.mark.long
def test_an_export_has_a_line_for_each_form_with_all_its_pages(uri: str, tmp_path: Path) -> None:
    forms(uri, "--scan")
    assert forms(uri, "--export", tmp_path / "forms.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "forms.jsonl").read_text("utf-8").splitlines()]
    assert [line["pages"][0]["url"] for line in lines] == [HOME, HOME, OTHER]
    assert [{**line, "pages": []} for line in lines] == [{**form, "pages": []} for form in told(uri)]
    assert told(uri, "--export", str(tmp_path / "again.jsonl")) == told(uri)


@pytest.mark.long
def test_forms_of_one_site_or_domain_are_asked_for(uri: str) -> None:
    forms(uri, "--scan")
    assert len(told(uri, "--site", "a.example", "--domain", "books")) == 3
    assert len(told(uri, "--site", "http://A.example:80/books")) == 3
    assert forms(uri, "--site", "b.example").returncode == 1
    assert forms(uri, "--domain", "hotels").returncode == 1


@pytest.mark.long
def test_a_scan_on_a_topic_leaves_other_pages_out(uri: str) -> None:
    assert forms(uri, "--scan", "--topic", "tyres gearboxes brakes").returncode == 1
    assert forms(uri, "--scan", "--topic", "books authors titles").returncode == 0


def test_a_strict_scan_takes_pages_that_a_link_promises(uri: str) -> None:
    assert forms(uri, "--scan", "--strict").returncode == 1


def test_an_archive_without_forms_says_how_to_find_them(uri: str) -> None:
    answer = forms(uri)
    assert answer.returncode == 1
    assert "keeps no such form; scrapy forms --scan looks into its pages" in answer.stderr


def test_an_export_that_cannot_be_written_says_why(uri: str, tmp_path: Path) -> None:
    answer = forms(uri, "--scan", "--export", tmp_path / "nowhere" / "forms.jsonl")
    assert answer.returncode == 2
    assert "forms.jsonl cannot be written: No such file or directory" in answer.stderr


@pytest.mark.parametrize("option", [("--topic", "books"), ("--strict",)])
def test_what_chooses_pages_of_a_scan_needs_a_scan(uri: str, option: tuple[str, ...]) -> None:
    answer = forms(uri, *option)
    assert answer.returncode == 2
    assert "give --scan as well" in answer.stderr


def test_files_without_classify_are_refused(uri: str) -> None:
    assert forms(uri, "x.html").returncode == 2
    assert forms(uri, "--classify").returncode == 2


@pytest.mark.parametrize(("site", "found"), [("b.example", 1), ("b.example:8080", 0)])
def test_a_site_is_asked_for_without_www_and_with_its_port(tmp_path: Path, site: str, found: int) -> None:
    uri = f"sqlite:///{tmp_path}/b.db"
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        page = make_page(GET.encode(), url="http://www.b.example/")
        archive.add(archive.segment(page))
    forms(uri, "--scan")
    assert len(told(uri, "--site", site)) == found
