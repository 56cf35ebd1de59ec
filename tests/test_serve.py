"""scrapy serve: replay, and Memento (RFC 7089)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from archivebot.models import Outcome
from archivebot.replay.address import EXACT, MODIFIERS
from tests.factories import html, make_page
from tests.served import Served, archived, serving

URL = "http://ex.org/"
JAN, FEB, MAR = "20260101000000", "20260201000000", "20260302000000"
JAN_DATE, MAR_DATE = "Thu, 01 Jan 2026 00:00:00 GMT", "Mon, 02 Mar 2026 00:00:00 GMT"
FEB_DATE = "Sun, 01 Feb 2026 00:00:00 GMT"
PAGE = (
    b'<html><head><link rel=stylesheet href="/s.css"></head><body><a href="/next?a=1">x</a><script>1</script>'
)
BODIES = {JAN: PAGE + b"<p>January", FEB: PAGE + b"<p>February", MAR: PAGE + b"<p>March"}
LATIN = "<meta charset=iso-8859-1><p>caf\xe9".encode("latin-1")
# Names that differ, but whose octets are no UTF-8, or are a slash.
ENCODED = ("%B5%FE%C5%D4", "%C5%EC%CB%CC", "e%2Ff", "e/f")
RAW = (("Content-Type", "text/html"), ("Set-Cookie", "a=b"), ("X-Odd", "caf\u00e9 \u20ac"), ("bad name", "x"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('served')}/archive.db"
    pages = [
        make_page(BODIES[JAN], 0, url=URL),
        make_page(BODIES[FEB], 31, url=URL),
        make_page(b"Sorry", 45, url=URL, outcome=Outcome.SERVER_ERROR, status=503),
        make_page(BODIES[MAR], 60, url=URL),
        make_page(b"", 61, url=URL, outcome=Outcome.TIMEOUT, status=None),
        make_page(
            b"p { background: url(i.png) }", 10, url=f"{URL}s.css", headers=(("Content-Type", "text/css"),)
        ),
        make_page(LATIN, 0, url=f"{URL}raw", headers=RAW),
        make_page(LATIN, 30, url=f"{URL}raw", outcome=Outcome.NOT_MODIFIED, status=304, headers=()),
        make_page(html("back"), 0, url=f"{URL}back", headers=(("X-Visit", "0"),)),
        make_page(b"", 1, url=f"{URL}back", outcome=Outcome.NOT_MODIFIED, status=304, headers=()),
        make_page(html("away"), 2, url=f"{URL}back"),
        make_page(html("back"), 3, url=f"{URL}back", headers=(("X-Visit", "3"),)),
        make_page(b"", 4, url=f"{URL}back", outcome=Outcome.NOT_MODIFIED, status=304, headers=()),
        make_page(html("x"), 0, url=f"{URL}dir/page?b=2"),
        *(make_page(html(name), 0, url=f"{URL}d/{name}") for name in ENCODED),
        make_page(b"moved", 0, url=f"{URL}old", outcome=Outcome.REDIRECT, status=301, location=f"{URL}raw"),
        make_page(
            b"", 0, url=f"{URL}loop", outcome=Outcome.REDIRECT, status=302, location="https://ex.org/loop"
        ),
        make_page(b"no", 0, url=f"{URL}never", outcome=Outcome.NOT_FOUND, status=404),
        make_page(b"", 0, url=f"{URL}bare", outcome=Outcome.SERVER_ERROR, status=500, headers=()),
        make_page(html("one"), 0, url=f"{URL}single"),
        make_page(html("one"), 0, url=f"{URL}type", headers=(("Content-Type", "text/html;\0 a=\v\x7fb"),)),
        make_page(b"not yet", 0, url=f"{URL}ends", outcome=Outcome.NOT_FOUND, status=404),
        make_page(html("here"), 31, url=f"{URL}ends"),
        make_page(b"gone", 60, url=f"{URL}ends", outcome=Outcome.GONE, status=410),
        make_page(b"\x89PNG\r\n\x1a\n", 0, url=f"{URL}i.png", headers=(("Content-Type", "image/png"),)),
    ]
    with serving(archived(uri, pages)) as served:
        yield served


def test_the_exact_bytes_come_with_the_original_headers(server: Served) -> None:
    answer = server.get(f"/web/{JAN}id_/{URL}raw")
    assert (answer.status, answer.body) == (200, LATIN)
    assert answer.header("Content-Type") == "text/html"
    assert answer.header("X-Archive-Orig-Set-Cookie") == "a=b"
    assert answer.header("Set-Cookie") is None
    assert answer.header("X-Archive-Orig-X-Odd") is not None
    assert answer.header("X-Archive-Orig-bad name") is None


def test_controls_in_a_type_do_not_end_the_answer(server: Served) -> None:
    answer = server.get(f"/web/2026id_/{URL}type")
    assert (answer.body, answer.header("Content-Type")) == (html("one"), "text/html;  a= b")


def test_a_304_replays_the_body_that_it_confirmed(server: Served) -> None:
    answer = server.get(f"/web/20260131000000id_/{URL}raw")
    assert (answer.status, answer.body) == (200, LATIN)
    assert answer.header("Memento-Datetime") == "Sat, 31 Jan 2026 00:00:00 GMT"
    assert answer.header("X-Archive-Orig-Set-Cookie") == "a=b"


def test_a_304_has_the_headers_of_the_capture_before_it_that_brought_the_body(server: Served) -> None:
    for day, visit in (("02", "0"), ("05", "3")):
        answer = server.get(f"/web/202601{day}000000id_/{URL}back")
        assert (answer.body, answer.header("X-Archive-Orig-X-Visit")) == (html("back"), visit)
    for order in ("", "&sort=reverse", "&limit=-5"):
        query = f"url={URL}back&resolveRevisits=true&output=json&fl=timestamp,orig.filename&filter=status:304"
        rows = dict(server.get(f"/cdx?{query}{order}").json[1:])
        assert rows == {
            f"202601{day}000000": f"/web/202601{brought}000000id_/{URL}back"
            for day, brought in (("02", "01"), ("05", "04"))
        }


def test_no_memento_may_run_scripts_of_the_interface(server: Served) -> None:
    for modifier in ("", *MODIFIERS):
        answer = server.get(f"/web/{JAN}{modifier}/{URL}")
        assert answer.status == 200
        assert "sandbox" in (answer.header("Content-Security-Policy") or ""), modifier
        assert answer.header("X-Content-Type-Options") == "nosniff", modifier


def test_other_modifiers_are_those_of_other_archives(server: Served) -> None:
    assert f'href="/web/{JAN}/http://ex.org/next' in server.get(f"/web/{JAN}mp_/{URL}").text
    for modifier in ("im_", "js_", "sw_", "ir_"):
        found = server.get(f"/web/{JAN}{modifier}/{URL}").text
        assert "January" in found
        assert "<archivebot-banner" not in found
        assert "<script" not in found  # a page that is opened at such an address
    banner = server.get(f"/web/{JAN}bn_/{URL}").text
    assert "<archivebot-banner" in banner
    assert '"/next?a=1"' in banner  # its links are as they were


def test_a_page_is_rewritten_and_has_a_banner(server: Served) -> None:
    text = server.get(f"/web/{JAN}/{URL}").text
    assert f'href="/web/{JAN}/http://ex.org/next?a=1"' in text
    assert f'href="/web/{JAN}cs_/http://ex.org/s.css"' in text
    assert "<script" not in text
    assert "<archivebot-banner" in text
    assert "2026-01-01 00:00:00 UTC, version 1" in text
    for modifier in ("if_", "fr_", "oe_"):
        framed = server.get(f"/web/{JAN}{modifier}/{URL}").text
        assert "<archivebot-banner" not in framed
        assert f'href="/web/{JAN}if_/http://ex.org/next?a=1"' in framed


def test_a_style_sheet_is_taken_from_the_nearest_time(server: Served) -> None:
    answer = server.get(f"/web/{JAN}cs_/{URL}s.css")
    assert answer.text == f'p {{ background: url("/web/{JAN}/http://ex.org/i.png") }}'
    assert answer.header("Memento-Datetime") == "Sun, 11 Jan 2026 00:00:00 GMT"


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        (JAN, JAN),
        ("20260114", JAN),
        ("20260120", FEB),
        ("2024", JAN),
        ("20260214000000", FEB),  # the error of the day after is no page
        ("20260215000000", "20260215000000"),  # but it is what was seen then
        ("2026", MAR),
        ("2", MAR),
        ("99999999999999", MAR),
        ("00000000000000", JAN),
        ("20260231", MAR),
        ("20260101000000123", JAN),  # milliseconds
        ("20260", MAR),
        ("2026010", JAN),
    ],
)
def test_the_memento_nearest_to_the_time_is_shown(server: Served, digits: str, expected: str) -> None:
    answer = server.get(f"/web/{digits}id_/{URL}")
    assert answer.header("Content-Location") == f"{server.host}/web/{expected}id_/{URL}"


def test_errors_are_replayed_with_their_status(server: Served) -> None:
    answer = server.get(f"/web/20260215000000/{URL}")
    assert (answer.status, answer.header("Memento-Datetime")) == (503, "Sun, 15 Feb 2026 00:00:00 GMT")
    assert server.get(f"/web/2026/{URL}never").status == 404


def test_mementos_of_errors_and_redirects_have_their_links(server: Served) -> None:
    for path in ("20260215000000/http://ex.org/", "2026/http://ex.org/old", "2026/http://ex.org/never"):
        relations = {relation for _, relation, _ in server.get(f"/web/{path}").links}
        assert {"original", "timegate", "timemap"} < relations
        assert any("memento" in each for each in relations)


def test_a_redirect_leads_to_its_target_at_the_same_time(server: Served) -> None:
    answer = server.get(f"/web/2026id_/{URL}old")
    assert (answer.status, answer.header("Location")) == (301, f"{server.host}/web/2026id_/{URL}raw")
    assert answer.header("Memento-Datetime") == JAN_DATE


def test_a_redirect_to_itself_is_said_to_be_one(server: Served) -> None:
    answer = server.get(f"/web/2026/{URL}loop")
    assert answer.status == 404
    assert "led to itself" in answer.text


def test_the_query_belongs_to_the_archived_url(server: Served) -> None:
    assert server.get(f"/web/2026id_/{URL}dir/page?b=2").body == html("x")
    assert server.get("/web/2026id_/http:/ex.org/dir/page?b=2").body == html("x")
    assert server.get("/web/2026id_/ex.org/dir/page?b=2").body == html("x")
    assert server.get("/web/2026id_/http%3A%2F%2Fex.org%2Fdir%2Fpage%3Fb%3D2").body == html("x")
    assert server.get(f"/web/2026id_/{URL}dir/page?b=3").status == 404


def test_an_answer_that_is_kept_is_that_of_the_url_as_it_is_written(server: Served) -> None:
    for _ in range(2):
        for name in ENCODED:
            assert f"<p>{name}" in server.get(f"/web/2026/{URL}d/{name}").text
            timemap = server.get(f"/web/timemap/link/{URL}d/{name}")
            assert (f"{URL}d/{name}", "original", {}) in timemap.links


def test_what_was_not_captured_has_a_page_with_its_neighbours(server: Served) -> None:
    answer = server.get(f"/web/2026/{URL}dir/nothing")
    assert answer.status == 404
    assert "http://ex.org/dir/nothing was never captured" in answer.text
    assert "/page?url=http%3A%2F%2Fex.org%2Fdir%2Fpage%3Fb%3D2" in answer.text
    assert server.get("/web/2026/mailto:x").status == 400
    resource = server.get(f"/web/2026im_/{URL}none.png", sec_fetch_dest="image")
    assert (resource.status, resource.header("Content-Type")) == (404, "text/plain; charset=utf-8")


def test_a_memento_names_its_neighbours(server: Served) -> None:
    places = {
        "original": URL,
        "timegate": f"{server.host}/web/{URL}",
        "timemap": f"{server.host}/web/timemap/link/{URL}",
        "first memento": f"{server.host}/web/{JAN}/{URL}",
        "prev memento": f"{server.host}/web/{JAN}/{URL}",
        "memento": f"{server.host}/web/{FEB}/{URL}",
        "next memento": f"{server.host}/web/20260215000000/{URL}",
        "last memento": f"{server.host}/web/{MAR}/{URL}",
    }
    answer = server.get(f"/web/{FEB}/{URL}")
    assert {relation: address for address, relation, _ in answer.links} == places
    dates = {relation: given["datetime"] for _, relation, given in answer.links if "datetime" in given}
    assert (dates["first memento"], dates["memento"], dates["last memento"]) == (JAN_DATE, FEB_DATE, MAR_DATE)
    around = (dates["prev memento"], dates["next memento"])
    assert around == (JAN_DATE, "Sun, 15 Feb 2026 00:00:00 GMT")
    assert answer.header("Memento-Datetime") == FEB_DATE
    assert answer.header("Content-Location") == f"{server.host}/web/{FEB}/{URL}"
    (timemap,) = [given for _, relation, given in answer.links if relation == "timemap"]
    assert timemap == {"type": "application/link-format"}


def test_the_only_memento_is_the_first_and_the_last(server: Served) -> None:
    relations = [relation for _, relation, _ in server.get(f"/web/2026/{URL}single").links]
    assert relations == ["original", "timegate", "timemap", "first last memento"]
    mementos = server.get(f"/web/timemap/link/{URL}single").links[3:]
    assert [relation for _, relation, _ in mementos] == ["first last memento"]
    assert '"rel": "first last memento"' in server.get(f"/web/timemap/cdxj/{URL}single").text


@pytest.mark.parametrize("gate", ["/web/timegate/", "/web/"])
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, MAR),
        ("Thu, 15 Jan 2026 00:00:00 GMT", JAN),
        ("Sat, 31 Jan 2026 00:00:00 GMT", FEB),
        ("Mon, 01 Jan 1990 00:00:00 GMT", JAN),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAR),
        (FEB_DATE, FEB),
    ],
)
def test_a_timegate_leads_to_the_nearest_memento(
    server: Served, gate: str, asked: str | None, expected: str
) -> None:
    headers = {"accept_datetime": asked} if asked else {}
    answer = server.get(f"{gate}{URL}", **headers)
    assert answer.status == 302
    assert answer.header("Location") == f"{server.host}/web/{expected}/{URL}"
    assert answer.header("Vary") == "accept-datetime"
    assert answer.header("Memento-Datetime") is None
    assert [(address, relation) for address, relation, _ in answer.links] == [
        (URL, "original"),
        (f"{server.host}/web/timemap/link/{URL}", "timemap"),
    ]


def test_beyond_its_ends_a_timegate_leads_to_the_first_and_the_last_whatever_they_are(server: Served) -> None:
    first, middle, last = (f"{server.host}/web/{at}/{URL}ends" for at in (JAN, FEB, MAR))
    assert server.get(f"/web/timegate/{URL}ends").header("Location") == last
    for gate in ("/web/timegate/", "/web/"):
        for asked, expected in (
            ("Fri, 01 Jan 2100 00:00:00 GMT", last),
            ("Mon, 01 Jan 1990 00:00:00 GMT", first),
            ("Sat, 28 Feb 2026 00:00:00 GMT", middle),
        ):
            answer = server.get(f"{gate}{URL}ends", accept_datetime=asked)
            assert answer.header("Location") == expected, asked
    assert server.get(f"/web/{URL}ends").header("Location") == middle  # a person wants to see a page


@pytest.mark.parametrize("asked", ["yesterday", "2026-01-01", "Thu, 01 Jan 2026 00:00:00", "Xyz, 99 Foo GMT"])
def test_a_timegate_refuses_other_dates(server: Served, asked: str) -> None:
    answer = server.get(f"/web/timegate/{URL}", accept_datetime=asked)
    assert answer.status == 400
    assert "Mon, 01 Jan 2024 00:00:00 GMT" in answer.text


def test_a_timegate_and_a_timemap_know_only_what_was_captured(server: Served) -> None:
    for path in ("timegate", "timemap/link", "timemap/json", "timemap/cdxj"):
        assert server.get(f"/web/{path}/http://other.example/").status == 404


def test_a_timemap_lists_the_mementos_as_links(server: Served) -> None:
    answer = server.get(f"/web/timemap/link/{URL}")
    assert answer.header("Content-Type") == "application/link-format"
    here = server.host
    lines = answer.text.removesuffix("\n").split(",\n")
    assert lines == [
        f'<{here}/web/timemap/link/{URL}>; rel="self"; type="application/link-format"; from="{JAN_DATE}";'
        f' until="{MAR_DATE}"',
        f'<{here}/web/{URL}>; rel="timegate"',
        f'<{URL}>; rel="original"',
        f'<{here}/web/{JAN}/{URL}>; rel="first memento"; datetime="{JAN_DATE}"',
        f'<{here}/web/{FEB}/{URL}>; rel="memento"; datetime="{FEB_DATE}"',
        f'<{here}/web/20260215000000/{URL}>; rel="memento"; datetime="Sun, 15 Feb 2026 00:00:00 GMT"',
        f'<{here}/web/{MAR}/{URL}>; rel="last memento"; datetime="{MAR_DATE}"',
    ]


def test_a_timemap_is_json_too(server: Served) -> None:
    answer = server.get(f"/web/timemap/json/{URL}")
    assert answer.header("Content-Type") == "application/json"
    assert answer.json["original_uri"] == URL
    assert answer.json["timegate_uri"] == f"{server.host}/web/{URL}"
    mementos = answer.json["mementos"]
    assert mementos["first"] == {"datetime": "2026-01-01T00:00:00Z", "uri": f"{server.host}/web/{JAN}/{URL}"}
    assert mementos["last"] == mementos["list"][-1]
    assert len(mementos["list"]) == 4


def test_a_timemap_is_cdxj_too(server: Served) -> None:
    lines = server.get(f"/web/timemap/cdxj/{URL}").text.splitlines()
    assert f'!meta {{"original_uri": "{URL}"}}' in lines
    rows = [line for line in lines if not line.startswith("!")]
    assert [row[:14] for row in rows] == [JAN, FEB, "20260215000000", MAR]
    uri = f"{server.host}/web/{JAN}/{URL}"
    assert rows[0] == f'{JAN} {{"uri": "{uri}", "rel": "first memento", "datetime": "{JAN_DATE}"}}'


@pytest.mark.parametrize(
    ("preference", "has"),
    [
        ("raw", (True, True, False)),
        ("rewritten", (False, False, False)),
        ("banner-only", (False, True, True)),
    ],
)
def test_a_reader_may_prefer_one_form(server: Served, preference: str, has: tuple[bool, ...]) -> None:
    answer = server.get(f"/web/{JAN}/{URL}", prefer=preference)
    assert answer.header("Preference-Applied") == preference
    assert answer.header("Vary") == "Prefer"
    text = answer.text
    assert ("<script>" in text, '"/next?a=1"' in text, "<archivebot-banner" in text) == has
    for other in ("", "straw", "respond-async"):
        assert server.get(f"/web/{JAN}/{URL}", prefer=other).header("Preference-Applied") is None
    listed = server.get(f"/web/{JAN}/{URL}", prefer=f"respond-async, {preference}")
    assert listed.header("Preference-Applied") == preference


def test_the_addresses_of_calendars_lead_to_the_time_line(server: Served) -> None:
    page = "/page?url=http%3A%2F%2Fex.org%2F"
    assert server.get(f"/web/*/{URL}").header("Location") == page
    assert server.get(f"/web/2009-2015*/{URL}").header("Location") == f"{page}&year=2009-2015"
    assert server.get(f"/web/2009*/{URL}").header("Location") == f"{page}&year=2009"
    assert server.get(f"/web/*/{URL}*").header("Location") == "/site?url=http%3A%2F%2Fex.org%2F"
    below = server.get(f"/web/*/{URL}dir/*").header("Location")
    assert below == "/site?url=http%3A%2F%2Fex.org%2Fdir%2F&prefix=yes"
    listed = server.get(below).text
    assert "dir%2Fpage" in listed
    assert "single" not in listed
    assert server.get(f"/web/changes/{URL}").header("Location") == page
    for milliseconds in ("", "000"):
        versions = server.get(f"/web/diff/{JAN}{milliseconds}/{FEB}/{URL}").header("Location")
        assert versions == "/delta?url=http%3A%2F%2Fex.org%2F&from=1&to=2"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"2026xx_/{URL}", "there is no modifier"),
        (f"timemap/xml/{URL}", "there is no TimeMap"),
        *((path, "a URL is missing") for path in ("2026/", "2026id_/", "timemap/link/", "timegate/")),
    ],
)
def test_an_address_that_is_no_memento_is_refused_with_what_to_write(
    server: Served, path: str, message: str
) -> None:
    answer = server.get(f"/web/{path}")
    assert (answer.status, message in answer.text) == (400, True)


def test_nothing_of_the_interface_can_be_loaded_by_an_archived_page(server: Served) -> None:
    policy = server.get(f"/web/{JAN}/{URL}").header("Content-Security-Policy") or ""
    sources = {word for rule in policy.split("; ") for word in rule.split()[1:] if word.startswith("http")}
    assert sources == {f"{server.host}/web/"}
    sandbox = next(rule for rule in policy.split("; ") if rule.startswith("sandbox"))
    assert "allow-scripts" not in sandbox
    assert "allow-same-origin" not in sandbox
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    for path in ("/", f"/page?url={URL}", "/nothing", f"/web/2026/{URL}nothing"):
        assert "frame-ancestors 'none'" in (server.get(path).header("Content-Security-Policy") or "")


def test_only_a_font_may_be_used_by_the_sandbox(server: Served) -> None:
    assert server.get(f"/web/2026/{URL}i.png", sec_fetch_dest="font").header("Access-Control-Allow-Origin")
    for dest in ("image", "empty", "script"):
        answer = server.get(f"/web/2026/{URL}i.png", sec_fetch_dest=dest)
        assert answer.header("Access-Control-Allow-Origin") is None


def test_a_request_to_another_name_is_refused(server: Served) -> None:
    for name in ("evil.example", f"evil.example:{server.port}", "127.0.0.1; x", "["):
        assert server.get("/", host=name).status == 421
    assert server.get("/", host="localhost").status == 200


def test_an_archive_is_only_read(server: Served) -> None:
    for path in ("/", f"/web/2026/{URL}", f"/cdx?url={URL}"):
        assert server.get(path, "POST").status == 405


def test_a_request_for_the_head_has_no_body(server: Served) -> None:
    answer = server.get(f"/web/{JAN}/{URL}", "HEAD")
    assert (answer.status, answer.body, answer.header("Memento-Datetime")) == (200, b"", JAN_DATE)


def test_a_player_gets_the_part_of_a_sound_that_it_asks_for(tmp_path: Path) -> None:
    headers = (("Content-Type", "audio/wav"), ("Content-Range", "bytes 0-9/10"))
    sound = make_page(b"0123456789", url=f"{URL}a.wav", status=206, headers=headers)
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", [sound])) as served:
        path = f"/web/{JAN}oe_/{URL}a.wav"
        whole, part, beyond = (
            served.get(path, **given) for given in ({}, {"range": "bytes=2-4"}, {"range": "bytes=10-"})
        )
        other = served.get(path, range="bytes=2-4", if_range="x")
    assert (whole.status, whole.body, whole.header("Accept-Ranges")) == (200, b"0123456789", "bytes")
    assert (part.status, part.body, part.header("Content-Range")) == (206, b"234", "bytes 2-4/10")
    assert (beyond.status, beyond.body, beyond.header("Content-Range")) == (416, b"", "bytes */10")
    assert (other.status, other.body) == (200, b"0123456789")
    assert part.header("Content-Security-Policy")


def test_a_part_is_cut_from_the_sound_also_if_the_answer_is_kept(tmp_path: Path) -> None:
    sound = make_page(b"0123456789", url=f"{URL}a.wav", headers=(("Content-Type", "audio/wav"),))
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", [sound])) as served:
        for given, body in (({}, b"0123456789"), ({"range": "bytes=2-4"}, b"234")) * 2:
            assert served.get(f"/web/{JAN}/{URL}a.wav", **given).body == body


def test_redirects_in_a_circle_are_said_to_be_one(tmp_path: Path) -> None:
    ways = {"in": "a", "a": "b", "b": "a", "out": "end", "last": "nowhere"}
    pages = [
        make_page(url=f"{URL}{one}", outcome=Outcome.REDIRECT, status=302, location=f"{URL}{two}")
        for one, two in ways.items()
    ]
    pages.append(make_page(html("end"), url=f"{URL}end"))
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", pages)) as served:
        answers = {name: served.get(f"/web/2026/{URL}{name}") for name in ways}
    assert {name: answer.status for name, answer in answers.items()} == {
        **dict.fromkeys(("in", "a", "b"), 404),
        **dict.fromkeys(("out", "last"), 302),
    }
    assert "into a circle of redirects" in answers["in"].text


def test_a_file_keeps_its_name(tmp_path: Path) -> None:
    named = 'attachment; filename="caf\u00e9.zip"'
    headers = (("Content-Type", "application/zip"), ("content-disposition", named + "\r\nX: y"))
    page = make_page(b"PK", url=f"{URL}get?id=3", headers=headers)
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", [page])) as served:
        for modifier in ("", EXACT):
            answer = served.get(f"/web/2026{modifier}/{URL}get?id=3")
            assert answer.header("Content-Disposition") == f"{named} X: y"


def test_an_error_without_a_body_has_a_page_that_names_it(server: Served) -> None:
    answer = server.get(f"/web/{JAN}/{URL}bare")
    assert (answer.status, answer.header("Content-Type")) == (500, "text/html; charset=utf-8")
    assert "2026-01-01 00:00:00 UTC, status 500" in answer.text
    for modifier in (EXACT, "im_", "if_"):
        assert (server.get(f"/web/{JAN}{modifier}/{URL}bare").body) == b""
