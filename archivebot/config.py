"""The settings that begin with ARCHIVE_, as frozen, typed values; no other module reads them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from os.path import expanduser
from pathlib import Path
from typing import Any, Self

from archivebot.exceptions import UsageError

ARCHIVE = "ARCHIVE_URI"  # the setting that names the archive
FRONTIER = "ARCHIVE_FRONTIER"  # the setting that names a frontier in a file
DEFAULT_URI = "sqlite:///archive.db"
FIELDS = "ARCHIVE_FIELDS"  # the setting that names the fields file
COLLECTIONS = "ARCHIVE_COLLECTIONS"  # the setting that names the file of collections
CONTACT = "ARCHIVE_CONTACT"  # the setting with the address of the operator
COLLECTION = "ARCHIVE_COLLECTION"  # the setting with the collection of the pages that are stored
KINDS = re.compile(r"sqlite:///.+|mongodb(\+srv)?://.*", re.DOTALL)
# The URL of a server: its host, with a port and a path if it has them.
_SERVER = re.compile(r"(?i)https?://([^\s/?#@]*@)?([^\s/?#@:\[\]]+|\[[\da-f:.]+\])(:\d{1,5})?(/[^\s?#]*)?")
# How to write the weights of a priority, for the error message.
WEIGHTS = 'ARCHIVE_PRIORITY_WEIGHTS is read as {"depth": 0, "topic": 2}'

DEFAULT_LEVEL = 3
MAX_LEVEL = 9
RANGES = {"level": (1, MAX_LEVEL), "zstd_level": (1, 19), "frame_bound": (0, 1 << 30)}

# What a setting is at least 1 of: with fewer nothing would be fetched, or living workers would lose leases.
UNITS = {
    "readers": "process",
    "local_concurrency": "request at a time",
    "lease_seconds": "second",
    "rank_every": "page",
}

# Of 3,310 versions (505 MB) level 10 makes 11.64 MB in 21 CPU seconds, level 9 11.69 MB in 21, level
# 11 11.59 MB in 25 and level 12 11.59 MB in 28.
ZSTD_LEVEL = 10

# The values of archivebot.models.Attribute, which this module must not import.
ATTRIBUTES = ("title", "link", "image", "alt")

# The attributes that count as content, beside the text of a page. Of 1,044 versions of history-dev that were
# judged to be without a change of content none changed its title or the text of an image, 17 changed a link
# in the content (a site that moved) and 19 an image (mostly the same image cropped again); of 242 with a
# change of content it is 9, 14, 30 and 43.
CONTENT_ATTRIBUTES = frozenset(("title", "alt"))


@dataclass(frozen=True, slots=True)
class UserFile:
    """The name and the text of a file that a user wrote; all processes of a crawl use the same text."""

    name: str = ""
    text: str = field(default="", repr=False)

    @classmethod
    def read(cls, name: str, what: str = "fields file", example: str = "fields.toml") -> UserFile:
        """Read the file of a setting or an option, ``fields.toml`` or ``@fields.toml``; "" is no file.

        Raises UsageError if it cannot be read.
        """
        if not name:
            return cls()
        name = name.removeprefix("@")
        if not name:
            raise UsageError(f"@ names no {what}: give a TOML file, for example @{example}")
        return cls(name, file_text(name, what))


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """The location of the archive, and how pages are cut and compressed.

    ``level`` is the depth of the block tree for URLs without a history (1 is coarsest);
    ``adjust_level`` lets the history of a URL move it. ``frame_bound`` is the number of bytes that
    reading any version may have to decode, ``zstd_level`` the effort of compression (1 to 19).
    ``content_attributes`` count as content beside the text of a page. ``fields`` has the selectors of sites,
    ``collections`` the rules of metadata; ``collection`` is the collection of the pages that are stored, ""
    for the one that covers them. ``spark`` is the master of the cluster that reads whole archives, "" for the
    cores of this machine.
    """

    uri: str = DEFAULT_URI
    level: int = DEFAULT_LEVEL
    adjust_level: bool = True
    frame_bound: int = 16_000_000
    zstd_level: int = ZSTD_LEVEL
    content_attributes: frozenset[str] = CONTENT_ATTRIBUTES
    fields: UserFile = UserFile()
    collections: UserFile = UserFile()
    collection: str = ""
    spark: str = ""

    def __post_init__(self) -> None:
        if not KINDS.fullmatch(self.uri):
            places = "sqlite:///archive.db, sqlite:////full/path.db or mongodb://host/database"
            shown = without_password(self.uri)
            raise UsageError(f"{ARCHIVE} is {shown!r}, which names no archive: write {places}")
        for name, (low, high) in RANGES.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise UsageError(f"ARCHIVE_{name.upper()} is {value}: give {_wanted(name)}")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> ArchiveConfig:
        """Read the settings ARCHIVE_URI, ARCHIVE_LEVEL and so on; those not set keep their default.

        Raises UsageError if a value has the wrong type or is out of range.
        """
        default = cls()
        return cls(
            uri=str(settings.get(ARCHIVE) or default.uri),
            level=whole("ARCHIVE_LEVEL", settings, default.level),
            adjust_level=_switch("ARCHIVE_ADJUST_LEVEL", settings, default.adjust_level),
            frame_bound=whole("ARCHIVE_FRAME_BOUND", settings, default.frame_bound),
            zstd_level=whole("ARCHIVE_ZSTD_LEVEL", settings, default.zstd_level),
            content_attributes=_attributes(settings, default.content_attributes),
            fields=UserFile.read(str(settings.get(FIELDS) or "")),
            collections=read_collections_file(settings),
            collection=str(settings.get(COLLECTION) or ""),
            spark=str(settings.get("ARCHIVE_SPARK") or ""),
        )


def read_collections_file(settings: Mapping[str, Any]) -> UserFile:
    """Return the file of collections of the settings; raises UsageError if it cannot be read."""
    return UserFile.read(str(settings.get(COLLECTIONS) or ""), "file of collections", "collections.toml")


class _Settings:
    """Values of settings: ``lease_seconds`` is ARCHIVE_LEASE_SECONDS, with the type of its default."""

    __slots__ = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings; those not set keep their default. Raises UsageError for a wrong value."""
        values: dict[str, Any] = {}
        default = cls()
        for each in fields(cls):  # type: ignore[arg-type]  # every subclass is a dataclass
            name, value = f"ARCHIVE_{each.name.upper()}", getattr(default, each.name)
            values[each.name] = found = _READERS[type(value)](name, settings, value)
            if each.name in UNITS and found < 1:
                raise UsageError(f"{name} is {found}: give at least 1 {UNITS[each.name]}")
            if found and each.name in ("scrapyd", "watch_server") and not _SERVER.fullmatch(found):
                raise UsageError(f"{name} is {found!r}: give a URL, as http://host.example:8080/")
        return cls(**values)


