"""Scrapy's own commands, and spiders that are not of archivebot, in the project of archivebot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archivebot import __version__
from tests.commands import run_scrapy
from tests.mockserver import MockServer, Reply

PAGE = Reply(b"<title>A tern</title>")

SPIDER = """
import scrapy


class Titles(scrapy.Spider):
    name = "titles"

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""


@pytest.mark.parametrize("command", [("fetch",), ("shell", "-c", "response.text")])
def test_a_command_without_an_archive_requests_a_page(
    site: MockServer, tmp_path: Path, command: tuple[str, ...]
) -> None:
    site.routes["/"] = PAGE
    archive = f"ARCHIVE_URI=sqlite:///{tmp_path}/a.db"
    done = run_scrapy((command[0], site.url(), *command[1:], "-s", archive, "-s", "LOG_LEVEL=WARNING"))
    assert "A tern" in done.stdout
    assert done.stderr == ""
    assert site.paths() == ["/"]
    assert {asked.headers["User-Agent"] for asked in site.asked} == {f"archivebot/{__version__}"}
    assert not list(tmp_path.iterdir())


def test_a_command_without_an_archive_obeys_robots_txt(site: MockServer) -> None:
    site.routes |= {"/": PAGE, "/robots.txt": Reply(b"User-agent: archivebot\nDisallow: /\n")}
    assert "A tern" not in run_scrapy(("fetch", site.url())).stdout
    assert site.paths() == []


def test_a_spider_of_scrapy_runs_in_the_project(site: MockServer, tmp_path: Path) -> None:
    site.routes["/"] = PAGE
    spider, items = tmp_path / "titles.py", tmp_path / "items.json"
    spider.write_text(f"{SPIDER}\n    start_urls = [{site.url()!r}]\n")
    assert run_scrapy(("runspider", str(spider), "-O", str(items))).returncode == 0
    assert json.loads(items.read_text()) == [{"title": "A tern"}]


@pytest.mark.parametrize(
    ("words", "setting", "message"),
    [
        (("fetch", "http://a.example/"), "DOWNLOAD_DELAY=x", "DOWNLOAD_DELAY is 'x': give a number"),
        (("fetch", "http://a.example/"), "LOG_LEVEL=x", "LOG_LEVEL is 'x': give one of DEBUG, INFO"),
        (("shell", "-c", "1"), "ARCHIVE_LEVEL=x", "ARCHIVE_LEVEL is 'x': give a whole number from 1 to 9"),
        (("parse", "http://a.example/"), "DOWNLOAD_DELY=1", "did you mean DOWNLOAD_DELAY?"),
        (("check",), "ROBOTSTXT_OBEY=perhaps", "ROBOTSTXT_OBEY is 'perhaps': give True or False"),
        (("bench",), "CONCURRENT_REQUESTS=0", "CONCURRENT_REQUESTS is '0': give a whole number from 1 on"),
    ],
)
def test_a_command_of_scrapy_refuses_a_wrong_setting(
    words: tuple[str, ...], setting: str, message: str
) -> None:
    done = run_scrapy((*words, "-s", setting))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("archivebot: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
