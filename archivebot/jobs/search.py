"""Searching the words of all blocks through time: where they were, when they came and when they went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from archivebot.archive import ArchiveReader
from archivebot.archive.placement import lineage_id
from archivebot.exceptions import CorruptObject, StorageError, UsageError
from archivebot.jobs.listing import Filter
from archivebot.models import Label
from archivebot.records.question import Part
from archivebot.search.events import Event, Presence, WordChange
from archivebot.search.reader import IndexReader
from archivebot.search.schema import ANEW
from archivebot.storage.times import FOR_EVER, milliseconds, moment
from archivebot.timestamps import timestamp
from archivebot.topic.relevance import PageScorer
from archivebot.urls import host_part, urlkey

# Lives of blocks that a search of a command looks at, and a search of a server: 100,000 take a second. With
# 8 clients and a million blocks the 95th percentile of searches is 192 ms if they look at 5,000, and 118 ms
# with 2,000.
MOST_LIVES, MOST_LIVES_SERVED = 100_000, 2_000

# To judge a page by a topic takes about 20 ms, so that fewer pages are judged: 200 for a server.
LIVES_PER_JUDGED = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words of a search, and which of their events: of a kind, between two times, on a site or topic.

    ``words`` are words and phrases in quotes that one block must have, ``site`` a URL, ``label`` the label of
    the block. The oldest event is the first, or the ``newest``; ``skip`` events are left out, and at most
    ``limit`` returned. At most so many ``lives`` of blocks are looked at.
    """

    words: str
    change: WordChange | None = None
    since: datetime | None = None
    until: datetime | None = None
    site: str | None = None
    label: Label | None = None
    topic: PageScorer | None = None
    newest: bool = False
    skip: int = 0
    limit: int = 100
    lives: int = MOST_LIVES

    def of(self, presences: Iterable[Presence]) -> list[Event]:
        """Return the events to list, in their order.

        Two times limit the events of a kind. Without a kind, they limit the time for which a page had the
        words, of which begin and end are listed.
        """
        since = milliseconds(self.since) if self.since else -FOR_EVER
        until = milliseconds(self.until) if self.until else FOR_EVER
        found: Iterable[Event]
        if self.change is WordChange.ADDED:
            found = (each.added for each in presences)
        elif self.change is WordChange.REMOVED:
            found = (end for each in presences if (end := each.removed))
        else:
            some = [each for each in presences if each.overlaps(since, until)]
            found = [each.added for each in some] + [end for each in some if (end := each.removed)]
        if self.change:
            found = (each for each in found if since <= each.time <= until)
        return sorted(found, reverse=self.newest)


def search(archive: ArchiveReader, path: str, wanted: Wanted) -> Part:
    """Return the events of a search as records, with notes on what the index at a path does not know.

    Raises UsageError if the words cannot be searched for, NotArchived if there is no index, and StorageError
    if it is damaged or belongs to another archive.
    """
    if wanted.since and wanted.until and wanted.since > wanted.until:
        raise UsageError("the search begins after its end: exchange from and to")
    with IndexReader(path) as index:
        notes = _age(archive, index)
        site = host_part(urlkey(wanted.site)) if wanted.site else None
        presences, are_all = index.find(wanted.words, wanted.lives, site, wanted.label)
        if not are_all:
            notes.append(
                f"more than {wanted.lives} blocks have these words: only those indexed last were looked at;"
                " search for a phrase, on a site or with a label"
            )
        try:
            events = wanted.of(presences)
            if wanted.topic:
                events, are_judged = _on_topic(archive, index, wanted, events)
                if not are_judged:
                    notes.append("not all pages were judged by the topic: search for rarer words")
            found = events[wanted.skip :]
            shown = found[: wanted.limit]
            texts = index.texts([each.text for each in shown])
            records = [_record(index.url(each.page), each, texts[each.text]) for each in shown]
        except (TypeError, OverflowError) as error:  # a number that no time can be
            raise CorruptObject(f"{index.uri} is damaged: {error} ({ANEW})") from error
    more = {"skip": wanted.skip + wanted.limit} if len(found) > len(shown) else None
    return Part(records, more, tuple(notes))


def _age(archive: ArchiveReader, index: IndexReader) -> list[str]:
    """Return a note if the archive has changed since the index was updated; raises StorageError."""
    now, then = archive.position(), index.position()
    if then.archive not in ("", now.archive) or then.number > now.number:
        raise StorageError(
            f"{index.uri} is the index of another archive, or of a later state: scrapy index makes it anew"
        )
    if then.number < 0:
        return ["the index is not complete: scrapy index completes it"]
    return ["the index is behind the archive: scrapy index updates it"] if then.number < now.number else []


def _on_topic(
    archive: ArchiveReader, index: IndexReader, wanted: Wanted, events: list[Event]
) -> tuple[list[Event], bool]:
    """Return the first events on pages of a topic, one more than wanted, and whether enough were judged."""
    only = Filter(topic=wanted.topic)
    judged: dict[int, bool] = {}
    found: list[Event] = []
    for event in events:
        if event.page not in judged:
            if len(judged) == wanted.lives // LIVES_PER_JUDGED:
                return found, False
            judged[event.page] = only.is_on_topic(archive, index.url(event.page))
        if judged[event.page]:
            found.append(event)
        if len(found) > wanted.skip + wanted.limit:
            break
    return found, True


def _record(url: str, event: Event, text: str) -> dict[str, object]:
    return {
        "url": url,
        "lineage": lineage_id(url, event.lineage),
        "version": event.version,
        "captured_at": timestamp(moment(event.time)),
        "text": text,
        "change": event.change.value,
    }
