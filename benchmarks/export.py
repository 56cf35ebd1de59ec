"""Reading and export compared with warcio, and the exports held against pywb, warcio and py-wacz.

    python benchmarks/export.py DATA/warc-dev [--pages 200] [--big BYTES]

The files of the folder are ingested and exported. warcio indexes the exported file and those of the folder
that it can read to the end; archivebot reads the same files as an ingest does, with all digests verified.
warcio compresses the exported file anew; archivebot exports it. pywb replays the sampled captures: the
bodies must have the digest of the index. The validator of py-wacz judges a package. pywb and py-wacz are
installed with pip into a folder of their own, unless PYWB names the Python of an environment with them.
``--big`` is the size of a WARC file that is generated, read and ingested to measure the memory.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import re
import resource
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from common import need, run
from serve import pywb, theirs, write_visit
from tables import Row, Table, at_least, at_most, report
from warcio.checker import Checker
from warcio.exceptions import ArchiveLoadFailed
from warcio.indexer import Indexer
from warcio.recompressor import Recompressor
from warcio.warcwriter import WARCWriter

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.fingerprint import sha256_hex
from archivebot.jobs.export import export_warc
from archivebot.jobs.selection import Selection
from archivebot.urls import urlkey
from archivebot.warc import first_date, read_pages

SEED = 5
ENDINGS = (".warc", ".warc.gz", ".arc", ".arc.gz")
ROUNDS = 9  # of which the fastest counts: other programs only make it slower
SPEED = 0.5  # of warcio's, at least
MEMORY = 300  # MB, of reading and of ingesting a file of any size: a generated record has 1 MB
SMALLER = 20  # times, the small file
PAGE, VISITS = 1_000_000, 10  # bytes of a page of the generated file, and visits to it
MOST_REDIRECTS = 5


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
        rows = [*speeds(uri, given.data, folder), *peers(uri, folder, given.pages)]
        if given.big:
            rows += big(folder, given.big)
    return report(Table("export of WARC files", ("archivebot", "peer"), rows))


def speeds(uri: str, data: Path, folder: Path) -> list[Row]:
    """Return the times to read and to write the same files."""
    counts = iter(range(ROUNDS))
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:

        def export() -> None:
            export_warc(archive, folder / f"out{next(counts)}", Selection(), datetime.now(UTC))

        def recompress() -> None:
            (file,) = (folder / "out0").glob("*.warc.gz")
            Recompressor(str(file), str(folder / "anew.gz")).recompress()

        writing, anew = fastest(export, recompress)
    (file,) = (folder / "out0").glob("*.warc.gz")
    found = sorted(
        path for path in data.rglob("*") if path.name.endswith(ENDINGS) and indexed([path], folder)
    )
    rows = []
    for name, files in (("the exported file", [file]), (f"{len(found)} files of the folder", found)):
        reading, indexing = fastest(partial(read, files), partial(indexed, files, folder))
        ratio = indexing / reading
        rows.append(
            Row(f"reading and digesting {name}, s", seconds(reading, indexing), at_least(ratio, SPEED))
        )
    return [
        *rows,
        Row("export, beside warcio recompress, s", seconds(writing, anew), at_least(anew / writing, SPEED)),
    ]


def read(files: Sequence[Path]) -> None:
    """Read files as an ingest does, without the analysis: all pages, their bodies decoded and digested."""
    for file in files:
        first_date(file)
        for _ in read_pages(file, lambda _: None):
            pass


def indexed(files: Sequence[Path], folder: Path) -> bool:
    """Index files by warcio as its command does; return whether it reads them to the end."""
    fields = ["offset", "warc-type", "warc-target-uri"]
    try:
        Indexer(fields, list(map(str, files)), str(folder / "index")).process_all()
    except (ArchiveLoadFailed, ValueError, EOFError):
        return False
    return True


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
    index = Index(lines)
    random.Random(SEED).shuffle(lines)
    with theirs(python, folder) as side:
        found = Counter(index.verdict(side.port, line) for line in lines[:pages])
    wrong = found["other"]
    return [
        *rows,
        Row("captures with the exact body in pywb", (str(found["exact"]),)),
        Row("redirects to their own key, whose target pywb shows", (str(found["target"]),)),
        Row("captures of one key in one second, of which pywb shows one", (str(found["same second"]),)),
        Row("captures with another body in pywb", (str(wrong),), at_most(wrong, 0)),
    ]


class Index:
    """The lines of an index: what pywb may answer to a question."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._of_second: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._of_url: dict[str, set[str]] = defaultdict(set)
        for line in lines:
            key, when, values = line.split(" ", 2)
            row = json.loads(values)
            self._of_second[key, when].add(row["digest"])
            self._of_url[row["url"]].add(row["digest"])

    def verdict(self, port: int, line: str) -> str:
        """Return which body pywb has for a line.

        It is the exact one, with two exceptions: a redirect to a URL with the same key, as from http to
        https, would lead pywb to itself, so it shows the target; and of the captures of a key in one second
        it shows any.
        """
        key, when, values = line.split(" ", 2)
        row = json.loads(values)
        body, shown = answered(port, f"/c/{when}id_/{row['url']}")
        digest = f"sha256:{sha256_hex(body)}"
        if digest == row["digest"]:
            return "exact"
        target = re.sub(r"^.*?/\d{14}id_/", "", shown)
        if row["status"].startswith("3") and urlkey(target) == key and digest in self._of_url[target]:
            return "target"
        if digest in self._of_second[key, when]:
            return "same second"
        print(f"pywb has another body: {line}", file=sys.stderr)
        return "other"


