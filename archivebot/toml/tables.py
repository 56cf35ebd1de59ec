"""The tables of a TOML file that a user writes, checked key by key; every error names its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
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
    archivebot.exceptions.UsageError: shop.toml, site 1: there is no 'mach' here, only match, fields; \
did you mean 'match'?
    """
    for key in found:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"{at}: there is no {key!r} here, only {', '.join(known)}{hint}")


def place(text: str, name: str, table: str, key: str | int) -> str:
    """Return the place of a table for errors: ``[table.KEY]``, or the list entry ``[[table]]`` number KEY.

    The line is left out if the table is written in another way.

    >>> place("# a\\n[shop.old]\\n", "shop.toml", "shop", "old")
    'shop.toml, line 2, shop old'
    >>> place("[[rule]]\\na = 1\\n[[rule]]", "shop.toml", "rule", 2), place("", "a.toml", "rule", 1)
    ('shop.toml, line 3, rule 2', 'a.toml, rule 1')
    """
    if isinstance(key, int):
        head, count = rf"\[\[\s*{re.escape(table)}\s*\]\]", key
    else:
        head, count = rf"""\[\s*{re.escape(table)}\s*\.\s*["']?{re.escape(key)}["']?\s*\]""", 1
    heads = [number for number, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*{head}", line)]
    line = f", line {heads[count - 1]}" if count <= len(heads) else ""
    return f"{name}{line}, {table} {key}"


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
