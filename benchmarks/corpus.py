"""The pages of a corpus in the form of WCXB: html/ID.html, with the URL in ground-truth/ID.json."""

from __future__ import annotations

import json
from pathlib import Path

from common import ROOT  # noqa: F401  the checkout itself, installed or not

from archivebot.urls import canonical_url


def documents(data: Path, most: int) -> list[tuple[str, bytes]]:
    """Return the first pages of a corpus, each URL once, sorted by their names."""
    found: dict[str, bytes] = {}
    for file in sorted((data / "html").glob("*.html")):
        truth = json.loads((data / "ground-truth" / f"{file.stem}.json").read_text("utf-8"))
        url = truth["url"] or f"http://{file.stem}.example/"
        found.setdefault(canonical_url(url), file.read_bytes())
        if len(found) == most:
            break
    return list(found.items())
