"""Alerts: what a rule reports, the pages with one change together, with addresses of their deltas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

from archivebot.exceptions import CorruptObject
from archivebot.models import SiteChange
from archivebot.terminal import harmless
from archivebot.text import collapse
from archivebot.timestamps import timestamp
from archivebot.urls import host_of
from archivebot.watch.change import WatchedChange

# Pages with the same change are one alert if none of them was captured this long after the one before: one
# crawl reaches the pages of a site within a day, and crawls that are further apart are judged apart, too.
TOGETHER = timedelta(days=1)

MOST_NAMED = 20  # pages named in a mail or a feed


@dataclass(frozen=True, slots=True)
class Match:
    """A change of a page that a rule reports, and the reason."""

    rule: str
    change: WatchedChange
    reason: str

    @property
    def group(self) -> tuple[str, str, str, str]:
        """What the changes of one alert share."""
        return self.rule, host_of(self.change.url), self.change.kind, self.reason


@dataclass(frozen=True, slots=True)
class ChangedAddress:
    """One page of an alert: what happened to it, and the address of ``scrapy serve`` that shows it."""

    url: str
    before: int | None
    after: int | None
    captured_at: str
    link: str

    @classmethod
    def of(cls, change: WatchedChange, server: str) -> Self:
        """Return the page of a change; ``server`` is the address of ``scrapy serve``."""
        link = f"{server.rstrip('/')}/{_place(change)}"
        return cls(change.url, change.before, change.after, timestamp(change.captured_at), link)

    def record(self) -> dict[str, Any]:
        """Return the page as a record."""
        return {
            "url": self.url,
            "from": self.before,
            "to": self.after,
            "captured_at": self.captured_at,
            "link": self.link,
        }


@dataclass(frozen=True, slots=True)
class Alert:
    """One message of a rule. Its id is the same whenever its rules file judges the same changes again."""

    id: str
    rule: str
    kind: SiteChange
    reason: str
    pages: tuple[ChangedAddress, ...]

    @property
    def title(self) -> str:
        """One line without characters that could end it or disguise it."""
        first = self.pages[0].url
        others = len(self.pages) - 1
        more = f" and {others} more" if others else ""
        return collapse(harmless(f"{self.rule}: {first}{more} {_VERBS[self.kind]}"))

    @property
    def text(self) -> str:
        """The reason and the addresses of the pages, line by line."""
        lines = [self.reason, ""]
        for page in self.pages[:MOST_NAMED]:
            lines += [page.url, f"  {page.link}"]
        if len(self.pages) > MOST_NAMED:
            lines.append(f"and {len(self.pages) - MOST_NAMED} more")
        return "\n".join(collapse(harmless(line)) if line.strip() else "" for line in lines) + "\n"

    @property
    def when(self) -> datetime:
        """The time of the last of its captures."""
        last = max(page.captured_at for page in self.pages)
        return datetime.strptime(last, "%Y%m%d%H%M%S").replace(tzinfo=UTC)

    def record(self) -> dict[str, Any]:
        """Return the alert as it is stored and sent."""
        return {
            "id": self.id,
            "rule": self.rule,
            "kind": self.kind.value,
            "reason": self.reason,
            "title": self.title,
            "link": self.pages[0].link,
            "pages": [page.record() for page in self.pages],
        }

    @classmethod
    def from_json(cls, text: str, outbox: Path) -> Self:
        """Return the alert of a record in an outbox; raises CorruptObject if it is none."""
        try:
            found = json.loads(text)
            pages = tuple(
                ChangedAddress(page["url"], page["from"], page["to"], page["captured_at"], page["link"])
                for page in found["pages"]
            )
            alert = cls(found["id"], found["rule"], SiteChange(found["kind"]), found["reason"], pages)
            alert.when  # noqa: B018 (raises ValueError if no page has a time)
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptObject(f"the outbox {outbox} has a damaged alert: move the file away") from error
        return alert


_VERBS = {
    SiteChange.NEW: "is new",
    SiteChange.CHANGED: "changed",
    SiteChange.TOUCHED: "changed beside its content",
    SiteChange.GONE: "is gone",
    SiteChange.MOVED: "moved",
    SiteChange.BACK: "is back",
}


def alerts(matches: Iterable[Match], archive: str, rules: Path, server: str) -> list[Alert]:
    """Return the alerts of a rules file for matches in an archive of that identity, the oldest first."""
    found = (_alert(each, archive, rules, server) for each in _grouped(matches))
    return sorted(found, key=lambda alert: (alert.when, alert.id))


def _grouped(matches: Iterable[Match]) -> Iterator[list[Match]]:
    """Yield the matches that are one alert: of one group, none of them long after the one before."""
    ordered = sorted(matches, key=lambda each: (each.group, each.change.captured_at, each.change.url))
    for _, same in groupby(ordered, key=lambda each: each.group):
        together: list[Match] = []
        for each in same:
            if together and each.change.captured_at - together[-1].change.captured_at > TOGETHER:
                yield together
                together = []
            together.append(each)
        yield together


def _alert(matches: list[Match], archive: str, rules: Path, server: str) -> Alert:
    first = matches[0]
    pages = tuple(ChangedAddress.of(each.change, server) for each in matches)
    named = [
        archive,
        str(rules),
        *first.group,
        *([page.url, page.captured_at, page.before, page.after] for page in pages),
    ]
    name = str(uuid5(NAMESPACE_URL, json.dumps(named)))
    return Alert(name, first.rule, first.change.kind, first.reason, pages)


def _place(change: WatchedChange) -> str:
    """Return where ``scrapy serve`` shows a change: a delta, a version, or the time line of a page.

    >>> when = datetime(2026, 1, 1, tzinfo=UTC)
    >>> changes = [("changed", 1, 2), ("new", None, 1), ("gone", 1, None), ("back", 1, 1)]
    >>> found = (WatchedChange("http://a.example/", *change, when, "") for change in changes)
    >>> [_place(change).partition("?")[0] for change in found]
    ['delta', 'version', 'page', 'page']
    """
    if change.after in (None, change.before):
        return f"page?{urlencode({'url': change.url})}"
    if change.before is None:
        return f"version?{urlencode({'url': change.url, 'number': change.after})}"
    return f"delta?{urlencode({'url': change.url, 'from': change.before, 'to': change.after})}"
