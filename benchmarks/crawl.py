"""Pages per second of `scrapy crawl site` beside a stock Scrapy spider and `topic`, on one loopback site.

    python benchmarks/crawl.py [--pages 2000] [--rounds 5] [--concurrency 8] [--profile FILE]

A small asyncio server in its own process serves pages of about 10 KB with about 30 links each. The stock
spider follows all links with LinkExtractor and stores nothing; `site` cuts every page into blocks and stores
it in a fresh archive; `topic` also judges every page and scores every link. All obey robots.txt, wait for
nothing between requests and have as many requests under way. They take turns; the figures are medians of
pages per second of the whole process, from start to end; each ratio is the median over the rounds. `site`
then crawls the site again into the same archive: each page has an ETag, and each answer is a 304. It also
crawls into a folder in memory, where waiting for the disk takes no time. `--profile` also writes a cProfile
of one more run of `topic`, event loop only. Exit code 1 if `site` is below 1.0 of the stock spider or below
0.9 of itself in memory or takes more than 1.5 times the CPU of the stock spider, if `topic` is below 0.85 of
`site`, if the recrawl is below 1.5 of the first crawl, fetches a body or adds 200 bytes a capture to the
archive, or if pages are missing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import median

from common import ROOT, Cost, need, run
from tables import Row, Table, at_least, at_most, report

LEAST_RATIO = 1.0
MOST_CPU = 1.5
LEAST_FOCUSED = 0.85
LEAST_AGAIN = 1.5
MOST_BYTES = 200
LEAST_ON_DISK = 0.9
MEMORY = Path("/dev/shm")
TOPIC = "river, bridge, island, travel, water"
LINKS = 30
SEED = 20261120
WORDS = (
    "archive block capture change date page version reader river stone window letter market garden"
    " history science bridge council report season number village engine colour morning question"
    " teacher weather country station paper music winter answer signal water forest island travel"
).split()

STOCK = """
import scrapy
from scrapy.linkextractors import LinkExtractor


class Stock(scrapy.Spider):
    name = "stock"
    links = LinkExtractor()

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [seed]

    def parse(self, response):
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
"""


def page(number: int, pages: int) -> bytes:
    """Return one page of the site: head, menu, article with lists and a table, side bar, footer."""
    chance = random.Random(SEED + number)
    menu = "".join(f'<li><a href="/{n}.html">{_text(chance, 2)}</a></li>' for n in range(1, 9))
    near = [(2 * number) % pages, (2 * number + 1) % pages, (number + 1) % pages]
    others = [*near, *chance.sample(range(pages), LINKS - len(near) - 8)]
    links = [f'<a href="/{n}.html" title="{_text(chance, 3)}">{_text(chance, 4)}</a>' for n in others]
    paragraphs = "".join(
        f'<p class="text">{_text(chance, 70)} {link} {_text(chance, 40)}.</p>\n' for link in links[:8]
    )
    rows = "".join(f"<tr><td>{_text(chance, 2)}</td><td>{chance.random():.3f}</td></tr>" for _ in range(10))
    side = "".join(f'<li class="item">{link} <span>{_text(chance, 5)}</span></li>\n' for link in links[8:])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{_text(chance, 5)} {number}</title>
<style>body {{ font: 16px serif; margin: 2em }} nav li {{ display: inline }}</style>
<script>var page = {number}; var token = "{chance.getrandbits(64):x}";</script></head>
<body><header><h1>The archive gazette</h1><nav><ul>{menu}</ul></nav></header>
<main><article><h2>{_text(chance, 6)}</h2>{paragraphs}
<table><tr><th>what</th><th>how many</th></tr>{rows}</table></article>
<aside><h3>See also</h3><ul>{side}</ul></aside></main>
<footer><p>Last changed 2026-11-{number % 28 + 1:02}. {_text(chance, 12)}.</p></footer></body></html>
""".encode()


