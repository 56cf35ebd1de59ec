"""Distinguishes data tables from layout tables."""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Element

from archivebot.markup.seen import Sight, attribute

# A data table has more than this many regular rows; two are as often a picture beside its text.
FEW_ROWS = 2
GROUPS = frozenset("tbody tfoot thead".split())
CELLS = frozenset("td th".split())
MOST_COLUMNS = 1000  # the maximum span of a cell in browsers


def data_tables(page: Sight) -> dict[Element, int]:
    """Return the regular rows of all tables of a page that hold data."""
    counted = {table: regular_rows(table) for table in page.tables if may_hold_data(table, page)}
    return {table: rows for table, rows in counted.items() if rows > FEW_ROWS}


def may_hold_data(table: Element, page: Sight) -> bool:
    """Return whether a table has no table inside a cell, and no control."""
    return not page.count(table).controls and table.find("table") is None


def regular_rows(table: Element) -> int:
    """Return the number of rows from the first with two columns until one has another number of columns.

    Earlier rows of one column are captions and skipped. Header cells count as cells, and a cell counts for as
    many columns as it spans.
    """
    columns = count = 0
    for row in _rows(table):
        width = sum(_span(cell) for cell in row.children if isinstance(cell, Element) and cell.tag in CELLS)
        if not count and width < 2:
            continue
        if count and width != columns:
            break
        columns, count = width, count + 1
    return count


def _rows(table: Element) -> Iterator[Element]:
    """Yield the rows that the source has; a row that the parser adds holds the cells of no row."""
    for part in table.children:
        if isinstance(part, Element) and part.tag in GROUPS:
            yield from _rows(part)
        elif isinstance(part, Element) and part.tag == "tr" and part.source_line is not None:
            yield part


def _span(cell: Element) -> int:
    span = attribute(cell, "colspan").strip()
    return min(int(span[:9]), MOST_COLUMNS) or 1 if span.isascii() and span.isdigit() else 1
