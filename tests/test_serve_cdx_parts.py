"""The parts of long answers of the CDX server: together they are the whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote

import pytest

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import UsageError
from archivebot.models import Capture
from archivebot.replay import cdx
from archivebot.replay.address import moment
from archivebot.replay.cdx import CdxQuery
from archivebot.replay.cdxanswer import written
from archivebot.replay.cdxrow import Row
from archivebot.web.cdx import captures_of
from tests.factories import html, make_page
from tests.served import Served, archived, by_key, serving

SITE = "http://ex.org/"
TENTH = 0.1 / 86_400  # of a second, in days


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('parts')}/archive.db"
    times = [0, TENTH, 2 * TENTH, 1, 1 + TENTH, 40]
    pages = [
        make_page(html(f"{name} at {when}"), when, url=f"{SITE}{name}") for name in "abc" for when in times
    ]
    variants = ["http://one.org/c", "https://one.org/c", "http://www.one.org/c"]
    pages += [
        make_page(html(f"{each} at {tenth}"), tenth * TENTH, url=each)
        for tenth in range(12)
        for each in variants[: 3 if tenth % 2 else 2]
    ]
    with serving(archived(uri, pages)) as served:
        yield served


@pytest.mark.parametrize("limit", [1, 2, 4, 7])
@pytest.mark.parametrize(
    "query", ["", "&collapse=urlkey", "&collapse=timestamp:8", "&collapse=status", "&filter=urlkey:.*[ac]"]
)
@pytest.mark.parametrize("place", ["ex.org&matchType=domain", "one.org/c"])
def test_the_parts_of_an_answer_are_the_whole(server: Served, place: str, query: str, limit: int) -> None:
    asked = f"url={place}{query}"
    _, *whole = server.get(f"/cdx?{asked}&output=json").json
    found, following = [], f"/cdx?{asked}&output=json&limit={limit}"
    while following:
        answer = server.get(following)
        found += answer.json[1:]
        following = answer.links[0][0].removeprefix(server.host) if answer.header("Link") else ""
    assert found == whole
    assert by_key(server, f"{asked}&limit={limit}") == whole


def test_the_last_rows_of_several_urls_in_one_second_are_those_of_the_whole(server: Served) -> None:
    _, *whole = server.get("/cdx?url=one.org/c&output=json").json
    assert len(whole) == 30
    assert whole == sorted(whole, key=lambda row: (row[1], row[2]))
    for count in (1, 4, 17):
        assert server.get(f"/cdx?url=one.org/c&output=json&limit=-{count}").json[1:] == whole[-count:]


@pytest.mark.parametrize(
    "query", ["", "&filter=urlkey:.*[ac]", "&offset=3", "&collapse=timestamp:8", "&to=20260102"]
)
@pytest.mark.parametrize("place", ["ex.org&matchType=domain", "one.org/*", "org&matchType=domain"])
def test_the_last_rows_of_many_pages_are_those_of_the_whole(server: Served, place: str, query: str) -> None:
    asked = f"/cdx?url={place}{query}&output=json"
    _, *whole = server.get(asked).json
    for count in (1, 4, 7, 40):
        assert server.get(f"{asked}&limit=-{count}").json[1:] == whole[-count:]


def test_the_last_rows_of_many_pages_are_found_without_the_others(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/archive.db"
    archived(uri, [make_page(html("A page."), url=f"{SITE}{number:02d}") for number in range(40)])
    asked: list[str] = []
    query = CdxQuery.read({"url": [f"{SITE}*"], "limit": ["-2"]})
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        archive._store.database.set_trace_callback(asked.append)  # type: ignore[attr-defined]
        captures = archive.mementos.keyed_latest if query.reads_backwards else archive.mementos.keyed
        found, _ = query.rows(captures(*query.range, *query.times), archive.brought)
    assert [row["url"] for row in found] == [f"{SITE}38", f"{SITE}39"]
    assert sum("FROM capture" in sql for sql in asked) < 5


@pytest.mark.parametrize("limit", [1, 4, 7, 100])
@pytest.mark.parametrize("query", ["", "&from=2026010100&to=20260102", "&filter=url:.*www.*", "&offset=3"])
def test_the_order_of_a_part_is_that_of_the_whole(server: Served, query: str, limit: int) -> None:
    for place in ("one.org/c", "ex.org/a"):
        asked = f"/cdx?url={place}{query.replace('&offset=3', '')}&output=json"
        _, *whole = server.get(asked).json or [[]]
        left_out = 3 * ("offset" in query)
        found = server.get(f"/cdx?url={place}{query}&output=json&sort=reverse&limit={limit}").json
        assert found[1:] == whole[::-1][left_out:][:limit]
        for when in (
            "20251231",
            "20260101000000",
            "20260101120000",
            "20260102000000",
            "2027",
            "1",
            "99999999",
        ):
            nearest = sorted(whole, key=lambda row: abs(moment(row[1]) - moment(when)))
            closest = f"sort=closest&closest={when}&limit={limit}"
            found = server.get(f"/cdx?url={place}{query}&output=json&{closest}").json
            assert found[1:] == nearest[left_out:][:limit]


@pytest.mark.parametrize("query", ["", "&filter=urlkey:.*[ac]", "&collapse=timestamp:8", "&filter=mime:html"])
@pytest.mark.parametrize("place", ["ex.org&matchType=domain", "one.org/c", "org&matchType=domain"])
def test_what_an_offset_or_a_page_leaves_out_is_the_begin_of_the_whole(
    server: Served, place: str, query: str
) -> None:
    asked = f"/cdx?url={place}{query}&output=json"
    _, *whole = server.get(asked).json
    for count in (1, 4, 7, len(whole), 90):
        assert server.get(f"{asked}&offset={count}&limit=3").json[1:] == whole[count : count + 3]
    counted = server.get(f"{asked}&pageSize=4&showNumPages=true").json
    assert counted == {"blocks": len(whole), "pages": -(-len(whole) // 4), "pageSize": 4}
    pages = [server.get(f"{asked}&pageSize=4&page={page}").json[1:] for page in range(counted["pages"])]
    assert [row for page in pages for row in page] == whole


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("sort=reverse&limit=2", 2),
        ("sort=reverse&limit=2&offset=3", 5),
        ("sort=closest&closest=20260102&limit=2", 4),
        ("matchType=host&resumeKey=org,ex)/ 20260104000000 http://ex.org/&limit=2", 4),
    ],
)
def test_rows_are_found_without_those_far_from_them(tmp_path: Path, query: str, most: int) -> None:
    uri = f"sqlite:///{tmp_path}/archive.db"
    archived(uri, [make_page(html(f"Day {day}"), day, url=SITE) for day in range(40)])
    given = CdxQuery.read({"url": [SITE], **parse_qs(query)})
    read: list[Capture] = []
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:

        def captures() -> Iterator[Capture]:
            for capture in captures_of(archive, given):
                read.append(capture)
                yield capture

        found, _ = given.rows(captures(), archive.brought)
    assert len(found) == 2
    assert len(read) <= most


def test_an_answer_that_takes_too_long_says_what_to_ask_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"sqlite:///{tmp_path}/archive.db"
    archived(uri, [make_page(html("one"), url=SITE)])
    monkeypatch.setattr(cdx, "LONGEST_WHOLE", -1.0)
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        captures = list(archive.mementos.of(SITE))
        for query in ("sort=reverse", "limit=-3", "page=0"):
            given = CdxQuery.read({"url": [SITE], **parse_qs(query)})
            with pytest.raises(UsageError, match="too many rows for one answer: leave out sort, page"):
                given.rows(captures, archive.brought)
        with pytest.raises(UsageError, match="in parts, each with a Link"):
            given.pages(captures)


def test_a_key_without_a_number_continues_after_the_first_row_of_its_second(server: Served) -> None:
    asked = "/cdx?url=ex.org/a&output=json"
    _, *whole = server.get(asked).json
    _, *rest = server.get(f"{asked}&resumeKey={quote(' '.join(whole[0][:3]))}").json
    assert rest == whole[1:]


@pytest.mark.parametrize(
    "query",
    [
        *("", "collapse=urlkey", "filter=!url:.*b.*", "filter=status:404", "limit=2"),
        *("filter=timestamp:2026010.*&collapse=mime", "filter=!timestamp:20260102.*&collapse=timestamp:6"),
        "filter=!url:.*b.*&collapse=timestamp:0",
    ],
)
@pytest.mark.parametrize("place", ["ex.org&matchType=domain", "http://ex.org/a"])
def test_the_parts_that_end_because_of_time_are_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, query: str
) -> None:
    times = [0, TENTH, 2 * TENTH, 1, 1 + TENTH, 40]
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/archive.db")
    with Archive.open(config) as archive:
        for name in "abc":
            for when in times:
                archive.add(archive.segment(make_page(html(f"{name} at {when}"), when, url=f"{SITE}{name}")))

    def asked(reader: ArchiveReader, resume: str) -> tuple[list[Row], str]:
        given = CdxQuery.read({**parse_qs(f"url={place}&{query}"), "resumeKey": [resume]})
        return given.rows(reader.mementos.keyed(*given.range, *given.times), reader.brought)

    def all_rows(reader: ArchiveReader) -> tuple[list[Row], int]:
        found, resume = asked(reader, "")
        parts = 1
        while resume:
            part, resume = asked(reader, resume)
            found, parts = found + part, parts + 1
        return found, parts

    with Archive.reader(config) as reader:
        whole, few = all_rows(reader)
        monkeypatch.setattr(cdx, "LONGEST_PART", -1.0)
        found, many = all_rows(reader)
    assert found == whole
    assert many > few


def test_a_part_without_rows_has_the_key_to_resume_at() -> None:
    assert json.loads(written("json", ("url", "mime"), [], "com,a)/ 2024 http://a.com/")) == [
        ["url", "mime"],
        [],
        ["com,a)/ 2024 http://a.com/"],
    ]
    assert written("text", ("url",), [], "com,a)/ 2024 http://a.com/") == "\ncom,a)/ 2024 http://a.com/\n"
