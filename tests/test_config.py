"""The settings of the archive: defaults, reading, refusal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError

import pytest
from scrapy.settings import Settings

from archivebot import settings as project
from archivebot.config import (
    DEFAULT_LEVEL,
    DEFAULT_URI,
    MAX_LEVEL,
    ArchiveConfig,
    CrawlConfig,
    FocusConfig,
    FrontierConfig,
    PaceConfig,
    ServeConfig,
    SiteConfig,
    WatchConfig,
    without_password,
)
from archivebot.exceptions import UsageError


def test_without_settings_the_defaults_hold() -> None:
    config = ArchiveConfig.from_settings({})
    assert config == ArchiveConfig()
    assert (config.uri, config.level, config.adjust_level) == (DEFAULT_URI, DEFAULT_LEVEL, True)


def test_every_setting_is_read_as_text_as_the_command_line_gives_it() -> None:
    settings = Settings(
        {
            "ARCHIVE_URI": "sqlite:///other.db",
            "ARCHIVE_LEVEL": "5",
            "ARCHIVE_ADJUST_LEVEL": "False",
            "ARCHIVE_FRAME_BOUND": "0",
            "ARCHIVE_ZSTD_LEVEL": "19",
        }
    )
    assert ArchiveConfig.from_settings(settings) == ArchiveConfig("sqlite:///other.db", 5, False, 0, 19)


def test_http2_without_its_package_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "h2", None)
    with pytest.raises(UsageError, match=r"pip install 'Scrapy\[twisted-http2\]'"):
        CrawlConfig.from_settings({"ARCHIVE_HTTP2": "1"})
    assert not CrawlConfig.from_settings({}).http2


@pytest.mark.parametrize(
    "uri",
    [
        "mongo://me:secret@host/town",
        "mongodb://me:two@secret@host/town",
        "mongodb://me:two/secret@host/town",
        "mongodb://host/town?tls=true&tlsCertificateKeyFilePassword=secret",
        "mongodb://host/town?authMechanismProperties=AWS_SESSION_TOKEN:secret&tls=true",
        "redis://host:6379/0?password=secret&db=1",
        "redis://host:6379/0?password=a@secret",
    ],
)
def test_no_part_of_a_password_in_a_uri_is_shown(uri: str) -> None:
    shown = without_password(uri)
    assert "secret" not in shown
    assert "***" in shown
    assert "host" in shown


def test_the_password_in_a_uri_that_names_no_archive_is_not_shown() -> None:
    with pytest.raises(UsageError, match=r"'mongo://me:\*\*\*@host/town', which names no archive"):
        ArchiveConfig(uri="mongo://me:secret@host/town")


def test_an_empty_uri_means_the_default_one() -> None:
    assert ArchiveConfig.from_settings({"ARCHIVE_URI": ""}).uri == DEFAULT_URI


@pytest.mark.parametrize(
    ("value", "meant"),
    [(True, True), ("True", True), ("true", True), (1, True), ("1", True), (False, False), ("0", False)],
)
def test_a_switch_is_read_as_scrapy_reads_it(value: object, meant: bool) -> None:
    assert ArchiveConfig.from_settings({"ARCHIVE_ADJUST_LEVEL": value}).adjust_level is meant


@pytest.mark.parametrize("value", ["yes", "", "2", None])
def test_a_switch_that_is_neither_is_refused_by_name(value: object) -> None:
    with pytest.raises(UsageError, match="ARCHIVE_ADJUST_LEVEL"):
        ArchiveConfig.from_settings({"ARCHIVE_ADJUST_LEVEL": value})


@pytest.mark.parametrize("name", ["ARCHIVE_LEVEL", "ARCHIVE_FRAME_BOUND", "ARCHIVE_ZSTD_LEVEL"])
@pytest.mark.parametrize("value", ["deep", "", None, 2.5, float("inf"), [3]])
def test_what_is_no_whole_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"{name} is .* give a whole number"):
        ArchiveConfig.from_settings({name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ARCHIVE_LEVEL": 0}, "ARCHIVE_LEVEL is 0: give a whole number from 1 to 9"),
        ({"ARCHIVE_LEVEL": MAX_LEVEL + 1}, "ARCHIVE_LEVEL is 10"),
        ({"ARCHIVE_ZSTD_LEVEL": 20}, "ARCHIVE_ZSTD_LEVEL is 20"),
        ({"ARCHIVE_ZSTD_LEVEL": 0}, "ARCHIVE_ZSTD_LEVEL is 0"),
        ({"ARCHIVE_FRAME_BOUND": -1}, "ARCHIVE_FRAME_BOUND is '-1': give a whole number"),
        ({"ARCHIVE_FRAME_BOUND": 1 << 31}, "ARCHIVE_FRAME_BOUND is 2147483648"),
    ],
)
def test_numbers_out_of_range_are_refused_with_the_range(settings: Mapping[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ArchiveConfig.from_settings(settings)


@pytest.mark.parametrize("level", [1, MAX_LEVEL])
def test_the_limits_of_the_range_are_allowed(level: int) -> None:
    assert ArchiveConfig(level=level).level == level


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ArchiveConfig().level = 1


# What the environment or the machine decides.
OUTSIDE = {"ARCHIVE_CONTACT": "", "ARCHIVE_READERS": 1, "ARCHIVE_TOPICS": "topics"}


@pytest.mark.parametrize("config", [CrawlConfig, FocusConfig, FrontierConfig, PaceConfig, SiteConfig])
def test_the_defaults_are_those_of_the_settings_of_the_project(config: type[CrawlConfig]) -> None:
    assert config.from_settings({**vars(project), **OUTSIDE}) == config.from_settings({}) == config()


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (PaceConfig, {"ARCHIVE_RETRY_BASE": "soon"}, "ARCHIVE_RETRY_BASE is 'soon': give a number"),
        (FrontierConfig, {"ARCHIVE_LEASE_SECONDS": "nan"}, "ARCHIVE_LEASE_SECONDS is 'nan': give a number"),
        (
            FrontierConfig,
            {"ARCHIVE_BUDGET_PATH": "many"},
            "ARCHIVE_BUDGET_PATH is 'many': give a whole number",
        ),
        (FrontierConfig, {"ARCHIVE_LEASE_SECONDS": "0"}, "LEASE_SECONDS is 0.0: give at least 1 second"),
        (FocusConfig, {"ARCHIVE_RANK_EVERY": "0"}, "ARCHIVE_RANK_EVERY is 0: give at least 1 page"),
        (PaceConfig, {"ARCHIVE_LOCAL_CONCURRENCY": "0"}, "LOCAL_CONCURRENCY is 0: give at least 1 request"),
        (ServeConfig, {"ARCHIVE_READERS": "0"}, "ARCHIVE_READERS is 0: give at least 1 process"),
        (ServeConfig, {"ARCHIVE_SCRAPYD": "http://["}, "ARCHIVE_SCRAPYD is 'http://.': give a URL"),
        (WatchConfig, {"ARCHIVE_WATCH_SERVER": "http://["}, "ARCHIVE_WATCH_SERVER is 'http://.': give a URL"),
        (WatchConfig, {"ARCHIVE_WATCH_SERVER": "a.example"}, "WATCH_SERVER is 'a.example': give a URL"),
        (SiteConfig, {"ARCHIVE_SITE_FORMS": "9" * 5000}, "9.: give a whole number from 0 on, of at most 18"),
        (CrawlConfig, {"ARCHIVE_CONDITIONAL": "maybe"}, "ARCHIVE_CONDITIONAL is 'maybe': give True or False"),
        (CrawlConfig, {"ARCHIVE_READERS": "0"}, "ARCHIVE_READERS is 0: give at least 1 process"),
        (FocusConfig, {"ARCHIVE_PRIORITY_WEIGHTS": "depth:0"}, "ARCHIVE_PRIORITY_WEIGHTS is read as"),
    ],
)
def test_what_is_of_another_type_is_refused_by_name(
    config: type[CrawlConfig], settings: Mapping[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        config.from_settings(settings)


@pytest.mark.parametrize("url", ["https://a.example/", "http://u:p@a.example:6800/b", "HTTP://[::1]:80"])
def test_the_address_of_a_server_may_have_a_user_a_port_and_a_path(url: str) -> None:
    assert WatchConfig.from_settings({"ARCHIVE_WATCH_SERVER": url}).watch_server == url


def test_a_setting_is_read_as_text_whatever_its_type() -> None:
    settings = Settings(
        {
            "ARCHIVE_FRONTIER_PATIENCE": "1.5",
            "ARCHIVE_BUDGET_HOST": "7",
            "ARCHIVE_TOPICS": "profiles",
            "ARCHIVE_PRIORITY_WEIGHTS": '{"depth": 0}',
        }
    )
    frontier, focus = FrontierConfig.from_settings(settings), FocusConfig.from_settings(settings)
    assert (frontier.frontier_patience, frontier.budget_host) == (1.5, 7)
    assert (str(focus.topics), focus.priority_weights) == ("profiles", {"depth": 0})
