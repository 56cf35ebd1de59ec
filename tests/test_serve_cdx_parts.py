"""The parts of long answers of the CDX server: together they are the whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

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


def test_a_key_without_a_number_continues_after_the_first_row_of_its_second(server: Served) -> None:
    asked = "/cdx?url=ex.org/a&output=json"
    _, *whole = server.get(asked).json
    _, *rest = server.get(f"{asked}&resumeKey={quote(' '.join(whole[0][:3]))}").json
    assert rest == whole[1:]
