"""The tables of a TOML file that a user writes, checked key by key; every error names its place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from archivebot.exceptions import UsageError


def tables(text: str, name: str) -> dict[str, Any]:
    """Return the tables of a file; raises UsageError with the line of what is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not TOML: {error}") from error


def check_keys(found: Iterable[str], known: Iterable[str], at: str) -> None:
    """Raise UsageError if a table has a key that is not known.

    >>> check_keys(["mach"], ("match", "fields"), "shop.toml, site 1")
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: shop.toml, site 1: there is no 'mach' here, only match, fields
    """
    for key in found:
        if key not in known:
            raise UsageError(f"{at}: there is no {key!r} here, only {', '.join(known)}")


def listed(found: Mapping[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    """Return the tables of a list ``[[key]]``; raises UsageError if it is something else."""
    values = found.get(key, [])
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise UsageError(f"{name}: write a table [[{key}]] for each {key}")
    return values


def texts(found: Mapping[str, Any], key: str, at: str) -> list[str]:
    """Return a text, or a list of texts, as a list; raises UsageError for other values."""
    value = found.get(key, [])
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise UsageError(f"{at}, {key} is {value!r}: give a text, or a list of texts")
    return given
