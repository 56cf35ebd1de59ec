"""The sample site: pages that hold together, a week of changes between its states, and its script."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from http import HTTPStatus
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.markup.media import media_of
from archivebot.markup.page import ParsedPage
from archivebot.models import Change, Outcome, Page
from archivebot.replay.requisites import body_requisites, page_requisites
from archivebot.sample.server import GONE, MOVED, STATES, SampleSite, answer, paths

ROOT = Path(__file__).parents[1]
VOID = frozenset("br img input link meta".split())
ANSWERED = frozenset((HTTPStatus.OK, HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.GONE))
FOOTER = "This page was last checked on"
CHANGED = {
    "/index.html": "bicycle repair kit",
    "/events.html": "Old maps",
    "/news/reading-room.html": "19,150",
}


def html_paths(state: str) -> list[str]:
    return [path for path in paths(state) if path.endswith(".html")]


def html_of(state: str, path: str) -> str:
    return answer(state, path).body.decode()


class Balance(HTMLParser):
    """Fails where a start tag and an end tag do not belong together."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


PAGES = [(state, path) for state in STATES for path in html_paths(state)]


@pytest.mark.parametrize(("state", "path"), PAGES)
def test_every_page_is_whole_html(state: str, path: str) -> None:
    text, reader = html_of(state, path), Balance()
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    reader.feed(text)
    assert reader.open == []
    assert {"title", "header", "nav", "main", "footer", "h1"} <= reader.seen


@pytest.mark.parametrize(("state", "path"), PAGES)
def test_every_link_leads_somewhere_or_is_forbidden(state: str, path: str) -> None:
    links = re.findall(r'href="(/[^"]*)"', html_of(state, path))
    assert len(links) > 8
    for link in links:
        assert answer(state, link).status in ANSWERED or link.startswith("/catalogue/"), link


@pytest.mark.parametrize("state", STATES)
def test_every_file_is_linked_or_loaded(state: str) -> None:
    linked = {
        link for path in html_paths(state) for link in re.findall(r'href="(/[^"]*)"', html_of(state, path))
    }
    for path in paths(state):
        body, media = answer(state, path).body, media_of(b"", answer(state, path).kind)
        if path.endswith(".css"):
            found = body_requisites(body, media, f"http://a.example{path}")
        else:
            found = page_requisites(ParsedPage(body, "utf-8").document, f"http://a.example{path}")
        linked |= {url.removeprefix("http://a.example") for url in found}
    reached = (
        linked | {MOVED.get(state, {}).get(link, link) for link in linked} | {"/index.html", "/robots.txt"}
    )
    assert set(paths(state)) <= reached
    assert GONE.get(state, frozenset()) | MOVED.get(state, {}).keys() <= linked


def test_a_week_changes_what_it_should(tmp_path: Path) -> None:
    archive = Archive.open(ArchiveConfig(f"sqlite:///{tmp_path}/archive.db"))
    common = [path for path in paths("first") if path in paths("second") and path.endswith(".html")]
    for day, state in enumerate(STATES, 1):
        for path in common:
            when = datetime(2026, 11, day, tzinfo=UTC)
            url, headers = f"http://library.example{path}", (("Content-Type", "text/html; charset=utf-8"),)
            body = answer(state, path).body
            archive.add(archive.segment(Page(url, when, Outcome.FETCHED, 200, headers, body)))
    for path in common:
        url = f"http://library.example{path}"
        delta = archive.delta(url, archive.version(url, 1), archive.version(url, 2))
        changed = [change for change in delta.changes if change.change is not Change.UNCHANGED]
        assert all(change.change is Change.MODIFIED for change in changed)
        assert not delta.layout_changed
        *edited, footer = [str(change.after) for change in changed]
        assert FOOTER in footer or "本页最后核对日期" in footer
        assert len(edited) == (path in CHANGED)
        assert all(CHANGED[path] in text for text in edited)
    archive.close()


def test_what_does_not_change_is_the_leaflet_and_robots() -> None:
    same = [path for path in paths("first") if answer("first", path).body == answer("second", path).body]
    loaded = ["/gallery.css", "/gallery.js", *(path for path in paths("first") if "/plates/" in path)]
    assert same == sorted(["/leaflet.txt", "/robots.txt", *loaded])


