"""The size and the cost of the first crawl of a site, beside WARC.gz, and what recrawls add.

    python benchmarks/firstcrawl.py DATA/sites-dev [--only SITE ...]

Each folder of the data is a site. Its pages, in the order of their paths, are written to a WARC.gz by warcio,
and `scrapy ingest` stores that file in a new archive. Then a tenth of the pages is edited, each by one new
sentence at the end of a paragraph, all pages are written to another WARC.gz and ingested, three times. Into
another archive `scrapy crawl site` fetches the same pages, with the same edits, from a server on loopback,
and stores them with their links, headers and exchanges. Archives are closed SQLite files with all their
indexes. Exit code 1 if a bound fails, 2 if the arguments are wrong.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from common import Cost, need, run
from tables import Row, Table, at_most, report
from webserver import Stored, Web, serving

from archivebot.urls import canonical_url

MOST_IN_ALL, MOST_OF_A_SITE = 0.65, 0.9
MOST_CRAWLED = 0.75
MOST_ADDED = 0.03
MOST_CPU = 6

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
RECRAWLS = 3
SEED = 20261123
WORDS = "the ferry harbour tide island pilot signal chart buoy mooring weather crew lantern channel".split()


@dataclass(frozen=True, slots=True)
class Site:
    """What a site took: bytes of the WARC.gz and of the archives, and CPU of the first crawl.

    ``sizes`` are those of the archive after each ingest, ``crawled`` those of the archive of the spider.
    """

    name: str
    pages: int
    warc: int
    crawled: Sequence[int]
    sizes: Sequence[int]
    writing: Cost
    ingesting: Cost

    @property
    def ratio(self) -> float:
        return self.sizes[0] / self.warc

    @property
    def added(self) -> float:
        """The most that an ingest of a recrawl added, relative to the archive of the first crawl."""
        return most_added(self.sizes)

    @property
    def cpu(self) -> float:
        return self.ingesting.cpu / self.writing.cpu


def most_added(sizes: Sequence[int]) -> float:
    """Return the largest growth from one size to the next, relative to the first."""
    return max(later - size for size, later in pairwise(sizes)) / sizes[0]


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def url_of(folder: Path, file: Path) -> str:
    return f"http://{folder.name}.example/{file.relative_to(folder).as_posix()}"


def write(folder: Path, crawl: int, target: Path) -> None:
    """Write a crawl of a site as WARC.gz; crawls are counted from 0, which has no edits."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    files = files_of(folder)
    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for number, file in enumerate(files):
            body = found(file, crawl)
            when = BEGAN + timedelta(days=crawl, seconds=number)
            record = writer.create_warc_record(
                url_of(folder, file),
                "response",
                io.BytesIO(body),
                len(body),
                http_headers=StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1"),
                warc_headers_dict={"WARC-Date": f"{when:%Y-%m-%dT%H:%M:%SZ}"},
            )
            writer.write_record(record)


def found(file: Path, crawl: int) -> bytes:
    """Return a page as a crawl finds it, after the edits of all crawls up to this one."""
    body = file.read_bytes()
    for earlier in range(1, crawl + 1):
        body = edited(body, file.name, earlier)
    return body


def edited(body: bytes, name: str, crawl: int) -> bytes:
    """Return a page as a crawl found it: one in ten has a new sentence."""
    chance = random.Random(f"{SEED} {name} {crawl}")
    ends = [place for place in range(len(body)) if body.startswith(b"</p>", place)]
    if chance.random() >= 0.1 or not ends:
        return body
    place = chance.choice(ends)
    return body[:place] + f" {' '.join(chance.choices(WORDS, k=12)).capitalize()}.".encode() + body[place:]


