"""The state of a crawl by its frontier: what waits, what was rejected and why, and the way to each URL."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import astuple
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from archivebot.exceptions import NotArchived, StorageError, UsageError
from archivebot.frontier import FrontierReader, State, open_frontier, read_frontier
from archivebot.frontier.base import Record
from archivebot.records import crawl_record, url_record
from archivebot.timestamps import parse_since
from archivebot.urls import variants

LAST = "last"


def crawl_state(frontier: FrontierReader, top: int) -> dict[str, Any]:
    """Return the state of a crawl as a record, with ``top`` hosts, queued and rejected URLs.

    Raises NotArchived if the frontier has no such crawl.
    """
    crawls = {crawl.name: crawl for crawl in frontier.crawls()}
    if frontier.crawl not in crawls:
        raise NotArchived(f"there is no crawl {frontier.crawl!r}")
    records = frontier.records(State.REJECTED)
    rejected = list(islice(records, top))
    reasons = Counter(record.entry.reason for record in chain(rejected, records))
    return crawl_record(
        crawls[frontier.crawl],
        frontier.hosts()[:top],
        frontier.records(State.QUEUED, limit=top),
        rejected,
        dict(reasons.most_common()),
        crawls,
    )


def found_in(uri: str, url: str, crawl: str | None) -> dict[str, Any]:
    """Return what a crawl knows about a URL as a record, with the name of the ``crawl``.

    Without a name it is the crawl begun last of those that met the URL. If none did, its variants are
    looked for: http or https, with or without www. Raises NotArchived if no crawl met any of them.
    """
    with closing(read_frontier(uri, crawl)) as frontier:
        names = [crawl] if crawl else [each.name for each in frontier.crawls()]
    wanted, found = list(variants(url)), None
    for name in names:
        with closing(read_frontier(uri, name)) as frontier:
            for place, variant in enumerate(wanted):
                if record := frontier.get(variant):
                    found = {"crawl": name, **url_record(record, path(frontier, record))}
                    del wanted[place:]  # an older crawl counts only if it met a variant before this one
                    break
        if not wanted:
            break
    if found:
        return found
    if len(names) != 1:
        raise NotArchived(f"none of the {len(names)} crawls ever met {url}: {', '.join(names)}")
    raise NotArchived(
        f"the crawl {names[0]} never met {url}: no page that it fetched links to it, "
        "or only with rel=nofollow"
    )


def path(frontier: FrontierReader, record: Record) -> list[str]:
    """Return the URLs from the seed to a record; each is the page with the link to the next."""
    way = [record.entry.url]
    while record.entry.source and record.entry.source not in way:
        way.insert(0, record.entry.source)
        before = frontier.get(record.entry.source)
        if before is None:
            break
        record = before
    return way


def forget_crawls(uri: str, spider: str) -> None:
    """Remove the crawls of a spider from the frontier at a URI, if there is one."""
    try:
        with closing(read_frontier(uri)) as frontier:
            names = [crawl.name for crawl in frontier.crawls() if crawl.name.startswith(f"{spider}-")]
    except NotArchived:
        return
    for name in names:
        with closing(open_frontier(uri, name, create=False)) as frontier:
            frontier.forget()


def since_of(text: str, uri: str, option: str = "--since ") -> datetime:
    """Read the beginning of a period; ``last`` is when the last crawl of the frontier at a URI began.

    ``option`` is how a time is written, for the message.

    Raises UsageError for other texts, and if the last crawl is unknown.
    """
    if text != LAST:
        return parse_since(text, datetime.now(UTC))
    try:
        with closing(read_frontier(uri)) as frontier:
            crawls = frontier.crawls()
            # A round of recrawl without a page that is due is no crawl.
            last = next((crawl for crawl in crawls if any(astuple(crawl.counts))), crawls[0])
            return datetime.fromtimestamp(last.began, UTC)
    except NotArchived as error:
        raise UsageError(
            f"there was no crawl yet: give a time, such as {option}7d or {option}2021"
        ) from error
    except StorageError as error:
        raise UsageError(f"the last crawl is unknown ({error}): give a time, such as {option}7d") from error
