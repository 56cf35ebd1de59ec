"""Reads a file of collections: TOML with a table for each collection and each rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from archivebot.collection.collection import ARGUMENTS, Collection
from archivebot.collection.collections import Collections, Rule
from archivebot.config import UserFile
from archivebot.exceptions import UsageError
from archivebot.kinds import Label
from archivebot.metadata import Terms
from archivebot.toml.patterns import url_pattern
from archivebot.toml.tables import check_keys, listed, place, tables, texts
from archivebot.units import read_seconds
from archivebot.urls.scope import Scope

# The terms of Dublin Core that a collection or a rule may set; the archive knows the others by itself
# (identifier, date, format, title): https://www.dublincore.org/specifications/dublin-core/dcmi-terms
TERMS = (
    *("accessRights", "audience", "contributor", "coverage", "creator", "language", "license", "provenance"),
    *("publisher", "relation", "rights", "rightsHolder", "source", "spatial", "subject", "temporal", "type"),
)
COLLECTION_KEYS = ("title", "contact", "interval", "keep", *ARGUMENTS, *TERMS)
RULE_KEYS = ("match", "collection", "labels", *TERMS)

_NAME = re.compile(r"\w[\w.-]*")

Report = Callable[[UsageError], None]


def read_collections(file: UserFile, report: Report | None = None) -> Collections:
    """Return the collections and rules of a file, everything checked but the arguments of spiders.

    Raises UsageError with the line and the table of the first error; ``report`` gets each error instead, and
    what has an error is left out.
    """
    reading = _Reading(file, report or _raise)
    try:
        found = tables(file.text, file.name)
    except UsageError as error:
        reading.report(error)
        return Collections(file.name)
    reading.attempt(check_keys, found, ("collection", "rule"), file.name)
    given = found.get("collection", {})
    if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
        reading.report(UsageError(f"{file.name}: write a table [collection.NAME] for each collection"))
        given = {}
    collections = {name: reading.attempt(reading.collection, name, each) for name, each in given.items()}
    rules = reading.attempt(listed, found, "rule", file.name) or []
    read = [reading.attempt(reading.rule, number, rule, given) for number, rule in enumerate(rules, 1)]
    return Collections(
        file.name,
        {name: each for name, each in collections.items() if each},
        tuple(each for each in read if each),
    )


def _raise(error: UsageError) -> None:
    raise error


class _Reading:
    """Reads the tables of one file, and passes errors on."""

    def __init__(self, file: UserFile, report: Report) -> None:
        self._file, self.report = file, report

    def attempt(self, read: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns; None if it raises UsageError, which is reported."""
        try:
            return read(*args)
        except UsageError as error:
            self.report(error)
            return None

    def collection(self, name: str, found: Mapping[str, Any]) -> Collection:
        """Return the collection of a table."""
        at = place(self._file.text, self._file.name, "collection", name)
        if not _NAME.fullmatch(name):
            raise UsageError(f"{at}: {name!r} is no name: use letters, digits, _, - and .")
        check_keys(found, COLLECTION_KEYS, at)
        seeds = [seed.strip() for seed in texts(found, "seeds", at)]
        if not seeds or not all(seeds):
            raise UsageError(f'{at}, seeds: write where its crawls begin, seeds = ["https://example.org/"]')
        arguments = {key: _argument(found[key], f"{at}, {key}") for key in ARGUMENTS if key in found}
        if "fields" in arguments:
            fields = Path(self._file.name).parent / arguments["fields"].removeprefix("@")
            arguments["fields"] = f"@{fields}"
        try:
            scope = Scope.from_seeds(seeds, arguments.get("scope", "host"))
        except UsageError as error:
            raise UsageError(f"{at}: {error}") from error
        return Collection(
            name,
            scope,
            {**arguments, "seeds": "".join(f"{seed}\n" for seed in seeds)},
            title=_text(found, "title", at),
            contact=_text(found, "contact", at),
            interval=_interval(found, at),
            keep=_text(found, "keep", at),
            own=_terms(found, at),
        )

    def rule(self, number: int, found: Mapping[str, Any], collections: Iterable[str]) -> Rule:
        """Return the rule of a table."""
        at = place(self._file.text, self._file.name, "rule", number)
        check_keys(found, RULE_KEYS, at)
        terms = _terms(found, at)
        if not terms:
            raise UsageError(f"{at} sets no term: write one of {', '.join(TERMS)}")
        patterns, names = texts(found, "match", at), texts(found, "collection", at)
        if not all(patterns):
            raise UsageError(f'{at}, match: write which pages, for example "*.example.org/news/*"')
        check_keys(names, collections, f"{at}, collection")
        labels = texts(found, "labels", at)
        check_keys(labels, [label.value for label in Label], f"{at}, labels")
        return Rule(terms, tuple(map(url_pattern, patterns)), tuple(names), tuple(map(Label, labels)))


def _argument(value: object, at: str) -> str:
    """Return a value of TOML as the text that ``-a`` takes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | str):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    raise UsageError(f"{at} is {value!r}: write it as for -a, as a text, a whole number, true or false")


def _text(found: Mapping[str, Any], key: str, at: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"{at}, {key} is {value!r}: write a text")
    return value.strip()


def _interval(found: Mapping[str, Any], at: str) -> float | None:
    text = _text(found, "interval", at)
    return read_seconds(f"{at}, interval", text) / 86400 if text else None


def _terms(found: Mapping[str, Any], at: str) -> Terms:
    terms = {}
    for term in TERMS:
        if term in found:
            values = tuple(" ".join(text.split()) for text in texts(found, term, at))
            if not values or not all(values):
                raise UsageError(f"{at}, {term}: write a text, or leave it out")
            terms[term] = values
    return terms
