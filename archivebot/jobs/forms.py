"""The search for forms in archived pages: its three stages as functions over parts of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.forms.find import search_forms
from archivebot.forms.history import FormVersion, form_versions
from archivebot.forms.record import FormRecord
from archivebot.forms.stages import feature_words, is_relevant
from archivebot.hypertext import read
from archivebot.jobs.partitions import over
from archivebot.markup.media import media_of
from archivebot.models import Capture
from archivebot.storage.edges import Edge
from archivebot.topic.profile import TopicProfile
from archivebot.topic.relevance import PageScorer
from archivebot.urls import host_part, parse_seed, site_of, urlkey


@dataclass(frozen=True, slots=True)
class Sighting:
    """The forms of a page at a time; none if no form was found, and a ``reason`` if it is damaged."""

    url: str
    when: datetime
    forms: tuple[FormRecord, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of a search for forms: number of pages, sightings of forms, damaged versions."""

    pages: int
    forms: int
    damaged: int


def scan_all(
    archive: Archive, config: ArchiveConfig, topic: TopicProfile | None = None, *, strict: bool = False
) -> Scanned:
    """Find forms in the pages of an archive, on all cores, and store them.

    With ``strict`` only pages are read for which a link promises a search form.
    """
    wanted = promised(archive.links.all()) if strict else None
    unread: list[CorruptObject] = []
    pages = archive.visits.pages(None, unread.append)
    urls = [url for url in pages if wanted is None or url in wanted]
    damaged, count = len(unread), 0
    for sightings in over(archive, partial(scan, topic=topic), urls, config):
        for sighting in sightings:
            damaged += bool(sighting.reason)
            count += len(sighting.forms)
            found = [record.found() for record in sighting.forms]
            archive.forms.add(site_of(sighting.url), sighting.url, found, sighting.when)
    return Scanned(len(urls), count, damaged)


def promised(edges: Iterable[Edge]) -> set[str]:
    """Stage 1: return the pages for which a link promises a search form."""
    return {edge.target for edge in edges if feature_words(edge.anchor, edge.target)}


def scan(archive: ArchiveReader, urls: Sequence[str], topic: TopicProfile | None = None) -> list[Sighting]:
    """Stages 2 and 3 for one part: find the forms in all versions of pages (with a topic: of those on it)."""
    scorer = PageScorer(topic) if topic else None
    return [found for url in urls for found in _sightings(archive, url, scorer)]


def kept_forms(archive: ArchiveReader, site: str | None, domain: str | None) -> list[FormVersion]:
    """Return the forms that the archive keeps: those of the site of a URL, and about a domain, if given."""
    wanted = host_part(urlkey(parse_seed(site))) if site else None
    return [
        form
        for form in form_versions(archive.forms.all())
        if wanted in (None, host_part(urlkey(form.kept.page))) and domain in (None, form.record.domain)
    ]


def as_on_page(archive: ArchiveReader, form: FormVersion) -> FormRecord:
    """Return a form with the whole values of the page on which it was last seen, else as it is stored.

    The last capture of the page is read, and if the form is not on it, the capture on which it was seen.
    """
    pages = archive.forms.pages(form.kept.site, form.record.signature)
    url, _, last = max(pages, key=lambda seen: seen[2])
    for when in (None, last):
        try:
            found = _forms(archive, archive.at(url, when), None)
        except (CorruptObject, NotArchived):
            continue
        for record in found:
            if record.signature == form.record.signature:
                return record
    return form.record


def _sightings(archive: ArchiveReader, url: str, scorer: PageScorer | None) -> Iterator[Sighting]:
    """Yield the forms of each version of a page, at its first and its last capture."""
    seen: dict[str, list[Capture]] = {}
    for capture in archive.captures(url):
        if capture.number is not None and capture.digest and not capture.quality:
            seen.setdefault(capture.digest, []).append(capture)
    for captures in seen.values():
        try:
            forms = _forms(archive, captures[0], scorer)
        except CorruptObject as error:
            yield Sighting(url, captures[0].captured_at, reason=str(error))
            continue
        for when in sorted({captures[0].captured_at, captures[-1].captured_at}):
            yield Sighting(url, when, forms)


def _forms(archive: ArchiveReader, capture: Capture, scorer: PageScorer | None) -> tuple[FormRecord, ...]:
    body, content_type = archive.document(capture)
    media = media_of(body, content_type)
    if not media.is_page:
        return ()
    found = tuple(search_forms(body, media.charset, capture.url))
    if scorer is None or not found:
        return found
    page = read(body, media.charset, capture.url, context=True)
    text = "\n".join((page.text, *(record.text for record in found)))
    return found if is_relevant(scorer.score(page.title, text).value) else ()
