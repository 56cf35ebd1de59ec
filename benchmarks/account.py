"""The account of an ingest: what became of every record of the files, in random orders of the files.

    python benchmarks/account.py DATA/warc-dev [--orders 3] [--files N]

warcio lists the records of each file, up to the first one that it cannot read. The files are ingested into an
archive of its own for each order. Each record is looked for by itself. A page is stored if a capture has its
URL, its second and its body, and another record if an attachment has its type, its URI and its block; it is
broken if damage is reported at its place. A record of another type is skipped if the ingest reports as many
skipped records of that type in the file. No capture and no attachment may be there twice, and all orders must
lead to the same ones. An order may take five minutes; three take about one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import brotli
from common import ROOT
from tables import Row, Table, at_least, at_most, report
from warc import body_of
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.urls import canonical_url
from archivebot.warc.dates import record_date

SEED = 19
PAGES = ("response", "resource", "revisit")
ATTACHED = ("metadata", "conversion", "resource")
SKIPPED = ("warcinfo", "request", "metadata", "conversion")
MOST_SECONDS = 300  # of one order
SHORT = 2  # records of warc-dev with other bytes than those of warcio, for known reasons: see warc.py

METHOD = "__wb_method="
EMPTY = hashlib.sha256(b"").hexdigest()

# What is the same in all orders: URL, time, outcome and SHA-256 of the body.
Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Listed:
    """A record as warcio lists it: its place in its file, and of a page the URL, the second and the body."""

    kind: str
    url: str = ""
    second: str = ""
    sha256: str = ""
    is_page: bool = False
    offset: int = 0


@dataclass(slots=True)
class Account:
    """What became of the records of one order, and the captures and attachments of the archive."""

    ends: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)
    captures: Counter[Key] = field(default_factory=Counter)
    attachments: Counter[Key] = field(default_factory=Counter)
    results: int = 0


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("data", type=Path, help="folder with WARC and ARC files, at any depth")
    arguments.add_argument("--orders", type=int, default=3, help="random orders of the files")
    arguments.add_argument("--files", type=int, default=0, help="only so many files, chosen at random")
    given = arguments.parse_args()
    chance = random.Random(SEED)
    files = sorted(str(path) for path in given.data.rglob("*arc*") if path.is_file())
    files += sorted(str(path) for path in given.data.rglob("*.wacz"))
    files = sorted(chance.sample(files, given.files)) if given.files else files
    listed = {file: list(records(Path(file))) for file in files}
    accounts: list[Account] = []
    with tempfile.TemporaryDirectory() as name:
        for order in range(given.orders):
            uri = f"sqlite:///{name}/{order}.db"
            chance.shuffle(files)
            accounts.append(account(ingested(files, uri), listed, captures(uri), attachments(uri)))
            print(f"order {order + 1}: {accounts[-1].ends.most_common()}", file=sys.stderr)
            for line in accounts[-1].silent:
                print(f"  without an end: {line}", file=sys.stderr)
    return report(table(files, listed, accounts))


def records(file: Path) -> Iterator[Listed]:
    """Yield the records of a file or of the files of a package, up to the first that warcio cannot read."""
    if not zipfile.is_zipfile(file):
        yield from _listed(file)
        return
    with zipfile.ZipFile(file) as package, tempfile.TemporaryDirectory() as folder:
        for name in package.namelist():
            if name.startswith("archive/"):
                yield from _listed(Path(package.extract(name, folder)))


def _listed(file: Path) -> Iterator[Listed]:
    try:
        with file.open("rb") as stream:
            found = ArchiveIterator(stream, arc2warc=True)
            for record in found:
                listed = _record(record)
                yield replace(listed, offset=found.get_record_offset())  # which skips the body
    except (ArchiveLoadFailed, ValueError, EOFError, OSError) as error:
        print(f"warcio gives up on {file.name}: {error}", file=sys.stderr)


def _record(record: ArcWarcRecord) -> Listed:
    """Return a record as it is listed, without its place."""
    headers = record.rec_headers
    url = (headers.get_header("WARC-Target-URI") or "").strip("<> ")
    is_web = url.lower().startswith(("http://", "https://"))
    if record.rec_type in ATTACHED and not (is_web and record.rec_type in PAGES):
        return Listed(record.rec_type, url, "", hashlib.sha256(record.content_stream().read()).hexdigest())
    if record.rec_type not in PAGES or not url.lower().startswith(("http://", "https://")):
        return Listed(record.rec_type)
    when = record_date(headers.get_header("WARC-Date") or "")
    second = f"{when:%Y%m%d%H%M%S}" if when else ""
    try:
        body = b"" if record.rec_type == "revisit" else body_of(record)
    except brotli.error:  # it is not coded, whatever its header says
        body = record.content_stream().read()
    sha256 = hashlib.sha256(body).hexdigest()
    return Listed(record.rec_type, canonical_url(url), second, sha256, is_page=True)


def ingested(files: Sequence[str], uri: str) -> dict[str, list[dict[str, Any]]]:
    """Return what an ingest reports of each file; a package has a report for each of its files."""
    command = [sys.executable, "-m", "scrapy", "ingest", *files, "--json", "-s", f"ARCHIVE_URI={uri}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
    )
    if "Traceback" in done.stderr or not done.stdout:
        raise SystemExit(f"the ingest crashed with exit code {done.returncode}:\n{done.stderr[-3000:]}")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for result in json.loads(done.stdout)["files"]:
        found[next(file for file in files if result["file"] == file or _is_in(result["file"], file))] += [
            result
        ]
    return found


def _is_in(name: str, package: str) -> bool:
    """Return whether a file is one of a package; what is compressed in it was read from a copy."""
    return name.startswith(f"{package}/") or f"/{Path(package).name}-" in name


def captures(uri: str) -> list[Key]:
    """Return the captures of an archive."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        return [
            (url, capture.captured_at.isoformat(), capture.outcome.value, capture.sha256)
            for _, url in archive.pages()
            for capture in archive.captures(url)
        ]


