"""What commands print: tables, JSON documents, the age of what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from archivebot.archive import Archive
from archivebot.models import Capture
from archivebot.terminal import say, say_json, tell

TIME = "%Y-%m-%d %H:%M:%S"  # how times are shown

_BREAKS = str.maketrans("\t\n", "  ")  # in a cell they would part what belongs together


def tell_age(archive: Archive, shown: Capture, when: datetime | None) -> datetime | None:
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

    >>> print_table(["name", "n"], [["a", 5], ["bb", 10], ["c", ""]])
    name   n
    a      5
    bb    10
    c
    """
    cells = [["-" if cell is None else str(cell).translate(_BREAKS) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    right = [all(_is_number(row[index]) for row in cells) for index in range(len(head))]
    for row in (list(head), *cells):
        columns = zip(row, widths, right, strict=True)
        say(
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width) for cell, width, number in columns
            ).rstrip()
        )


def _is_number(cell: str) -> bool:
    return cell in ("", "-") or cell.replace(".", "").partition(" ")[0].isdigit()
