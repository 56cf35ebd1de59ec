"""The changes of an archive: pages that are new, changed, gone, moved or back since a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.models import REQUISITE, Capture, ChangeKind, Kind, SiteChange
from archivebot.timestamps import timestamp
from archivebot.urls import host_of

# A visit of these kinds does not show the state of the page.
_UNTOLD = frozenset({Kind.FAILED, Kind.EXCLUDED, Kind.UNRESOLVED})


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """What happened to a page, between its states at the two times.

    ``before`` and ``after`` are version numbers, None without content. ``captured_at`` is the first capture
    of the later state. ``group`` is shared by the pages of one site with the same change, and empty if no
    other page has it.
    """

    url: str
    kind: SiteChange
    before: int | None
    after: int | None
    captured_at: datetime
    reason: str
    group: str = ""

    def record(self) -> dict[str, object]:
        """Return the change as a record for ``--json`` and ``--csv``."""
        return {
            "url": self.url,
            "kind": self.kind.value,
            "from": self.before,
            "to": self.after,
            "captured_at": timestamp(self.captured_at),
            "reason": self.reason,
            "group": self.group or None,
        }


def changed_pages(
    archive: ArchiveReader,
    since: datetime,
    site: str | None = None,
    *,
    content_only: bool = False,
    damaged: Callable[[str, CorruptObject], None],
) -> list[ChangedPage]:
    """Return the pages that changed after a time, sorted by urlkey; pages of one change have one group.

    ``site`` is a URL of the only site to look at. With ``content_only`` pages whose furniture alone changed
    are left out. A page that cannot be read, or whose versions cannot be, is passed to ``damaged``.
    """
    found = []
    for url in archive.visits.pages(site, partial(damaged, "a page")):
        try:
            page = changed_page(archive, url, since)
        except CorruptObject as error:
            damaged(url, error)
            continue
        if page and not (content_only and page.kind is SiteChange.TOUCHED):
            found.append(page)
    return list(grouped(list(_explained(archive, found, damaged))))


def _explained(
    archive: ArchiveReader, pages: Sequence[ChangedPage], damaged: Callable[[str, CorruptObject], None]
) -> Iterator[ChangedPage]:
    """Yield changed pages, the new ones with their origin."""
    origin = origins(archive, [page.url for page in pages if page.kind is SiteChange.NEW])
    for page in pages:
        try:
            yield replace(page, reason=origin(page.url)) if page.kind is SiteChange.NEW else page
        except CorruptObject as error:
            damaged(page.url, error)


def changed_page(archive: ArchiveReader, url: str, since: datetime) -> ChangedPage | None:
    """Return what happened to a page after a time; None if nothing did, or if it was not visited.

    A requisite is not a page. A new page has no reason yet: see :func:`origins`.
    """
    last = next(archive.visits.backwards(url), None)
    if last is None or last.captured_at <= since:
        return None
    captures = telling(archive.mementos.visits(url))
    recent = [each for each in captures if each.captured_at > since]
    if not recent:
        return None
    earlier = captures[: -len(recent)]
    now, then = recent[-1], earlier[-1] if earlier else None
    if now.origin == REQUISITE:
        return None
    before = next((each for each in reversed(earlier) if each.kind.has_content and not each.pruned), None)
    told = _told(archive, before, then, now)
    if told is None:
        return None
    kind, reason = told
    return ChangedPage(
        url, kind, before.number if before else None, now.number, _first(recent).captured_at, reason
    )


def grouped(pages: Sequence[ChangedPage]) -> Iterator[ChangedPage]:
    """Yield changed pages with a group if another page of the site changed in the same way."""
    keys = [(host_of(page.url), page.kind, page.reason) for page in pages]
    counts = Counter(keys)
    for page, key in zip(pages, keys, strict=True):
        is_change = page.kind in (SiteChange.CHANGED, SiteChange.TOUCHED)
        name = sha256("\n".join(key).encode()).hexdigest()[:8] if is_change and counts[key] > 1 else ""
        yield replace(page, group=name)


def telling(captures: Sequence[Capture]) -> list[Capture]:
    """Return the captures that show the state of their page."""
    return [capture for capture in captures if capture.kind not in _UNTOLD]


def _first(captures: Sequence[Capture]) -> Capture:
    """Return the first of the captures at the end that show the same state."""
    first = captures[-1]
    for capture in reversed(captures):
        if (_state(capture), capture.number) != (_state(first), first.number):
            break
        first = capture
    return first


def _state(capture: Capture) -> Kind:
    return Kind.REVISIT if capture.kind.has_content else capture.kind


def state_change(before: Capture | None, then: Capture | None, now: Capture) -> tuple[SiteChange, str] | None:
    """Return the change from the state ``then``, and its reason; ``before`` showed content last.

    Two different contents are ``changed``, without a reason: they have not been compared. A new page has
    no reason either: see :func:`origins`.
    """
    state = _state(now)
    if then is not None and state is _state(then) and state is not Kind.REVISIT:
        return (SiteChange.MOVED, now.location or "") if now.location != then.location else None
    if state is Kind.GONE:
        return SiteChange.GONE, f"status {now.status}"
    if state is Kind.REDIRECT:
        return (SiteChange.MOVED, now.location or "") if before else None
    if state is not Kind.REVISIT:
        return None
    if before is None:
        return SiteChange.NEW, ""
    if then is not None and _state(then) is not Kind.REVISIT:
        return SiteChange.BACK, "was gone" if then.kind is Kind.GONE else f"led to {then.location}"
    return (SiteChange.CHANGED, "") if before.digest != now.digest else None


def _told(
    archive: ArchiveReader, before: Capture | None, then: Capture | None, now: Capture
) -> tuple[SiteChange, str] | None:
    found = state_change(before, then, now)
    if before is None or found != (SiteChange.CHANGED, ""):
        return found
    change = archive.change(archive.seen(before), archive.seen(now))
    return SiteChange.CHANGED if change.kind is ChangeKind.CONTENT else SiteChange.TOUCHED, change.reason


def origins(archive: ArchiveReader, urls: Sequence[str]) -> Callable[[str], str]:
    """Return a function that returns another page that links to one of these URLs, in words.

    It raises CorruptObject if links to that URL are damaged.
    """
    try:
        sources = archive.links.sources(urls)
    except CorruptObject:  # only the pages are damaged whose own links are

        def searched(url: str) -> str:
            found = (link.source for link in archive.links_to(url, limit=2) if link.source != url)
            return _origin(next(found, None))

        return searched
    return lambda url: _origin(sources.get(url))


def _origin(source: str | None) -> str:
    return f"linked from {source}" if source else "a seed, or found without a link"
