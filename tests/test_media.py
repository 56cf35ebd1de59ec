"""What a body is, and that everything that reads bodies agrees."""

from __future__ import annotations

import asyncio
import gzip
import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response

from archivebot.archive import Archive
from archivebot.commands.text import Command
from archivebot.config import ArchiveConfig
from archivebot.content.page import body_content
from archivebot.crawl.reading.convert import read
from archivebot.exceptions import UsageError
from archivebot.jobs.forms import scan
from archivebot.jobs.ingest import ingest
from archivebot.labels.labeller import label_blocks
from archivebot.markup.media import media_of
from archivebot.models import Block
from archivebot.quality.quality import quality
from archivebot.segmentation.segmenter import partition
from archivebot.significance.reading import Reading
from archivebot.templates.parts import parts_of
from archivebot.topic.sources import example, readable
from tests.media_cases import CASES, Case
from tests.test_ingest import record_of

TEXTS = ("page", "xml", "text", "data")
READ_DOCUMENTS = ("rtf as text",)  # the PDFs among the cases are damaged
MARKUP = ("page", "xml")

each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def url_of(case: Case) -> str:
    return f"http://media.example/{CASES.index(case)}"


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """An archive of all cases, read from a WARC file."""
    folder: Path = tmp_path_factory.mktemp("media")
    with (folder / "cases.warc.gz").open("wb") as file:
        for case in CASES:
            head = "".join(f"Content-Type: {value}\r\n" for value in case.headers)
            block = f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + case.body
            file.write(gzip.compress(record_of(block, "response", "2026-01-01T00:00:00Z", url_of(case))))
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
    (result,) = asyncio.run(ingest(archive, [folder / "cases.warc.gz"]))
    assert (result.damaged, result.error) == ([], "")
    yield archive
    archive.close()


def is_read_document(case: Case) -> bool:
    return case.name in READ_DOCUMENTS


def has_words(case: Case) -> bool:
    return case.kind in TEXTS or is_read_document(case)


def is_cut(blocks: tuple[Block, ...], body: bytes) -> bool:
    return [(block.start, block.end) for block in blocks] != [(0, len(body))]


def test_the_table_has_cases_of_every_kind() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.kind for case in CASES} == {
        *TEXTS, "document", "image", "sound", "video", "archive", "font", "binary"
    }  # fmt: skip


@each
def test_a_body_is_what_its_bytes_and_its_header_say(case: Case) -> None:
    media = media_of(case.body, case.header)
    assert (media.kind, media.charset) == (case.kind, case.charset)
    assert case.type in ("", media.type)
    assert media.is_text is (case.kind in TEXTS)
    assert media.without_text == (None if media.is_text else media.name)


@each
def test_a_crawl_follows_the_links_of_pages_and_reads_texts(case: Case) -> None:
    headers = [(b"Content-Type", value.encode()) for value in case.headers]
    found = read(Response(url_of(case), headers=headers, body=case.body), context=True, forms=True)
    assert [link.anchor for link in found.links] == [case.word] * (case.kind == "page")
    assert len(found.forms) == (case.kind == "page")
    assert (case.word in found.text) is (case.kind in ("page", "text") or is_read_document(case))


@each
def test_markup_is_cut_and_labelled(case: Case) -> None:
    found = partition(case.body, 3, case.header)
    assert found.charset == case.charset
    assert is_cut(found.blocks, case.body) is (case.kind in MARKUP)
    labels = {label.reason for label in label_blocks(case.body, found.blocks, case.header)}
    assert ("no markup" in labels) is (case.kind not in MARKUP)
    assert (parts_of(case.body, case.header) is not None) is (case.kind in MARKUP)


@each
def test_an_ingest_keeps_the_bytes_and_cuts_markup(case: Case, ingested: Archive) -> None:
    capture = ingested.at(url_of(case), None)
    version = ingested.seen(capture)
    assert ingested.document(capture) == (case.body, case.header)
    assert version.charset == case.charset
    assert is_cut(tuple(block for block, _ in ingested.blocks(version)), case.body) is (case.kind in MARKUP)


@each
def test_only_pages_are_searched_for_forms(case: Case, ingested: Archive) -> None:
    with Archive.reader(ArchiveConfig(uri=ingested.uri)) as archive:
        (found,) = scan(archive, [url_of(case)])
    assert len(found.forms) == (case.kind == "page")
    assert {form.charset for form in found.forms} <= {case.charset}


@each
def test_a_topic_judges_pages_and_texts(case: Case) -> None:
    assert readable(case.body, case.header) is (case.kind in ("page", "text") or is_read_document(case))
    if has_words(case):
        read = example(case.body, case.header, url_of(case))
        assert case.word in f"{read.title} {read.text}"
        assert bool(read.links) is (case.kind == "page")
    else:
        with pytest.raises(UsageError, match="give pages and texts"):
            example(case.body, case.header, url_of(case))


@each
def test_only_pages_can_be_walls(case: Case) -> None:
    assert (quality(200, case.body, case.header).reason == "not HTML") is (case.kind != "page")


@each
def test_what_has_a_text_is_compared_line_by_line(case: Case) -> None:
    lines = "\n".join(Reading(case.body, case.header).lines)
    assert (case.word in lines) is has_words(case)
    assert ("SHA-256" in lines) is not has_words(case)


@each
def test_scrapy_text_prints_texts_and_names_the_rest(
    case: Case, ingested: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _text(ingested, case, capsys)
    content = body_content(case.body, case.header)
    assert (printed["title"], printed["text"]) == (content.title, content.text)
    assert (case.word in f"{content.title} {content.text}") is has_words(case)
    assert (printed["media"] is None) is has_words(case)
    if not has_words(case):
        assert printed["text"] == ""


def _text(archive: Archive, case: Case, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    Command().answer(archive, [url_of(case)], Namespace(at=None, json=True))
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_file_that_was_saved_is_utf_8_if_it_can_be() -> None:
    body = "<meta charset=windows-1251><p>Поиск".encode()
    assert media_of(body).charset == "cp1251"
    assert media_of(body, saved=True).charset == "utf-8"
    assert media_of(body.decode().encode("cp1251"), saved=True).charset == "cp1251"


@each
def test_the_header_of_a_body_says_what_it_is(case: Case) -> None:
    media = media_of(case.body, case.header)
    again = media_of(case.body, media.header)
    assert (again.kind, again.charset) == (media.kind, media.charset)


@given(st.binary(max_size=300), st.text(max_size=60))
def test_any_bytes_with_any_header_are_something_that_can_be_read(body: bytes, header: str) -> None:
    media = media_of(body, header)
    body.decode(media.charset, "replace").encode()
    assert bool(media.type and media.name)
