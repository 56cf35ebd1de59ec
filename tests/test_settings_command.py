"""scrapy settings: the values in effect."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from archivebot.config import setting_names
from tests.commands import run_scrapy
from tests.conftest import ROOT

PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("ARCHIVE_")}


def printed(*words: str, **environment: str) -> tuple[int, str, str]:
    done = run_scrapy(("settings", *words), environment=PLAIN | environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "environment", "value"),
    [
        (("--get", "USER_AGENT"), {}, r"archivebot/[\d.]+"),
        (
            ("--get", "USER_AGENT"),
            {"ARCHIVE_CONTACT": "me@a.example"},
            r"archivebot/[\d.]+ \(\+me@a\.example\)",
        ),
        (
            ("--get", "USER_AGENT", "-s", "ARCHIVE_CONTACT=https://a.example/"),
            {},
            r".* \(\+https://a\.example/\)",
        ),
        (("--get", "USER_AGENT", "-s", "USER_AGENT=x", "-s", "ARCHIVE_CONTACT=y"), {}, "x"),
        (("--get", "ARCHIVE_URI"), {"ARCHIVE_URI": "sqlite:///b.db"}, "sqlite:///b.db"),
        (("--getint", "DOWNLOAD_TIMEOUT"), {}, "30"),
        (("--get", "SCHEDULER"), {"REDIS_URL": "redis://a/0"}, r".*LeaseScheduler"),
    ],
)
def test_a_setting_is_that_of_a_crawl(
    words: tuple[str, ...], environment: dict[str, str], value: str
) -> None:
    code, out, err = printed(*words, **environment)
    assert (code, err) == (0, "")
    assert re.fullmatch(value, out.rstrip("\n"))


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("--get", "ARCHIVE_READERS"), "3"),
        (("--get", "ARCHIVE_READERS", "-s", "ARCHIVE_READERS=2"), "2"),
    ],
)
def test_each_setting_is_read_from_the_environment(words: tuple[str, ...], value: str) -> None:
    assert printed(*words, ARCHIVE_READERS="3", ARCHIVE_LEVEL="") == (0, f"{value}\n", "")


def test_a_wrong_value_in_the_environment_is_refused() -> None:
    assert printed(ARCHIVE_CONDITIONAL="perhaps") == (
        2,
        "",
        "scrapy settings: ARCHIVE_CONDITIONAL is 'perhaps': give True or False\n",
    )


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("ARCHIVE_URL", "did you mean ARCHIVE_URI?"),
        ("ARCHIVE_REDIS_URL", "did you mean REDIS_URL?"),
        ("ARCHIVE_DELAYS", "docs/settings.md lists them"),
    ],
)
def test_a_variable_that_is_no_setting_is_named(variable: str, hint: str) -> None:
    code, out, err = printed("--get", "ARCHIVE_LEVEL", **{variable: "4", "ARCHIVE_TEST_KILLS": "1"})
    assert (code, out) == (0, "3\n")
    assert err == f"archivebot: the variable {variable} is ignored, as there is no such setting: {hint}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--get", "ARCHIVE_CONTCT"), "there is no setting ARCHIVE_CONTCT: did you mean ARCHIVE_CONTACT?"),
        (("--get", "xyzzy"), "there is no setting xyzzy: scrapy settings lists those of archivebot"),
        (("ARCHIVE_URI",), "write scrapy settings --get NAME"),
        (("-s", "ARCHIVE_LEVEL=deep"), "ARCHIVE_LEVEL is 'deep': give a whole number"),
        (("-s", "ARCHIVE_LEVEL=deep"), "give a whole number from 1 to 9"),
        (("-s", "ARCHIVE_ZSTD_LEVEL="), "ARCHIVE_ZSTD_LEVEL is '': give a whole number from 1 to 19"),
        (("-s", "ARCHIVE_RANK_EVERY=-1"), "ARCHIVE_RANK_EVERY is '-1': give a whole number from 1 on"),
    ],
)
def test_a_wrong_name_or_value_is_one_message(words: tuple[str, ...], message: str) -> None:
    code, out, err = printed(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_all_settings_are_listed() -> None:
    code, out, _ = printed("-s", "ARCHIVE_LEVEL=5")
    assert code == 0
    rows = [line.split() for line in out.splitlines()[1:]]
    assert {row[0] for row in rows} == setting_names()
    assert ["ARCHIVE_LEVEL", "5", "-s"] in rows
    assert json.loads(printed("--json")[1]).keys() == setting_names()


def test_no_message_or_document_names_a_distribution_that_does_not_exist() -> None:
    places = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    places += [
        path for name in ("archivebot", "spiders", "pipelines") for path in (ROOT / name).rglob("*.py")
    ]
    named = re.compile(r"pip install (?:-U |--upgrade )?'?archivebot\b")
    assert [str(path) for path in places if named.search(Path(path).read_text("utf-8"))] == []
    assert named.search("pip install 'archivebot[http2]'")
