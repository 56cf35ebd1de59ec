"""Partition speed compared with HTML parsers, and time on hostile input of twice the size.

    python benchmarks/partition.py DATA/history-dev [--pages 150] [--level 3]

First cuts real pages into blocks, and lets each peer parse the same pages; all in CPU time, in
turns, the best of three rounds. Then cuts hostile inputs of 5 MB and of 10 MB: time may at most
double, within 20 %, and layout and blocks must join to the body. Exit code 1 if a bound fails.

The script starts itself again with settings of the C library that keep freed memory in the process:
otherwise arrays of more than 32 MB come from the system anew each time, and inputs that take some
20 ms show the cost of touching fresh memory rather than that of the partition (`--fresh-memory`
measures with it).
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html.parser import HTMLParser
from importlib.util import find_spec

from common import data_folder, megabytes, read_index
from tables import Row, Table, at_most, report

from archivebot.models import Partition
from archivebot.segmentation.segmenter import partition

MOST_GROWTH = 2.4
SIZE = 10_000_000
SEED = 20261120
ROUNDS = 3
KEPT_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 26),
}


def lxml_parser() -> Callable[[bytes], object]:
    from lxml import html

    return lambda body: html.document_fromstring(body)


def turbohtml_parser() -> Callable[[bytes], object]:
    from turbohtml import parse

    return lambda body: parse(body.decode("latin-1"), source_locations=True)


def selectolax_parser() -> Callable[[bytes], object]:
    from selectolax.lexbor import LexborHTMLParser

    return lambda body: LexborHTMLParser(body)


def html_parser() -> Callable[[bytes], object]:
    return lambda body: HTMLParser().feed(body.decode("utf-8", "replace"))


PEERS = {
    "lxml": lxml_parser,
    "turbohtml": turbohtml_parser,
    "selectolax": selectolax_parser,
    "html": html_parser,
}


def speeds(bodies: list[bytes], workers: Mapping[str, Callable[[bytes], object]]) -> dict[str, float]:
    """Return the least CPU seconds that each worker needs for all bodies."""
    best: dict[str, float] = dict.fromkeys(workers, float("inf"))
    for _ in range(ROUNDS):
        for name, work in workers.items():
            best[name] = min(best[name], _seconds(partial(_all, work, bodies)))
    return best


def _all(work: Callable[[bytes], object], bodies: list[bytes]) -> None:
    for body in bodies:
        work(body)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def speed_table(bodies: list[bytes], level: int) -> Table:
    workers: dict[str, Callable[[bytes], object]] = {"partition": lambda body: partition(body, level)}
    workers |= {name: make() for name, make in PEERS.items() if find_spec(name)}
    best = speeds(bodies, workers)
    size = sum(map(len, bodies))
    rows = [
        Row("MB/s", [f"{size / seconds / 1e6:.1f}" for seconds in best.values()]),
        Row("pages/s", [f"{len(bodies) / seconds:.0f}" for seconds in best.values()]),
    ]
    names = ("html.parser" if name == "html" else name for name in best)
    return Table(f"{len(bodies)} pages, {megabytes(size)}, level {level}", tuple(names), rows)


def _repeated(*pieces: str) -> Callable[[int], bytes]:
    """Return a function that makes inputs of the pieces, each its share of the size, one after the other."""

    def make(size: int) -> bytes:
        share = size // len(pieces)
        return b"".join((piece.encode() * (share // len(piece.encode()) + 1))[:share] for piece in pieces)

    return make


def _numbered(piece: str) -> Callable[[int], bytes]:
    return lambda size: "".join(piece.replace("#", str(n)) for n in range(size // len(piece))).encode()[:size]


def _coded(charset: str) -> Callable[[int], bytes]:
    item = "<div><p>区块 网页 存档 新闻</p><ul><li>更新<li>历史</ul></div>\n"
    head = f'<meta charset="{charset}">' if charset != "utf-16" else ""

    def make(size: int) -> bytes:
        return (head + item * (size // len(item.encode(charset)))).encode(charset)

    return make


def _random_bytes(size: int) -> bytes:
    return random.Random(SEED).randbytes(size)


def _random_tags(size: int) -> bytes:
    """Tags opened and closed in no order at all."""
    chance = random.Random(SEED)
    names = "div p b i a table tr td ul li form select option script style svg template h1 span font".split()
    tags = [f"<{name}>" for name in names] + [f"</{name}>" for name in names] + ["text ", "<!--", "-->"]
    return "".join(chance.choices(tags, k=size // 5)).encode()[:size]


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "nested div": _repeated("<div>"),
    "nested div, closed": _repeated("<div>", "</div>"),
    "nested div with text": _repeated("<div>x"),
    "nested lists": _repeated("<ul><li>x"),
    "unclosed p": _repeated("<p>word "),
    "unclosed attribute": _repeated('<div class="x '),
    "siblings": _repeated("<p>word word</p>"),
    "different siblings": _numbered("<p>word # word</p>\n"),
    "empty elements": _repeated("<div></div>"),
    "`<` flood": _repeated("<"),
    "`</` flood": _repeated("</"),
    "`<!` flood": _repeated("<!"),
    "`>` flood": _repeated(">"),
    "& flood": _repeated("&"),
    "quotes": _repeated("<a b='\""),
    "many attributes": lambda size: b"<div " + _numbered("a#=1 ")(size) + b">",
    "comments": _repeated("<!-- - -->"),
    "unclosed comments": _repeated("<!--"),
    "nested tables": _repeated("<table>"),
    "tables with cells": _repeated("<table><tr><td>"),
    "text fostered out of a table": lambda size: b"<table>" + _repeated("x<tr>")(size),
    "misnested b i": _repeated("<b><i></b>x"),
    "open formatting": _repeated("<b>", "<p>x"),
    "misnested a": _repeated("<a><div>"),
    "nested form, select": _repeated("<form><select><option>x"),
    "nested svg": _repeated("<svg><g>"),
    "nested template": _repeated("<template>"),
    "open scripts": _repeated("<script>"),
    "random tags": _random_tags,
    "NULs": lambda size: b"<html>" + bytes(size),
    "NULs in tags": _repeated("<d\0iv>\0"),
    "random bytes": _random_bytes,
    "random bytes as HTML": lambda size: b"<html><body>" + _random_bytes(size),
    "one text": lambda size: b"<p>" + _repeated("word ")(size),
    "white space": lambda size: b"<p>" + _repeated(" \r\n")(size),
    "GB18030": _coded("gb18030"),
    "Shift_JIS": lambda size: '<meta charset="shift_jis"><p>新聞</p>'.encode("shift_jis") * (size // 40),
    "UTF-16": _coded("utf-16"),
}


def hostile_row(name: str, make: Callable[[int], bytes], level: int) -> Row:
    """Time an input at half and at full size, and see whether its pieces join."""
    half, full = make(SIZE // 2), make(SIZE)
    half_time, full_time = _least_seconds((half, full), level)
    cut = partition(full, level)
    if not joins(full, cut):
        return Row(f"{name}: does not join", (), at_most(float("inf"), MOST_GROWTH))
    growth = full_time / half_time
    figures = f"{len(cut.blocks)}", f"{half_time * 1000:.0f}", f"{full_time * 1000:.0f}", f"{growth:.2f}"
    return Row(name, figures, at_most(growth, MOST_GROWTH))


def _least_seconds(bodies: Sequence[bytes], level: int) -> list[float]:
    """Return the least time of each body in several tries, more of them if they are short.

    The bodies take turns, so that other work of the machine disturbs all of them.
    """
    rounds: list[list[float]] = []
    while len(rounds) < 3 or (sum(map(sum, rounds)) < 2 and len(rounds) < 15):
        rounds.append([_seconds(partial(partition, body, level)) for body in bodies])
    return [max(min(times), 1e-6) for times in zip(*rounds, strict=True)]


def joins(body: bytes, cut: Partition) -> bool:
    """Return whether layout and blocks, put together again in order, are the body."""
    pieces, position = [], 0
    for block in cut.blocks:
        if not position <= block.start <= block.end:
            return False
        pieces += [body[position : block.start], body[block.start : block.end]]
        position = block.end
    return position <= len(body) and b"".join([*pieces, body[position:]]) == body


def keep_memory() -> None:
    """Start this script again with memory that is kept rather than given back to the system."""
    if not set(KEPT_MEMORY) <= set(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEPT_MEMORY)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, default=150, help="pages parsed for the speed")
    parser.add_argument("--level", type=int, default=3, help="level of the partition")
    parser.add_argument("--fresh-memory", action="store_true", help="leave the C library as it is")
    options = parser.parse_args()
    if not options.fresh_memory:
        keep_memory()
    pages = read_index(options.data)
    chosen = random.Random(SEED).sample(pages, min(options.pages, len(pages)))
    bodies = [page[-1].file.read_bytes() for page in chosen]
    speed = speed_table(bodies, options.level)
    hostile = []
    for name, make in HOSTILE.items():
        print(f"\r{name:40}", end="", file=sys.stderr, flush=True)
        hostile.append(hostile_row(name, make, options.level))
    print(file=sys.stderr)
    sizes = (f"ms for {SIZE // 2_000_000} MB", f"ms for {SIZE // 1_000_000} MB")
    return report(speed, Table("hostile input", ("blocks", *sizes, "ratio"), hostile))


if __name__ == "__main__":
    sys.exit(main())
