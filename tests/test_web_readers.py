"""The processes of a server: which of them answers a question."""

from __future__ import annotations

import asyncio
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.web.kept import Answer
from archivebot.web.readers import Readers, keeping
from tests import probes
from tests.factories import html, make_page

CALLS = count(1)
PAGES = ("http://a.example/", "http://b.example/")


@pytest.mark.long
def test_questions_about_one_page_go_to_the_process_that_has_read_it(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()

    async def asked() -> list[int]:
        with closing(Readers(config, 2)) as readers:
            await readers.open(probes.process)
            first = [await readers.ask(probes.process, page=page) for page in PAGES]
            again = await asyncio.gather(*(readers.ask(probes.process, page=PAGES[0]) for _ in range(6)))
            return [*first, *again]

    one, other, *again = asyncio.run(asked())
    assert one != other
    assert again == [one] * 6


def counted(reader: ArchiveReader, request: Request) -> Response:
    """A view whose answer is kept, and has the number of calls in a header."""
    answer = keeping(request).of("state", lambda: Answer(b"kept", "text/plain"))
    return Response(answer.body, headers={"Calls": str(next(CALLS))})


async def found(readers: Readers, path: str, *headers: tuple[bytes, bytes]) -> tuple[bytes, int]:
    """Return the body of the answer of :func:`counted` to a request, and the number of calls."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
    response = await readers.view(counted, Request(scope))
    return bytes(response.body), int(response.headers["Calls"])


@pytest.mark.long
def test_an_answer_is_repeated_until_the_archive_or_the_headers_change(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    raw = (b"prefer", b"raw")

    async def asked() -> list[tuple[bytes, int]]:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            answers = [await found(readers, "/"), await found(readers, "/"), await found(readers, "/", raw)]
            with Archive.open(config) as archive:
                archive.add(archive.segment(make_page(html("new"))))
            return [*answers, await found(readers, "/", raw), await found(readers, "/", raw)]

    assert asyncio.run(asked()) == [(b"kept", number) for number in (1, 1, 2, 3, 3)]


@pytest.mark.long
def test_small_answers_are_not_kept_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    monkeypatch.setattr("archivebot.web.readers.KEPT", 10_000)

    async def asked() -> list[bool]:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            before = [await found(readers, f"/{number}") for number in range(5)]
            return [await found(readers, f"/{number}") == before[number] for number in (4, 0)]

    assert asyncio.run(asked()) == [True, False]


@pytest.mark.long
@pytest.mark.parametrize("is_header", [False, True])
def test_long_addresses_and_headers_count_as_bytes_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_header: bool
) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    monkeypatch.setattr("archivebot.web.readers.KEPT", 100_000)
    long = "a" * 20_000
    path, headers = ("", [(b"x-long", long.encode())]) if is_header else (long, [])

    async def asked() -> list[bool]:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            before = [await found(readers, f"/{path}{number}", *headers) for number in range(8)]
            return [await found(readers, f"/{path}{number}", *headers) == before[number] for number in (7, 0)]

    assert asyncio.run(asked()) == [True, False]
