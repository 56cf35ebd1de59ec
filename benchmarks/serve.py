"""The server of `scrapy serve` compared with pywb on the same captures, asked by 8 clients at once.

    python benchmarks/serve.py DATA/wcxb-dev [--rounds 3] [--keep FOLDER]

One page has 10,000 captures and another 5,000, one each hour: every 25th brought a new text, the others
repeat it as revisit records. 200 pages of the corpus have one capture each. pywb serves them from the WARC.gz
file and its CDXJ index, `scrapy serve` from the SQLite archive into which it was ingested. Each client has a
connection of its own and asks again as soon as it has the last byte of an answer. Both servers run all the
time and are asked in turns. pywb is installed with pip into a folder of its own, unless PYWB names the Python
of an environment that has it. Its time line is its calendar and the rows of the CDX server that the calendar
asks for. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import io
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median

from common import ROOT, data_folder, free_port, need, percentile, run
from corpus import documents
from tables import Row, Table, at_most, report
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

CLIENTS = 8
PAGES = 200
SEED = 20261124

LONG, SHORT = "http://history.example/long", "http://history.example/short"
VISITS = {LONG: 10_000, SHORT: 5_000}
EACH = 25  # visits to one text
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
WAIT = 120
UTF8 = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, ``count`` times in a round: the addresses of one answer, on our server and on pywb's."""

    name: str
    count: int
    ours: Sequence[str]
    theirs: Sequence[Sequence[str]]
    bound: float = 0  # the most milliseconds of 95 % of our answers; 0 for no bound

    @property
    def paths(self) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
        """The addresses to choose from, on our server and on pywb's."""
        return [[path] for path in self.ours], self.theirs


