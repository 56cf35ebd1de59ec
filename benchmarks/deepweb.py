"""The search for query forms on sites made from real pages, compared with a breadth-first crawl.

    python benchmarks/deepweb.py DATA/forms-dev [--sites 60] [--links strict]

Each site has one page with a search form, one to three links from its front page, among 149 pages without
any. All are pages of the data; their own links, whose targets are not in the data, are removed, and each ends
with a list of links to the pages below. Links are named by the titles of the pages, and the URLs are those of
the data. The sites are served on loopback; a form counts as found if the archive holds it afterwards. The
breadth-first crawl is simulated with the same limits: 101 pages of a site, three links deep. Exit code 1 if a
bound fails; one is that no form is ever submitted.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from common import data_folder
from crawlers import crawl_command, watch
from tables import Row, Table, at_least, at_most, report
from webserver import Stored, Web, serving

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.forms.reader import read_forms
from archivebot.forms.stages import MOST_DEPTH
from archivebot.hypertext import read
from archivebot.markup.media import media_of
from archivebot.urls import canonical_url

SEED = 20261122
LEVELS = (10, 40, 99)  # pages that are one, two and three links from the front page
MOST_PAGES = 101  # of one site, as the crawl has it
LEAST_FOUND = 0.9

# A link of the page itself; the attribute is renamed, so that nothing else changes.
LINK = re.compile(rb"(<(?:a|area|link|i?frame|meta)\b[^<>]*?)\s(href|src|content)\s*=", re.IGNORECASE)


@dataclass(frozen=True)
class Sample:
    """A page of the data."""

    path: str
    title: str
    body: bytes
    searches: bool


@dataclass(frozen=True)
class Site:
    """A stitched site: its front page, and the page with the search form."""

    home: str
    target: str
    depth: int


def samples(folder: Path) -> Iterator[tuple[str, Sample]]:
    """Yield the pages of the data with their hosts; those of which something is not labelled are left out."""
    labels = json.loads((folder / "labels.json").read_text("utf-8"))
    for name, told in sorted(labels.items()):
        kinds = [str(kind) for kind in told["forms"]]
        if any(kind.startswith("SKIP") or kind == "NOT ANNOTATED" for kind in kinds):
            continue
        body = next(path for path in (folder / name, folder / "html" / name) if path.exists()).read_bytes()
        page = read(body, media_of(body, saved=True).charset, told["url"], context=True)
        parts = urlsplit(told["url"])
        path = (parts.path.strip("/") or "home") + (f"?{parts.query}" if parts.query else "")
        yield parts.hostname or "", Sample(path, page.title[:80] or path, body, "search" in kinds)


def stitched(data: list[tuple[str, Sample]], count: int) -> tuple[Web, list[Site]]:
    """Make sites; the same ones every time."""
    chance = random.Random(SEED)
    plain = [sample for _, sample in data if not sample.searches]
    targets = {host: sample for host, sample in reversed(data) if sample.searches}
    hosts = chance.sample(sorted(targets), min(count, len(targets)))
    pages: list[Stored] = []
    sites = []
    for host in hosts:
        depth = chance.randint(1, len(LEVELS))
        made, target = _site(chance, host, targets[host], depth, plain)
        pages += made
        sites.append(Site(made[0].url, target, depth))
    return Web(pages), sites


def _site(
    chance: random.Random, host: str, wanted: Sample, depth: int, plain: list[Sample]
) -> tuple[list[Stored], str]:
    levels = [
        [(f"/l{level}p{n}/", chance.choice(plain)) for n in range(size)]
        for level, size in enumerate(LEVELS, 1)
    ]
    place = chance.randrange(LEVELS[depth - 1])
    levels[depth - 1][place] = (f"/l{depth}p{place}/", wanted)
    urls = [
        [canonical_url(f"http://{host}{prefix}{sample.path}") for prefix, sample in level] for level in levels
    ]
    pages = [
        Stored(f"http://{host}/", "home", body=_with_links(b"<title>Welcome</title>", urls[0], levels[0]))
    ]
    for number, level in enumerate(levels):
        below = number + 1
        for index, (_, sample) in enumerate(level):
            mine = slice(index, None, len(level))  # every page of the level below has one page above it
            last = below == len(levels)
            links = _with_links(sample.body, *([], []) if last else (urls[below][mine], levels[below][mine]))
            pages.append(
                Stored(
                    urls[number][index],
                    "",
                    media_of(sample.body, saved=True).header,
                    links,
                )
            )
    return pages, urls[depth - 1][place]


def _with_links(body: bytes, urls: list[str], level: list[tuple[str, Sample]]) -> bytes:
    """Put a list of links at the end of a page, in place of its own."""
    items = (
        f'<li><a href="{escape(url)}">{escape(sample.title)}</a></li>'
        for url, (_, sample) in zip(urls, level, strict=True)
    )
    listed = f"<ul>{''.join(items)}</ul>".encode("ascii", "xmlcharrefreplace")
    return LINK.sub(rb"\1 data-\2", body) + listed


def in_breadth(web: Web, site: Site) -> bool:
    """Return whether a crawl in breadth fetches the page with the form."""
    seen, waiting = {site.home}, deque([(site.home, 0)])
    host, fetched = urlsplit(site.home).hostname, 0
    while waiting and fetched < MOST_PAGES:
        url, depth = waiting.popleft()
        fetched += 1
        if url == site.target:
            return True
        page = web.find(url)
        if page is None or depth == MOST_DEPTH:
            continue
        for link in read(page.body, media_of(page.body, saved=True).charset, url).links:
            if link.url not in seen and urlsplit(link.url).hostname == host:
                seen.add(link.url)
                waiting.append((link.url, depth + 1))
    return False


def discovered(web: Web, sites: list[Site], links: str) -> tuple[list[bool], int, list[str]]:
    """Crawl the sites; return which were found, how many requests it took, and what was submitted."""
    with tempfile.TemporaryDirectory() as place, serving(web) as (server, proxy):
        seeds, archive = Path(place) / "seeds.txt", Path(place) / "archive.db"
        seeds.write_text("\n".join(site.home for site in sites))
        command = crawl_command("deepweb", archive, {}, {"seeds": f"@{seeds}", "links": links})
        watch(command, lambda: False, http_proxy=proxy)
        kept = Archive.open(ArchiveConfig(uri=f"sqlite:///{archive}"))
        where = {
            url for form in kept.forms.all() for url, _, _ in kept.forms.pages(form.site, form.form.signature)
        }
        kept.close()
        return (
            [site.target in where for site in sites],
            len(server.asked),
            submitted(web, server.asked) + server.posted,
        )


def submitted(web: Web, asked: list[str]) -> list[str]:
    """Return the requests that a form of the pages would make: its action with a field of it."""
    actions: dict[str, set[str]] = {}
    for page in web.pages.values():
        for form in read_forms(page.body, media_of(page.body, saved=True).charset):
            names = {control.name for control in form.controls if control.name}
            actions.setdefault(urlsplit(form.action).path, set()).update(names)
    links = {
        link.url
        for page in web.pages.values()
        for link in read(page.body, media_of(page.body, saved=True).charset, page.url).links
    }
    return [
        url for url in asked if url not in links and urlsplit(url).query and actions.get(urlsplit(url).path)
    ]


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--sites", type=int, default=60)
    parser.add_argument("--links", default="rank", choices=("rank", "strict"))
    options = parser.parse_args()
    web, sites = stitched(list(samples(options.data)), options.sites)
    breadth = [in_breadth(web, site) for site in sites]
    found, requests, sent = discovered(web, sites, options.links)
    depths = (None, *range(1, len(LEVELS) + 1))
    rows = [
        *(found_row(depth, sites, found, breadth) for depth in depths),
        Row("requests a site", (f"{requests / len(sites):.1f}",)),
        Row("forms submitted", (str(len(sent)),), at_most(len(sent), 0)),
    ]
    return report(Table(f"{len(sites)} stitched sites", ("archivebot", "in breadth"), rows))


def found_row(
    depth: int | None, sites: Sequence[Site], found: Sequence[bool], breadth: Sequence[bool]
) -> Row:
    """Report on how many sites the form was found, on all or on those with the form at some depth."""
    chosen = [depth in (None, site.depth) for site in sites]
    hits, peer = (
        sum(yes and picked for yes, picked in zip(each, chosen, strict=True)) for each in (found, breadth)
    )
    name = f"forms found{f' at depth {depth}' if depth else ''}, of {sum(chosen)}"
    bound = None if depth else at_least(hits / max(sum(chosen), 1), LEAST_FOUND)
    return Row(name, (str(hits), str(peer)), bound)


if __name__ == "__main__":
    sys.exit(main())
