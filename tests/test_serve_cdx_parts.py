"""The parts of long answers of the CDX server: together they are the whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest

from archivebot.replay.cdx import CdxQuery
from tests.factories import html, make_page
from tests.served import Served, archived, serving

SITE = "http://ex.org/"
TENTH = 0.1 / 86_400  # of a second, in days


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('parts')}/archive.db"
    times = [0, TENTH, 2 * TENTH, 1, 1 + TENTH, 40]
    pages = [
        make_page(html(f"{name} at {when}"), when, url=f"{SITE}{name}") for name in "abc" for when in times
    ]
    with serving(archived(uri, pages)) as served:
        yield served


@pytest.mark.parametrize("limit", [1, 2, 4, 7])
@pytest.mark.parametrize(
    "query", ["", "&collapse=urlkey", "&collapse=timestamp:8", "&collapse=status", "&filter=urlkey:.*[ac]"]
)
def test_the_parts_of_an_answer_are_the_whole(server: Served, query: str, limit: int) -> None:
    asked = f"/cdx?url=ex.org&matchType=domain&output=json{query}"
    _, *whole = server.get(asked).json
    found, following = [], f"{asked}&limit={limit}"
    while following:
        answer = server.get(following)
        found += answer.json[1:]
        link = (answer.header("Link") or "").partition("<")[2].partition(">")[0]
        following = f"/cdx?{urlsplit(link).query}" if link else ""
    assert found == whole
    found, key = [], ""
    while True:
        resumed = f"&resumeKey={quote(key)}" if key else ""
        _, *rows = server.get(f"{asked}&limit={limit}&showResumeKey=true{resumed}").json
        has_more = len(rows) > 1 and rows[-2] == []
        found += rows[:-2] if has_more else rows
        if not has_more:
            break
        (key,) = rows[-1]
    assert found == whole


def test_a_key_of_an_earlier_version_continues_after_its_row() -> None:
    query = CdxQuery.read({"url": [SITE], "resumeKey": ["org,ex)/a 20260101000000 http://ex.org/a"]})
    assert (query.resume, query.passed) == (("org,ex)/a", "20260101000000", "http://ex.org/a"), 1)