def fetched(folder: Path, place: Path) -> list[int]:
    """Crawl the pages of a site over HTTP; return the bytes of the archive after each crawl.

    Ends the program if a crawl has not stored each page.
    """
    files, archive, seeds, sizes = files_of(folder), place / "crawled.db", place / "seeds.txt", []
    seeds.write_text("".join(f"{url_of(folder, file)}\n" for file in files))
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seeds=@{seeds}", "-a", "scope=page"]
    settings = {"ARCHIVE_URI": f"sqlite:///{archive}", "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "INFO"}
    command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    for crawl in range(RECRAWLS + 1):
        pages = (Stored(canonical_url(url_of(folder, file)), "", body=found(file, crawl)) for file in files)
        with serving(Web(pages)) as (_, proxy):
            done = need(run(command, http_proxy=proxy), "crawl")
        stored = re.search(r"'downloader/response_status_count/200': (\d+)", done.stderr)
        if not stored or int(stored[1]) != len(files):
            raise SystemExit(f"of {len(files)} pages of {folder.name} were stored: {stored and stored[1]}")
        sizes.append(archive.stat().st_size)
    return sizes


def measure(folder: Path, place: Path) -> Site:
    archive, sizes, costs = place / "archive.db", [], []
    for crawl in range(RECRAWLS + 1):
        warc = place / f"{crawl}.warc.gz"
        me = [sys.executable, str(Path(__file__).resolve()), str(folder)]
        writing = need(run([*me, "--crawl", str(crawl), "--target", str(warc)]), "writing")
        uri = f"ARCHIVE_URI=sqlite:///{archive}"
        costs += [
            writing,
            need(run([sys.executable, "-m", "scrapy", "ingest", str(warc), "-s", uri]), "ingest"),
        ]
        sizes.append(archive.stat().st_size)
    written = (place / "0.warc.gz").stat().st_size
    return Site(folder.name, len(files_of(folder)), written, fetched(folder, place), sizes, *costs[:2])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a folder with a folder for each site")
    parser.add_argument("--crawl", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", default=[], metavar="SITE", help="the folders that are measured")
    options = parser.parse_args()
    folders = [options.data]
    if options.crawl is None:
        folders = [options.data / name for name in options.only] or sorted(
            path
            for path in (options.data.resolve().iterdir() if options.data.is_dir() else ())
            if path.is_dir()
        )
    for folder in folders or [options.data / "*"]:
        if not folder.is_dir() or not files_of(folder):
            parser.error(f"{folder} is no folder with the pages of a site")
    if options.target:
        write(options.data, options.crawl, options.target)
        return 0
    sites = []
    for folder in folders:
        with tempfile.TemporaryDirectory() as place:
            sites.append(measure(folder, Path(place)))
    rows = [
        Row(
            f"{site.name}, {site.pages} pages",
            (
                *_sizes(site.sizes[0], site.warc),
                f"{site.added:.3f}",
                f"{site.cpu:.1f}",
                f"{site.crawled[0] / site.warc:.3f}",
                f"{most_added(site.crawled):.3f}",
            ),
            at_most(site.ratio, MOST_OF_A_SITE),
        )
        for site in sites
    ]
    size, warc = sum(site.sizes[0] for site in sites), sum(site.warc for site in sites)
    added = max(site.added for site in sites)
    crawled = sum(site.crawled[0] for site in sites) / warc
    again = max(most_added(site.crawled) for site in sites)
    cpu = sum(site.ingesting.cpu for site in sites) / sum(site.writing.cpu for site in sites)
    rows += [
        Row("all", _sizes(size, warc), at_most(size / warc, MOST_IN_ALL)),
        Row("all, crawled over HTTP", ("", "", "", "", "", f"{crawled:.3f}"), at_most(crawled, MOST_CRAWLED)),
        Row(
            "the most that a recrawl over HTTP adds",
            ("", "", "", "", "", "", f"{again:.3f}"),
            at_most(again, MOST_ADDED),
        ),
        Row("the most that a recrawl adds", ("", "", "", f"{added:.3f}"), at_most(added, MOST_ADDED)),
        Row("CPU of all", ("", "", "", "", f"{cpu:.1f}"), at_most(cpu, MOST_CPU)),
    ]
    columns = (
        "archive, kB",
        "WARC.gz, kB",
        "ratio",
        "a recrawl adds",
        "CPU, ingest / writing",
        "crawled / WARC.gz",
        "recrawled",
    )
    return report(Table("first crawl", columns, rows))


def _sizes(archive: int, warc: int) -> tuple[str, str, str]:
    return f"{archive / 1000:.0f}", f"{warc / 1000:.0f}", f"{archive / warc:.3f}"


if __name__ == "__main__":
    sys.exit(main())