def setting_names() -> frozenset[str]:
    """Return the names of all settings of archivebot."""
    classes = (ArchiveConfig, *_Settings.__subclasses__())
    return frozenset(f"ARCHIVE_{each.name.upper()}" for cls in classes for each in fields(cls))  # type: ignore[arg-type]  # see above


def check_settings(settings: Mapping[str, Any]) -> None:
    """Read all settings of archivebot; raises UsageError if one has a wrong value."""
    ArchiveConfig.from_settings(settings)
    for cls in _Settings.__subclasses__():
        cls.from_settings(settings)


@dataclass(frozen=True, slots=True)
class CrawlConfig(_Settings):
    """The identity of a crawl, what it requests and keeps, and how it works; see docs/settings.md."""

    contact: str = ""
    conditional: bool = True
    obey_meta_robots: bool = True
    private_addresses: bool = False
    http2: bool = False
    readers: int = 1
    duplicate_penalty: float = 2.0
    progress_interval: float = 10.0
    warc: str = ""
    secrets: str = ""

    def __post_init__(self) -> None:
        if self.http2 and not find_spec("h2"):
            raise UsageError("ARCHIVE_HTTP2 needs h2: pip install 'Scrapy[twisted-http2]'")


@dataclass(frozen=True, slots=True)
class PaceConfig(_Settings):
    """The politeness of a crawl: delays, robots.txt, retries."""

    crawl_delay_max: float = 60.0
    local_concurrency: int = 8
    robots_expiry: float = 24 * 3600.0
    robots_patience: float = 600.0
    retry_base: float = 2.0
    retry_ceiling: float = 60.0
    retry_after_max: float = 120.0