def _text(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


class Site(asyncio.Protocol):
    """Answers GET requests on kept-alive connections out of memory."""

    answers: dict[bytes, bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        *requests, self.buffer = (self.buffer + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1]
            is_known = b"\r\nIf-None-Match: " + _etag(path) in request
            self.transport.write(_unchanged(path) if is_known else self.answers.get(path, MISSING))


def _answer(
    body: bytes, status: str = "200 OK", kind: str = "text/html; charset=utf-8", fields: bytes = b""
) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n".encode()
    return head + fields + b"\r\n" + body


def _page(path: bytes, body: bytes) -> bytes:
    return _answer(body, fields=b"ETag: " + _etag(path) + b"\r\n")


def _unchanged(path: bytes) -> bytes:
    return b"HTTP/1.1 304 Not Modified\r\nETag: " + _etag(path) + b"\r\n\r\n"


def _etag(path: bytes) -> bytes:
    """Return the ETag of a page, which never changes."""
    return b'"' + sha256(path).hexdigest()[:16].encode() + b'"'


MISSING = _answer(b"<p>no such page</p>", "404 Not Found")


async def serve(pages: int) -> None:
    """Serve the site on a free port, which is printed, until the process is ended."""
    paths = [f"/{number}.html".encode() for number in range(pages)]
    Site.answers = {path: _page(path, page(number, pages)) for number, path in enumerate(paths)}
    Site.answers[b"/robots.txt"] = _answer(b"User-agent: *\nDisallow: /private/\n", kind="text/plain")
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one crawl took: pages by the statuses of their answers, bytes of the archive at its end."""

    pages: int
    unchanged: int
    cost: Cost
    size: int = 0

    @property
    def rate(self) -> float:
        return (self.pages + self.unchanged) / self.cost.seconds

    @property
    def cpu(self) -> float:
        """Milliseconds a page."""
        return self.cost.cpu / (self.pages + self.unchanged) * 1000


def crawl_stock(seed: str, folder: Path, concurrency: int) -> Crawl:
    spider = folder / "stock.py"
    spider.write_text(STOCK)
    settings = {
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "CONCURRENT_REQUESTS": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "INFO",
    }
    return _crawl(["runspider", str(spider), f"-aseed={seed}"], settings, folder)


def crawl_ours(spider: str, seed: str, folder: Path, concurrency: int, *python: str) -> Crawl:
    """Crawl into a new archive."""
    for old in folder.glob("archive.*"):
        old.unlink()
    return crawl_again(spider, seed, folder, concurrency, *python)


def crawl_again(spider: str, seed: str, folder: Path, concurrency: int, *python: str) -> Crawl:
    """Crawl into the archive that is there."""
    archive = folder / "archive.db"
    settings = {
        "ARCHIVE_URI": f"sqlite:///{archive}",
        "ARCHIVE_LOCAL_CONCURRENCY": concurrency,
        "LOG_LEVEL": "INFO",
    }
    given = ["-a", f"topic={TOPIC}", "-a", "scope=host"] if spider == "topic" else []
    done = _crawl(["crawl", spider, f"-aseeds={seed}", *given], settings, ROOT, *python)
    return replace(done, size=archive.stat().st_size)


def _crawl(words: list[str], settings: dict[str, object], folder: Path, *python: str) -> Crawl:
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    cost = need(run([sys.executable, *python, "-m", "scrapy", *words, *given], cwd=folder), words[0])
    answers = dict(re.findall(r"'downloader/response_status_count/(\d+)': (\d+)", cost.stderr))
    return Crawl(int(answers.get("200", 1)) - 1, int(answers.get("304", 0)), cost)  # without robots.txt


def measure(seed: str, folder: Path, options: argparse.Namespace) -> list[Table]:
    stock: list[Crawl] = []
    site: list[Crawl] = []
    topic: list[Crawl] = []
    memory: list[Crawl] = []
    again: list[Crawl] = []
    for _ in range(options.rounds):
        stock.append(crawl_stock(seed, folder, options.concurrency))
        site.append(crawl_ours("site", seed, folder, options.concurrency))
        again.append(crawl_again("site", seed, folder, options.concurrency))
        topic.append(crawl_ours("topic", seed, folder, options.concurrency))
        with tempfile.TemporaryDirectory(dir=MEMORY) as light:
            memory.append(crawl_ours("site", seed, Path(light), options.concurrency))
        rates = " ".join(f"{crawls[-1].rate:.1f}" for crawls in (stock, site, again, topic, memory))
        print(f"stock, site, recrawl, topic, site in memory: {rates} pages/s", file=sys.stderr)
    if options.profile:
        profile = ("-m", "cProfile", "-o", str(options.profile.resolve()))
        crawl_ours("topic", seed, folder, options.concurrency, *profile)
    least = min(crawl.pages for crawl in (*stock, *site, *topic, *memory))
    crawls = {
        "`site`": site,
        "stock spider": stock,
        "`topic`": topic,
        "`site` in memory": memory,
        "recrawl": again,
    }
    bodies = max(crawl.pages for crawl in again)
    confirmed = min(crawl.unchanged for crawl in again)
    added = median((last.size - first.size) / options.pages for first, last in zip(site, again, strict=True))
    rows = [
        Row("pages/s", _medians(crawls, "{:.1f}", lambda crawl: crawl.rate)),
        Row("CPU a page, ms", _medians(crawls, "{:.2f}", lambda crawl: crawl.cpu)),
        Row("peak memory, MB", _medians(crawls, "{:.0f}", lambda crawl: crawl.cost.peak / 1e6)),
        Row("pages fetched, the fewest", (str(least),), at_least(least, options.pages)),
        Row("304 in a recrawl, the fewest", (str(confirmed),), at_least(confirmed, options.pages)),
        Row("bodies in a recrawl, the most", (str(bodies),), at_most(bodies, 0)),
        Row("bytes that a recrawl adds, a capture", (f"{added:.0f}",), at_most(added, MOST_BYTES)),
    ]
    cpu = median(own.cpu / other.cpu for own, other in zip(site, stock, strict=True))
    ratios = [
        _ratio("`site` / stock spider", site, stock, LEAST_RATIO),
        _ratio("`topic` / `site`", topic, site, LEAST_FOCUSED),
        _ratio("recrawl / first crawl of `site`", again, site, LEAST_AGAIN),
        _ratio("`site` on disk / in memory", site, memory, LEAST_ON_DISK),
        Row("CPU a page, `site` / stock spider", (f"{cpu:.3f}",), at_most(cpu, MOST_CPU)),
    ]
    title = f"{options.pages} pages, medians of {options.rounds} rounds"
    return [Table(title, tuple(crawls), rows), Table("ratios of pages/s, and of CPU", ("ratio",), ratios)]


def _medians(crawls: Mapping[str, Sequence[Crawl]], form: str, figure: Callable[[Crawl], float]) -> list[str]:
    return [form.format(median(map(figure, each))) for each in crawls.values()]


def _ratio(name: str, ours: Sequence[Crawl], peer: Sequence[Crawl], least: float) -> Row:
    ratio = median(own.rate / other.rate for own, other in zip(ours, peer, strict=True))
    return Row(name, (f"{ratio:.3f}",), at_least(ratio, least))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=8, help="requests under way to the site")
    parser.add_argument("--profile", type=Path, help="write a cProfile of one more run of `topic` there")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.pages))
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", "--pages", str(options.pages)]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            seed = f"http://127.0.0.1:{int(server.stdout.readline())}/0.html"
            tables = measure(seed, Path(folder), options)
        finally:
            server.terminate()
    return report(*tables)


if __name__ == "__main__":
    sys.exit(main())
