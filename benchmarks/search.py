"""The index of words: what it costs beside an ingest, its size, and searches over a million blocks.

    python benchmarks/search.py DATA/history-dev [--million 1] [--clients 8] [--archive FILE]

Ingests all versions of the data with `scrapy ingest`, then makes the index with `scrapy index`, both in
processes of their own, and compares CPU time and size. With `--archive` an archive made before is taken
(a copy of it), and its ingest is not measured.

Then texts are added to the index until it has a million: the beginning of one text of the data with the end
of another, so that words and phrases are as frequent as in the data. Fifty blocks make a page; a third of
them end in its second version. `scrapy serve` answers searches of several clients at once, over HTTP as
JSON: words of the texts by their frequency, phrases of two and three words, and pairs of words; a third asks
for what was removed. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from common import ROOT, Cost, data_folder, megabytes, need, percentile, run
from store import write_warc
from tables import Row, Table, at_most, report

from archivebot.search.index import Index, Life
from archivebot.search.reader import IndexReader

MILLION = 1_000_000
MOST_CPU = 0.5  # of the ingest
MOST_SIZE = 1.0  # of the archive
MOST_MS = 200.0  # at the 95th percentile
ON_PAGE = 50
BATCH = 200  # pages in a transaction
SEARCHES = 100  # of each client
SEED = 20261124


def scrapy(*words: str, archive: Path) -> Cost:
    return run([sys.executable, "-m", "scrapy", *words, "-s", f"ARCHIVE_URI=sqlite:///{archive}"])


def costs(data: Path, archive: Path, made: Path | None) -> Table:
    """Make an archive and its index, and return what both cost."""
    index = archive.with_suffix(".search.db")
    rows = []
    if made is None:
        warc = archive.with_suffix(".warc.gz")
        write_warc(data, warc)
        ingest = need(scrapy("ingest", str(warc), archive=archive), "the ingest")
        warc.unlink()
    else:
        with closing(sqlite3.connect(made)) as source, closing(sqlite3.connect(archive)) as copy:
            source.backup(copy)
        ingest = None
        need(scrapy("stats", archive=archive), "the upgrade")
    first = need(scrapy("index", archive=archive), "the index")
    again = need(scrapy("index", archive=archive), "the index again")
    if ingest:
        cells = (f"{first.cpu:.1f} s", f"{ingest.cpu:.1f} s", f"{first.cpu / ingest.cpu:.3f}")
        rows.append(Row("index / ingest, CPU", cells, at_most(first.cpu / ingest.cpu, MOST_CPU)))
    sizes = index.stat().st_size, archive.stat().st_size
    cells = (megabytes(sizes[0]), megabytes(sizes[1]), f"{sizes[0] / sizes[1]:.3f}")
    rows.append(Row("index / archive, size", cells, at_most(sizes[0] / sizes[1], MOST_SIZE)))
    rows.append(Row("index without new captures, CPU", (f"{again.cpu:.1f} s",)))
    return Table("cost of the index", ("index", "archive", "ratio"), rows)


def known_texts(index: Path) -> list[list[str]]:
    """Return the texts of an index as lists of words, those of three words and more."""
    with closing(sqlite3.connect(index)) as database:
        (count,) = database.execute("SELECT texts FROM state").fetchone()
    with IndexReader(str(index)) as reader:
        texts = reader.texts(range(1, count + 1))
    return [words for words in map(str.split, texts.values()) if len(words) > 2]


def fill(index: Path, texts: Sequence[list[str]], most: int) -> None:
    """Add pages of made texts to an index until it has ``most`` texts."""
    chance = random.Random(SEED)
    with Index(str(index)) as target:
        page = 0
        while target.texts() < most:
            with target.writing():
                for _ in range(BATCH):
                    page += 1
                    _put(target, page, texts, chance)
        target.merge()


def _put(target: Index, page: int, texts: Sequence[list[str]], chance: random.Random) -> None:
    lives = []
    for lineage in range(1, ON_PAGE + 1):
        one, other = chance.choice(texts), chance.choice(texts)
        text = one[: chance.randrange(1, len(one) + 1)] + other[chance.randrange(len(other)) :]
        gone = 1 if chance.random() < 1 / 3 else None
        lives.append(Life(target.text(" ".join(text)), lineage, 0, gone, "main"))
    site = f"site{page % 100}"
    began = 1_500_000_000_000 + page * 60_000
    stints = [(0, (began, 1)), (1, (began + 86_400_000, 2))]
    target.put(f"http://{site}.example/{page}", f"example,{site}", page, stints, lives, ())


def searches(texts: Sequence[list[str]], count: int, chance: random.Random) -> list[str]:
    """Return the paths of searches."""
    found = []
    for _ in range(count):
        words = chance.choices(texts, weights=list(map(len, texts)))[0]
        start = chance.randrange(len(words) - 2)
        kind = chance.random()
        if kind < 0.4:
            wanted = words[start]
        elif kind < 0.8:
            wanted = f'"{" ".join(words[start : start + chance.choice((2, 3))])}"'
        else:
            wanted = f"{words[start]} {chance.choice(words)}"
        change = "&change=removed" if chance.random() < 1 / 3 else ""
        found.append(f"/search?q={quote(wanted[:400])}&format=json&limit=20{change}")
    return found


@contextmanager
def served(archive: Path) -> Iterator[str]:
    """Serve an archive; yields the host and the port."""
    words = ["serve", "--port", "0", "-s", f"ARCHIVE_URI=sqlite:///{archive}", "-s", "ARCHIVE_API_RATE=0"]
    with subprocess.Popen(
        [sys.executable, "-m", "scrapy", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE
    ) as server:
        try:
            assert server.stdout is not None
            yield urlsplit(server.stdout.readline().strip()).netloc
        finally:
            server.terminate()


def client(host: str, paths: Sequence[str]) -> list[tuple[float, str]]:
    """Ask for paths one after another; return the milliseconds of each that was a search."""
    found = []
    connection = HTTPConnection(host, timeout=60)
    for path in paths:
        started = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        elapsed = 1000 * (time.perf_counter() - started)
        if answer.status == 200:
            json.loads(body)
            found.append((elapsed, path))
        elif answer.status != 400:  # a text without a word, such as an arrow, is no search
            raise SystemExit(f"{path} was answered with {answer.status}: {body[:300]!r}")
    connection.close()
    return found


def speed(archive: Path, texts: Sequence[list[str]], clients: int) -> Table:
    """Return the times of searches of several clients at once."""
    chance = random.Random(SEED + 1)
    plans = [searches(texts, SEARCHES, chance) for _ in range(clients)]
    with served(archive) as host:
        client(host, searches(texts, 20, chance))
        with ThreadPoolExecutor(clients) as threads:
            parts = list(threads.map(lambda plan: client(host, plan), plans))
        times = sorted(each for part in parts for each in part)
        alone, _ = client(host, ["/search?q=the&format=json&limit=20"])[0]
    milliseconds = [each for each, _ in times]
    for each, path in times[-5:]:
        print(f"{each:.0f} ms: {path}")
    p95 = percentile(milliseconds, 0.95)
    index = archive.with_suffix(".search.db")
    rows = [
        Row("median, ms", (f"{percentile(milliseconds, 0.5):.1f}",)),
        Row("95th percentile, ms", (f"{p95:.1f}",), at_most(p95, MOST_MS)),
        Row("slowest, ms", (f"{milliseconds[-1]:.1f}",)),
        Row("`the`, one client, ms", (f"{alone:.1f}",)),
        Row("size of the index", (megabytes(index.stat().st_size),)),
    ]
    return Table(f"{len(times)} searches, {clients} clients", ("search",), rows)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--million", type=float, default=1.0, help="millions of texts")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--archive", type=Path, help="an archive of the data, made before")
    options: argparse.Namespace = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive.db"
        cost = costs(options.data, archive, options.archive)
        index = archive.with_suffix(".search.db")
        texts = known_texts(index)
        fill(index, texts, int(options.million * MILLION))
        return report(cost, speed(archive, texts, options.clients))


if __name__ == "__main__":
    sys.exit(main())