def test_the_site_is_read_out_of_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "egg.zip", "w") as egg:
        for path in sorted((ROOT / "archivebot").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                egg.write(path, path.relative_to(ROOT))
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'egg.zip')!r});"
        "from archivebot.sample import server; assert '.zip' in server.__file__;"
        "print(len(server.paths('first')), server.answer('second', '/groups/reading.html').status.value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(paths("first"))), "200"]


@pytest.fixture
def site() -> Iterator[SampleSite]:
    with SampleSite(0, "second").running() as running:
        yield running


def ask(site: SampleSite, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(site.url.split("/")[2], timeout=10)
    try:
        connection.request(
            method, path, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_a_page_comes_with_a_validator_and_is_not_sent_twice(site: SampleSite) -> None:
    response, body = ask(site, "/zh.html")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert body == answer("second", "/zh.html").body
    again, nothing = ask(site, "/zh.html", If_None_Match=response.headers["ETag"])
    assert (again.status, nothing) == (304, b"")


def test_a_head_request_brings_no_body(site: SampleSite) -> None:
    response, body = ask(site, "/", "HEAD")
    assert (response.status, body) == (200, b"")
    assert int(response.headers["Content-Length"]) == len(answer("second", "/").body)


def test_what_moved_says_where_and_what_is_gone_says_so(site: SampleSite) -> None:
    moved, _ = ask(site, "/reading-groups.html")
    assert (moved.status, moved.headers["Location"]) == (301, "/groups/reading.html")
    assert ask(site, "/summer-fete.html")[0].status == 410
    site.state = "first"
    assert ask(site, "/summer-fete.html")[0].status == 200


@pytest.mark.parametrize("path", ["/nowhere.html", "/../server.py", "/news", "/news/", "/%2e%2e/server.py"])
def test_other_paths_are_not_found(site: SampleSite, path: str) -> None:
    assert ask(site, path)[0].status == 404


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "archivebot.sample", *options]


def environment(folder: Path, **more: str) -> dict[str, str]:
    archive = f"sqlite:///{folder}/archive.db"
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "ARCHIVE_URI": archive} | more


def run(folder: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*options),
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_port_that_is_taken_is_explained(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, PORT=str(port))
        served = run(tmp_path, "--serve", "first", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr == (
        f"Port {port} is taken by another program. Choose a free one: PORT={port + 1} make crawl\n"
    )
    assert served.stderr.endswith(f": python -m archivebot.sample --serve first --port {port + 1}\n")


@pytest.mark.parametrize("port", ["library", "70000"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, port: str) -> None:
    done = run(tmp_path, PORT=port)
    assert done.returncode == 2
    assert port in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_the_script_names_the_environment_of_commands_that_are_not_on_the_path(tmp_path: Path) -> None:
    activate = os.path.relpath(Path(sys.prefix, "bin", "activate"), tmp_path)
    for path, is_named in (("/nowhere", True), (f"{Path(sys.executable).parent}:/nowhere", False)):
        done = run(tmp_path, "--port=0", PATH=path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"not on the path of this shell yet: . {activate}\n") == is_named


@pytest.mark.long
def test_the_first_command_that_fails_ends_the_script(tmp_path: Path) -> None:
    done = run(tmp_path, "--port=0", ARCHIVE_URI="nothing://here")
    assert done.returncode == 2
    assert done.stdout.count("$ scrapy") == 1


def test_serve_only_serves_until_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--serve", "second", "--port", "0"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", line)[0])
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/summer-fete.html")
        assert connection.getresponse().status == 410
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_running_it_again_records_the_visits_and_stores_nothing_twice(tmp_path: Path) -> None:
    with SampleSite(0).running() as site:
        port = site.url.split(":")[2].strip("/")
    first, second = run(tmp_path, "--port", port), run(tmp_path, "--port", port)
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert second.stderr.count(", 0 B stored;") == 2
    archive = Archive.open(ArchiveConfig(f"sqlite:///{tmp_path}/archive.db"))
    kinds = {path: [capture.kind for capture in archive.captures(f"http://127.0.0.1:{port}{path}")]
             for path in ("/", "/leaflet.txt", "/reading-groups.html", "/summer-fete.html")}  # fmt: skip
    assert kinds == {
        "/": ["new", "changed", "changed", "changed"],
        "/leaflet.txt": ["new", "revisit", "revisit", "revisit"],
        "/reading-groups.html": ["new", "redirect", "revisit", "redirect"],
        "/summer-fete.html": ["new", "gone", "revisit", "gone"],
    }
    assert archive.verify()[1] == []
    archive.close()
