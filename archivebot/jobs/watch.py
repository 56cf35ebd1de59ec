"""Watching: judges the captures of an archive by rules, and sends the alerts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from archivebot.archive import ArchiveReader
from archivebot.config import WatchConfig, beside
from archivebot.exceptions import CorruptObject
from archivebot.fields.changes import shown
from archivebot.jobs.changes import origins, state_change, telling
from archivebot.jobs.damage import Damaged, fail
from archivebot.models import (
    REQUISITE,
    Attribute,
    AttributeChange,
    BlockChange,
    Capture,
    Change,
    ChangeKind,
    Kind,
    SiteChange,
)
from archivebot.units import amount
from archivebot.watch.alert import Alert, Match, alerts
from archivebot.watch.change import WatchedChange
from archivebot.watch.delivery import Tally, deliver
from archivebot.watch.file import Rules
from archivebot.watch.findings import Conditions, described, findings, lasting
from archivebot.watch.outbox import Outbox
from archivebot.watch.rule import Rule

Seen = Callable[[str], datetime | None]


@dataclass(frozen=True, slots=True)
class Watched:
    """The alerts of a run, what the outputs took, and whether it was the first run, which judges nothing.

    ``elsewhere`` counts the alerts that wait for rules files that are no more, by their paths: a renamed file
    is a new file.
    """

    alerts: list[Alert]
    outputs: dict[str, Tally] = field(default_factory=dict)
    first: bool = False
    elsewhere: dict[str, int] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Yield what was done, in lines for a person."""
        if self.first:
            yield "watching from now on; --test shows what the rules would have sent before"
        elif not self.alerts:
            yield "no alerts"
        elif not self.outputs:
            yield f"{amount(len(self.alerts), 'alert')} without an output: scrapy serve shows them at /alerts"
        for path, count in self.elsewhere.items():
            yield f"{path} has {amount(count, 'alert')} waiting and was renamed: rename it back to send them"
        for name, tally in self.outputs.items():
            waits = f", {tally.waiting} waiting: {tally.error}" if tally.waiting else ""
            yield f"{name}: {tally.sent} sent{waits}"


def past(
    archive: ArchiveReader, rules: Rules, since: datetime | None, config: WatchConfig, damaged: Damaged
) -> Watched:
    """Return the alerts that rules would have sent since a time, or ever."""
    matches, _ = _judged(archive, rules.rules, lambda url: since, damaged)
    return Watched(alerts(matches, archive.position().archive, rules.path, config.watch_server))


def begin(archive: ArchiveReader, archive_uri: str, rules: Rules, damaged: Damaged = fail) -> None:
    """Note the state that later captures change, unless a run of the rules file did so before."""
    with Outbox(beside(archive_uri, "watch"), archive.position().archive, rules.path) as outbox:
        if not outbox.run:
            _note_state(archive, outbox, damaged)


def watch(
    archive: ArchiveReader,
    archive_uri: str,
    rules: Rules,
    config: WatchConfig,
    damaged: Damaged,
    *,
    again: bool = False,
) -> Watched:
    """Judge what was captured since the last run, and send what waits; ``again``: also what is not due yet.

    The first run of a rules file sends nothing: what it finds is the state that later captures change.
    Raises Conflict if another run judged the same captures meanwhile.
    """
    identity = archive.position().archive
    with Outbox(beside(archive_uri, "watch"), identity, rules.path) as outbox:
        first = not outbox.run
        if first:
            _note_state(archive, outbox, damaged)
            found = []
        else:
            matches, seen = _judged(archive, rules.rules, outbox.seen, damaged)
            found = alerts(matches, identity, rules.path, config.watch_server)
            outputs = {rule.name: rule.send for rule in rules.rules}
            outbox.record(((alert, outputs[alert.rule]) for alert in found), seen)
        if again:
            outbox.make_due(datetime.now(UTC))
        sent = deliver(outbox, rules.outputs.values(), partial(datetime.now, UTC))
        elsewhere = {path: count for path, count in outbox.elsewhere().items() if not os.path.exists(path)}
        return Watched(found, sent, first, elsewhere)


def _note_state(archive: ArchiveReader, outbox: Outbox, damaged: Damaged) -> None:
    outbox.record((), {url: last.captured_at for url, last in _last(archive, datetime.now(UTC), damaged)})


def _last(archive: ArchiveReader, now: datetime, damaged: Damaged) -> Iterator[tuple[str, Capture]]:
    """Yield each page with its last capture that is not later than ``now``: a clock may have been ahead."""
    for url in archive.visits.pages(None, partial(damaged, "a page")):
        try:
            last = archive.last(url)
            if last and last.captured_at > now:
                past = (each for each in reversed(archive.captures(url)) if each.captured_at <= now)
                last = next(past, None)
        except CorruptObject as error:
            damaged(url, error)
            continue
        if last:
            yield url, last


def _judged(
    archive: ArchiveReader, rules: Iterable[Rule], seen: Seen, damaged: Damaged
) -> tuple[list[Match], dict[str, datetime]]:
    """Return the matches in new captures, and the last capture of each page that has new ones.

    A requisite of pages is not a page of its own. A page whose versions cannot be read is passed to
    ``damaged``, and is judged again by the next run. If the clock was ahead when a page was judged, a run
    finds nothing new in it, and later runs judge what was captured since.
    """
    matches: list[Match] = []
    times: dict[str, datetime] = {}
    now = datetime.now(UTC)
    for url, last in _last(archive, now, damaged):
        since = seen(url)
        if since is not None and last.captured_at <= since <= now:
            continue
        watching = [rule for rule in rules if rule.watches(url) and last.origin != REQUISITE]
        try:
            page = PageChanges(archive, url, last.captured_at) if watching else None
            matches += [each for rule in watching if page for each in page.matches(rule, since)]
        except CorruptObject as error:
            damaged(url, error)
            continue
        times[url] = last.captured_at
    explained = list(_explained(archive, matches, times, damaged))
    return [each for each in explained if each.change.url in times], times