def answered(port: int, path: str) -> tuple[bytes, str]:
    """Return the body of a capture and its address in pywb, found as a browser does.

    A redirect of pywb itself, to the exact time, is followed; one of the archive is an answer. The connection
    is closed after it, for http.client finds no Content-Length after a header whose name has a blank.
    """
    for _ in range(MOST_REDIRECTS):
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            answer = connection.getresponse()
            body, moved = answer.read(), answer.headers.get("Location")
            if answer.headers.get("Memento-Datetime") or not moved:
                return body, answer.headers.get("Content-Location", "")
            path = urlsplit(moved)._replace(scheme="", netloc="").geturl()
        except (OSError, HTTPException) as error:
            return f"no answer: {error}".encode(), ""
        finally:
            connection.close()
    return b"too many redirects", ""


def big(folder: Path, size: int) -> list[Row]:
    """Return the peak memory of reading and of ingesting a large generated file, beside a small one."""
    file, small = folder / "big.warc.gz", folder / "small.warc.gz"
    generate(file, size)
    generate(small, size // SMALLER)
    code = (
        "import sys; from pathlib import Path; from archivebot.warc import read_pages;"
        "n = sum(1 for _ in read_pages(Path(sys.argv[1]), print)); print(n)"
    )
    read = need(run([sys.executable, "-c", code, str(file)]), "reading").peak
    peaks = []
    for each in (small, file):
        uri = f"sqlite:///{each}.db"
        words = [sys.executable, "-m", "scrapy", "ingest", str(each), "-s", f"ARCHIVE_URI={uri}"]
        peaks.append(need(run(words, together=True), "ingest").together)
        each.unlink()
    name = f"{size / 1e9:.1f} GB"
    return [
        Row(f"memory to read {name}, MB", (f"{read / 1e6:.0f}",), at_most(read / 1e6, MEMORY)),
        Row(f"memory to ingest {size / 1e9 / SMALLER:.1f} GB, all processes, MB", (f"{peaks[0] / 1e6:.0f}",)),
        Row(
            f"memory to ingest {name}, all processes, MB",
            (f"{peaks[1] / 1e6:.0f}",),
            at_most(peaks[1] / 1e6, MEMORY),
        ),
    ]


def generate(file: Path, size: int) -> None:
    """Write visits into a file: all pages, each of a megabyte, time after time."""
    number, pages = 0, max(1, size // PAGE // VISITS)
    with file.open("wb") as out:
        while out.tell() < size:
            visit, page = divmod(number, pages)
            record, body = io.BytesIO(), random.Random(page).randbytes(PAGE)
            when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=visit)
            url = f"http://a.example/{page}"
            write_visit(WARCWriter(record, gzip=False), url, body, when, "application/octet-stream")
            out.write(gzip.compress(record.getbuffer(), 0))
            number += 1


def fastest(*works: Callable[[], object]) -> list[float]:
    """Return the seconds of CPU of each work in its fastest round; the works take turns."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, times in zip(works, found, strict=True):
            before = resource.getrusage(resource.RUSAGE_SELF)
            silent(work)
            after = resource.getrusage(resource.RUSAGE_SELF)
            times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [min(times) for times in found]


def silent(work: Callable[[], object]) -> None:
    """Do something that prints."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        work()


def seconds(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
