"""A version that follows another one takes over what must be the same, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from archivebot.archive import Archive
from archivebot.archive.readings import PageReading
from archivebot.config import ArchiveConfig
from archivebot.crawl.reading.links import links_of
from archivebot.jobs.analysis import analysed
from archivebot.models import Outcome, Page

PROSE = "A tern dives for fish in the sea, and flies from one pole to the other every year. " * 4
PAGE = f"""<!doctype html><html><head><title>Terns | Example</title>
<meta name=description content="Of terns"><link rel=next href=/2><link rel=preload href=/a.css nonce=1>
<script nonce=1>location.href = "/b"; t(1)</script></head>
<body><nav class=menu id=n1><ul><li><a href=/>Home</a>
<li><a href=/fish title=Fish><img src=f.png alt=Fish></a></ul></nav>
<main class=text><h1>Terns</h1><p class=lead>{PROSE}<p>Seen <b>12</b> times. {PROSE}
<table><tr><td>1<td>Arctic tern<tr><td>2<td>Common tern</table></main><aside style="color: red">Buy a
<a href=/shop>tern</a></aside>
<footer><!-- 1 --><form><input type=hidden value=1></form>&copy; 2024</footer>"""

EDITS = {
    "a nonce": ("nonce=1", "nonce=2"),
    "a comment": ("<!-- 1 -->", "<!-- 2, <b> -->"),
    "a call in a script": ("t(1)", "t('<p>')"),
    "an address in a script": ('"/b"', '"/c"'),
    "a type of script": ("<script nonce=1>", "<script nonce=1 type=x/y>"),
    "a next page": ("href=/2", "href=/3"),
    "a style sheet": ("/a.css", "/b.css"),
    "a relation": ("rel=preload", "rel=prev"),
    "the description": ("Of terns", "On terns"),
    "the title": ("Terns | Example", "Gulls | Example"),
    "a name": ("class=text", "class=comments"),
    "an id": ("id=n1", "id=n2"),
    "a named id": ("id=n1", "id=footer"),
    "a target": ("href=/fish", "href=/gull"),
    "a picture": ("f.png", "g.png"),
    "the text of a picture": ("alt=Fish", "alt=Gull"),
    "a heading": ("<h1>Terns", "<h1>Gulls"),
    "a count": ("<b>12", "<b>13"),
    "a cell": ("Common tern", "Sooty tern"),
    "a link": (">tern<", ">gull<"),
    "what is hidden": ("color: red", "display: none"),
    "a token": ("type=hidden value=1", "type=hidden value=2"),
    "a field": ("type=hidden", "type=password"),
    "a year": ("2024", "2025"),
    "a new row": ("</table>", "<tr><td>3<td>Little tern</table>"),
    "a paragraph": ("</main>", f"<p>{PROSE}</main>"),
    "most of it": (PROSE, "Gone. "),
}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Archive]]:
    folder = tmp_path_factory.mktemp("archives")
    with ExitStack() as stack:
        uris = (f"sqlite:///{folder}/{name}.db" for name in ("following", "alone"))
        yield [stack.enter_context(Archive.open(ArchiveConfig(uri=uri))) for uri in uris]


def found_of(archive: Archive, url: str, versions: Sequence[str]) -> list[object]:
    """Return what is found in the versions of a page, and store them."""
    found: list[object] = []
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    for day, text in enumerate(versions):
        when = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day)
        page = Page(url, when, Outcome.FETCHED, 200, headers, text.encode(), origin="x:1")
        snapshot, main = analysed(archive, page, links_of)
        archive.add(replace(snapshot, page=replace(page, links=snapshot.page.links)), text=main)
        found.append((replace(snapshot, page=page), snapshot.page.links, main))
    return found


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_version_is_analysed_as_if_nothing_were_known(
    archives: list[Archive], edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = EDITS[edit]
    assert old in PAGE
    versions = PAGE, PAGE.replace(old, new), PAGE.replace(old, new).replace("nonce=1", "nonce=3")
    url = f"http://example.com/{quote(edit)}"
    found = found_of(archives[0], url, versions)
    monkeypatch.setattr(PageReading, "follow", lambda self, before: None)
    assert found == found_of(archives[1], url, versions)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_after_edits_of_texts_is_analysed_as_if_nothing_were_known(
    archives: list[Archive], edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = EDITS[edit]
    noted = PAGE.replace("Arctic", "Antarctic")
    changed = noted.replace(old, new)
    versions = PAGE, noted, noted.replace("12<", "15<"), changed, changed.replace("Antarctic", "Black")
    url = f"http://example.com/texts/{quote(edit)}"
    found = found_of(archives[0], url, versions)
    monkeypatch.setattr(PageReading, "follow", lambda self, before: None)
    assert found == found_of(archives[1], url, versions)