def _explained(
    archive: ArchiveReader, matches: Sequence[Match], times: dict[str, datetime], damaged: Damaged
) -> Iterator[Match]:
    """Yield matches, those of new pages with the origin of the page; damaged pages leave ``times``."""
    origin = origins(archive, [each.change.url for each in matches if each.change.kind is SiteChange.NEW])
    for match in matches:
        change = match.change
        if change.kind is not SiteChange.NEW:
            yield match
            continue
        try:
            reason = origin(change.url)
        except CorruptObject as error:
            damaged(change.url, error)
            times.pop(change.url, None)
            continue
        yield replace(match, change=replace(change, reason=reason), reason=match.reason or reason)


class PageChanges:
    """The changes of one page up to a time, from each capture that shows its state to a later one."""

    def __init__(self, archive: ArchiveReader, url: str, until: datetime | None = None) -> None:
        self._archive, self._url = archive, url
        captures = (each for each in telling(archive.captures(url)) if not each.pruned)
        self._captures = [each for each in captures if until is None or each.captured_at <= until]
        self._known: dict[tuple[int, int], WatchedChange | None] = {}

    def matches(self, rule: Rule, since: datetime | None) -> Iterator[Match]:
        """Yield the changes that match a rule and were decided by captures after a time.

        A change is decided when ``persist`` captures in a row show it. The return from a state that fewer
        captures showed is none: the change to that state was not reported.
        """
        for index in range(len(self._captures) - rule.persist + 1):
            last = index + rule.persist - 1
            if since is not None and self._captures[last].captured_at <= since:
                continue
            found = self._findings(rule, index, index)
            if not all(found) or self._returns(rule, index):
                continue
            later = [self._findings(rule, index, other) for other in range(index + 1, last + 1)]
            kept = lasting(found, later)
            change = self._known[index, index]
            if all(kept) and change:
                # The texts of all matching pages together would fill the memory.
                yield Match(rule.name, replace(change, blocks=(), attributes=()), described(kept))

    def _returns(self, rule: Rule, index: int) -> bool:
        """Return whether a capture shows the state that lasted before the last few captures.

        "Few" are fewer than ``persist``, and that state lasted as long or is the first one.
        """
        for end in range(index - 2, max(index - rule.persist, 0) - 1, -1):
            begin = end
            while begin and end - begin + 1 < rule.persist and not all(self._findings(rule, begin, begin)):
                begin -= 1
            if not begin or end - begin + 1 >= rule.persist:
                found = self._findings(rule, end + 1, index)
                change = self._known[end + 1, index]
                is_content = change and change.kind in (SiteChange.CHANGED, SiteChange.TOUCHED)
                return change is None or bool(is_content and not all(found))
        return False

    def _findings(self, rule: Rule, first: int, last: int) -> Conditions:
        """Return what a rule finds in the change from the state before ``first`` to the capture ``last``."""
        now = self._captures[last]
        then = self._captures[first - 1] if first else now
        touched = now.kind is Kind.TOUCHED and then.kind.has_content  # else the page is back
        if first == last and touched and not rule.wants(SiteChange.TOUCHED):
            return [[]]  # most versions: their furniture need not be compared again
        if (first, last) not in self._known:
            self._known[first, last] = self._change(first, now)
        change = self._known[first, last]
        return findings(rule, change) if change else [[]]

    def _change(self, first: int, now: Capture) -> WatchedChange | None:
        earlier = self._captures[:first]
        before = next((each for each in reversed(earlier) if each.kind.has_content), None)
        found = state_change(before, earlier[-1] if earlier else None, now)
        if found is None:
            return None
        kind, reason = found
        change = WatchedChange(
            self._url, kind, before.number if before else None, now.number, now.captured_at, reason
        )
        if kind in (SiteChange.CHANGED, SiteChange.BACK) and before and before.digest != now.digest:
            return self._compared(change, before, now)
        return self._new(change, now) if kind is SiteChange.NEW else change

    def _compared(self, change: WatchedChange, before: Capture, now: Capture) -> WatchedChange:
        delta = self._archive.delta(self._url, self._archive.seen(before), self._archive.seen(now))
        compared = replace(change, blocks=delta.changes, attributes=delta.attributes)
        if change.kind is SiteChange.BACK:
            return compared
        kind = SiteChange.CHANGED if delta.kind is ChangeKind.CONTENT else SiteChange.TOUCHED
        return replace(compared, kind=kind, reason=delta.reason)

    def _new(self, change: WatchedChange, now: Capture) -> WatchedChange:
        version = self._archive.seen(now)
        blocks = (
            BlockChange(
                Change.ADDED,
                placed.lineage,
                placed.topic,
                None,
                text,
                0.0,
                ChangeKind.FURNITURE if placed.label and placed.label.is_furniture else ChangeKind.CONTENT,
                placed.label,
            )
            for placed, text in self._archive.blocks(version)
        )
        values = (
            AttributeChange(Attribute.FIELD, each.name, "", shown(each), each.counts)
            for each in self._archive.fields(version)
        )
        return replace(change, blocks=tuple(blocks), attributes=tuple(values))
