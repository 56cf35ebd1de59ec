"""Writes the tables of docs/performance.md, each between `<!-- NAME -->` and `<!-- /NAME -->`."""

from __future__ import annotations

import re
from pathlib import Path

from tables import Report

DOCUMENT = Path(__file__).parents[1] / "docs/performance.md"

_PLACE = re.compile(r"^<!-- ([\w-]+) -->\n(.*?)^<!-- /\1 -->$", re.MULTILINE | re.DOTALL)


def places(text: str) -> dict[str, str]:
    """Return what stands between each pair of markers, by name.

    >>> places("Before.\\n<!-- crawl -->\\n| 1 |\\n<!-- /crawl -->\\nAfter.\\n<!-- a comment -->")
    {'crawl': '| 1 |\\n'}
    """
    return {found[1]: found[2] for found in _PLACE.finditer(text)}


def written(text: str, name: str, content: str) -> str:
    """Return the text with other content between the markers of a name; all else stays.

    Raises KeyError if it has no such markers.

    >>> written("<!-- a -->\\n<!-- /a -->\\n<!-- b -->\\n2\\n<!-- /b -->", "a", "1\\n")
    '<!-- a -->\\n1\\n<!-- /a -->\\n<!-- b -->\\n2\\n<!-- /b -->'
    """
    if name not in places(text):
        raise KeyError(f"no markers <!-- {name} --> and <!-- /{name} -->")
    return _PLACE.sub(
        lambda found: f"<!-- {name} -->\n{content}<!-- /{name} -->" if found[1] == name else found[0], text
    )


def content(report: Report, run: str) -> str:
    """Return what stands between the markers: the tables, and how they were made."""
    missing = f" Not installed: {', '.join(report.missing)}." if report.missing else ""
    parts = [*(table.markdown() for table in report.tables), f"*{run}*{missing}"]
    return "".join(f"\n{part}\n" for part in parts) + "\n"
