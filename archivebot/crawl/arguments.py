"""The arguments of a spider, read from the strings of ``-a name=value``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from difflib import get_close_matches
from functools import partial
from os.path import isfile  # a text too long for a path names no file either
from typing import Any, ClassVar, Protocol, Self

from scrapy.crawler import Crawler

from archivebot.config import MAX_LEVEL, file_text
from archivebot.crawl.limits import Limits, read_day, read_types
from archivebot.exceptions import UsageError
from archivebot.forms.stages import MOST_DEPTH
from archivebot.schedule.budget import read_budget
from archivebot.schedule.policy import Policy
from archivebot.topic.rings import read_rings
from archivebot.topic.similarity import NEAR
from archivebot.units import read_count, read_seconds, read_size
from archivebot.urls import parse_seed, split_seeds
from archivebot.urls.scope import KINDS

EXAMPLE = "for example: scrapy crawl site -a seeds=https://example.org/"
FOCUSES = ("soft", "hard")
ORDERS = ("best", "linear", "bfs", "pagerank", "ipagerank")
LINK_RULES = ("rank", "strict")

# Default maximum of archived answers of a form: a grid grows by multiplication.
MOST_ANSWERS = 100

# Arguments that limit a run, or that read its pages; they are not part of the identity of the crawl.
LIMITS = ("pages", "bytes", "time")
NO_IDENTITY = (*LIMITS, "fields", "collection")

# Arguments that are part of the identity only if they are given: older crawls are known without them.
LATER = ("types", "size", "since", "until", "rings", "requisites")

_COMMENT = re.compile(r"(?:^|\s)#.*")


def read_seeds(text: str) -> tuple[str, ...]:
    """Return the canonical seeds of a comma-separated list or of ``@FILE``, in order, each once.

    For commas in URLs see :func:`~archivebot.urls.split_seeds`. A file holds one seed per line; empty lines
    are skipped, and what follows a ``#`` at the beginning of a line or behind a blank. A text of several
    lines is read like a file. Raises UsageError if the file cannot be read, its @ is missing, a seed is not a
    URL, or no seed is left.
    """
    if text.endswith(".txt") and isfile(text):
        raise UsageError(f"{text!r} is a file: write seeds=@{text}")
    if text.startswith("@"):
        lines = file_text(text[1:], "seeds file").splitlines()
    else:
        lines = text.splitlines() if "\n" in text else split_seeds(text)
    wanted = [_COMMENT.sub("", line).strip() for line in lines]
    seeds = tuple(dict.fromkeys(map(parse_seed, filter(None, wanted))))
    if not seeds and text.startswith("@"):
        raise UsageError(f"no seeds in {text[1:]!r}: write a URL on each line")
    if not seeds:
        raise UsageError(f"no seeds: say where to start, {EXAMPLE}")
    return seeds


def _choice(name: str, *values: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in values:
            raise UsageError(f"{name} is {value!r}: give one of {', '.join(values)}")
        return value

    return read


def _yes(name: str) -> Callable[[str], bool]:
    read = _choice(name, "yes", "no")
    return lambda value: read(value) == "yes"


def _number(name: str, low: int, high: int | None = None) -> Callable[[str], int]:
    bounds = f"from {low} on" if high is None else f"from {low} to {high}"

    def read(value: str) -> int:
        number = read_count(value)
        if number is not None and low <= number and (high is None or number <= high):
            return number
        raise UsageError(f"{name} is {value!r}: give a whole number {bounds}")

    return read


def _chance(name: str) -> Callable[[str], float]:
    def read(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0.0 <= number <= 1.0:
            raise UsageError(f"{name} is {value!r}: give a number from 0 to 1")
        return number

    return read


def _file(name: str, kind: str, example: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not value.startswith("@") or len(value) == 1:
            raise UsageError(f"{name} is {value!r}: give a {kind} file, for example @{example}")
        return value[1:]

    return read


def _topic(value: str) -> str:
    if not value.strip():
        raise UsageError("the topic is empty: give its name, or some words that describe it")
    return value.strip()


def _rings(value: str) -> str:
    return ",".join(map(str, read_rings(value)))


@dataclass(frozen=True)
class Arguments:
    """The seeds and limits of a crawl; None means no limit, or not chosen.

    ``pages`` limits the whole crawl, ``bytes`` (fetched, after decoding) and ``time`` (seconds) one run. For
    ``types``, ``size`` (bytes), ``since`` and ``until`` (days) see :class:`~archivebot.crawl.limits.Limits`.
    ``fields`` is the name of a file of selectors, "" for the file of the settings; ``requisites`` is whether
    the images, styles, scripts and fonts of pages are archived, too. ``collection`` is the collection of the
    pages, see :mod:`archivebot.crawl.collections`.
    """

    READERS: ClassVar[dict[str, Callable[[str], Any]]] = {
        "seeds": read_seeds,
        "scope": _choice("scope", *KINDS),
        "depth": _number("depth", 0),
        "pages": _number("pages", 1),
        "bytes": partial(read_size, "bytes"),
        "time": partial(read_seconds, "time"),
        "level": _number("level", 1, MAX_LEVEL),
        "types": read_types,
        "size": partial(read_size, "size"),
        "since": read_day("since"),
        "until": read_day("until", last=True),
        "fields": _file("fields", "TOML", "fields.toml"),
        "requisites": _yes("requisites"),
        "collection": str.strip,
    }
    REQUIRED: ClassVar[tuple[str, ...]] = ("seeds",)

    seeds: tuple[str, ...]
    scope: str = "host"
    depth: int | None = None
    pages: int | None = None
    bytes: int | None = None
    time: int | None = None
    level: int | None = None
    types: tuple[str, ...] = ()
    size: int | None = None
    since: str | None = None
    until: str | None = None
    fields: str = ""
    requisites: bool = False
    collection: str = ""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Self:
        """Read the arguments by name; names that begin with ``_`` belong to scrapyd and are skipped.

        Raises UsageError for an unknown name, a missing or unreadable seed, or a wrong value.
        """
        _refuse_unknown((name for name in given if not name.startswith("_")), tuple(cls.READERS))
        wanted = {"seeds": "", **given}
        found = cls(**{name: read(wanted[name]) for name, read in cls.READERS.items() if name in wanted})
        if found.since and found.until and found.since > found.until:
            raise UsageError(f"since is after until: no day is from {found.since} to {found.until}")
        return found

    @classmethod
    def default(cls, name: str) -> str:
        """Return the default of an argument as a user writes it; "" if there is none.

        >>> Arguments.default("scope"), Arguments.default("requisites"), Arguments.default("pages")
        ('host', 'no', '')
        """
        value = next(each.default for each in fields(cls) if each.name == name)
        return ("no", "yes")[value] if isinstance(value, bool) else "" if value in (None, ()) else str(value)

    @property
    def identity(self) -> dict[str, Any]:
        """The arguments that identify the crawl: without the limits of a run, fields file and collection."""
        known = {name: value for name, value in asdict(self).items() if name not in NO_IDENTITY}
        return {name: value for name, value in known.items() if value or name not in LATER}

    @property
    def limits(self) -> Limits:
        """The limits on what is stored."""
        since, until = (date.fromisoformat(day) if day else None for day in (self.since, self.until))
        return Limits(self.types, self.size, since, until)


class HasArguments(Protocol):
    """A spider of archivebot, as far as the scheduler needs to know it."""

    name: str
    crawler: Crawler

    @property
    def arguments(self) -> Arguments: ...


@dataclass(frozen=True)
class TopicArguments(Arguments):
    """The arguments of a focused crawl: also its topic and how strictly it keeps to it.

    ``topic`` is the name of a saved profile, or words; ``tunnel`` the maximum of off-topic pages in a row,
    ``threshold`` the minimum chance of a link in hard focus (None: from the settings); ``order`` what is
    fetched first; ``near`` the similarity to the topic at which a word counts fully in ``order=ipagerank``;
    ``rings`` are words like those of the topic, see :func:`~archivebot.topic.rings.read_rings`.
    """

    READERS: ClassVar[dict[str, Callable[[str], Any]]] = {
        **Arguments.READERS,
        "topic": _topic,
        "focus": _choice("focus", *FOCUSES),
        "tunnel": _number("tunnel", 0),
        "threshold": _chance("threshold"),
        "order": _choice("order", *ORDERS),
        "near": _chance("near"),
        "rings": _rings,
    }
    REQUIRED: ClassVar[tuple[str, ...]] = ("topic", "seeds")

    scope: str = "web"
    topic: str = ""
    focus: str = "soft"
    tunnel: int | None = None
    threshold: float | None = None
    order: str = "best"
    near: float = NEAR
    rings: str = ""

    def __post_init__(self) -> None:
        if not self.topic:
            raise UsageError(
                "no topic: give the name of one made with scrapy topic, or words, for example "
                "-a topic='tide tables, ferries'"
            )
        if self.threshold is not None and self.focus != "hard":
            raise UsageError("threshold drops links in hard focus: give -a focus=hard as well")
        if self.threshold is not None and self.order not in ("best", "ipagerank"):
            wanted = "give order=best or order=ipagerank"
            raise UsageError(f"threshold has no effect in order={self.order}: {wanted}")
        if self.near != NEAR and self.order != "ipagerank":
            raise UsageError("near belongs to order=ipagerank: give -a order=ipagerank as well")


@dataclass(frozen=True)
class DeepWebArguments(Arguments):
    """The arguments of a search for query forms.

    ``topic`` as in :class:`TopicArguments`, empty for any. With ``links=strict`` only links that promise a
    form are followed; with ``rank`` they are followed first.
    """

    READERS: ClassVar[dict[str, Callable[[str], Any]]] = {
        **Arguments.READERS,
        "topic": _topic,
        "links": _choice("links", *LINK_RULES),
    }

    depth: int | None = MOST_DEPTH
    topic: str = ""
    links: str = "rank"


@dataclass(frozen=True)
class QueryArguments(Arguments):
    """The arguments of queries to a known form: the ``form`` id, and the file with the ``values``.

    The seeds are made from these. With ``dry`` the URLs are only printed. ``pages`` is 100 by default.
    """

    READERS: ClassVar[dict[str, Callable[[str], Any]]] = {
        **{name: read for name, read in Arguments.READERS.items() if name != "seeds"},
        "form": str.strip,
        "values": _file("values", "CSV", "grid.csv"),
        "dry": _yes("dry"),
    }
    REQUIRED: ClassVar[tuple[str, ...]] = ("form", "values")

    seeds: tuple[str, ...] = ()
    depth: int | None = 0
    pages: int | None = MOST_ANSWERS
    form: str = ""
    values: str = ""
    dry: bool = False

    def __post_init__(self) -> None:
        if not self.form or not self.values:
            raise UsageError(
                "give the id of a form and the values to fill in: -a form=ID -a values=@grid.csv; scrapy "
                "forms lists the forms of the archive"
            )


@dataclass(frozen=True)
class RecrawlArguments(Arguments):
    """The arguments of visits to pages that are due: the ``budget`` in visits a day, and the ``policy``.

    Without a budget there is one visit a day for each page. The seeds are the pages that are due. With
    ``discover`` the new pages of their sites are visited, too. The spider sets ``archive``, the identity of
    the archive.
    """

    READERS: ClassVar[dict[str, Callable[[str], Any]]] = {
        **{name: read for name, read in Arguments.READERS.items() if name not in ("seeds", "scope", "depth")},
        "budget": read_budget,
        "policy": _choice("policy", *Policy),
        "discover": _yes("discover"),
    }
    REQUIRED: ClassVar[tuple[str, ...]] = ()

    seeds: tuple[str, ...] = ()
    scope: str = "page"
    depth: int | None = 0
    budget: float | None = None
    policy: str = Policy.CHANGES
    discover: bool = False
    archive: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """The arguments that identify the crawl; not the seeds: a later worker finds fewer pages due."""
        return {name: value for name, value in super().identity.items() if name != "seeds"}


def _refuse_unknown(names: Iterable[str], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"the arguments are {', '.join(known)}"
            raise UsageError(f"unknown argument {name!r}: {hint}")
