"""Alerts for content only: how many a rule sends over a history, beside plain text diff, and what it misses.

    python benchmarks/watch.py DATA/history-dev [--pages 100]

All versions are archived in their order. A rule for changed content then judges the past, as
`scrapy watch --test` does. A plain diff, as in simple watchers, sends an alert for each version whose visible
text differs from that of the version before. Pages with one change are one alert of ours. A content change is
a pair of versions that judged.tsv calls so (see alarms.py); it is missed if no alert names the page at the
time of the later version. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from common import Version, in_time_order
from judged import chosen_pages, distinct, history, judged, named_pair
from tables import Row, Table, at_most, report

from archivebot import Archive, ArchiveConfig, Page
from archivebot.config import WatchConfig
from archivebot.exceptions import CorruptObject
from archivebot.jobs.watch import past
from archivebot.models import Outcome
from archivebot.significance.reading import Reading
from archivebot.timestamps import timestamp
from archivebot.watch.alert import Alert
from archivebot.watch.file import read_rules

MOST_SENT = 0.333  # of what a plain diff sends
MOST_MISSED = 0.01  # of the judged content changes

RULES = '[[rule]]\nname = "content"\nchanges = ["changed"]\n'
UTF8 = (("Content-Type", "text/html"),)


def archived(pages: Sequence[Sequence[Version]], archive: Archive) -> None:
    for version in in_time_order(pages):
        page = Page(
            url=version.url,
            captured_at=version.date,
            outcome=Outcome.FETCHED,
            status=200,
            headers=UTF8,
            body=version.file.read_bytes(),
        )
        archive.add(archive.segment(page))


def alerts(archive: Archive, folder: Path) -> list[Alert]:
    file = folder / "rules.toml"
    file.write_text(RULES, "utf-8")
    return past(archive, read_rules(str(file)), None, WatchConfig(), stop).alerts


def stop(url: str, error: CorruptObject) -> None:
    raise SystemExit(f"{url}: {error}")


def plain(page: Sequence[Version]) -> int:
    """Return how many alerts a plain diff sends about a page."""
    lines = [Reading(version.file.read_bytes()).lines for version in distinct(page)]
    return sum(before != after for before, after in pairwise(lines))


def changes(page: Sequence[Version]) -> Iterator[tuple[str, str]]:
    """Yield the judged content changes of a page, each as its URL and the time of the later version."""
    truth = judged()
    for before, after in pairwise(distinct(page)):
        _, changed = truth.get(named_pair(before, after), ("", False))
        if changed:
            yield after.url, timestamp(after.date)


def main() -> int:
    pages = chosen_pages(history(__doc__).parse_args())
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db")) as archive:
            archived(pages, archive)
            sent = alerts(archive, folder)
    named = {(page.url, page.captured_at) for alert in sent for page in alert.pages}
    wanted = {change for page in pages for change in changes(page)}
    diff = sum(map(plain, pages))
    ratio, missed = len(sent) / max(diff, 1), len(wanted - named) / max(len(wanted), 1)
    rows = [
        Row("alerts", (f"{len(sent)}", f"{diff}", f"{ratio:.3f}"), at_most(ratio, MOST_SENT)),
        Row("changed versions in them", (f"{len(named)}", f"{diff}", f"{len(named) / max(diff, 1):.3f}")),
        Row(f"missed, of {len(wanted)} judged", (f"{missed:.3f}",), at_most(missed, MOST_MISSED)),
    ]
    title = f"{sum(map(len, pages))} versions of {len(pages)} pages"
    return report(Table(title, ("archivebot", "plain diff", "ratio"), rows))


if __name__ == "__main__":
    sys.exit(main())
