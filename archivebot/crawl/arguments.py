"""The arguments of a spider, read from the strings of ``-a name=value``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from archivebot.config import MAX_LEVEL
from archivebot.exceptions import UsageError
from archivebot.urls import parse_seed

SCOPES = ("host", "domain", "prefix", "page")
NAMES = ("seeds", "scope", "depth", "pages", "level")
EXAMPLE = "for example: scrapy crawl site -a seeds=https://example.org/"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Where a crawl starts and how far it goes; None means no limit, or no wish."""

    seeds: tuple[str, ...]
    scope: str = "host"
    depth: int | None = None
    pages: int | None = None
    level: int | None = None

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Arguments:
        """Read the arguments by name; names that begin with ``_`` belong to scrapyd and are skipped.

        Raises UsageError for an unknown name, a missing or unreadable seed and a wrong value.
        """
        _refuse_unknown(name for name in given if not name.startswith("_"))
        return cls(
            seeds=read_seeds(given.get("seeds", "")),
            scope=_choice("scope", given.get("scope", "host")),
            depth=_number("depth", given.get("depth"), 0),
            pages=_number("pages", given.get("pages"), 1),
            level=_number("level", given.get("level"), 1, MAX_LEVEL),
        )


def read_seeds(text: str) -> tuple[str, ...]:
    """Give the canonical seeds in order, each once, of a list with commas or of ``@FILE``.

    A file holds one seed per line; empty lines and lines that begin with ``#`` are skipped.
    Raises UsageError where the file cannot be read, a seed is no URL, or none is left.
    """
    lines = _file_lines(text[1:]) if text.startswith("@") else text.split(",")
    wanted = [line.strip() for line in lines]
    seeds = tuple(dict.fromkeys(parse_seed(line) for line in wanted if line and not line.startswith("#")))
    if not seeds:
        raise UsageError(f"no seeds: say where to start, {EXAMPLE}")
    return seeds


def _file_lines(name: str) -> list[str]:
    try:
        return Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the seeds file {name!r} cannot be read: {error}") from error


def _refuse_unknown(names: Iterable[str]) -> None:
    for name in names:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 1)
            hint = f"did you mean {near[0]}?" if near else f"the arguments are {', '.join(NAMES)}"
            raise UsageError(f"unknown argument {name!r}: {hint}")


def _choice(name: str, value: str) -> str:
    if value not in SCOPES:
        raise UsageError(f"{name} is {value!r}: give one of {', '.join(SCOPES)}")
    return value


def _number(name: str, value: str | None, low: int, high: int | None = None) -> int | None:
    if value is None:
        return None
    if value.isdecimal() and low <= int(value) and (high is None or int(value) <= high):
        return int(value)
    bounds = f"from {low} on" if high is None else f"from {low} to {high}"
    raise UsageError(f"{name} is {value!r}: give a whole number {bounds}")
