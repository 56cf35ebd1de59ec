"""The output of commands: tables, CSV, JSON documents, the age of a shown page."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import StringIO
from typing import Any

from wcwidth import ljust, rjust, width

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
    harmless,
    note,
    write,
    write_json,
    write_pieces,
)

TIME = "%Y-%m-%d %H:%M:%S"  # the format of times

# The cells of tables that have a colour: what happened to a page or to a word.
KINDS = {
    **dict.fromkeys(("new", "added", "back"), ADDED),
    **dict.fromkeys(("gone", "removed", "failed"), REMOVED),
    **dict.fromkeys(("changed",), CHANGED),
    **dict.fromkeys(("moved", "redirect"), MOVED),
}

_BREAKS = str.maketrans("\t\n", "  ")  # in a cell they would break the table


def note_age(archive: ArchiveReader, shown: Capture, when: datetime | None) -> datetime | None:
    """Print a note if the page of a shown version is gone; return since when, or None.

    ``when`` is the requested time: the page counts as gone if it was gone by then.
    """
    since = archive.gone_since(shown.url, when)
    if since:
        version = f"version {shown.number} of" if shown.number else "what was captured at"
        note(f"{shown.url}: gone since {since:{TIME}}; this is {version} {shown.captured_at:{TIME}}")
    return since


def print_json(document: Any) -> None:
    """Print one JSON document."""
    write_json(document, indent=1)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns; columns of numbers and sizes are aligned to the right.

    The width of a cell is its width on a terminal: a Chinese character takes two columns, a combining accent
    none.

    >>> print_table(["name", "n"], [["a", 5], ["bb", 10], ["中", ""]])
    name   n
    a      5
    bb    10
    中
    """
    cells = [["-" if cell is None else _cell(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    pads = [rjust if all(_is_number(row[index]) for row in cells) else ljust for index in range(len(head))]
    for number, row in enumerate((list(head), *cells)):
        padded = [pad(cell, wide) for pad, cell, wide in zip(pads, row, widths, strict=True)]
        while len(padded) > 1 and not padded[-1].strip():
            padded.pop()
        padded[-1] = padded[-1].rstrip()
        between = [text for cell in padded for text in ("  ", cell)][1:]
        write_pieces([(text, KINDS.get(text.strip(), PLAIN) if number else HEAD) for text in between])


def print_csv(head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows as comma-separated values (RFC 4180); None is an empty cell.

    A text that a spreadsheet takes for a formula begins with an apostrophe.

    >>> print_csv(["url", "title"], [["http://a.example/", 'a, "b"'], ["http://b.example/", "=1"], [1, None]])
    url,title
    http://a.example/,"a, ""b\"""
    http://b.example/,'=1
    1,
    """
    for row in (head, *rows):
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(
            cell(value) if isinstance(value, str) else value for value in row
        )
        write(line.getvalue())


def _cell(value: object) -> str:
    return harmless(str(value).translate(_BREAKS))  # measured in its printed form


def _is_number(cell: str) -> bool:
    return cell in ("", "-") or cell.replace(".", "").partition(" ")[0].isdigit()
