"""A WACZ package in ReplayWeb.page's library, in a real browser without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.browsed import browser
from tests.commands import run_scrapy
from tests.factories import html, make_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

LIBRARY = "replaywebpage@2.5.3"
HOST = (
    '<!doctype html><script src="/replay/ui.js"></script><replay-web-page source="/x.wacz" url="{url}"'
    ' ts="{ts}" embed="replayonly" replaybase="/replay/"></replay-web-page>'
)
PATIENCE = 90
LOADS = 3

SHIPS, MOVED, COPY = "http://example.com/ships", "http://example.com/moved", "http://example.org/copy"
FIRST, SECOND = "Ships leave at noon from the old harbour.", "Ships leave at nine from the new harbour."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, unpacked; npm fetches it."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("replaywebpage")
    if npm is None:
        pytest.skip("allowed: npm is not installed")
    try:
        command = [npm, "pack", LIBRARY, "--silent"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"allowed: npm does not fetch {LIBRARY} in {PATIENCE} seconds")
    if done.returncode:
        pytest.skip(f"allowed: npm cannot fetch {LIBRARY}")
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


class Ranges(SimpleHTTPRequestHandler):
    """Serves files, also parts of them, as the library asks for parts of a package."""

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        data, start = path.read_bytes(), int(asked[1])
        part = data[start : int(asked[2]) + 1 if asked[2] else None]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def served(library: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a folder with the library and a package of an archive."""
    uri = f"sqlite:///{tmp_path}/a.db"
    with closing(Archive.open(ArchiveConfig(uri=uri))) as archive:
        for day, url, text in ((0, SHIPS, FIRST), (5, SHIPS, SECOND), (6, COPY, SECOND)):
            archive.add(archive.segment(make_page(html(text), day, url=url)))
    folder = tmp_path / "www"
    (folder / "replay").mkdir(parents=True)
    for name in ("ui.js", "sw.js"):
        shutil.copy(library / name, folder / "replay" / name)
    done = run_scrapy(("export", "wacz", "--output", f"{folder}/x.wacz", "-s", f"ARCHIVE_URI={uri}"))
    assert done.returncode == 0, done.stderr
    for name, url, ts in (
        ("first", SHIPS, "20260101000000"),
        ("second", SHIPS, "20260106"),
        ("copy", COPY, ""),
    ):
        (folder / f"{name}.html").write_text(HOST.format(url=url, ts=ts))
    handler = partial(Ranges, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.long
def test_a_package_opens_in_the_library_of_replayweb_page(served: str) -> None:
    with browser() as running:
        for name, text in (("first", FIRST), ("second", SECOND), ("copy", SECOND)):
            with closing(running.new_page()) as page:
                assert opened(page, f"{served}/{name}.html", text), f"{name} is not shown"


def opened(page: Page, address: str, text: str) -> bool:
    """Return whether a page comes to show a text; if it does not, it is loaded again.

    On a busy machine the service worker of the library may start too late for the first load.
    """
    for _ in range(LOADS):
        page.goto(address)
        if shown(page, text):
            return True
    return False


def shown(page: Page, text: str) -> bool:
    """Return whether a frame of a page comes to show a text."""
    from playwright.sync_api import Error

    end = monotonic() + PATIENCE / LOADS
    while monotonic() < end:
        for frame in page.frames[1:]:
            with suppress(Error):  # it is being loaded
                if text in frame.content():
                    return True
        page.wait_for_timeout(200)
    return False
