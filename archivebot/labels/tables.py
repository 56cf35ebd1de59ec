"""Distinguishes data tables from layout tables."""

from __future__ import annotations

from collections.abc import Iterator

from archivebot.markup.seen import Box

# A data table has more than this many regular rows; two are as often a picture beside its text.
FEW_ROWS = 2
GROUPS = frozenset("tbody tfoot thead".split())
CELLS = frozenset("td th".split())
MOST_COLUMNS = 1000  # the maximum span of a cell in browsers


def data_tables(page: Box) -> dict[int, int]:
    """Return the regular rows of all data tables of a page, by the identity of their boxes."""
    return {id(box): regular_rows(box) for box in page.walk() if box.node.tag == "table" and is_data(box)}


def is_data(table: Box) -> bool:
    """Return whether a table holds data: regular rows, and no table inside a cell, no control."""
    return regular_rows(table) > FEW_ROWS and not table.controls and not holds_table(table)


def regular_rows(table: Box) -> int:
    """Return the number of rows from the first with two columns until one has another number of columns.

    Earlier rows of one column are captions and skipped. Header cells count as cells, and a cell counts for as
    many columns as it spans.
    """
    columns = count = 0
    for row in _rows(table):
        width = sum(_span(cell) for cell in row.parts if cell.node.tag in CELLS)
        if not count and width < 2:
            continue
        if count and width != columns:
            break
        columns, count = width, count + 1
    return count


def holds_table(table: Box) -> bool:
    """Return whether a table holds another one."""
    boxes = table.walk()
    next(boxes)
    return any(box.node.tag == "table" for box in boxes)


def _rows(table: Box) -> Iterator[Box]:
    for part in table.parts:
        if part.node.tag == "tr":
            yield part
        elif part.node.tag in GROUPS:
            yield from (row for row in part.parts if row.node.tag == "tr")


def _span(cell: Box) -> int:
    span = cell.attribute("colspan").strip()
    return min(int(span), MOST_COLUMNS) or 1 if span.isascii() and span.isdigit() else 1