@dataclass(frozen=True, slots=True)
class FrontierConfig(_Settings):
    """The frontier of a crawl: its location, its timeouts and its budgets."""

    frontier: str = ""
    lease_seconds: float = 60.0
    frontier_patience: float = 120.0
    budget_path: int = 10_000
    budget_query: int = 1_000
    budget_host: int = 10_000


@dataclass(frozen=True, slots=True)
class RequisiteConfig(_Settings):
    """The budgets of page requisites, by number and bytes, of a crawl and of a page; 0: no maximum.

    Of 300 pages of wcxb-dev the median names 46 requisites, one in ten 288, a hundredth 1,000. In 2024 the
    median page of the web took 2.7 MB in 71 requests (Web Almanac, Page Weight).
    """

    requisites_crawl: int = 100_000
    requisites_page: int = 1_000
    requisites_crawl_bytes: int = 10_000_000_000
    requisites_page_bytes: int = 50_000_000


@dataclass(frozen=True, slots=True)
class FocusConfig(_Settings):
    """The folder of the topic profiles, and how strictly a crawl keeps to its topic."""

    topics: Path = Path("topics")
    tunnel_depth: int = 2
    link_threshold: float = 0.02
    keep_off_topic: bool = False
    priority_weights: dict[str, float] = field(default_factory=dict)
    rank_every: int = 500


@dataclass(frozen=True, slots=True)
class WatchConfig(_Settings):
    """The rules file that is watched at the end of a crawl, and the address of ``scrapy serve``."""

    watch: str = ""
    watch_server: str = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class SiteConfig(_Settings):
    """The numbers of query forms and pages after which a search for forms leaves a site."""

    site_forms: int = 5
    site_pages: int = 100


@dataclass(frozen=True, slots=True)
class SearchConfig(_Settings):
    """The index of words: its URI, "" for a file beside the archive, and whether crawls update it."""

    search_index: str = ""
    search_update: bool = False


@dataclass(frozen=True, slots=True)
class ServeConfig(_Settings):
    """The processes of ``scrapy serve``; what its API allows: requests a second of a client, a scrapyd."""

    readers: int = 1
    api_rate: float = 20.0
    scrapyd: str = ""


def whole_uri(uri: str) -> str:
    """Return the URI of an archive for programs in other folders: the path of a file is written in full.

    >>> whole_uri("sqlite:////srv/a.db"), whole_uri("mongodb://host/archive")
    ('sqlite:////srv/a.db', 'mongodb://host/archive')
    >>> whole_uri("sqlite:///a.db") == f"sqlite:///{Path.cwd()}/a.db"
    True
    """
    scheme, separator, path = uri.partition(":///")
    return f"{scheme}:///{Path(path).absolute()}" if separator and scheme == "sqlite" else uri


def file_text(name: str, what: str) -> str:
    """Return the text of a file that a user wrote; raises UsageError if it cannot be read."""
    try:
        return Path(expanduser(name)).read_text("utf-8-sig")  # no shell replaces the ~ in seeds=@~/seeds.txt
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"the {what} {name!r} cannot be read: {reason}") from error


