"""Dates of publication, beside htmldate.

    python benchmarks/dates.py DATA/articles-dev DATA/wcxb-dev ...

Pages of these folders that are labelled with a date, in labels.json (`published`) or ground-truth/ID.json
(`publish_date`). Recall is the share of pages with the day of the label, precision the share of right days
among the days found. htmldate, if it can be imported, returns the original date. The CPU time of archivebot
includes main text and language. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from common import data_folder
from tables import Row, Table, at_least, report

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
    from htmldate import find_date

    return lambda markup: find_date(markup, original_date=True) or ""


PEERS = {"htmldate": htmldate_day}


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
    finders = {"archivebot": our_day} | {name: make() for name, make in PEERS.items() if find_spec(name)}
    tables = [
        table(f"{folder.name}, ", list(labelled(folder)), finders, bound=not number)
        for number, folder in enumerate([options.data, *options.more])
    ]
    return report(*tables, missing=PEERS.keys() - finders.keys())


def table(
    name: str, pages: Sequence[Page], finders: Mapping[str, Callable[[str], str]], *, bound: bool
) -> Table:
    """Compare the finders of dates on the pages of one folder."""
    found = {finder: told(find, pages) for finder, find in finders.items()}
    costs = [f"{1000 * seconds / len(pages):.0f}" for _, seconds in found.values()]
    kinds = ["article", ""] if any(page.kind != "article" for page in pages) else ["article"]
    rows = [row for kind in kinds for row in kind_rows(kind, pages, found, bound=bound)]
    return Table(f"{name}{len(pages)} pages", tuple(found), [*rows, Row("CPU, ms a page", costs)])


def kind_rows(
    kind: str, pages: Sequence[Page], found: Mapping[str, tuple[list[str], float]], *, bound: bool
) -> Iterator[Row]:
    """Yield recall and precision of each finder on the pages of one type, or of all."""
    chosen = [index for index, page in enumerate(pages) if kind in page.kind]
    days = [[told[index] for index in chosen] for told, _ in found.values()]
    right = [sum(told[n] == pages[index].day for n, index in enumerate(chosen)) for told in days]
    recalls = [hits / max(len(chosen), 1) for hits in right]
    precisions = [hits / max(sum(map(bool, told)), 1) for hits, told in zip(right, days, strict=True)]
    for name, shares, least in (
        ("recall", recalls, LEAST_RECALL),
        ("precision", precisions, LEAST_PRECISION),
    ):
        title = f"{name} on {len(chosen)} of {'type ' + kind if kind else 'all types'}"
        yield Row(title, [f"{share:.3f}" for share in shares], at_least(shares[0], least) if bound else None)


if __name__ == "__main__":
    sys.exit(main())
