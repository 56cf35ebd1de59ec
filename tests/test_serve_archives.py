"""scrapy serve over other archives: MongoDB, one being written, an older one without write permission."""

from __future__ import annotations

import re
import socket
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

from archivebot import Archive, ArchiveConfig
from archivebot.web.replay import PART
from tests.factories import URL, html, make_page
from tests.served import Served, archived, serving
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]


def check(server: Served) -> None:
    """Ask for one of each kind of answer."""
    assert server.get(f"/web/2026id_/{URL}").body == html("two")
    assert server.get(f"/web/20260101id_/{URL}").body == html("one")
    assert len(server.get(f"/cdx?url={URL}&output=json").json) == 3
    assert server.get(f"/web/timemap/link/{URL}").text.count("memento") == 2
    for path in (
        "/",
        "/site?url=example.com",
        f"/page?url={URL}",
        f"/version?url={URL}",
        f"/delta?url={URL}",
    ):
        assert server.get(path).status == 200, path


QUESTIONS = (
    *("sites", "pages?site=example.com", f"captures?url={URL}", f"version?url={URL}", f"delta?url={URL}"),
    *("changes?since=2020", "activity?site=example.com", "duplicates", "clusters", "forms"),
)


@pytest.mark.long
def test_an_archive_in_mongodb_is_served(mongo_uri: str) -> None:
    pages = [make_page(html("one"), 0), make_page(html("two"), 31)]
    with serving(archived(mongo_uri, pages)) as server:
        check(server)
        for question in QUESTIONS:
            found = server.get(f"/api/{question}")
            assert found.status == 200, (question, found.text)
        assert len(server.get(f"/api/captures?url={URL}").json) == 2
        assert server.get(f"/api/version?url={URL}").json["version"] == 2
        lineage = server.get(f"/api/version?url={URL}").json["blocks"][0]["lineage"]
        assert server.get(f"/block?url={URL}&lineage={lineage}").status == 200
        assert server.get(f"/resources?url={URL}").status == 200


@pytest.mark.long
def test_what_lists_pages_leaves_damaged_ones_out(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    urls = [f"http://example.com/{number}" for number in range(3)]
    uri = archived(f"sqlite:///{path}", [make_page(html("text"), url=url) for url in urls])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE page SET lineages = lineages + 1 WHERE id = 2")
    with serving(uri) as server:
        for asked in ("/", "/site?url=example.com", "/api/pages", "/api/events?site=example.com"):
            found = server.get(asked)
            assert (found.status, [url in found.text for url in urls]) == (200, [True, False, True]), (
                found.text
            )
        assert server.get("/api/activity?site=example.com").json[0]["new"] == 2


@pytest.mark.long
def test_long_answers_follow_what_is_stored(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(html("one"), 0)])
    paths = (f"/page?url={URL}", f"/cdx?url={URL}", f"/web/timemap/link/{URL}", f"/web/2026/{URL}")
    with serving(uri) as server, Archive.open(ArchiveConfig(uri=uri)) as archive:
        before = [server.get(path).body for path in paths]
        assert [server.get(path).body for path in paths] == before
        archive.add(archive.segment(make_page(html("two"), 31)))
        after = [server.get(path).body for path in paths]
        assert [one == two for one, two in zip(before, after, strict=True)] == [False] * len(paths)


@pytest.mark.long
def test_a_page_is_served_as_soon_as_it_is_stored(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(html("one"), 0)])
    with serving(uri) as server, Archive.open(ArchiveConfig(uri=uri)) as archive:
        assert server.get(f"/web/2026id_/{URL}").body == html("one")
        assert "1 capture," in server.get(f"/page?url={URL}").text
        archive.add(archive.segment(make_page(html("two"), 31)))
        check(server)
        assert "2 captures," in server.get(f"/page?url={URL}").text


@pytest.mark.long
def test_an_archive_that_is_deleted_and_made_again_is_opened_again(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(html("one"), 0)])
    with serving(uri) as server:
        assert server.get(f"/web/2026id_/{URL}").status == 200
        for file in tmp_path.iterdir():
            file.unlink()
        assert server.get(f"/web/2026id_/{URL}").status in (404, 503)
        archived(uri, [make_page(html("one"), 0), make_page(html("two"), 31)])
        statuses = [server.get(f"/web/2026id_/{URL}").status for _ in range(8)]
        assert statuses[-1] == 200
        check(server)


@pytest.mark.long
def test_broken_and_slow_clients_keep_no_others_waiting(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(html("one"), 0), make_page(html("two"), 31)])
    with serving(uri) as server:
        starts = (b"GET / HT", b"\x16\x03\x01 rubbish\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        opened = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(150)]
        for number, connection in enumerate(opened):
            connection.send(starts[number % 3])
        check(server)
        for connection in opened:
            connection.close()
        check(server)
        assert server.end() == 0


@pytest.mark.long
def test_a_long_timemap_comes_in_parts(tmp_path: Path) -> None:
    pages = (make_page(html("one"), number / 24) for number in range(2 * PART + 2))
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as server:
        first = server.get(f"/web/timemap/link/{URL}")
        assert first.text.count("memento") == PART
        ((address, _, given),) = [link for link in first.links if link[1] == "timemap"]
        for count in (PART, 2):
            part = server.get(address.removeprefix(server.host))
            (own,) = [link for link in part.links if link[1] == "self"]
            assert own == (address, "self", given)
            mementos = [relation for _, relation, _ in part.links if "memento" in relation]
            assert len(mementos) == count
            address, given = next(
                ((link[0], link[2]) for link in part.links if link[1] == "timemap"), ("", given)
            )
        assert mementos == ["memento", "last memento"]
        assert not address
        parts = server.get(f"/web/timemap/json/{URL}").json
        assert len(server.get(parts["next"].removeprefix(server.host)).json["mementos"]["list"]) == PART
        assert f'"next": "{server.host}' in server.get(f"/web/timemap/cdxj/{URL}").text


@pytest.mark.long
def test_an_older_archive_is_served_without_write_permission(tmp_path: Path) -> None:
    with tarfile.open(Path(__file__).with_name("archives") / "schema-3.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    archive = tmp_path / "a.db"
    archive.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with serving(f"sqlite:///{archive}", bound=True) as server:
            (site,) = set(re.findall(r'/site\?url=([^"]*)', server.get("/").text))
            for _ in range(8):
                assert server.get(f"/page?url={site}").status == 200
                assert server.get(f"/web/2030id_/{unquote(site)}").body.startswith(b"<!DOCTYPE html>")
            assert server.end() == 0
    finally:
        tmp_path.chmod(0o755)
