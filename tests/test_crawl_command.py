"""`scrapy crawl` as a user starts it: messages and exit codes."""

import subprocess
from pathlib import Path

import pytest

from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import MockServer, html


def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("crawl", *arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["site"], "no seeds"),
        (["site", "-a", "sseds=http://a.example/"], "did you mean seeds?"),
        (["site", "-a", "seeds=http://a.example/", "-a", "scope=all"], "scope is 'all'"),
        (["site", "-a", "seeds=@/no/such/file"], "cannot be read"),
        (["site", "-a", "seeds=http://a.example/", "--jsn"], "name one spider"),
        ([], "name one spider"),
        (["site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_URI=ftp://x"], "ftp"),
        (["site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_LEVEL=99"], "level is 99"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_2(arguments: list[str], message: str) -> None:
    done = scrapy(*arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_archive_that_cannot_be_opened_is_exit_code_3() -> None:
    done = scrapy("site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_URI=sqlite:////no/such/folder/a.db")
    assert done.returncode == 3
    assert "archivebot: " in done.stderr


def test_a_file_that_is_no_archive_is_one_message_and_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(bytes(range(256)) * 40)
    done = scrapy("site", "-a", "seeds=http://a.example/", "-s", f"ARCHIVE_URI=sqlite:///{tmp_path}/a.db")
    assert done.returncode == 3
    assert "is damaged or no archive" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" not in done.stderr


def test_scrapyd_passes_its_job(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    assert crawl(seeds=site.url(), _job="26").code == 0
