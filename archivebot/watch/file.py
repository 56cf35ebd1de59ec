"""Reads a rules file: TOML with a table for each rule and each output."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan
from pathlib import Path
from string import Template
from typing import Any, TypeVar

from archivebot.config import file_text
from archivebot.exceptions import UsageError
from archivebot.kinds import Label, SiteChange
from archivebot.net import is_address
from archivebot.text import collapse
from archivebot.toml.patterns import url_pattern
from archivebot.toml.tables import check_keys, listed, tables, texts
from archivebot.urls import host_of
from archivebot.watch.feeds import Feed, FeedFormat
from archivebot.watch.mail import Mail
from archivebot.watch.outputs import Output
from archivebot.watch.program import Program
from archivebot.watch.rule import SHOWN, Bounds, Rule
from archivebot.watch.webhook import Webhook

RULE_KEYS = (
    *("name", "match", "changes", "labels", "added", "removed", "fields", "numbers"),
    *("size", "persist", "send"),
)
_BOUND_KEYS = ("above", "below", "share")
_OUTPUT_KEYS = {
    "atom": (),
    "json": (),
    "webhook": ("headers", "timeout"),
    "mail": ("server", "sender", "timeout"),
    "command": ("timeout",),
}

# What a rule reports if it does not say: new pages would be many at the first crawl.
_DEFAULT_CHANGES = frozenset((SiteChange.CHANGED, SiteChange.GONE, SiteChange.MOVED, SiteChange.BACK))

_NAME = re.compile(r"\w[\w -]*")
_ATOM = r"[^\s@<>,\[\]\x00-\x1f\x7f\ud800-\udfff]+"
_ADDRESS = re.compile(rf"{_ATOM}@(?:{_ATOM}|\[{_ATOM}\])")

Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a file, and the outputs by name."""

    path: Path
    rules: tuple[Rule, ...]
    outputs: Mapping[str, Output]


def read_rules(name: str) -> Rules:
    """Return the rules and outputs of a file, everything checked; ``@rules.toml`` is ``rules.toml``.

    ``$NAME`` in a value of an output is read from the environment. Raises UsageError with the place of the
    error: the line of what is not TOML, else the rule or the output, and its key.
    """
    path = Path(name.removeprefix("@"))
    whole = os.path.abspath(path)
    try:
        whole.encode()
    except UnicodeEncodeError as error:  # the outbox knows the file by its path
        raise UsageError(f"the path {whole} is no text in UTF-8: rename it") from error
    found = tables(file_text(str(path), "rules file"), str(path))
    check_keys(found, ("rule", "output"), str(path))
    given = found.get("output", {})
    if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
        raise UsageError(f"{path}: write a table [output.NAME] for each output")
    outputs = {
        output: _output(output, values, f"{path}, output {output}", path.parent)
        for output, values in given.items()
    }
    rules = listed(found, "rule", str(path))
    if not rules:
        raise UsageError(f"{path} has no rule: write a table [[rule]] for each rule")
    read = tuple(read_rule(rule, f"{path}, rule {n}", outputs) for n, rule in enumerate(rules, 1))
    names = [rule.name for rule in read]
    for n, each in enumerate(names, 1):
        if each in names[: n - 1]:
            raise UsageError(f"{path}, rule {n}: {each!r} is the name of another rule")
    return Rules(Path(whole), read, outputs)


def read_rule(found: Mapping[str, Any], at: str, outputs: Collection[str]) -> Rule:
    """Return the rule of a table, whose place is named in errors; raises UsageError."""
    name = found.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f'{at}: give a name of letters, digits, spaces, _ and -, name = "prices"')
    at = f"{at} ({name})"
    check_keys(found, RULE_KEYS, at)
    patterns = texts(found, "match", at) or ["*"]
    if not all(pattern.strip() for pattern in patterns):
        raise UsageError(f"{at}, match: an empty pattern is no page: give a URL, with * for any text")
    added, removed = (_terms(found, key, at) for key in ("added", "removed"))
    rule = Rule(
        name=name,
        patterns=tuple(url_pattern(pattern) for pattern in patterns),
        changes=_words(found, "changes", SiteChange, at) or _DEFAULT_CHANGES,
        labels=_words(found, "labels", Label, at),
        added=added,
        removed=removed,
        fields=tuple(texts(found, "fields", at)),
        numbers=_numbers(found.get("numbers", {}), f"{at}, numbers"),
        size=_whole(found, "size", at, 0),
        persist=_whole(found, "persist", at, 1),
        send=_named(found, at, outputs),
    )
    if rule.has_conditions and not rule.changes & SHOWN:
        raise UsageError(
            f"{at}, changes: a page that is gone or moved shows nothing: leave the conditions out"
        )
    return rule


def _words(found: Mapping[str, Any], key: str, known: type[Word], at: str) -> frozenset[Word]:
    given = texts(found, key, at)
    for word in given:
        if word not in list(known):
            raise UsageError(f"{at}, {key}: there is no {word!r}, only {', '.join(known)}")
    return frozenset(known(word) for word in given)


def _terms(found: Mapping[str, Any], key: str, at: str) -> tuple[str, ...]:
    terms = texts(found, key, at)
    if not all(map(collapse, terms)):
        raise UsageError(f"{at}, {key}: an empty term is in every text: give a word or a phrase")
    return tuple(terms)


