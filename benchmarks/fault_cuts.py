"""Whether truncated answers are taken for pages.

    python benchmarks/faults.py cuts [--count 100]

Pages are archived whole by `scrapy crawl site`; then each answer is cut at a random position after its status
line, and the same command is run again: uncoded, in gzip, deflate, br and zstd, with a counted body, a
chunked one and one that ends with the connection. An uncoded body that ends with the connection is left out,
as the cut cannot be detected. Exit code 1 if a cut answer counts as content or as a change, or loses its
status.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
from backports import zstd
from common import need, run
from rawserver import answer, serve
from tables import Row, Table, at_most

CODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
FRAMINGS = ("counted", "chunked", "until close")
PAGE = b"<title>A page</title>" + b"".join(
    b"<h2>Part %d</h2><p>%s</p>" % (part, b" ".join(b"word%d" % (part * 31 + word) for word in range(80)))
    for part in range(60)
)


def measure(folder: Path, count: int) -> Table:
    """Cut ``count`` answers of each kind."""
    kinds = [(coding, framing) for coding in CODERS for framing in FRAMINGS]
    kinds.remove(("", "until close"))
    rows = [_cut(folder, coding, framing, count) for coding, framing in kinds]
    return Table(f"{count} cut answers of each kind", ("taken for a page or a change",), rows)


def _cut(folder: Path, coding: str, framing: str, count: int) -> Row:
    chance = random.Random(f"{coding} {framing}")
    whole = answer(CODERS[coding](PAGE), coding, framing)
    first = whole.index(b"\n") + 1
    answers = {f"/{number}": whole for number in range(count)}
    with tempfile.TemporaryDirectory(dir=folder) as place, serve(answers) as url:
        before = _crawl(Path(place), url)
        for path in answers:
            answers[path] = whole[: chance.randrange(first, len(whole))]
        after = _crawl(Path(place), url)
    assert [record["kind"] for record in before] == ["new"] * count
    taken = [record for record in after if (record["kind"], record["status"]) != ("failed", 200)]
    wrong = len(taken) + count - len(after)
    return Row(f"{coding or 'uncoded'}, {framing}", (str(wrong),), at_most(wrong, 0))


def _crawl(folder: Path, url: str) -> list[dict[str, Any]]:
    """Crawl the pages; return their captures."""
    feed = folder / "captures.jsonl"
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seeds={url}", "-O", str(feed)]
    need(run([*command, "-s", "RETRY_TIMES=0"], ARCHIVE_URI=f"sqlite:///{folder}/archive.db"), "scrapy crawl")
    records = map(json.loads, feed.read_text("utf-8").splitlines())
    return [record for record in records if record["url"] != url]
