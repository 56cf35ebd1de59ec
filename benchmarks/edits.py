"""Edits that matter to a reader: one word of the main text, a price, the availability of a product.

    python benchmarks/edits.py DATA/wcxb-dev [--pages N] [--show]

The data is a folder in the form of WCXB: html/ID.html and ground-truth/ID.json with the main content of each
page as text. In each page up to six random lines of that text that occur once in its HTML are edited, one at
a time: one word is replaced, or each digit of a number. In lines with a price, anywhere in the page, the
first digit of the amount is changed; on product pages also the price in the metadata; "in stock" and similar
texts become their opposite. Each page is archived, then visited again once for each edit; the capture of that
visit should be ``changed``, not ``touched`` as after a change of furniture.

No rule was tuned on the second half of the sites, "held". Exit code 1 if a bound fails.
"""

from __future__ import annotations

import html
import json
import random
import re
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from common import data_folder
from tables import Row, Table, at_most, report

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import ChangeKind, Outcome, Page

MOST_MISSED = 0.02  # of all edits of a word
MOST_SHORT_MISSED = 0.05  # of those in lines under SHORT characters
MOST_PRICES_MISSED = 0.1
SHORT, MIDDLE = 20, 40

OFFERED = {
    "price": "annotated prices",
    "own price": "prices of products by their metadata",
    "stock": "in stock, sold out",
}
EDITS = 6
PRICES = 2
MOST_PRICE = 60  # characters of a line that shows a price
WORDS = "amber basalt cedar delta ember fjord granite harbour islet juniper kelp larch meadow nectar".split()
STOCK = {
    "in stock": "Sold out",
    "out of stock": "In stock",
    "sold out": "In stock",
    "currently unavailable": "In stock",
    "available now": "Sold out",
}

