"""The search for near-duplicates in a whole archive: reads the pages and groups similar ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain

from archivebot.archive import ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.content.page import content
from archivebot.duplicates.loose import LooseSurvey, signature
from archivebot.duplicates.rule import fingerprint
from archivebot.duplicates.survey import (
    PAGE,
    KnownBlock,
    Match,
    Member,
    Reading,
    Survey,
    content_blocks,
    known_blocks,
)
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.fingerprint.minhash import Signature
from archivebot.jobs.damage import Damaged, fail
from archivebot.jobs.partitions import over
from archivebot.markup.media import media_of
from archivebot.models import Capture, Fingerprint

BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The latest version of a page as a survey compares it; without a fingerprint it could not be read."""

    url: str
    known: Fingerprint | None = None
    blocks: Sequence[KnownBlock] = ()
    signature: Signature | None = None


def survey_of(
    archive: ArchiveReader,
    blocks: bool,
    done: Callable[[int, int], None],
    config: ArchiveConfig | None = None,
    damaged: Damaged = fail,
) -> tuple[Survey, int]:
    """Survey the latest version of each page of an archive, in the order of the first captures.

    Returns the survey and the number of pages whose latest version could not be read. A page whose captures
    cannot be read is passed to ``damaged``. Calls ``done`` with the number of pages read and their total.
    With the ``config`` of the archive the pages are read on all cores.
    """
    survey = Survey(lambda url: _reading(archive, url, blocks=True))
    urls = _first_seen(archive, damaged)
    stored = {} if blocks else _stored(archive, urls)
    unread = [url for url in urls if url not in stored]
    read = chain.from_iterable(over(archive, partial(surveyed, blocks=blocks), unread, config))
    unreadable = 0
    for number, url in enumerate(urls):
        done(number, len(urls))
        page = Surveyed(url, stored[url]) if url in stored else next(read)
        if page.known is None:
            unreadable += 1
        else:
            survey.add(url, page.known, page.blocks)
    return survey, unreadable


def loose_survey_of(
    archive: ArchiveReader,
    least: float,
    done: Callable[[int, int], None],
    config: ArchiveConfig | None = None,
    damaged: Damaged = fail,
) -> tuple[LooseSurvey, int]:
    """Survey the main text of each page of an archive, for pairs with a minimum Jaccard coefficient.

    Every page is read, because no signature is stored. Returns the same as :func:`survey_of`.
    """
    survey = LooseSurvey(lambda url: _reading(archive, url, blocks=False).text, least)
    urls = _first_seen(archive, damaged)
    unreadable = 0
    for number, page in enumerate(chain.from_iterable(over(archive, signed, urls, config))):
        done(number, len(urls))
        if page.known is None:
            unreadable += 1
        else:
            survey.add(page.url, page.known, page.signature)
    return survey, unreadable


def surveyed(archive: ArchiveReader, urls: Sequence[str], *, blocks: bool) -> list[Surveyed]:
    """Read one part of the pages for :func:`survey_of`."""
    found = ((url, _read(archive, url, blocks)) for url in urls)
    return [
        Surveyed(url, fingerprint(page.text), known_blocks(page.blocks)) if page else Surveyed(url)
        for url, page in found
    ]


def signed(archive: ArchiveReader, urls: Sequence[str]) -> list[Surveyed]:
    """Read one part of the pages for :func:`loose_survey_of`."""
    pages = []
    for url in urls:
        page = _read(archive, url, blocks=False)
        known = fingerprint(page.text) if page else None
        mark = signature(page.text, known) if page and known else None
        pages.append(Surveyed(url, known, signature=mark))
    return pages


def _stored(archive: ArchiveReader, urls: Iterable[str]) -> dict[str, Fingerprint]:
    """Return the stored fingerprints of the latest versions of pages; what cannot be read is left out."""
    found: dict[str, Fingerprint] = {}
    pages = frozenset(urls)
    with suppress(CorruptObject):
        found.update(
            (url, known)
            for url, number, known in archive.fingerprints.all()
            if url in pages and (last := _shown(archive, url, None)) and number == (last.number or 0)
        )
    return found


def _first_seen(archive: ArchiveReader, damaged: Damaged) -> list[str]:
    """Return the pages with content in the order of their first captures; walls do not count."""
    seen = []
    for url in archive.visits.pages(None, partial(damaged, "a page")):
        try:
            first, last = (_shown(archive, url, when) for when in (BEGINNING, None))
            if archive.version_count(url) and last and not last.quality:
                seen.append(((first or last).captured_at, url))
        except CorruptObject as error:
            damaged(url, error)
    return [url for _, url in sorted(seen)]


def _shown(archive: ArchiveReader, url: str, when: datetime | None) -> Capture | None:
    """Return the capture that shows a page at a time; None if the archive does not hold its bytes."""
    try:
        return archive.at(url, when)
    except NotArchived:
        return None


def _read(archive: ArchiveReader, url: str, blocks: bool) -> Reading | None:
    """Read the latest version of a page, None if it is damaged."""
    try:
        return _reading(archive, url, blocks)
    except CorruptObject:
        return None


def _reading(archive: ArchiveReader, url: str, blocks: bool) -> Reading:
    """Read the latest version of a page; the result is empty if it is not markup."""
    capture = archive.at(url, None)
    body, content_type = archive.document(capture)
    media = media_of(body, content_type)
    if not media.is_markup:
        return Reading("")
    page = content(body, media.charset)
    found = content_blocks(archive.blocks(archive.seen(capture)), page.ranges) if blocks else ()
    # Furniture may hold running text, such as a copyright note.
    kept = [(block, text) for block, text in found if not (block.label and block.label.is_furniture)]
    return Reading(page.text, kept)


def groups_of(matches: Sequence[Match]) -> Iterator[list[Member]]:
    """Yield the clusters of members, similar directly or through others: pages first, the largest first."""
    near: dict[Member, list[Member]] = {}
    for match in matches:
        near.setdefault(match.a, []).append(match.b)
        near.setdefault(match.b, []).append(match.a)
    cluster: dict[Member, int] = {}
    for number, member in enumerate(near):
        waiting = [member]
        while waiting:
            if (found := waiting.pop()) not in cluster:
                cluster[found] = number
                waiting += near[found]
    groups: dict[int, list[Member]] = {}
    for member in near:
        groups.setdefault(cluster[member], []).append(member)
    yield from sorted(groups.values(), key=lambda group: (group[0].scope != PAGE, -len(group)))
