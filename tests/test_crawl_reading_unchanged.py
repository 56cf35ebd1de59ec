"""What a crawl reads of a page that its server has not changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.reading.unchanged import read_unchanged
from archivebot.models import Link
from tests.factories import URL, html, make_page

META = '<meta name="robots" content={}>'
PLAIN = '<style>p { display: none }</style><meta name="description" content="for all">'


@pytest.mark.parametrize(
    ("head", "robots"),
    [
        (PLAIN, 0),
        (META.format('"noindex"'), 1),
        (META.format("'NOARCHIVE'"), 1),
        (META.format("none"), 1),
        (META.format('"no&#105;ndex"'), 1),
        (f'<meta name="description" content="a > b">{META.format(chr(34) + "none" + chr(34))}', 1),
    ],
)
def test_a_page_is_parsed_if_it_may_forbid_something(tmp_path: Path, head: str, robots: int) -> None:
    body, links = html("The ferry leaves at noon.", head=head), (Link("http://example.com/other"),)
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        archive.add(archive.segment(replace(make_page(body), links=links)))
        found = read_unchanged(archive, URL, URL, {"skip_nofollow": True})
    assert found is not None
    assert sum(name == "robots" for name, _ in found.reading.robots) == robots
    assert (found.seen is None) == bool(robots)  # the archived links are taken only if nothing is forbidden