def _named(found: Mapping[str, Any], at: str, outputs: Collection[str]) -> tuple[str, ...]:
    names = texts(found, "send", at) if "send" in found else list(outputs)
    for name in names:
        if name not in outputs:
            known = ", ".join(outputs) or "none"
            raise UsageError(f"{at}, send: there is no output {name!r}; the outputs are: {known}")
    return tuple(dict.fromkeys(names))


def _numbers(found: object, at: str) -> dict[str, Bounds]:
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise UsageError(f"{at} is {found!r}: give bounds by field, price = {{ below = 100 }}")
    bounds = {}
    for name, given in found.items():
        check_keys(given, _BOUND_KEYS, f"{at}.{name}")
        if not given:
            raise UsageError(f"{at}.{name}: give a bound, one of {', '.join(_BOUND_KEYS)}")
        bounds[name] = Bounds(**{key: _number(given, key, f"{at}.{name}") for key in given})
    return bounds


def _number(found: Mapping[str, Any], key: str, at: str) -> float:
    value = found[key]
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else nan
    except OverflowError as error:
        raise UsageError(f"{at}.{key} is too large: give a smaller number") from error
    if isnan(number) or (key == "share" and number < 0):
        raise UsageError(f"{at}.{key} is {value!r}: give a number")
    return number


def _whole(found: Mapping[str, Any], key: str, at: str, least: int) -> int:
    value = found.get(key, least)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{at}, {key} is {value!r}: give a whole number, at least {least}")
    return value


def _output(name: str, found: Mapping[str, Any], at: str, folder: Path) -> Output:
    """Return the output of a table. Errors show values as they are written: a variable may be a secret."""
    kinds = [key for key in _OUTPUT_KEYS if key in found]
    if len(kinds) != 1:
        raise UsageError(f"{at}: give one of {', '.join(_OUTPUT_KEYS)}")
    (kind,) = kinds
    check_keys(found, (kind, *_OUTPUT_KEYS[kind]), at)
    limit: dict[str, Any] = {"timeout": _positive(found, at)} if "timeout" in found else {}
    if kind == "command":
        words = [_filled(word, f"{at}, command") for word in texts(found, kind, at)]
        if not words or not words[0] or "\0" in "".join(words):
            raise UsageError(f'{at}, command: give a program with its arguments, ["notify", "--urgent"]')
        return Program(name, tuple(words), folder, **limit)
    if kind == "webhook":
        url = _url(found, kind, ("http", "https"), at)
        headers = found.get("headers", {})
        if not isinstance(headers, dict):
            raise UsageError(f"{at}, headers is {headers!r}: give a table of headers")
        return Webhook(name, url, {key: _header(key, headers, at) for key in headers}, **limit)
    if kind == "mail":
        server = _url({"server": "smtp://localhost", **found}, "server", ("smtp", "smtps"), at)
        to = _address(found, kind, at)
        return Mail(name, to, _address(found, "sender", at) if "sender" in found else to, server, **limit)
    path = _text(found, kind, at)
    if "\0" in path:
        raise UsageError(f"{at}, {kind} is {found[kind]!r}: give a path")
    return Feed(name, folder / path, FeedFormat(kind))


def _filled(value: str, at: str) -> str:
    """Return a text with the variables of the environment in it."""
    try:
        return Template(value).substitute(os.environ)
    except KeyError as error:
        raise UsageError(f"{at}: the environment has no variable {error.args[0]}; set it") from error
    except ValueError as error:
        raise UsageError(f"{at}: write $$ for a dollar sign, and $NAME for a variable") from error


def _text(found: Mapping[str, Any], key: str, at: str) -> str:
    value = found[key]
    text = _filled(value, f"{at}, {key}") if isinstance(value, str) else ""
    if not text:
        raise UsageError(f"{at}, {key} is {value!r}: give a text")
    return text


def _header(key: str, headers: Mapping[str, Any], at: str) -> str:
    value = _text(headers, key, f"{at}, headers")
    if not re.fullmatch(r"[\w-]+", key, re.ASCII) or re.search(r"[\r\n\0]", value) or not value.isascii():
        raise UsageError(f"{at}, headers.{key}: a header is one line of ASCII characters")
    return value


def _positive(found: Mapping[str, Any], at: str) -> float:
    value = _number(found, "timeout", at)
    if not 0 < value <= 3600:
        raise UsageError(f"{at}, timeout is {value:g}: give seconds, from 1 to 3600")
    return value


def _address(found: Mapping[str, Any], key: str, at: str) -> str:
    text = _text(found, key, at)
    if not _ADDRESS.fullmatch(text):
        raise UsageError(f"{at}, {key} is {found[key]!r}: give one mail address")
    name, _, domain = text.rpartition("@")
    if domain.isascii() or not re.fullmatch(r"[\w.-]+", domain):
        return text
    return f"{name}@{host_of(f'http://{domain}')}"  # in IDNA: many servers take no other letters


def _url(found: Mapping[str, Any], key: str, schemes: tuple[str, ...], at: str) -> str:
    text = _text(found, key, at)
    if not is_address(text, *schemes):
        begins = " or ".join(f"{scheme}://" for scheme in schemes)
        raise UsageError(f"{at}, {key}: give an address that begins with {begins}")
    return text
