"""The search for near-duplicates in a whole archive: reads the pages and groups similar ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from archivebot.archive import ArchiveReader
from archivebot.content.page import content
from archivebot.duplicates.loose import LooseSurvey
from archivebot.duplicates.rule import fingerprint
from archivebot.duplicates.survey import PAGE, Match, Member, Reading, Survey, content_blocks
from archivebot.exceptions import CorruptObject
from archivebot.fingerprint.clusters import clusters
from archivebot.markup.media import media_of

BEGINNING = datetime.min.replace(tzinfo=UTC)


def survey_of(archive: ArchiveReader, blocks: bool, done: Callable[[int, int], None]) -> tuple[Survey, int]:
    """Survey the latest version of each page of an archive, in the order of the first captures.

    Returns the survey and the number of pages that could not be read. Calls ``done`` with the number of pages
    read and their total.
    """
    survey = Survey(lambda url: _reading(archive, url, blocks=True))
    pages = sorted(_first_seen(archive))
    stored = {} if blocks else {(url, number): known for url, number, known in archive.fingerprints.all()}
    damaged = 0
    for number, (_, url) in enumerate(pages):
        done(number, len(pages))
        known = stored.get((url, archive.at(url, None).number or 0))
        if known:
            survey.add(url, known)
            continue
        try:
            reading = _reading(archive, url, blocks)
        except CorruptObject:
            damaged += 1
            continue
        survey.add(url, fingerprint(reading.text), reading.blocks)
    return survey, damaged


def loose_survey_of(
    archive: ArchiveReader, least: float, done: Callable[[int, int], None]
) -> tuple[LooseSurvey, int]:
    """Survey the main text of each page of an archive, for pairs with a minimum Jaccard coefficient.

    Every page is read, because no signature is stored. Returns the same as :func:`survey_of`.
    """
    survey = LooseSurvey(lambda url: _reading(archive, url, blocks=False).text, least)
    pages = sorted(_first_seen(archive))
    damaged = 0
    for number, (_, url) in enumerate(pages):
        done(number, len(pages))
        try:
            survey.add(url)
        except CorruptObject:
            damaged += 1
    return survey, damaged


def _first_seen(archive: ArchiveReader) -> Iterator[tuple[datetime, str]]:
    """Yield the pages with content, each with the time of its first capture; walls do not count."""
    for _, url in archive.pages():
        if archive.version_count(url) and not archive.at(url, None).quality:
            yield archive.at(url, BEGINNING).captured_at, url


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
    """Yield the clusters of similar members by density: pages first, the largest first."""
    members = list(dict.fromkeys(member for match in matches for member in (match.a, match.b)))
    places = {member: place for place, member in enumerate(members)}
    around = [[place] for place in range(len(members))]
    for match in matches:
        one, other = places[match.a], places[match.b]
        around[one].append(other)
        around[other].append(one)
    groups: dict[int, list[Member]] = {}
    for member, label in zip(members, clusters(len(members), around.__getitem__), strict=True):
        groups.setdefault(label, []).append(member)
    yield from sorted(groups.values(), key=lambda group: (group[0].scope != PAGE, -len(group)))
