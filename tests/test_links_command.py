"""scrapy links as a user types it: the links of a page and those to it, as text and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from archivebot.models import Link
from archivebot.storage import open_store
from tests.commands import run_scrapy
from tests.factories import START

Run = Callable[..., subprocess.CompletedProcess[str]]

HOME, STAFF, FAR = "http://a.example/", "http://a.example/staff", "http://b.example/far"
PAGES = {
    HOME: [Link(STAFF, "Staff", role="navigation"), Link(FAR, "The far one")],
    STAFF: [Link(HOME, "Home", role="header"), Link("https://www.c.example/deep", "Deep")],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("links")
    uri = f"sqlite:///{folder}/a.db"
    store = open_store(uri)
    for source, links in PAGES.items():
        store.links.add(source, links, START)
    store.close()

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return run_scrapy(("links", *args), environment={**os.environ, "ARCHIVE_URI": uri})

    return run


def test_the_links_of_a_page_are_told_with_their_anchors_and_roles(run: Run) -> None:
    lines = run(HOME).stdout.splitlines()
    assert lines[0].split() == ["last", "seen", "role", "kind", "anchor", "links", "to"]
    assert [line.split()[2:] for line in lines[1:]] == [
        ["navigation", "link", "Staff", STAFF],
        ["main", "link", "The", "far", "one", FAR],
    ]


def test_the_pages_that_link_to_a_page_that_was_never_fetched_are_told(run: Run) -> None:
    lines = run("--to", "b.example/far").stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["page", HOME]


@pytest.mark.parametrize("typed", ["c.example/deep", "www.c.example/deep#top", "http://c.example/deep"])
def test_links_to_a_page_are_found_as_people_type_it(run: Run, typed: str) -> None:
    lines = run("--to", typed).stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["page", STAFF]


def test_a_script_gets_a_record_for_each_link(run: Run) -> None:
    [record] = json.loads(run(HOME, "--to", "--json").stdout)
    assert set(record) == {"source", "target", "anchor", "role", "kind", "first", "last"}
    assert (record["source"], record["anchor"], record["role"]) == (STAFF, "Home", "header")


def test_a_page_without_links_ends_with_1_and_an_empty_list(run: Run) -> None:
    result = run(FAR, "--json")
    assert (result.returncode, json.loads(result.stdout)) == (1, [])
    assert f"holds no link of {FAR}" in result.stderr
