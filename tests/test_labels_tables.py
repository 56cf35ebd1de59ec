"""Data tables apart from layout tables: acceptance fact 5 of the reference, with our corrections."""

from __future__ import annotations

import pytest

from archivebot.labels.tables import data_tables, regular_rows
from archivebot.markup.seen import Sight, look
from archivebot.markup.tree import Source


def seen(rows: str) -> Sight:
    page = look(Source.of(f"<table>{rows}</table>".encode(), "utf-8"))
    assert page is not None
    return page.sight


def rows(*widths: int, cell: str = "<td>x</td>") -> str:
    return "".join(f"<tr>{cell * width}</tr>" for width in widths)


@pytest.mark.parametrize(
    ("markup", "count", "data"),
    [
        ("", 0, False),
        (rows(2, 2), 2, False),
        (rows(2, 2, 2), 3, True),
        (rows(1, 2, 2, 2), 3, True),
        (rows(1, 1, 1, 1), 0, False),
        (rows(2, 2, 3), 2, False),
        (rows(3, 3, 3, 1, 3), 3, True),
        (rows(2, cell="<th>x</th>") + rows(2, 2), 3, True),
        ("<caption>c</caption><thead>" + rows(2) + "</thead><tbody>" + rows(2, 2) + "</tbody>", 3, True),
        ("<tr><td colspan=2>x<td>y</tr>" + rows(3, 3), 3, True),
        ("<tr><td colspan=0>x<td>y</tr>" + rows(2, 2), 3, True),
        ("<tr><td colspan='²'>x<td>y</tr>" + rows(2, 2), 3, True),
        (f"<tr><td colspan={'9' * 5000}>x</tr>" * 3, 3, True),
        (rows(2, 2, 2, cell="<td><input name=a></td>"), 3, False),
        (rows(2, 2) + "<tr><td>x<td><table><tr><td>y</table></tr>", 3, False),
    ],
)
def test_regular_rows_make_data(markup: str, count: int, data: bool) -> None:
    page = seen(markup)
    table = page.tables[0]
    assert regular_rows(table) == count
    assert data_tables(page).get(table) == (count if data else None)
