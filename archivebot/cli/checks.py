"""Checks of settings before a command uses them: a wrong value is one message, not a traceback."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from errno import ENXIO
from math import inf
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError as WrongOption
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from archivebot.config import check_settings, setting_names
from archivebot.exceptions import UsageError
from archivebot.terminal import note

# Settings of Scrapy that may be fractions, although their default is a whole number.
FRACTIONS = frozenset(
    "CLOSESPIDER_TIMEOUT DNS_TIMEOUT DOWNLOAD_DELAY DOWNLOAD_TIMEOUT LOGSTATS_INTERVAL"
    " MEMUSAGE_CHECK_INTERVAL_SECONDS".split()
)

# Settings of Scrapy with which a crawl waits for ever if they are 0.
AT_LEAST_ONE = frozenset(
    "CONCURRENT_ITEMS CONCURRENT_REQUESTS CONCURRENT_REQUESTS_PER_DOMAIN REACTOR_THREADPOOL_MAXSIZE".split()
)

PERSISTS = (
    "True, because an interrupted crawl always continues; it starts over with SCHEDULER_FLUSH_ON_START=True"
)

SCRAPY = frozenset(name for name in vars(default_settings) if name.isupper())
PREFIX = "ARCHIVE_"
TESTS = f"{PREFIX}TEST_"  # variables of the tests of archivebot
ALIKE = 0.92  # similarity of a name to another one from which it is mistyped: one letter of ten


def check_options(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """Check the values of ``-s`` that are JSON, and the files of options; raises WrongOption."""
    for name, separator, text in (each.partition("=") for each in opts.set):
        if separator and isinstance(settings.get(name), BaseSettings) and not _is_table(text):
            raise WrongOption(f"{name} is {text!r}: give a JSON object, in {{ }}", print_help=False)
    _check_file("file of the process id", opts.pidfile)
    _check_file("profile", opts.profile)


def check_log(settings: BaseSettings) -> None:
    """Check that the log file can be written, before Scrapy opens it; raises WrongOption."""
    _check_file("log", settings["LOG_FILE"])


def _check_file(what: str, name: str | None) -> None:
    if name:
        try:
            if Path(name).is_fifo():
                # Stays open: Scrapy opens the log twice, and its reader would end after the first time.
                os.open(name, os.O_WRONLY | os.O_NONBLOCK)
            else:
                Path(name).open("a", encoding="utf-8").close()
        except OSError as error:
            why = "no program reads this pipe" if error.errno == ENXIO else error.strerror
            raise WrongOption(f"the {what} {name} cannot be written: {why}", print_help=False) from error


def _is_table(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def check(settings: BaseSettings) -> None:
    """Check the settings that a user gave; raises UsageError, which names the setting and its values."""
    for name in settings:
        if (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["project"]:
            _check_name(name)
            _check_scrapy(name, settings[name])
    check_settings(settings)


def _check_name(name: str) -> None:
    """Raise UsageError for a setting of archivebot that does not exist, or a mistyped one of Scrapy.

    Other names may be of other parts.
    """
    names = setting_names()
    if name not in SCRAPY and name not in names and (near := get_close_matches(name, SCRAPY, 1, ALIKE)):
        raise UsageError(f"there is no setting {name}: did you mean {near[0]}?")
    if name.startswith(PREFIX) and name not in names:
        raise UsageError(f"there is no setting {name}: {_hint(name)}")


class CheckedSettings:
    """The add-on that checks the settings for Scrapy's own commands; a wrong value ends the program."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Check the settings before Scrapy reads them."""
        try:
            check(settings)
        except UsageError as error:
            note(f"archivebot: {error}")
            sys.exit(error.exit_code)


def note_unknown() -> None:
    """Warn of variables of the environment that look like settings; other programs may have set them."""
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and not name.startswith(TESTS) and name not in setting_names():
            note(f"archivebot: the variable {name} is ignored, as there is no such setting: {_hint(name)}")


def _hint(name: str) -> str:
    """Return the setting from which a name that begins with ARCHIVE_ is mistyped."""
    known = {each.removeprefix(PREFIX): each for each in (*setting_names(), "REDIS_URL")}
    near = get_close_matches(name.removeprefix(PREFIX), known, 1)
    return f"did you mean {known[near[0]]}?" if near else "docs/settings.md lists them"


def _check_scrapy(name: str, value: object) -> None:
    """Check a setting of Scrapy by the type of its default."""
    text = str(dict(value) if isinstance(value, BaseSettings) else value)
    default = getattr(default_settings, name, None)
    if name == "LOG_LEVEL":
        levels = logging.getLevelNamesMapping()
        wrong, wanted = text not in levels and not text.isdecimal(), "one of DEBUG, INFO, WARNING, ERROR"
    elif name == "DOWNLOAD_SLOTS":
        is_wrong = not isinstance(value, Mapping) or not _are_slots(value)
        wrong, wanted = is_wrong, "the delay of each host from 0 on, and its concurrency from 1 on"
    elif name == "SCHEDULER_PERSIST":
        wrong, wanted = text.lower() not in ("1", "true"), PERSISTS
    elif isinstance(default, bool):
        wrong, wanted = text.lower() not in ("0", "1", "false", "true"), "True or False"
    elif isinstance(default, float) or name in FRACTIONS:
        number = float(text) if _is_number(text, float) else None
        wrong = number is None or not 0 <= number < inf
        wanted = "a number" if number is None else "a number from 0 on"
    elif name in AT_LEAST_ONE:
        wrong, wanted = not _is_number(text, int) or int(text) < 1, "a whole number from 1 on"
    elif isinstance(default, int):
        wrong, wanted = not _is_number(text, int), "a whole number"
    else:
        return
    if wrong:
        raise UsageError(f"{name} is {text!r}: give {wanted}")


def _are_slots(slots: Mapping[str, Any]) -> bool:
    """Return whether the delays and the concurrencies of hosts can be kept.

    >>> [_are_slots({"a.example": slot}) for slot in ({"delay": 0.5}, {"concurrency": 0}, {"delay": "x"}, 3)]
    [True, False, False, False]
    """
    try:
        return all(
            float(slot.get("delay", 0)) >= 0 and int(slot.get("concurrency", 1)) >= 1
            for slot in slots.values()
        )
    except (AttributeError, TypeError, ValueError):
        return False


def _is_number(text: str, kind: type[int] | type[float]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
