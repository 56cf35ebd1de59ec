"""The frontier, which survives kills: one contract, in a SQLite file or on a Redis server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from archivebot.config import ArchiveConfig, FrontierConfig, beside, without_password
from archivebot.exceptions import NotArchived, Outdated, UsageError
from archivebot.frontier.base import (
    EXTRA,
    HOLD,
    Charge,
    Counts,
    CrawlInfo,
    Entry,
    Frontier,
    FrontierReader,
    HostCounts,
    Lease,
    Record,
    State,
)
from archivebot.frontier.seen import SeenCache

NAMED = 10  # crawls that a message names

__all__ = [
    "EXTRA",
    "HOLD",
    "Charge",
    "Counts",
    "CrawlInfo",
    "Entry",
    "Frontier",
    "FrontierReader",
    "HostCounts",
    "Lease",
    "Record",
    "SeenCache",
    "State",
    "chosen_uri",
    "frontier_uri",
    "open_frontier",
    "read_frontier",
]


def open_frontier(uri: str, crawl: str | None, patience: float = 60.0, create: bool = True) -> Frontier:
    """Open the frontier of a crawl; None stands for the crawl begun last.

    ``sqlite:///archive.frontier.db`` is a file in the working directory, ``redis://host:6379/0`` a database
    of a Redis server, ``rediss://`` the same through TLS. ``patience`` is the number of seconds without a
    heartbeat after which a worker counts as dead.

    Raises UsageError for another URI, StorageError if the frontier cannot be opened, and
    NotArchived if the crawl has no frontier and ``create`` is false.
    """
    if crawl is None or not create:
        crawl = _existing(uri, crawl)
    return _open(uri, crawl, patience)


def read_frontier(uri: str, crawl: str | None = None) -> FrontierReader:
    """Open the frontier of a crawl for reading, even while it runs; None: the crawl begun last.

    Nothing is changed, except that a file of an older archivebot is upgraded, or copied into memory if it
    cannot be written. Raises the errors of :func:`open_frontier`, and NotArchived if there is no such crawl.
    """
    return _read(uri, _existing(uri, crawl))


def frontier_uri(archive_uri: str) -> str:
    """Return the URI of the frontier beside an archive file; for a server, one in the working directory.

    >>> frontier_uri("sqlite:///pages/archive.db"), frontier_uri("sqlite:////srv/archive")
    ('sqlite:///pages/archive.frontier.db', 'sqlite:////srv/archive.frontier.db')
    >>> frontier_uri("mongodb://localhost/archive")
    'sqlite:///archive.frontier.db'
    """
    return f"sqlite:///{beside(archive_uri, 'frontier')}"


def chosen_uri(settings: Mapping[str, Any]) -> str:
    """Return the URI that the settings choose: REDIS_URL, ARCHIVE_FRONTIER, or the file beside the archive.

    >>> chosen_uri({"ARCHIVE_URI": "sqlite:///a.db", "REDIS_URL": ""})
    'sqlite:///a.frontier.db'
    """
    beside = frontier_uri(ArchiveConfig.from_settings(settings).uri)
    return str(settings.get("REDIS_URL") or FrontierConfig.from_settings(settings).frontier or beside)


def _existing(uri: str, crawl: str | None) -> str:
    names = _names(uri)
    if names and crawl in (None, *names):
        return crawl or names[0]
    if names:
        raise NotArchived(
            f"{crawl!r} has no frontier at {without_password(uri)}; its crawls are {', '.join(names[:NAMED])}"
            + (", ..." if len(names) > NAMED else "")
        )
    of = f"{crawl!r} has no" if crawl else "no crawl has a"
    raise NotArchived(
        f"{of} frontier at {without_password(uri)};"
        " start one with: scrapy crawl site -a seeds=https://example.org/"
    )


def _names(uri: str) -> list[str]:
    path = _path(uri)
    if path and not (Path(path).exists() and Path(path).stat().st_size):
        return []
    frontier = _read(uri, "")
    try:
        return [crawl.name for crawl in frontier.crawls()]
    finally:
        frontier.close()


def _read(uri: str, crawl: str) -> FrontierReader:
    if path := _path(uri):
        from archivebot.frontier.file import CopiedFile, ReadOnlyFile
        from archivebot.frontier.listing import CrawlListing

        try:
            return CrawlListing(ReadOnlyFile(path), crawl)
        except Outdated:
            if not all(os.access(each, os.W_OK) for each in (path, Path(path).absolute().parent)):
                return CrawlListing(CopiedFile(path), crawl)
    return _open(uri, crawl, 0)


def _open(uri: str, crawl: str, patience: float) -> Frontier:
    if path := _path(uri):
        from archivebot.frontier.sqlite import SQLiteFrontier

        return SQLiteFrontier(path, crawl, patience)
    from archivebot.frontier.redis import RedisFrontier

    return RedisFrontier(uri, crawl, patience)


def _path(uri: str) -> str:
    """Return the path of a file, empty for a server."""
    scheme, separator, rest = uri.partition("://")
    if separator and scheme == "sqlite" and len(rest) > 1 and rest.startswith("/"):
        return rest[1:]
    if separator and scheme in ("redis", "rediss"):
        return ""
    raise UsageError(
        f"{without_password(uri)!r} names no frontier:"
        " write sqlite:///archive.frontier.db or redis://host:6379/0"
    )
