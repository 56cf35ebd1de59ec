"""Replayed pages in Chromium: is the text that of the original, and does any request leave the archive?

    python benchmarks/replay.py DATA/wcxb-dev [--pages 200] [--list]

The pages are ingested from a WARC file and served by `scrapy serve`. Chromium opens each page as in a frame
of the archive (`if_`), and its original bytes without scripts and without a network. Both texts are what a
person sees of the page (innerText), and word F1 compares them as bags of words. A request that does not go to
the part of the server with archived pages is counted, even if it was not let through. `--list` prints the
pages with a lower F1, and all requests that left. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from common import data_folder, need, run
from corpus import documents
from maintext import f1
from playwright.sync_api import Browser, BrowserContext, Error, Route, sync_playwright
from serve import BEGIN, digits, ours, write_visit
from tables import Row, Table, at_least, at_most, report
from warcio.warcwriter import WARCWriter

from archivebot.vision.render import BROWSERS

LEAST_F1 = 0.99
WAIT = 30_000  # milliseconds for one page
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a browser showed of a page, and the addresses beyond the archive that it asked for."""

    text: str
    left: list[str]


@contextmanager
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as running:
        found = running.chromium.launch(executable_path=program, args=[NOWHERE])
        yield found
        found.close()


def seen(context: BrowserContext, address: str, inside: tuple[str, ...]) -> Seen:
    """Open an address; return what is seen of it."""
    page = context.new_page()
    left: list[str] = []
    page.on("request", lambda asked: None if asked.url.startswith(inside) else left.append(asked.url))
    try:
        page.goto(address, wait_until="domcontentloaded", timeout=WAIT)
        text = page.evaluate("document.body ? document.body.innerText : ''")
    except Error as error:
        text = ""
        print(f"{address}: {error}", file=sys.stderr)
    page.close()
    return Seen(text, left)


def original(context: BrowserContext, markup: bytes, url: str) -> Seen:
    """Open the original bytes at their own URL, as a browser without a network would have them."""

    def answer(route: Route) -> None:
        if route.request.is_navigation_request() and route.request.frame.parent_frame is None:
            route.fulfill(body=markup, content_type="text/html")
        else:
            route.abort()

    context.route("**/*", answer)
    found = seen(context, url, ("",))
    context.unroute("**/*")
    return found


def main() -> int:
    arguments = data_folder(__doc__)
    arguments.add_argument("--pages", type=int, default=200)
    arguments.add_argument("--list", action="store_true", help="print what differs, and what left")
    given = arguments.parse_args()
    pages = documents(given.data, given.pages)
    with tempfile.TemporaryDirectory() as made:
        file, uri = Path(made, "pages.warc.gz"), f"sqlite:///{made}/archive.db"
        with file.open("wb") as stream:
            writer = WARCWriter(stream, gzip=True)
            for url, markup in pages:
                write_visit(writer, url, markup, BEGIN, "text/html")
        need(run([sys.executable, "-m", "scrapy", "ingest", str(file), "-s", f"ARCHIVE_URI={uri}"]), "ingest")
        with ours(uri) as server, browser() as running:
            host = f"http://127.0.0.1:{server.port}"
            inside = (f"{host}/web/", f"{host}/favicon.ico", "data:", "blob:", "about:")
            replayed, plain = running.new_context(), running.new_context(java_script_enabled=False)
            found = [
                (
                    url,
                    seen(replayed, f"{host}/web/{digits(BEGIN)}if_/{url}", inside),
                    original(plain, markup, url),
                )
                for url, markup in pages
            ]
    scores = [f1_of(own.text, other.text) for _, own, other in found]
    left = sum(len(own.left) for _, own, _ in found)
    if given.list:
        for score, (url, own, _) in zip(scores, found, strict=True):
            if score < LEAST_F1 or own.left:
                print(f"{score:.3f} {url} {' '.join(own.left)}")
    rows = [
        Row("word F1, mean", (f"{fmean(scores):.4f}",), at_least(fmean(scores), LEAST_F1)),
        Row("lowest word F1", (f"{min(scores):.3f}",)),
        Row("pages below 0.99", (str(sum(each < LEAST_F1 for each in scores)),)),
        Row("pages without any word", (str(sum(not other.text.strip() for *_, other in found)),)),
        Row("requests that left the archive", (str(left),), at_most(left, 0)),
    ]
    return report(Table(f"{len(pages)} pages replayed in Chromium", ("archivebot",), rows))


def f1_of(text: str, wanted: str) -> float:
    """Return the word F1 of two texts; 1 if both are empty."""
    return f1(text, wanted) if text.strip() or wanted.strip() else 1.0


if __name__ == "__main__":
    sys.exit(main())