@dataclass(slots=True)
class Side:
    """A server, and the milliseconds of its answers by the name of their question."""

    port: int
    found: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, name: str, asked: Iterable[Sequence[str]]) -> None:
        """Let all clients ask until nothing is left to ask."""
        waiting: SimpleQueue[Sequence[str]] = SimpleQueue()
        for paths in asked:
            waiting.put(paths)
        with ThreadPoolExecutor(CLIENTS) as clients:
            done = [clients.submit(self._client, waiting) for _ in range(CLIENTS)]
        self.found.setdefault(name, []).extend(itertools.chain(*(each.result() for each in done)))

    def _client(self, waiting: SimpleQueue[Sequence[str]]) -> list[float]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        times: list[float] = []
        while True:
            try:
                paths = waiting.get_nowait()
            except Empty:
                connection.close()
                return times
            started = time.perf_counter()
            for path in paths:
                connection.request("GET", path, headers={"Host": f"127.0.0.1:{self.port}"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    raise SystemExit(f"{path} was answered with {answer.status}")
            times.append((time.perf_counter() - started) * 1000)


def digits(when: datetime) -> str:
    return when.strftime("%Y%m%d%H%M%S")


def write_warc(pages: Sequence[tuple[str, bytes]], target: Path) -> None:
    """Write the captures of all pages to one file."""
    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        markup = sorted((markup for _, markup in pages), key=len)[PAGES // 10]  # 40 kB
        for url, count in VISITS.items():
            for number in range(count):
                text = b"<p>Version %d of this page.</p>" % (number // EACH)
                body = markup.replace(b"</body>", text + b"</body>")
                when, first = (BEGIN + each * HOUR for each in (number, number - number % EACH))
                write_visit(writer, url, body, when, UTF8, None if when == first else first)
        for url, markup in pages:
            write_visit(writer, url, markup, BEGIN, UTF8)


def write_visit(
    writer: WARCWriter, url: str, body: bytes, when: datetime, declared: str, first: datetime | None = None
) -> None:
    """Write a visit as a response, or as a revisit record of the response at the time ``first``."""
    sent = [
        ("Content-Type", declared),
        ("Date", when.strftime("%a, %d %b %Y %H:%M:%S GMT")),
        ("Server", "example/1.0"),
    ]
    http = StatusAndHeaders("200 OK", sent, protocol="HTTP/1.1")
    dated = {"WARC-Date": _iso(when)}
    record = writer.create_warc_record(
        url, "response", io.BytesIO(body), len(body), http_headers=http, warc_headers_dict=dated
    )
    if first:
        writer.ensure_digest(record, block=False, payload=True)
        digest = record.rec_headers.get_header("WARC-Payload-Digest")
        record = writer.create_revisit_record(
            url, digest, url, _iso(first), http_headers=http, warc_headers_dict=dated
        )
    writer.write_record(record)


def _iso(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def questions(pages: Sequence[tuple[str, bytes]]) -> list[Question]:
    """Return what both servers are asked."""
    years = sorted({(BEGIN + number * HOUR).strftime("%Y-%m") for number in range(VISITS[LONG])})
    months = [month.split("-") for month in years]
    times = [digits(BEGIN + number * HOUR) for number in range(VISITS[LONG])]
    urls = [url for url, _ in pages]
    return [
        Question(
            "time line of 10,000 captures",
            40,
            [f"/page?url={LONG}&year={year}&month={month}" for year, month in months],
            [[f"/c/*/{LONG}", f"/c/cdx?url={LONG}&output=json"]],
            200,
        ),
        Question(
            "replay of a page",
            160,
            [f"/web/{digits(BEGIN)}/{url}" for url in urls],
            [[f"/c/{digits(BEGIN)}mp_/{url}"] for url in urls],
            50,
        ),
        Question(
            "replay of a page with 10,000 captures",
            80,
            [f"/web/{when}/{LONG}" for when in times],
            [[f"/c/{when}mp_/{LONG}"] for when in times],
        ),
        Question(
            "TimeMap of 5,000 captures",
            16,
            [f"/web/timemap/link/{SHORT}"],
            [[f"/c/timemap/link/{SHORT}"]],
        ),
        Question("CDX, all of 10,000 rows", 8, [f"/cdx?url={LONG}"], [[f"/c/cdx?url={LONG}"]]),
        Question(
            "CDX, 100 rows of 10,000",
            40,
            [f"/cdx?url={LONG}&from={when}&limit=100" for when in times],
            [[f"/c/cdx?url={LONG}&from={when}&limit=100"] for when in times],
        ),
    ]


@contextmanager
def ours(uri: str) -> Iterator[Side]:
    words = [sys.executable, "-m", "scrapy", "serve", "--port", "0", "-s", f"ARCHIVE_URI={uri}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield Side(int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2]))
        finally:
            server.terminate()


@contextmanager
def theirs(python: Path, folder: Path) -> Iterator[Side]:
    port = free_port()
    words = [str(python.with_name("wayback")), "--bind", "127.0.0.1", "--port", str(port)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, cwd=folder, stdout=quiet, stderr=quiet) as server:
        try:
            side = Side(port)
            wait_for(port)
            yield side
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        try:
            HTTPConnection("127.0.0.1", port, timeout=WAIT).connect()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("pywb does not answer")


def pywb(folder: Path) -> Path | None:
    """Return the Python of an environment with pywb, which is made in a folder; None if there is none."""
    if named := os.environ.get("PYWB"):
        return Path(named)
    python = folder / "pywb" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "pywb", with_pip=True)
    installed = run([str(python), "-m", "pip", "install", "--quiet", "pywb"])
    return None if installed.code else python


def prepared(data: Path, folder: Path, python: Path | None) -> tuple[str, list[tuple[str, bytes]]]:
    """Write the file, and give it to both; return the URI of our archive and the pages."""
    pages = documents(data, PAGES)
    file, uri = folder / "captures.warc.gz", f"sqlite:///{folder}/archive.db"
    if not file.exists():
        write_warc(pages, file)
        need(run([sys.executable, "-m", "scrapy", "ingest", str(file), "-s", f"ARCHIVE_URI={uri}"]), "ingest")
    if python and not (folder / "collections").exists():
        for words in (["init", "c"], ["add", "c", str(file)]):
            need(run([str(python.with_name("wb-manager")), *words], cwd=folder), "wb-manager")
    return uri, pages


def measure(asked: Sequence[Question], sides: Sequence[Side], rounds: int) -> None:
    """Ask all questions in each round, of one server after the other."""
    chance = random.Random(SEED)
    for question in asked:
        for side, paths in zip(sides, question.paths, strict=False):
            side.ask("first " + question.name, [paths[0]])
    for _ in range(rounds):
        for question in asked:
            places = [chance.random() for _ in range(question.count)]
            for side, paths in zip(sides, question.paths, strict=False):
                side.ask(question.name, [paths[int(place * len(paths))] for place in places])


def main() -> int:
    arguments = data_folder(__doc__)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--keep", type=Path, help="a folder for the data, to be used again")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = (given.keep or Path(made)).resolve()
        folder.mkdir(exist_ok=True)
        python = pywb(folder)
        uri, pages = prepared(given.data, folder, python)
        asked = questions(pages)
        with ours(uri) as own:
            sides = [own]
            with theirs(python, folder) if python else nullcontext() as peer:
                sides += [peer] if peer else []
                measure(asked, sides, given.rounds)
    rows = [row_of(question, sides) for question in asked]
    firsts = [first_row(question, sides) for question in asked]
    title = f"milliseconds with {CLIENTS} clients, 95th percentile"
    columns = ("archivebot", "pywb", "ratio")
    return report(
        Table(title, columns, rows),
        Table("milliseconds of the first answer, one client", columns, firsts),
        missing=() if python else ("pywb",),
    )


def row_of(question: Question, sides: Sequence[Side]) -> Row:
    found = [percentile(side.found[question.name], 0.95) for side in sides]
    return Row(question.name, cells(found), at_most(found[0], question.bound) if question.bound else None)


def first_row(question: Question, sides: Sequence[Side]) -> Row:
    return Row(question.name, cells([median(side.found["first " + question.name]) for side in sides]))


def cells(found: Sequence[float]) -> tuple[str, ...]:
    ratio = (f"{found[0] / found[1]:.2f}",) if len(found) > 1 else ()
    return (*(f"{each:.0f}" for each in found), *ratio)


if __name__ == "__main__":
    sys.exit(main())
