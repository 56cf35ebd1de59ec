"""scrapy segment: files without an archive, one JSON line each."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from archivebot.segmentation.segmenter import partition
from tests.commands import run_scrapy

STORY = "The ferry crosses the bay six times a day and takes bicycles without a fee. " * 4
PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>The ferry - Bay News</title></head><body>
<header><h1>Bay News</h1></header>
<nav><ul><li><a href="/">Home</a></li><li><a href="/sea">Sea</a></li></ul></nav>
<main><h2>The ferry</h2><p>{STORY}</p><p>{STORY}</p></main>
<footer><p>Bay News, 4 Quay Street</p></footer></body></html>
""".encode()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.html"
    path.write_bytes(PAGE)
    return path


def segment(*args: object) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("segment", *map(str, args)))


def test_each_file_is_one_line(page: Path, tmp_path: Path) -> None:
    other = tmp_path / "empty.html"
    other.write_bytes(b"")
    result = segment(page, other, "--json")
    assert result.returncode == 0, result.stderr
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["file"], second["file"]) == (str(page), str(other))
    assert first["title"] == "The ferry"
    assert (first["title_agreement"], second["title_agreement"]) == (1, None)
    assert STORY.strip() in first["main_text"].splitlines()
    assert "Quay Street" not in first["main_text"]
    assert [block["label"] for block in first["blocks"]] == ["header", "navigation", "main", "footer"]
    story = first["blocks"][2]
    assert PAGE[story["start"] : story["end"]].startswith(b"<main>")
    assert len(story["simhash"]) == 16
    assert second["blocks"] == []


def test_from_level_two_on_it_cuts_as_an_archive_does(page: Path) -> None:
    found = json.loads(segment(page, "--json", "--level", 3).stdout)["blocks"]
    expected = [(block.start, block.end, block.level) for block in partition(PAGE, 3).blocks]
    assert [(block["start"], block["end"], block["level"]) for block in found] == expected


def test_a_table_says_why_a_block_has_its_label(page: Path) -> None:
    assert "element nav" in segment(page).stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere.html",), "nowhere.html is no file"),
        ((".",), ". is no file"),
        (("README.md", "--level", "0"), "--level is 0: give a number from 1 to 9"),
        ((), "write: scrapy segment"),
    ],
)
def test_wrong_use_exits_with_2_and_advice(args: tuple[str, ...], message: str) -> None:
    result = segment(*args)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
