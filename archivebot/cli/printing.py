"""What commands print: tables, JSON documents, the age of what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from wcwidth import ljust, rjust, width

from archivebot.archive import ArchiveReader
from archivebot.models import Capture
from archivebot.terminal import harmless, say, say_json, tell

TIME = "%Y-%m-%d %H:%M:%S"  # how times are shown

_BREAKS = str.maketrans("\t\n", "  ")  # in a cell they would part what belongs together


def tell_age(archive: ArchiveReader, shown: Capture, when: datetime | None) -> datetime | None:
    """Tell that a page is gone whose older version is shown; return since when, or None.

    ``when`` is the time that was asked for: what was gone by then counts.
    """
    since = archive.gone_since(shown.url, when)
    if since:
        version = f"version {shown.number} of" if shown.number else "what was captured at"
        tell(f"{shown.url}: gone since {since:{TIME}}; this is {version} {shown.captured_at:{TIME}}")
    return since


def print_json(document: Any) -> None:
    """Print one JSON document."""
    say_json(document, indent=1)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns; columns of numbers and sizes to the right, empty cells or not.

    A column is as wide as a terminal shows its cells: a Chinese character takes two columns of the
    terminal, a combining accent none.

    >>> print_table(["name", "n"], [["a", 5], ["bb", 10], ["中", ""]])
    name   n
    a      5
    bb    10
    中
    """
    cells = [["-" if cell is None else _cell(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    pads = [rjust if all(_is_number(row[index]) for row in cells) else ljust for index in range(len(head))]
    for row in (list(head), *cells):
        padded = (pad(cell, wide) for pad, cell, wide in zip(pads, row, widths, strict=True))
        say("  ".join(padded).rstrip())


def _cell(value: object) -> str:
    return harmless(str(value).translate(_BREAKS))  # measured as it will be shown


def _is_number(cell: str) -> bool:
    return cell in ("", "-") or cell.replace(".", "").partition(" ")[0].isdigit()
