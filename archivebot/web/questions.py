"""The questions to one page or to its versions that programs ask over HTTP, and the totals of the archive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from archivebot.archive import ArchiveReader
from archivebot.documents.document import document_text
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import media_of
from archivebot.markup.words import wordless
from archivebot.models import Capture
from archivebot.records import archive_record, delta_record, history_record, life_record, version_record
from archivebot.records.question import TIME, URL, WORDS, Given, Parameter, Part, Question, count
from archivebot.records.shapes import list_of, ref
from archivebot.replay.address import moment
from archivebot.timestamps import end_of_second, timestamp
from archivebot.web.timeline import time_lines
from archivebot.web.versions import first_capture, two_versions

_URL = Parameter("url", URL, "the page; http:// may be left out", is_required=True)
_VERSION = count(999_999_999, least=1)


def questions() -> tuple[Question, ...]:
    """Return the questions that a server answers by itself."""
    return (
        Question(
            "sites",
            "The sites of the archive, and what each of them stores",
            ref("Archive"),
            _sites,
            reads_all=True,
        ),
        Question(
            "captures",
            "The captures of a page, oldest first",
            list_of(ref("Capture")),
            _captures,
            (
                _URL,
                Parameter("after", TIME, "continues after this second"),
                Parameter(
                    "limit", count(1000, 100, least=1), "captures to return; those of a second stay together"
                ),
            ),
        ),
        Question(
            "version",
            "A version of a page: its text, its blocks with labels, its headers as received, its fields",
            ref("Version"),
            _asked_version,
            (
                _URL,
                Parameter("number", _VERSION, "the number of the version"),
                Parameter("at", TIME, "the version at this time; the last version by default"),
            ),
        ),
        Question(
            "delta",
            "What changed between two versions of a page, block by block",
            ref("Delta"),
            _delta,
            (
                _URL,
                Parameter("from", _VERSION, "the earlier version; by default the version before"),
                Parameter("to", _VERSION, "the later version; by default the last"),
            ),
        ),
        Question(
            "block",
            "One block of a page through time",
            ref("BlockHistory"),
            _block,
            (_URL, Parameter("lineage", WORDS, "the block, such as aac27b48-7", is_required=True)),
        ),
    )


def _sites(archive: ArchiveReader, given: Given) -> dict[str, Any]:
    return archive_record(archive.uri, archive.totals())


def _asked_version(archive: ArchiveReader, given: Given) -> dict[str, Any]:
    url = archive.resolve(given["url"])
    if given["number"] is not None:
        capture = first_capture(archive, archive.version(url, given["number"]))
    else:
        capture = archive.at(url, end_of_second(moment(given["at"])) if given["at"] else None)
    return _version(archive, capture)


def _delta(archive: ArchiveReader, given: Given) -> dict[str, Any]:
    url = archive.resolve(given["url"])
    before, after = two_versions(archive, url, given["from"], given["to"])
    captures = [first_capture(archive, each) for each in (after, before)]
    kinds = (wordless(*archive.document(each)) for each in captures)
    kind = next(filter(None, kinds), None)
    found = archive.delta(url, before, after)
    shown = replace(found, changes=()) if kind else found  # its blocks have no words
    return delta_record(shown, time_lines().of(archive, url).gone_since, kind)


def _captures(archive: ArchiveReader, given: Given) -> Part:
    url = archive.resolve(given["url"])
    after = end_of_second(moment(given["after"])) if given["after"] else None
    found = archive.captures(url, after, given["limit"])
    if len(found) < given["limit"]:
        return Part([history_record(each) for each in found])
    last = end_of_second(found[-1].captured_at)
    rest = archive.captures(url, found[-1].captured_at, 1)
    while rest and rest[-1].captured_at <= last:
        found += rest
        rest = archive.captures(url, rest[-1].captured_at, 1)
    following = {"after": timestamp(last)} if rest else None
    return Part([history_record(each) for each in found], following)


def _version(archive: ArchiveReader, capture: Capture) -> dict[str, Any]:
    stored, brought = archive.seen(capture), archive.brought(capture)
    body, declared = archive.body(capture), content_type(brought.headers)
    media = media_of(body, declared)
    if media.is_document:
        title, text = document_text(body, media.type)
    else:
        title = archive.readings.title(body, declared)
        # A page that was too large to be cut is too large to be read again.
        text = archive.readings.of(body, declared).main_text if stored.segmenter else ""
    return version_record(
        capture,
        brought,
        archive.fields(stored),
        () if wordless(body, declared) else archive.blocks(stored),
        versions=archive.version_count(capture.url),
        media=media.name,
        title=title,
        text=text,
    )


def _block(archive: ArchiveReader, given: Given) -> dict[str, Any]:
    url = archive.resolve(given["url"])
    return life_record(url, given["lineage"], archive.block_history(url, given["lineage"]))
