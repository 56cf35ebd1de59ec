"""The CDX server of ``scrapy serve``: each parameter, in the words of pywb and of the Internet Archive."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import quote

import pytest

from archivebot.models import Outcome
from archivebot.replay.cdx import MOST, CdxQuery
from archivebot.timestamps import parse_time
from tests.factories import html, make_page
from tests.served import Answer, Served, archived, by_key, serving

NAMES = ["urlkey", "timestamp", "url", "mime", "status", "digest", "length"]
SITE = "http://ex.org/"
SLOW = f"http://slow.example/{'a' * 60}b"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('cdx')}/archive.db"
    css = (("Content-Type", "text/css; charset=utf-8"),)
    pages = [
        make_page(html("one"), 0, url=SITE),
        make_page(html("slow"), 0, url=SLOW),
        make_page(html("one"), 0.1, url=SITE),
        make_page(html("two"), 31, url=SITE),
        make_page(b"", 40, url=SITE, outcome=Outcome.NOT_MODIFIED, status=304, headers=()),
        make_page(b"", 41, url=SITE, outcome=Outcome.TIMEOUT, status=None, headers=()),
        make_page(b"gone", 60, url=SITE, outcome=Outcome.GONE, status=410),
        make_page(b"a {}", 1, url=f"{SITE}a/s.css", headers=css),
        make_page(html("b"), 2, url=f"{SITE}a/b?c=1"),
        make_page(html("t"), 3, url="https://ex.org/"),
        make_page(html("sub"), 4, url="http://sub.ex.org/"),
        make_page(html("other"), 5, url="http://exa.org/"),
        make_page(
            b"",
            0,
            url="http://empty.example/",
            outcome=Outcome.REDIRECT,
            status=301,
            location=SITE,
            headers=(),
        ),
        *(make_page(html(text), day, url="http://back.example/") for day, text in enumerate(("a", "b", "a"))),
    ]
    with serving(archived(uri, pages)) as served:
        yield served


def ask(server: Served, query: str, path: str = "/cdx") -> list[list[str]]:
    """Return the rows of a question, without their head."""
    answer = server.get(f"{path}?output=json&{query}")
    assert answer.status == 200, answer.text
    table = answer.json
    assert not table or table[0] == NAMES or "fl=" in query or "fields=" in query
    return table[1:]


def times(rows: list[list[str]]) -> list[str]:
    return [row[1] for row in rows]


def test_a_row_has_the_fields_of_pywb_in_order(server: Served) -> None:
    (row, *_) = ask(server, "url=ex.org")
    digest = row.pop(5)
    assert row == ["org,ex)/", "20260101000000", "http://ex.org/", "text/html", "200", str(len(html("one")))]
    assert digest.startswith("sha256:")


def test_rows_are_sorted_by_key_and_time_whatever_their_scheme(server: Served) -> None:
    rows = ask(server, "url=http://EX.org")
    expected = ["20260101000000", "20260101022400", "20260104000000", "20260201000000", "20260210000000"]
    assert times(rows) == [*expected, "20260302000000"]
    assert [row[2] for row in rows].count("https://ex.org/") == 1


def test_what_no_server_answered_has_no_row_and_a_304_is_a_revisit(server: Served) -> None:
    rows = {row[1]: row for row in ask(server, "url=ex.org")}
    assert "20260211000000" not in rows
    assert rows["20260210000000"][3:5] == ["warc/revisit", "304"]
    assert rows["20260210000000"][5] == rows["20260201000000"][5]


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("url=ex.org/a/b?c=1", ["http://ex.org/a/b?c=1"]),
        ("url=ex.org/a/&matchType=prefix", ["http://ex.org/a/b?c=1", "http://ex.org/a/s.css"]),
        ("url=ex.org/a/*", ["http://ex.org/a/b?c=1", "http://ex.org/a/s.css"]),
        (
            "url=ex.org&matchType=host&from=20260102",
            [*["https://ex.org/", *[SITE] * 3], "http://ex.org/a/b?c=1", "http://ex.org/a/s.css"],
        ),
        ("url=*.ex.org&from=20260104&to=20260105", ["https://ex.org/", "http://sub.ex.org/"]),
        ("url=ex.org&matchType=domain&from=20260104&to=20260105", ["https://ex.org/", "http://sub.ex.org/"]),
        ("url=http://*.ex.org/&from=20260104&to=20260105", ["https://ex.org/", "http://sub.ex.org/"]),
        ("url=HTTPS://*.ex.org/*&from=20260104&to=20260105", ["https://ex.org/", "http://sub.ex.org/"]),
        ("url=nothing.example", []),
    ],
)
def test_match_types(server: Served, query: str, urls: list[str]) -> None:
    query = query.replace("?c=1", quote("?c=1", safe=""))
    assert [row[2] for row in ask(server, query)] == urls


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from=2026&to=2026", 6),
        ("from=202602", 3),
        ("to=202601", 3),
        ("from=20260201&to=20260201", 1),
        ("from=20260201000001", 2),
        ("to=2025", 0),
        ("from=20260101022400&to=20260101022400", 1),
        ("from=20260", 6),  # from January on
        ("from=20261", 0),
        ("to=20260", 6),  # to September
        ("from=2026010&to=2026010", 3),
        ("from=202602010&to=2026020", 1),
        ("from=20260101022400000", 5),  # milliseconds
    ],
)
def test_times_are_padded_and_inclusive(server: Served, query: str, expected: int) -> None:
    assert len(ask(server, f"url=ex.org&{query}")) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("status:200", 4),
        ("=status:200", 4),
        ("!=status:200", 2),
        ("!status:200", 2),
        ("statuscode:4..", 1),  # matches as a whole, as at the Internet Archive
        ("mime:html", 5),  # contains, as in pywb
        ("~mime:.*/html$", 5),
        ("~mime:html", 0),
        ("!mimetype:warc/revisit", 5),
        ("=mime:html", 0),
        ("!=mime:html", 6),
        ("!status:[34]..", 4),
        ("original:https.*", 1),
        ("status:[34]..&filter=mime:revisit", 1),
    ],
)
def test_filters(server: Served, query: str, expected: int) -> None:
    assert len(ask(server, f"url=ex.org&filter={query}")) == expected


def test_collapse_merges_adjacent_rows_only(server: Served) -> None:
    assert len(ask(server, "url=ex.org&collapse=timestamp:6")) == 3
    assert len(ask(server, "url=ex.org&collapse=digest")) == 4
    assert len(ask(server, "url=ex.org&collapse=status")) == 3
    assert times(ask(server, "url=ex.org&collapse=timestamp:8"))[0] == "20260101000000"


def test_limits_count_from_the_begin_or_from_the_end(server: Served) -> None:
    whole = times(ask(server, "url=ex.org"))
    assert times(ask(server, "url=ex.org&limit=2")) == whole[:2]
    assert times(ask(server, "url=ex.org&limit=-2")) == whole[-2:]
    assert times(ask(server, "url=ex.org&limit=99")) == whole


def test_an_offset_leaves_out_the_first_rows(server: Served) -> None:
    whole = times(ask(server, "url=ex.org"))
    assert times(ask(server, "url=ex.org&offset=2")) == whole[2:]
    assert times(ask(server, "url=ex.org&offset=1&limit=2")) == whole[1:3]
    assert times(ask(server, "url=ex.org&offset=1&sort=reverse&limit=2")) == whole[::-1][1:3]
    assert ask(server, "url=ex.org&offset=99") == []
    rows = ask(server, "url=ex.org&offset=1&limit=2&showResumeKey=true")
    assert times(rows[:2]) == whole[1:3]
    assert times(ask(server, f"url=ex.org&resumeKey={quote(rows[-1][0])}")) == whole[3:]
    ((following, _, _),) = server.get("/cdx?url=ex.org&offset=1&limit=2&output=json").links
    assert times(server.get(following.removeprefix(server.host)).json[1:]) == whole[3:5]


def test_pages_are_counted_and_answered_one_by_one(server: Served) -> None:
    whole = times(ask(server, "url=ex.org/*"))
    assert len(whole) == 8
    counted = server.get("/cdx?url=ex.org/*&pageSize=3&showNumPages=true")
    assert counted.json == {"blocks": 8, "pages": 3, "pageSize": 3}
    pages = [times(ask(server, f"url=ex.org/*&pageSize=3&page={page}")) for page in range(3)]
    assert pages == [whole[:3], whole[3:6], whole[6:]]
    assert server.get("/cdx?url=nothing.org&showNumPages=true").json["pages"] == 0
    assert ask(server, "url=nothing.org&page=0") == []
    ((following, _, _),) = server.get("/cdx?url=ex.org/*&pageSize=3&page=1&output=json").links
    assert times(server.get(following.removeprefix(server.host)).json[1:]) == whole[6:]


def test_rows_are_sorted_backwards_or_by_distance(server: Served) -> None:
    whole = times(ask(server, "url=ex.org"))
    assert times(ask(server, "url=ex.org&sort=reverse&limit=2")) == whole[::-1][:2]
    nearest = sorted(whole, key=lambda each: abs(parse_time(each) - parse_time("20260131000000")))
    assert times(ask(server, "url=ex.org&sort=closest&closest=20260131000000")) == nearest
    assert times(ask(server, "url=ex.org&sort=closest&closest=20260131&limit=1")) == ["20260201000000"]
    assert times(ask(server, "url=ex.org&closest=2026010102&limit=1")) == ["20260101022400"]


def test_fields_are_chosen_and_may_have_their_other_names(server: Served) -> None:
    answer = server.get("/cdx?url=ex.org/a/*&output=json&fl=original,statuscode,timestamp")
    assert answer.json[0] == ["original", "statuscode", "timestamp"]
    assert answer.json[1] == ["http://ex.org/a/b?c=1", "200", "20260103000000"]


def test_what_a_row_lacks_is_a_dash(server: Served) -> None:
    fields = "fl=status,digest,offset,filename&output=text"
    assert server.get(f"/cdx?url=ex.org&{fields}&to=2025").text == ""
    line = server.get(f"/cdx?url=ex.org/a/s.css&{fields}").text
    assert line == f"200 sha256:{sha256(b'a {}').hexdigest()} - -\n"
    assert server.get(f"/cdx?url=empty.example&{fields}").text == "301 - - -\n"


def test_adjacent_rows_are_merged_but_what_comes_back_is_not(server: Served) -> None:
    rows = ask(server, "url=back.example&collapse=digest")
    assert times(rows) == ["20260101000000", "20260102000000", "20260103000000"]
    assert rows[0][5] == rows[2][5]


def test_an_answer_has_a_greatest_number_of_rows() -> None:
    query = CdxQuery.read({"url": ["ex.org"], "limit": ["999999999"]})
    assert (query.limit, CdxQuery.read({"url": ["ex.org"]}).limit) == (MOST, MOST)


def test_outputs(server: Served) -> None:
    query = "/cdx?url=ex.org/a/s.css&output="
    cdxj = server.get("/cdx?url=ex.org/a/s.css").text
    assert cdxj == server.get(f"{query}cdxj").text
    key, digits, fields = cdxj.split(" ", 2)
    assert (key, digits) == ("org,ex)/a/s.css", "20260102000000")
    assert json.loads(fields)["mime"] == "text/css"
    (line,) = server.get(f"{query}jsonl").text.splitlines()
    assert list(json.loads(line)) == NAMES
    text = server.get(f"{query}text&fl=urlkey,timestamp,mime").text
    assert text == "org,ex)/a/s.css 20260102000000 text/css\n"
    assert server.get(f"{query}json").header("Content-Type") == "application/json"
    assert server.get("/cdx?url=nothing.example&output=json").json == []


def test_the_resume_key_leads_through_all_rows(server: Served) -> None:
    assert by_key(server, "url=*.ex.org&limit=2") == ask(server, "url=*.ex.org")


def test_the_next_rows_are_linked_even_if_no_key_is_asked_for(server: Served) -> None:
    answer = server.get("/cdx?url=ex.org&limit=5&output=json")
    assert [] not in answer.json
    ((address, relation, _),) = answer.links
    assert relation == "next"
    assert times(server.get(address.removeprefix(server.host)).json[1:]) == ["20260302000000"]
    assert server.get("/cdx?url=ex.org&limit=6").header("Link") is None
    lines = server.get("/cdx?url=ex.org&limit=5&output=text&fl=timestamp&showResumeKey=1").text.split("\n")
    assert lines[5:] == ["", "org,ex)/ 20260210000000 http://ex.org/", ""]


def test_the_last_rows_are_asked_for_in_the_words_of_the_internet_archive(server: Served) -> None:
    whole = times(ask(server, "url=ex.org"))
    assert times(ask(server, "url=ex.org&fastLatest=true")) == whole[-1:]
    for limit in (2, -2):
        assert times(ask(server, f"url=ex.org&fastLatest=true&limit={limit}")) == whole[-2:]
    assert times(ask(server, "url=ex.org&fastLatest=true&limit=99")) == whole
    assert times(ask(server, "url=ex.org&fastLatest=true&to=202601&filter=status:200")) == whole[2:3]
    assert times(ask(server, "url=ex.org&limit=-2&to=202601&filter=url:https.*")) == whole[2:3]
    assert times(ask(server, "url=ex.org&limit=-2&collapse=timestamp:6")) == [whole[3], whole[5]]
    assert times(ask(server, "url=ex.org/*&limit=-1")) == times(ask(server, "url=ex.org/*"))[-1:]


def test_a_revisit_is_resolved_to_where_its_bytes_lie(server: Served) -> None:
    assert "orig.length" not in server.get("/cdx?url=ex.org&output=json").json[0]
    head, *rows = server.get("/cdx?url=ex.org&output=json&resolveRevisits=true").json
    assert head == [*NAMES, "orig.length", "orig.offset", "orig.filename"]
    revisits = [row for row in rows if row[3] == "warc/revisit"]
    assert [row[-3:] for row in rows if row not in revisits] == [["-", "-", "-"]] * 5
    ((*_, length, offset, file),) = revisits
    assert file == "/web/20260201000000id_/http://ex.org/"
    assert server.get(file).body[int(offset) :][: int(length)] == html("two")
    fields = server.get("/cdx?url=ex.org&resolveRevisits=true&fl=timestamp,orig.length&output=text").text
    assert f"20260210000000 {length}\n" in fields


def test_an_answer_is_packed_if_the_client_accepts_it(server: Served) -> None:
    plain = server.get("/cdx?url=*.ex.org")
    packed = server.get("/cdx?url=*.ex.org", accept_encoding="br, gzip")
    assert (plain.header("Content-Encoding"), packed.header("Content-Encoding")) == (None, "gzip")
    assert (plain.header("Vary"), gzip.decompress(packed.body)) == ("Accept-Encoding", plain.body)
    for query, accepted in (("gzip=false", "gzip"), ("limit=1", "gzip"), ("offset=0", "gzip;q=0")):
        answer = server.get(f"/cdx?url=*.ex.org&{query}", accept_encoding=accepted)
        assert answer.header("Content-Encoding") is None, query
        assert answer.text.startswith("org,ex)/ ")


def test_rows_are_a_timemap_too(server: Served) -> None:
    path = "/cdx?url=ex.org&output=link&filter=status:200"
    answer = server.get(path)
    assert answer.header("Content-Type") == "application/link-format"
    timemap, timegate, original, *mementos = answer.links
    bounds = {"from": "Thu, 01 Jan 2026 00:00:00 GMT", "until": "Sun, 01 Feb 2026 00:00:00 GMT"}
    assert timemap == (server.host + path, "self", {"type": "application/link-format"} | bounds)
    assert timegate[:2] == (f"{server.host}/web/{SITE}", "timegate")
    assert original[:2] == (SITE, "original")
    assert [relation for _, relation, _ in mementos] == ["memento"] * 4
    assert mementos[2][0] == f"{server.host}/web/20260104000000/https://ex.org/"
    assert mementos[2][2] == {"datetime": "Sun, 04 Jan 2026 00:00:00 GMT"}
    assert all(server.get(address.removeprefix(server.host)).status == 200 for address, _, _ in mementos)
    first = server.get("/cdx?url=ex.org&output=link&limit=4")
    link = [address for address, relation, _ in Answer(200, [], first.body).links if relation == "timemap"]
    (following,) = link
    assert [relation for _, relation, _ in server.get(following.removeprefix(server.host)).links][3:] == [
        *["memento"] * 2
    ]
    assert len(server.get("/cdx?url=nothing.example&output=link").links) == 3


def test_the_address_of_the_internet_archive_is_answered_too(server: Served) -> None:
    assert ask(server, "url=ex.org", "/cdx/search/cdx") == ask(server, "url=ex.org")
    assert ask(server, "url=ex.org", "/web/cdx") == ask(server, "url=ex.org")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "url is missing"),
        ("url=", "url is missing"),
        ("url=http://", "url has no host"),
        ("url=https://:80/a&matchType=host", "url has no host"),
        ("url=*", "url has no host"),
        ("url=*.", "url has no host"),
        ("url=ex.org&matchType=all", "give one of exact, prefix, host, domain"),
        ("url=ex.org&from=yesterday", "1 to 14 digits"),
        ("url=ex.org&limit=many", "write a number"),
        ("url=ex.org&limit=0", "write a number"),
        ("url=ex.org&offset=-1", "the number of rows to leave out"),
        ("url=ex.org&page=-1", "a number from 0"),
        ("url=ex.org&page=1", "beyond the last page"),
        ("url=ex.org&page=0&limit=5", "leave out limit"),
        ("url=ex.org&pageSize=0", "the number of rows of a page"),
        ("url=ex.org&filter=status", "write it like status:200"),
        ("url=ex.org&filter=colour:red", "there is no field"),
        ("url=ex.org&filter=status:[", "no regular expression"),
        (f"url=ex.org&filter=status:{'(' * 3000}{')' * 3000}", "no regular expression"),
        ("url=ex.org&collapse=colour", "there is no field"),
        ("url=ex.org&collapse=1", "write it like digest"),
        ("url=ex.org&fl=colour", "there is no field"),
        ("url=ex.org&output=xml", "write one of cdxj, text, json, jsonl, link"),
        ("url=ex.org/*&output=link", "TimeMap of one URL"),
        ("url=ex.org/*&fastLatest=true", "the last rows of one URL"),
        ("url=ex.org&fl=orig.length", "needs resolveRevisits=true"),
        ("url=ex.org/*&sort=reverse", "is for one URL"),
        ("url=ex.org/*&closest=2026", "is for one URL"),
        ("url=ex.org&sort=up", "write reverse or closest"),
        ("url=ex.org&sort=closest", "needs closest="),
        ("url=ex.org&resumeKey=x", "the key that an answer ended with"),
    ],
)
def test_a_question_that_cannot_be_read_is_refused_with_what_to_write(
    server: Served, query: str, message: str
) -> None:
    answer = server.get(f"/cdx?{query}")
    assert answer.status == 400
    assert message in answer.text


@pytest.mark.parametrize("expression", ["~url:.*/(a|aa)%2B$", "~url:.*/(a|aa)%2B[cd]", "!~url:.*/(a|aa)%2B$"])
def test_an_expression_that_takes_too_long_is_refused(server: Served, expression: str) -> None:
    began = time.monotonic()
    answer = server.get(f"/cdx?url=slow.example/*&filter={expression}")
    assert time.monotonic() - began < 2
    assert answer.status == 400
    assert "matching 'http://slow.example/aaaa" in answer.text
    assert "takes too long" in answer.text
    assert len(ask(server, "url=slow.example/*&filter=~url:.*/a%2Bb")) == 1
