"""The account of an ingest: what became of every record of the files, in random orders of the files.

    python benchmarks/account.py DATA/warc-dev [--orders 3] [--files N]

Each order of the files is ingested into an archive of its own. A record of a page is stored, was there
already, or is reported as damaged. Records of other types are skipped: they describe the file, or belong to a
page. The records are counted by warcio as well, in the files that it can read. All orders must lead to the
same captures, and no capture may be there twice.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from common import run
from tables import Row, Table, at_least, at_most, report
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig

SEED = 19
PAGES = ("response", "resource", "revisit", "conversion")


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
    files = sorted(chance.sample(files, given.files)) if given.files else files
    counted = Counter[str]()
    for file in files:
        counted += types(Path(file))
    seen: list[Counter[tuple[str, ...]]] = []
    results: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as name:
        for order in range(given.orders):
            uri = f"sqlite:///{name}/{order}.db"
            chance.shuffle(files)
            results.append(ingested(files, uri))
            seen.append(captures(uri))
            print(f"order {order + 1}: {sum(seen[-1].values())} captures", file=sys.stderr)
    return report(table(files, counted, results, seen))


def types(file: Path) -> Counter[str]:
    """Return the number of records of each type, up to the first one that warcio cannot read."""
    found = Counter[str]()
    try:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, no_record_parse=True, arc2warc=True):
                uri = record.rec_headers.get_header("WARC-Target-URI") or ""
                found[record.rec_type if uri.strip("<>").startswith("http") else "of no page"] += 1
    except (ArchiveLoadFailed, ValueError, EOFError, OSError):
        found["files that warcio cannot read to their end"] += 1
    return found


def ingested(files: list[str], uri: str) -> list[dict[str, Any]]:
    """Return what an ingest reports of each file."""
    done = run([sys.executable, "-m", "scrapy", "ingest", *files, "--json", "-s", f"ARCHIVE_URI={uri}"])
    found: list[dict[str, Any]] = json.loads(done.stdout)["files"]
    return found


def captures(uri: str) -> Counter[tuple[str, ...]]:
    """Return how often each capture is in an archive: by URL, time, outcome and body."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        return Counter(
            (url, capture.captured_at.isoformat(), capture.outcome.value, capture.sha256)
            for _, url in archive.pages()
            for capture in archive.captures(url)
        )


def table(
    files: list[str],
    counted: Counter[str],
    results: list[list[dict[str, Any]]],
    seen: list[Counter[tuple[str, ...]]],
) -> Table:
    """Return the account of all orders; each figure is the worst of the orders, or that of the first."""
    total = sum(counted[kind] for kind in PAGES)
    stored = [sum(file["captures"] + file["known"] for file in result) for result in results]
    damaged = [sum(len(file["damaged"]) + bool(file["error"]) for file in result) for result in results]
    twice = max(sum(number - 1 for number in order.values()) for order in seen)
    other = max(len((order - seen[0]) + (seen[0] - order)) for order in seen)
    silent = max(max(0, total - one - two) for one, two in zip(stored, damaged, strict=True))
    return Table(
        "account of an ingest",
        ("records",),
        [
            Row("files", (str(len(files)),)),
            Row(
                "files with a result",
                (str(min(map(len, results))),),
                at_least(min(map(len, results)), len(files)),
            ),
            *(Row(f"{kind}, by warcio", (str(number),)) for kind, number in sorted(counted.items())),
            Row("stored, or there already", (str(stored[0]),)),
            Row("reported as damaged", (str(damaged[0]),)),
            Row("of pages by warcio, without a word", (str(silent),), at_most(silent, 0)),
            Row("captures stored twice", (str(twice),), at_most(twice, 0)),
            Row("captures that not all orders have", (str(other),), at_most(other, 0)),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
