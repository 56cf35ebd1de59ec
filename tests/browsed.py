"""The sample site in an archive with something for every page of the interface, and a browser for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from archivebot import Archive, ArchiveConfig
from archivebot.forms.find import search_forms
from archivebot.frontier import Entry, State, frontier_uri, open_frontier, read_frontier
from archivebot.vision.render import BROWSERS
from tests.conftest import ROOT
from tests.factories import START, html, make_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FORM = (
    b"<form action=/find><label>Title <input name=q></label><label>Subject <select name=s><option>Books"
    b"<option>Maps</select></label><input type=submit value=Search></form>"
)
TEXT = " ".join(f"word{number} of the story about harbours" for number in range(60))
TOPIC = "tides"
RULES = """
[[rule]]
name = "content"

[[rule]]
name = "furniture"
changes = "touched"

[output.feed]
atom = "feed.xml"

[output.office]
webhook = "http://127.0.0.1:9/"
timeout = 1
"""
PHRASE = "18,400 pounds"  # in a block that the second state of the site lacks


@dataclass(frozen=True)
class Sample:
    """An archive of the sample site, served at ``url`` when it was crawled."""

    uri: str
    url: str
    crawl: str

    def pages(self, block: str) -> dict[str, str]:
        """Return the address of each page of the interface by its name, for a block of the front page."""
        url = self.url
        return {
            "start": "/",
            "site": f"/site?{urlencode({'url': url})}",
            "page": f"/page?{urlencode({'url': url})}",
            "version": f"/version?{urlencode({'url': url})}",
            "delta": f"/delta?{urlencode({'url': url})}",
            "block": f"/block?{urlencode({'url': url, 'lineage': block})}",
            "resources": f"/resources?{urlencode({'url': url})}",
            "changes": "/changes?since=2020",
            "alerts": "/alerts",
            "no-alerts": "/alerts?rule=none",
            "nothing-changed": "/changes?since=2099",
            "pages": "/pages",
            "events": f"/events?{urlencode({'site': url})}",
            "frontier": f"/frontier?crawl={self.crawl}",
            "frontier-rejected": f"/frontier?crawl={TOPIC}",
            "explain": f"/explain?{urlencode({'url': url + 'events.html', 'crawl': self.crawl})}",
            "topic": f"/topic?crawl={TOPIC}&topic=library",
            "no-topic": f"/topic?crawl={self.crawl}",
            "duplicates": "/duplicates",
            "duplicates-of": "/duplicates?url=http://other.example/two",
            "search": "/search",
            "search-removed": f"/search?{urlencode({'q': PHRASE, 'change': 'removed'})}",
            "search-nothing": "/search?q=zeppelin",
            "forms": "/forms",
            "no-forms": "/forms?domain=jobs",
            "missing": "/web/2026/http://none.example/",
            "error": "/nothing",
        }


def sample(folder: Path) -> Sample:
    """Crawl the sample site twice; add near-duplicates, a form, and part of a focused crawl."""
    uri = f"sqlite:///{folder}/archive.db"
    (folder / "rules.toml").write_text(RULES)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "ARCHIVE_URI": uri}
    done = subprocess.run(
        [sys.executable, "-m", "archivebot.sample", "--port=0"],
        cwd=ROOT,
        env=environment | {"ARCHIVE_WATCH": f"{folder}/rules.toml"},
        capture_output=True,
        text=True,
        check=True,
    )
    url = next(word.partition("=")[2] for word in done.stdout.split() if word.startswith("seeds="))
    with closing(read_frontier(frontier_uri(uri))) as frontier:
        crawl = frontier.crawls()[0].name
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for address in ("http://one.example/", "http://other.example/two"):
            archive.add(archive.segment(make_page(html(TEXT), 0, url=address)))
        archive.forms.add(
            "one.example",
            "http://one.example/",
            [each.found() for each in search_forms(FORM, "utf-8", "http://one.example/")],
            START,
        )
    _focused(uri)
    subprocess.run([sys.executable, "-m", "scrapy", "index"], cwd=ROOT, env=environment, check=True)
    return Sample(uri, url, crawl)


def _focused(uri: str) -> None:
    frontier = open_frontier(frontier_uri(uri), TOPIC)
    frontier.begin("{}", None)
    found = [
        (f"http://host{number % 10}.example/{number}", number < 30 or number % 3 > 0) for number in range(150)
    ]
    frontier.add([Entry(url, url.split("/")[2]) for url, _ in found])
    frontier.reject([Entry("http://refused.example/", "refused.example", reason="off topic")])
    for url, relevant in found:
        assert frontier.lease() is not None
        frontier.settle(url, State.DONE, answered=True, relevance=0.9 * relevant, relevant=relevant)
    frontier.close()


@contextmanager
def browser(*options: str) -> Iterator[Browser]:
    """Start a browser that reaches no other machine; the test is skipped without Playwright or Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(
            executable_path=program,
            args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", *options],
        )
        yield found
        found.close()
