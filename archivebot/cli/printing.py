"""The output of commands: tables, CSV, JSON documents, the age of a shown page."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import StringIO
from itertools import chain
from typing import Any

from wcwidth import ljust, rjust, width, wrap

from archivebot.archive import ArchiveReader
from archivebot.models import Capture
from archivebot.terminal import (
    ADDED,
    CHANGED,
    HEAD,
    MOVED,
    PLAIN,
    REMOVED,
    cell,
    columns,
    harmless,
    note,
    write,
    write_json,
    write_pieces,
)
from archivebot.versioning.presence import redirect

TIME = "%Y-%m-%d %H:%M:%S"  # the format of times

# The cells of tables that have a colour: what happened to a page or to a word.
KINDS = {
    **dict.fromkeys(("new", "added", "back"), ADDED),
    **dict.fromkeys(("gone", "removed", "failed"), REMOVED),
    **dict.fromkeys(("changed",), CHANGED),
    **dict.fromkeys(("moved", "redirect"), MOVED),
}

# The fewest columns into which the texts of a last column are wrapped; with less room they have a line of
# their own, after this indentation and two blanks.
LEAST_WRAPPED = 16
INDENT = "  "

_NUMBER = re.compile(r"-?|[\d.]+( ([kMGT]?B|min|[hd]))?")  # none, or with the unit of a size or a time
_BREAKS = str.maketrans("\t\n", "  ")  # in a cell they would break the table


def note_age(archive: ArchiveReader, shown: Capture, when: datetime | None) -> datetime | None:
    """Print a note if the page of a shown version is gone, or leads elsewhere; return since when it is gone.

    ``when`` is the requested time: what came later does not count. Returns None if the page is not gone.
    """
    since = archive.gone_since(shown.url, when)
    led = redirect(archive.visits.backwards(shown.url, when))
    if since or led:
        version = f"version {shown.number} of" if shown.number else "what was captured at"
        why = (
            f"gone since {since:{TIME}}"
            if led is None
            else f"led to {led.location} at {led.captured_at:{TIME}}"
        )
        note(f"{shown.url}: {why}; this is {version} {shown.captured_at:{TIME}}")
    return since


def print_json(document: Any) -> None:
    """Print one JSON document."""
    write_json(document, indent=1)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns; columns of numbers and sizes are aligned to the right.

    The width of a cell is its width on a terminal: a Chinese character takes two columns, a combining accent
    none. On a terminal that is too narrow the texts of the last column take several lines, or a line of
    their own.

    >>> print_table(["name", "n"], [["a", 5], ["bb", 10], ["中", ""]])
    name   n
    a      5
    bb    10
    中
    """
    cells = [["-" if cell is None else _cell(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    pads = [rjust if all(_is_number(row[index]) for row in cells) else ljust for index in range(len(head))]
    begin = sum(widths[:-1]) + 2 * (len(head) - 1)
    room = (columns() or begin + widths[-1]) - begin
    is_text = pads[-1] is ljust
    for number, row in enumerate((list(head), *cells)):
        parts = [row[-1]]
        if is_text and row[-1] and width(row[-1]) > room:
            parts = _wrapped(row[-1], room) if room >= LEAST_WRAPPED else ["", row[-1]]
        for part, text in enumerate(parts):
            shown = [*(row[:-1] if part == 0 else [""] * (len(row) - 1)), text]
            padded = [pad(cell, wide) for pad, cell, wide in zip(pads, shown, widths, strict=True)]
            if part and room < LEAST_WRAPPED:
                padded = [INDENT, text]
            _write_row(padded, is_head=number == 0)


def _wrapped(cell: str, room: int) -> list[str]:
    """Return the lines of a cell; a word that does not fit, such as a URL, is not broken."""
    return wrap(cell, room, break_long_words=False, break_on_hyphens=False) or [""]


def _write_row(cells: list[str], *, is_head: bool) -> None:
    while len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    cells[-1] = cells[-1].rstrip()
    if is_head:
        write_pieces([("  ".join(cells), HEAD)])
    else:
        between = [text for cell in cells for text in ("  ", cell)][1:]
        write_pieces([(text, KINDS.get(text.strip(), PLAIN)) for text in between])


def print_csv(head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows as comma-separated values (RFC 4180); None is an empty cell.

    A text that a spreadsheet takes for a formula begins with an apostrophe.

    >>> print_csv(["url", "title"], [["http://a.example/", 'a, "b"'], ["http://b.example/", "=1"], [1, None]])
    url,title
    http://a.example/,"a, ""b\"""
    http://b.example/,'=1
    1,
    """
    for row in chain([head], rows):
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(
            cell(value) if isinstance(value, str) else value for value in row
        )
        write(line.getvalue())


def _cell(value: object) -> str:
    return harmless(str(value).translate(_BREAKS))  # measured in its printed form


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None
