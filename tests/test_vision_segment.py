"""scrapy segment --visual, scrapy blocks --visual: the blocks of a page as a browser shows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.vision.render import BROWSERS
from tests.commands import run_scrapy
from tests.factories import URL, make_page

PAGE = """<body style="margin: 0"><header style="background: #ddd; height: 60px">Bay News</header>
<main style="margin: 40px 0"><p>The ferry runs all year.</p></main><hr><footer>Quay Street</footer>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.html"
    path.write_text(PAGE, "utf-8")
    return path


def segment(*args: object, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return run_scrapy(("segment", *map(str, args)), environment=environment)


@pytest.mark.long
def test_each_file_is_one_line_with_its_visual_blocks(page: Path, tmp_path: Path) -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser: install it with apt-get install chromium")
    empty = tmp_path / "empty.html"
    empty.write_bytes(b"")
    result = segment(page, empty, "--visual", "--doc", "8", "--json")
    assert result.returncode == 0, result.stderr
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["file"] == str(page)
    assert [block["text"] for block in first["blocks"]] == [
        "Bay News",
        "The ferry runs all year.",
        "Quay Street",
    ]
    head = first["blocks"][0]
    assert head.keys() == {"path", "left", "top", "width", "height", "doc", "text"}
    assert (head["left"], head["top"], head["width"], head["height"]) == (0, 0, 1280, 60)
    assert head["path"] == "/html[1]/body[1]/header[1]"
    assert all(8 <= block["doc"] <= 10 for block in first["blocks"])
    assert second == {"file": str(empty), "media": None, "blocks": []}


@pytest.fixture
def archived(tmp_path: Path) -> dict[str, str]:
    """The environment with an archive of two versions of the page."""
    uri = f"sqlite:///{tmp_path}/a.db"
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day, body in enumerate((PAGE, PAGE.replace("all year", "in summer"))):
            archive.add(archive.segment(make_page(body.encode(), day)))
    return {**os.environ, "ARCHIVE_URI": uri}


@pytest.mark.long
def test_a_version_of_the_archive_is_cut_as_it_was_seen_at_that_time(archived: dict[str, str]) -> None:
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser: install it with apt-get install chromium")

    def texts(*more: str) -> list[str]:
        result = run_scrapy(("blocks", URL, "--visual", "--doc", "8", "--json", *more), environment=archived)
        assert result.returncode == 0, result.stderr
        return [block["text"] for block in json.loads(result.stdout)]

    assert texts() == ["Bay News", "The ferry runs in summer.", "Quay Street"]
    assert texts("--at", "1999") == ["Bay News", "The ferry runs all year.", "Quay Street"]


def test_the_coherence_of_visual_blocks_is_no_option_of_others(archived: dict[str, str]) -> None:
    result = run_scrapy(("blocks", URL, "--doc", "5"), environment=archived)
    assert (result.returncode, "give --visual as well" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--visual", "--doc", "0"), "--doc is 0: give a number from 1 to 10"),
        (("--visual", "--doc", "11"), "--doc is 11: give a number from 1 to 10"),
        (("--doc", "5"), "--doc is for visual blocks: give --visual as well"),
    ],
)
def test_wrong_use_exits_with_2_and_advice(page: Path, args: tuple[str, ...], message: str) -> None:
    result = segment(page, *args)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_browser_exits_with_2_and_says_what_to_install(page: Path) -> None:
    pytest.importorskip("playwright", reason="no Playwright: pip install playwright")
    result = segment(page, "--visual", path="/nowhere")
    assert result.returncode == 2
    assert "apt-get install chromium" in result.stderr
