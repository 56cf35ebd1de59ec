"""scrapy serve: how the server begins and ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run_scrapy
from tests.conftest import ROOT
from tests.factories import html, make_page
from tests.served import Served, archived, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('served')}/archive.db"
    with serving(archived(uri, [make_page(html("x"))])) as served:
        yield served


def test_a_web_server_in_front_of_it_may_pass_on_the_name_that_the_settings_state(tmp_path: Path) -> None:
    page = make_page(html("x"))
    uri = archived(f"sqlite:///{tmp_path}/archive.db", [page])
    passed = {"host": "archive.example", "x_forwarded_proto": "https"}
    with serving(uri, "-s", "ARCHIVE_WATCH_SERVER=https://archive.example/") as server:
        assert server.get("/", host="localhost").status == 200
        assert server.get("/", host="evil.example").status == 421
        shown = server.get(f"/web/2026/{page.url}", **passed)
        assert "img-src https://archive.example/web/ " in (shown.header("Content-Security-Policy") or "")
        index = server.get(f"/web/timemap/link/{page.url}", **passed)
        assert index.body.startswith(b"<https://archive.example/web/timemap/")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_server(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    uri = archived(f"sqlite:///{tmp_path_factory.mktemp('a')}/a.db", [make_page(html("x"))])
    with serving(uri) as server:
        assert server.get("/").status == 200
        assert server.end(number) == 0
        assert server.process.stderr.read() == "scrapy serve: ended\n"


@pytest.mark.long
def test_the_second_signal_ends_it_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    large = make_page(bytes(30_000_000), headers=(("Content-Type", "application/octet-stream"),))
    uri = archived(f"sqlite:///{tmp_path_factory.mktemp('a')}/a.db", [large])
    with serving(uri) as server, socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.send(f"GET /web/2026id_/{large.url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert slow.recv(9) == b"HTTP/1.1 "  # and it reads no more
        server.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(1)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(2) == 128 + signal.SIGINT


def test_a_port_in_use_and_one_that_cannot_be_are_refused(server: Served) -> None:
    for port, reason in (
        (str(server.port), "cannot be served: Address already in use"),
        ("x", "a number from 0 to 65535"),
    ):
        done = run_scrapy(("serve", "--port", port, "-s", f"ARCHIVE_URI={_uri(server)}"))
        assert done.returncode == 2
        assert reason in done.stderr


def test_no_archive_is_said_before_anything_is_served(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("none")
    done = run_scrapy(("serve", "--port", "0", "-s", f"ARCHIVE_URI=sqlite:///{folder}/none.db"))
    assert done.returncode == 1
    assert list(folder.iterdir()) == []


@pytest.mark.long
def test_the_address_is_printed_as_json_too(server: Served) -> None:
    words = ["scrapy", "serve", "--port", "0", "--json", "-s", f"ARCHIVE_URI={_uri(server)}"]
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        text = "".join(process.stdout.readline() for _ in range(3))
        process.terminate()
    assert json.loads(text)["address"].startswith("http://127.0.0.1:")


@pytest.mark.long
def test_other_commands_import_no_server() -> None:
    code = "import sys, archivebot.commands.serve; sys.exit('starlette' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def _uri(server: Served) -> str:
    return next(str(word).partition("=")[2] for word in server.process.args if "ARCHIVE_URI" in str(word))