def attachments(uri: str) -> list[Key]:
    """Return the attachments of an archive: type, URI, place and SHA-256 of the block."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        return [
            (
                each.kind,
                each.target.replace(" ", "%20"),  # as warcio does
                f"{each.record} of {each.url} at {each.when.isoformat()}",
                hashlib.sha256(each.block).hexdigest(),
            )
            for each in archive.attachments.all()
        ]


def account(
    reports: dict[str, list[dict[str, Any]]],
    listed: dict[str, list[Listed]],
    stored: list[Key],
    attached: list[Key],
) -> Account:
    """Look for the end of each record."""
    found = Account(captures=Counter(stored), attachments=Counter(attached), results=len(reports))
    kept = {(kind, url, sha256) for kind, url, _, sha256 in attached}
    bodies: dict[tuple[str, str], set[str]] = defaultdict(set)
    for url, when, _, sha256 in stored:
        second = "".join(filter(str.isdigit, when))[:14]
        bodies[_asked(url), second].add(sha256 or EMPTY)
    for file, records in listed.items():
        damaged = sorted(place["offset"] for each in reports[file] for place in each["damaged"])
        refused = any(each["error"] for each in reports[file])
        skipped = Counter[str]()
        for each in reports[file]:
            for reason, count in each["skipped"].items():
                skipped[reason.partition(":")[0]] += count
        for record in records:
            same = bodies.get((record.url, record.second)) or bodies.get((_posted(record.url), record.second))
            is_kept = (record.kind, record.url, record.sha256) in kept
            end = "attached" if is_kept else _end(record, same or set(), skipped)
            if end == "" and (refused or record.offset in damaged):
                end = "reported broken"
            found.ends[end or "none"] += 1
            if not end:
                found.silent.append(f"{file}, offset {record.offset}: {record.kind} {record.url}")
    return found


def _asked(url: str) -> str:
    """Return a URL as records of answers have it: without method and body of the request."""
    return _posted(url) if METHOD in url else url


def _posted(url: str) -> str:
    """Return the key of the answers to a POST: the order of a query and of a posted form is not known."""
    return f"POST {url.partition('?')[0]}"


def _end(record: Listed, bodies: set[str], skipped: Counter[str]) -> str:
    """Return what became of a record, "" for nothing; a skipped one is taken from the counts."""
    if record.is_page:
        if record.kind == "revisit":
            return "stored" if bodies else ""
        return "stored" if record.sha256 in bodies else "stored with other bytes" if bodies else ""
    kind = record.kind if record.kind in (*PAGES, *SKIPPED) else "of a type that is not known"
    skipped[kind] -= 1
    return f"skipped: {kind}" if skipped[kind] >= 0 else ""


def differing(one: Account, other: Account) -> Counter[Key]:
    """Return the captures and attachments that only one of two archives has."""
    pairs = ((one.captures, other.captures), (one.attachments, other.attachments))
    return sum(((a - b) + (b - a) for a, b in pairs), Counter[Key]())


def table(files: Sequence[str], listed: dict[str, list[Listed]], accounts: list[Account]) -> Table:
    """Return the account of all orders; each figure with a bound is the worst of the orders."""
    first = accounts[0]
    results = min(account.results for account in accounts)
    silent = max(account.ends["none"] for account in accounts)
    short = max(account.ends["stored with other bytes"] for account in accounts)
    twice = max(sum(number - 1 for number in account.captures.values()) for account in accounts)
    twice += max(sum(number - 1 for number in account.attachments.values()) for account in accounts)
    other = max(len(differing(account, first)) for account in accounts)
    ends = [(end, count) for end, count in sorted(first.ends.items()) if end not in ("none", "")]
    return Table(
        f"account of an ingest, {len(accounts)} orders",
        ("records",),
        [
            Row("files", (str(len(files)),)),
            Row("files with a result", (str(results),), at_least(results, len(files))),
            Row("records, by warcio", (str(sum(map(len, listed.values()))),)),
            *(Row(end, (str(count),)) for end, count in ends if end != "stored with other bytes"),
            Row("stored with other bytes than those of warcio", (str(short),), at_most(short, SHORT)),
            Row("without an end", (str(silent),), at_most(silent, 0)),
            Row("captures", (str(first.captures.total()),)),
            Row("attachments", (str(first.attachments.total()),)),
            Row("captures and attachments stored twice", (str(twice),), at_most(twice, 0)),
            Row("captures and attachments that not all orders have", (str(other),), at_most(other, 0)),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