def beside(archive_uri: str, name: str) -> Path:
    """Return the file of that name beside an archive file; for a server, one in the working directory.

    >>> beside("sqlite:///pages/archive.db", "watch").as_posix()
    'pages/archive.watch.db'
    >>> beside("mongodb://localhost/archive", "watch").as_posix()
    'archive.watch.db'
    """
    scheme, _, path = archive_uri.partition(":///")
    return Path(path if scheme == "sqlite" and path else "archive").with_suffix(f".{name}.db")


def without_password(uri: str) -> str:
    """Return the URI of an archive or a frontier with its passwords masked.

    >>> without_password("mongodb://user:secret@host/archive")
    'mongodb://user:***@host/archive'
    >>> without_password("redis://host/0?password=secret&db=1")
    'redis://host/0?password=***&db=1'
    """
    shown = re.sub(r"(?i)([?&]\w*(?:password|properties)=)[^&]*", r"\1***", uri)
    # To the last @: a password that is not escaped may hold any character.
    return re.sub(r"(?s)(://[^/:@]*):.*@", r"\1:***@", shown)


def whole(name: str, settings: Mapping[str, Any], default: int) -> int:
    """Read a setting that is a whole number; raises UsageError for other values.

    >>> whole("ARCHIVE_LEVEL", {"ARCHIVE_LEVEL": "4"}, 3), whole("ARCHIVE_LEVEL", {}, 3)
    (4, 3)
    """
    value = str(settings.get(name, default))
    if not value.isdecimal() or len(value) > 18:  # more than SQLite keeps, and from 4300 digits on than int()
        raise UsageError(f"{name} is {value!r}: give {_wanted(name.removeprefix('ARCHIVE_').lower())}")
    return int(value)


def _wanted(name: str) -> str:
    low, high = RANGES.get(name, (int(name in UNITS), None))
    return f"a whole number from {low} " + (f"to {high}" if high else "on, of at most 18 digits")


def _switch(name: str, settings: Mapping[str, Any], default: bool) -> bool:
    value = str(settings.get(name, default)).lower()
    if value not in ("0", "1", "false", "true"):
        raise UsageError(f"{name} is {value!r}: give True or False")
    return value in ("1", "true")


def _number(name: str, settings: Mapping[str, Any], default: float) -> float:
    """Read a setting that is a number; raises UsageError for other values.

    >>> _number("ARCHIVE_RETRY_BASE", {"ARCHIVE_RETRY_BASE": "0.5"}, 2.0)
    0.5
    """
    value = settings.get(name, default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise UsageError(f"{name} is {value!r}: give a number from 0 on")
    return number


def _text(name: str, settings: Mapping[str, Any], default: str) -> str:
    return str(settings.get(name) or default)


def _weights(name: str, settings: Mapping[str, Any], default: dict[str, float]) -> dict[str, float]:
    """Read a setting that maps names to numbers; raises UsageError for other values.

    >>> _weights("ARCHIVE_PRIORITY_WEIGHTS", {"ARCHIVE_PRIORITY_WEIGHTS": '{"depth": 0}'}, {})
    {'depth': 0}
    """
    value = settings.get(name, default)
    try:
        weights = dict(json.loads(value) if isinstance(value, str) else value)
        if wrong := [part for part, weight in weights.items() if type(weight) not in (int, float)]:
            raise ValueError(f"the weight of {wrong[0]} is no number")
        return weights
    except (TypeError, ValueError) as error:
        raise UsageError(f"{WEIGHTS}: {error}") from error


_READERS: dict[type, Callable[[str, Mapping[str, Any], Any], Any]] = {
    int: whole,
    float: _number,
    bool: _switch,
    str: _text,
    type(Path()): lambda name, settings, default: Path(settings.get(name, default)),
    dict: _weights,
}


def _attributes(settings: Mapping[str, Any], default: frozenset[str]) -> frozenset[str]:
    name = "ARCHIVE_CONTENT_ATTRIBUTES"
    value = settings.get(name)
    if value is None:
        return default
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    if any(word not in ATTRIBUTES for word in words):
        raise UsageError(f"{name} is {value!r}: give any of {', '.join(ATTRIBUTES)}, or nothing")
    return frozenset(words)
