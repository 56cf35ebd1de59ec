"""Reading and export compared with warcio, and the exports held against pywb, warcio and py-wacz.

    python benchmarks/export.py DATA/warc-dev [--pages 200] [--big BYTES]

The files of the folder are ingested and exported. warcio reads the exported file to index it, and compresses
it anew; archivebot reads it with all digests verified, and exports it. pywb replays the sampled captures: the
bodies must have the digest of the index. The validator of py-wacz judges a package. pywb and py-wacz are
installed with pip into a folder of their own, unless PYWB names the Python of an environment with them.
``--big`` is the size of a WARC file that is generated and read to measure the memory.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from common import need, run
from serve import pywb, theirs, write_visit
from tables import Row, Table, at_least, at_most, report
from warcio.checker import Checker
from warcio.indexer import Indexer
from warcio.recompressor import Recompressor
from warcio.warcwriter import WARCWriter

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.fingerprint import sha256_hex
from archivebot.jobs.export import export_warc
from archivebot.jobs.selection import Selection
from archivebot.warc import read_pages

SEED = 5
ROUNDS = 5  # of which the fastest counts: other programs only make it slower
SPEED = 0.5  # of warcio's, at least
MEMORY = 300 * 2**20  # of reading a file of any size: a record of the generated file has 1 MB
PAGE = 1_000_000


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("data", type=Path, help="folder with WARC and ARC files, at any depth")
    arguments.add_argument("--pages", type=int, default=200, help="captures that pywb replays")
    arguments.add_argument("--big", type=int, default=0, help="bytes of a generated WARC file")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        uri = f"sqlite:///{folder}/archive.db"
        run([sys.executable, "-m", "scrapy", "ingest", str(given.data), "-s", f"ARCHIVE_URI={uri}"])
        rows = [*speeds(uri, folder), *peers(uri, folder, given.pages)]
        if given.big:
            rows.append(big(folder, given.big))
    return report(Table("export of WARC files", ("archivebot", "peer"), rows))


def speeds(uri: str, folder: Path) -> list[Row]:
    """Return the times to read and to write the same file."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:

        def export() -> None:
            counts = iter(range(ROUNDS * 9))
            target = next(folder / f"out{n}" for n in counts if not (folder / f"out{n}").exists())
            export_warc(archive, target, Selection(), datetime.now(UTC))

        writing = fastest(export)
    (file,) = (folder / "out0").glob("*.warc.gz")
    fields = ["offset", "warc-type", "warc-target-uri"]
    reading = fastest(lambda: [None for _ in read_pages(file, lambda _: None)])
    indexing = fastest(lambda: Indexer(fields, [str(file)], str(folder / "index")).process_all())
    anew = fastest(lambda: silent(lambda: Recompressor(str(file), str(folder / "anew.gz")).recompress()))
    return [
        Row("reading and digesting, s", seconds(reading, indexing), at_least(indexing / reading, SPEED)),
        Row("export, beside warcio recompress, s", seconds(writing, anew), at_least(anew / writing, SPEED)),
    ]


def peers(uri: str, folder: Path, pages: int) -> list[Row]:
    """Return what warcio, py-wacz and pywb find wrong in exports."""
    file = next((folder / "out0").glob("*.warc.gz"))
    words = argparse.Namespace(inputs=[str(file)], verbose=False)
    checker = Checker(words)
    silent(checker.process_all)
    rows = [Row("faults by warcio check", (str(checker.exit_value),), at_most(checker.exit_value, 0))]
    python = pywb(folder)
    if python is None:
        return rows
    run([str(python), "-m", "pip", "install", "--quiet", "wacz"])
    package = folder / "x.wacz"
    command = [sys.executable, "-m", "scrapy", "export", "wacz", "--output", str(package)]
    need(run([*command, "-s", f"ARCHIVE_URI={uri}"]), "export")
    valid = run([str(python.with_name("wacz")), "validate", "-f", str(package)]).code
    rows.append(Row("packages that py-wacz refuses", (str(int(valid != 0)),), at_most(int(valid != 0), 0)))
    for step in (["init", "c"], ["add", "c", str(file)]):
        need(run([str(python.with_name("wb-manager")), *step], cwd=folder), "wb-manager")
    lines = next((folder / "out0").glob("*.cdxj")).read_text("utf-8").splitlines()
    random.Random(SEED).shuffle(lines)
    with theirs(python, folder) as side:
        wrong = [line for line in lines[:pages] if not replays(side.port, line)]
    for line in wrong:
        print(f"pywb has another body: {line}", file=sys.stderr)
    rows.append(Row("captures with another body in pywb", (str(len(wrong)),), at_most(len(wrong), 0)))
    return rows


def replays(port: int, line: str) -> bool:
    """Return whether pywb has the exact body of a line of the index."""
    _, when, values = line.split(" ", 2)
    row = json.loads(values)
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", f"/c/{when}id_/{row['url']}")
        return f"sha256:{sha256_hex(connection.getresponse().read())}" == str(row["digest"])
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def big(folder: Path, size: int) -> Row:
    """Return the peak memory of a process that reads a large generated file."""
    chance = random.Random(SEED)
    file, number = folder / "big.warc.gz", 0
    with file.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        while out.tell() < size:
            body, url = chance.randbytes(PAGE), f"http://a.example/{number}"
            write_visit(writer, url, body, datetime(2026, 1, 1, tzinfo=UTC), "application/octet-stream")
            number += 1
    code = (
        "import sys; from pathlib import Path; from archivebot.warc import read_pages;"
        "n = sum(1 for _ in read_pages(Path(sys.argv[1]), print)); print(n)"
    )
    done = need(run([sys.executable, "-c", code, str(file)]), "reading")
    return Row(
        f"memory to read {size / 1e9:.1f} GB, MB", (f"{done.peak / 1e6:.0f}",), at_most(done.peak, MEMORY)
    )


def fastest(work: Callable[[], object]) -> float:
    """Return the seconds of CPU of the fastest of some runs."""
    found = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_SELF)
        work()
        after = resource.getrusage(resource.RUSAGE_SELF)
        found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(found)


def silent(work: Callable[[], object]) -> None:
    """Do something that prints."""
    shown, sys.stdout = sys.stdout, io.StringIO()
    try:
        work()
    finally:
        sys.stdout = shown


def seconds(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
