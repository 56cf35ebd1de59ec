"""Dates of publication, beside htmldate.

    python benchmarks/dates.py DATA/articles-dev DATA/wcxb-dev ...

Pages of these folders that are labelled with a date, in labels.json (`published`) or ground-truth/ID.json
(`publish_date`). Recall is the share of pages with the day of the label, precision that of the days given.
htmldate, if it can be imported, is asked for the original date. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import Row, data_folder, report

from archivebot.content.page import content

# Bounds for the first folder; of the labels of the others some are of the last change of a page.
LEAST_RECALL = 0.88
LEAST_PRECISION = 0.9


@dataclass(frozen=True)
class Page:
    """A page with its labelled day, such as 2024-02-29."""

    kind: str
    markup: str
    day: str


def labelled(folder: Path) -> Iterator[Page]:
    if (folder / "labels.json").exists():
        for label in json.loads((folder / "labels.json").read_text("utf-8")):
            if day := label.get("published"):
                yield Page("article", _markup(folder / "html" / label["file"]), day[:10])
    for file in sorted((folder / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        if day := truth["ground_truth"].get("publish_date"):
            kind = truth["_internal"]["page_type"]["primary"]
            yield Page(kind, _markup(folder / "html" / f"{file.stem}.html"), day[:10])


def _markup(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def our_day(markup: str) -> str:
    found = content(markup).published
    return found.isoformat() if found else ""


def htmldate_day() -> Callable[[str], str]:
    from htmldate import find_date  # type: ignore[import-not-found,unused-ignore]

    return lambda markup: find_date(markup, original_date=True) or ""


def told(find: Callable[[str], str], pages: Sequence[Page]) -> tuple[list[str], float]:
    """Return the days that were found, and the CPU seconds."""
    started, found = time.process_time(), []
    for page in pages:
        try:
            found.append(find(page.markup))
        except Exception:
            found.append("")
    return found, time.process_time() - started


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("more", type=Path, nargs="*", help="more such folders")
    options = parser.parse_args()
    code = 0
    for number, folder in enumerate([options.data, *options.more]):
        pages = list(labelled(folder))
        ours, seconds = told(our_day, pages)
        peers = {"htmldate": htmldate_day()} if importlib.util.find_spec("htmldate") else {}
        theirs = {name: told(find, pages)[0] for name, find in peers.items()}
        rows = [Row("CPU a page, main text and language included", f"{1000 * seconds / len(pages):.0f} ms")]
        for kind in ("article", ""):
            chosen = [index for index, page in enumerate(pages) if kind in page.kind]
            rows += _rows(
                kind or "all", [pages[i].day for i in chosen], [ours[i] for i in chosen], bound=not number
            )
            for name, days in theirs.items():
                rows += _rows(
                    f"{kind or 'all'}, {name}", [pages[i].day for i in chosen], [days[i] for i in chosen]
                )
        code |= report(f"dates of {len(pages)} pages of {folder.name}", rows)
    return code


def _rows(name: str, wanted: Sequence[str], found: Sequence[str], *, bound: bool = False) -> list[Row]:
    right = sum(day == said for day, said in zip(wanted, found, strict=True))
    recall, precision = right / len(wanted), right / max(sum(map(bool, found)), 1)
    return [
        Row(
            f"{name}: recall",
            f"{right} of {len(wanted)}",
            "",
            recall,
            LEAST_RECALL if bound else None,
            least=True,
        ),
        Row(f"{name}: precision", "", "", precision, LEAST_PRECISION if bound else None, least=True),
    ]


if __name__ == "__main__":
    sys.exit(main())