# What no reader sees is blanked out before lines are looked for, offsets staying as they are.
_HIDDEN = re.compile(
    r"<!--.*?-->|<(head|script|style|title|template|textarea|select|svg|iframe|object|audio|video|canvas|math)\b"
    r".*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = "a|abbr|b|bdi|big|cite|code|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|u|var"
_EDGE = re.compile(rf"<(?!/?(?:{_INLINE})\b)[^<>]*>|\0+", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"(\s+|&nbsp;|<[^<>]*>)")
_BULLET = re.compile(r"^(?:[-*#•]+|\d+\.)\s+")
_PRICE = re.compile(
    r"(?:[$€£¥₹]\s?|\b(?:USD|EUR|GBP|CHF)\s?)\d[\d.,]*|\d[\d.,]*\s?(?:€|kr\b|zł|USD\b|EUR\b|GBP\b|₽)"
)
_OWN_PRICE = re.compile(
    r'"price"\s*:\s*"?(\d+\.?\d*)|(?:product:price:amount|itemprop="price")"?[^<>]*content="(\d+\.?\d*)'
)

Span = tuple[int, int]
Lines = Mapping[str, Sequence[Span]]


@dataclass(frozen=True, slots=True)
class Annotated:
    """A page with the lines of its annotated main content; ``held`` where no rule was tuned on its site."""

    name: str
    type: str
    held: bool
    source: str
    main: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One edited line of a page, and whether we called that a change of content."""

    name: str
    type: str
    held: bool
    kind: str
    line: str
    seen: bool


def pages(folder: Path) -> Iterator[Annotated]:
    for file in sorted((folder / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        if main := truth["ground_truth"].get("main_content"):
            url = truth.get("url") or file.stem
            source = (folder / "html" / f"{file.stem}.html").read_bytes().decode("utf-8", "replace")
            site = ".".join((urlsplit(url).hostname or file.stem).split(".")[-2:])
            lines = (" ".join(line.split()) for line in main.splitlines())
            yield Annotated(
                file.stem,
                truth["_internal"]["page_type"]["primary"],
                zlib.crc32(site.encode()) % 2 == 0,
                source,
                tuple(dict.fromkeys(filter(None, lines))),
            )


def lines_of(source: str) -> Lines:
    """Find the visible lines of a page, each with the places that it stands at."""
    shown = _HIDDEN.sub(lambda match: "\0" * len(match[0]), source)
    edges = [0, *(place for match in _EDGE.finditer(shown) for place in match.span()), len(shown)]
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for span in zip(edges[::2], edges[1::2], strict=True):
        if text := " ".join(html.unescape(_TAG.sub("", shown[slice(*span)])).split()):
            found[text].append(span)
    return found


def edits(page: Annotated) -> Iterator[tuple[str, str, str]]:
    """Yield the edits of a page one at a time: the kind, the line, and the source with it edited."""
    lines = lines_of(page.source)
    for make in (word_edits, price_edits, stock_edits):
        yield from (edit for edit in make(page, lines) if edit[2] != page.source)


def word_edits(page: Annotated, lines: Lines) -> Iterator[tuple[str, str, str]]:
    chance = random.Random(page.name)
    made = 0
    for line in chance.sample(page.main, len(page.main)):
        at = lines.get(line) or lines.get(_BULLET.sub("", line)) or ()
        if len(at) != 1 or made == EDITS:
            continue
        start, end = at[0]
        pieces = _WORD.split(page.source[start:end])
        words = [index for index, piece in enumerate(pieces) if piece.isalnum()]
        if words:
            index = chance.choice(words)
            pieces[index] = _other(pieces[index], chance)
            made += 1
            yield "word", line, page.source[:start] + "".join(pieces) + page.source[end:]


def _other(word: str, chance: random.Random) -> str:
    if word.isascii() and word.isdigit():
        return "".join(str((int(digit) + 3) % 10) for digit in word)
    return chance.choice([other for other in WORDS if other != word.lower()])


def price_edits(page: Annotated, lines: Lines) -> Iterator[tuple[str, str, str]]:
    shown = [line for line in lines if len(line) <= MOST_PRICE and _PRICE.search(line)]
    for line in [line for line in shown if line in page.main][:PRICES]:
        yield "price", line, _each(page.source, lines[line], _PRICE)
    if page.type == "product":
        for match in _OWN_PRICE.finditer(page.source):
            amount = _amount(match[1] or match[2])
            if priced := [line for line in shown if amount.search(line)]:
                places = [place for line in priced for place in lines[line]]
                yield "own price", priced[0], _each(page.source, places, amount)
                return


def _amount(stated: str) -> re.Pattern[str]:
    """Return what finds an amount as pages write it: 1299.00 as 1,299, 1.299,00 and so on."""
    whole, _, cents = stated.partition(".")
    grouped = f"{int(whole):,}".replace(",", "[.,'’\\s]?")
    return re.compile(rf"(?<![\d.,]){grouped}(?:[.,]{(cents or '00').ljust(2, '0')[:2]})?(?!\d|[.,]\d)")


def _each(source: str, places: Sequence[Span], amount: re.Pattern[str]) -> str:
    """Replace the first digit of the first amount at each place."""
    for start, end in sorted(places, reverse=True):
        if match := amount.search(source, start, end):
            at = next(index for index in range(*match.span()) if source[index].isdigit())
            source = f"{source[:at]}{int(source[at]) % 9 + 1}{source[at + 1 :]}"
    return source


def stock_edits(page: Annotated, lines: Lines) -> Iterator[tuple[str, str, str]]:
    for line, places in lines.items():
        other = STOCK.get(line.lower().rstrip("."))
        if other and (line in page.main or page.type == "product"):
            source = page.source
            for start, end in reversed(places):
                source = source[:start] + other + source[end:]
            yield "stock", line, source
            return


def told(page: Annotated) -> Iterator[Edit]:
    """Archive a page, visit it once for each edit, and yield whether that is a change of content."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    headers = (("Content-Type", "text/html; charset=utf-8"),)

    def visit(source: str, days: int) -> Page:
        body, when = source.encode("utf-8", "replace"), first + timedelta(days=days)
        return Page(f"http://{page.name}.example/", when, Outcome.FETCHED, 200, headers, body)

    with tempfile.TemporaryDirectory() as folder:
        archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
        archive.add(archive.segment(visit(page.source, 0)))
        for kind, line, source in edits(page):
            change = archive.segment(visit(source, 1)).change
            seen = change is None or change.kind is ChangeKind.CONTENT
            yield Edit(page.name, page.type, page.held, kind, line, seen)
        archive.close()


def table(name: str, found: Sequence[Edit]) -> Table:
    words = [edit for edit in found if edit.kind == "word"]
    others = [edit for edit in found if edit.kind != "word"]
    short = [edit for edit in words if len(edit.line) < SHORT]
    middle = [edit for edit in words if SHORT <= len(edit.line) < MIDDLE]
    types = sorted({edit.type for edit in words})
    rows = [
        _row("one word", words, MOST_MISSED),
        _row(f"in lines under {SHORT} characters", short, MOST_SHORT_MISSED),
        _row(f"in lines of {SHORT} to {MIDDLE - 1}", middle),
        *(_row(f"on pages of type {each}", [edit for edit in words if edit.type == each]) for each in types),
        _row("prices and stock", others, MOST_PRICES_MISSED),
        *(_row(name, [edit for edit in others if edit.kind == kind]) for kind, name in OFFERED.items()),
    ]
    return Table(name, ("edits", "called furniture", "share"), rows)


def _row(name: str, found: Sequence[Edit], bound: float | None = None) -> Row:
    missed = sum(not edit.seen for edit in found)
    share = missed / max(len(found), 1)
    cells = str(len(found)), str(missed), f"{share:.3f}"
    return Row(name, cells, None if bound is None else at_most(share, bound))


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, help="only so many pages, evenly over the folder")
    parser.add_argument(
        "--show", action="store_true", help="print the edits of the tuned half that are missed"
    )
    options = parser.parse_args()
    data = list(pages(options.data))
    if options.pages:
        data = data[:: max(1, len(data) // options.pages)]
    found = [edit for page in data for edit in told(page)]
    if options.show:
        for edit in found:
            if not (edit.seen or edit.held):
                print(edit.type, edit.name, edit.kind, edit.line[:80], sep="  ")
    return report(
        table("sites not tuned on", [edit for edit in found if edit.held]),
        table("the others", [edit for edit in found if not edit.held]),
    )


if __name__ == "__main__":
    sys.exit(main())
