"""The pages that answer questions to the whole archive or to a crawl: lists, plots and states."""

from __future__ import annotations

from asyncio import gather, wait_for
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from archivebot.exceptions import ArchiveError, UsageError
from archivebot.records.question import Given, Part, Question
from archivebot.urls import host_of_key, urlkey
from archivebot.web.api import asked, texts_of
from archivebot.web.pages import LISTED, latest_changes, number_of, parameter, site_pages
from archivebot.web.plots import bars, line
from archivebot.web.readers import Readers
from archivebot.web.templating import address, page

# Seconds that a page waits for a part that it can do without.
PATIENCE = 2.0

# Points of a plot, and rows of the table beside it.
DRAWN, TOLD = 200, 12

TOP = 20

NAMED = 10  # pages of an alert

# The changes that are shown of an archive that no crawl made.
WITHOUT_CRAWL = "30d"

# The questions with a page of their own, each with its title.
TITLES = {
    "alerts": "Alerts",
    "pages": "Pages",
    "changes": "Changes",
    "events": "What happened to the pages of {site}",
    "explain": "Why {url} has its place in the crawl",
    "forms": "Forms",
    "frontier": "Crawl",
}


async def survey(name: str, request: Request) -> Response:
    """Show the answer to one question, one part of a long list at a time."""
    return _shown(name, request, *await _ask(request, name, _texts(request)))


async def changes(request: Request) -> Response:
    """Show what changed since a time, the last crawl, or in the last days of an archive without a crawl."""
    texts = _texts(request)
    try:
        found = await _ask(request, "changes", texts)
    except UsageError:
        if "since" in texts:
            raise
        found = await _ask(request, "changes", texts | {"since": WITHOUT_CRAWL})
    return _shown("changes", request, *found)


def _shown(name: str, request: Request, part: Part, given: Given) -> Response:
    return page(
        f"{name}.html",
        title=TITLES[name].format_map(given),
        given=given,
        rows=part.records,
        following=_following(request, part),
        shown=NAMED,
    )


async def start(request: Request) -> Response:
    """Show the sites of the archive, the state of its last crawl, what changed lately, and what it stores."""
    readers: Readers = request.app.state.readers
    archive, crawl, (changes, partly) = await gather(
        _soon(request, "sites"), _soon(request, "frontier", {"top": "1"}), readers.ask(latest_changes)
    )
    skip = number_of(request, "skip")
    hosts = list(archive["hosts"].items()) if archive else []
    return page(
        "start.html",
        title="Archive",
        archive=archive,
        crawl=crawl,
        sites=hosts[skip : skip + LISTED],
        site_count=len(hosts),
        following=address("", skip=skip + LISTED) if len(hosts) > skip + LISTED else None,
        skip=skip,
        changes=changes,
        partly=partly,
    )


async def site(request: Request) -> Response:
    """Show what happened on a site over time, and its pages."""
    url = parameter(request, "url")
    readers: Readers = request.app.state.readers
    prefix = "yes" if request.query_params.get("prefix") else None
    match = "prefix" if prefix else "host"
    found = await readers.ask(site_pages, url, request.query_params.get("after"), match)
    is_first = not request.query_params.get("after")
    is_whole = is_first and not prefix
    periods = await _soon(request, "activity", {"site": url, "limit": "1000"}, whole=True) if is_whole else []
    return page(
        "site.html",
        title=f"Pages of {url if prefix else host_of_key(urlkey(url))}",
        prefix=prefix,
        url=url,
        is_first=is_first,
        periods=periods,
        bars=bars(periods) if periods else None,
        **found,
    )


async def topic(request: Request) -> Response:
    """Show the course of a focused crawl, and the hubs and authorities of its topic."""
    given = _texts(request)
    crawl = {name: given[name] for name in ("crawl",) if name in given}
    state = await _soon(request, "frontier", crawl | {"top": "1"})
    named = given.get("topic") or (state or {}).get("arguments", {}).get("topic", "")
    step = max(1, state["states"]["done"] // DRAWN) if state else 1
    harvest = await _soon(request, "harvest", crawl | {"step": str(step)})
    points = harvest["points"] if harvest else []
    ranks = await _soon(
        request, "rank", {"by": "hits", "top": str(TOP)} | ({"topic": named} if named else {})
    )
    most_hosts = max((each["hosts"] for each in points), default=0)
    return page(
        "topic.html",
        title=f"Topic {named}" if named else "Topic",
        topic=named,
        state=state,
        points=points,
        told=points[:: len(points) // TOLD + 1] + points[-1:] if len(points) > TOLD else points,
        lines={name: line(points, name, 1) for name in ("recent", "harvest")} if points else {},
        hosts=line(points, "hosts", most_hosts) if points else "",
        most_hosts=most_hosts,
        ranks=ranks,
    )


async def duplicates(request: Request) -> Response:
    """Show groups of near-duplicates, or the near-duplicates of one page."""
    given = _texts(request)
    part, _ = await _ask(request, "duplicates" if "url" in given else "clusters", given)
    url = given.get("url", "")
    return page(
        "duplicates.html",
        title=f"Near-duplicates of {url}" if url else "Near-duplicates",
        of=url,
        blocks=given.get("blocks") == "true",
        rows=part.records,
        following=_following(request, part),
        first=int(given.get("skip", "0")) == 0,
    )


def _texts(request: Request) -> dict[str, str]:
    """Return the parameters of a request; an empty field of a form counts as left out."""
    return {name: text for name, values in texts_of(request).items() for text in values[:1] if text.strip()}


async def _ask(request: Request, name: str, texts: Mapping[str, str]) -> tuple[Part, Given]:
    question: Question = request.app.state.questions[name]
    given = question.read({name: [text] for name, text in texts.items()})
    return await asked(request, question, given), given


async def _soon(
    request: Request, name: str, texts: Mapping[str, str] | None = None, *, whole: bool = False
) -> Any:
    """Return the one record of an answer, or all its records; None if there is none, or not yet.

    Raises UsageError for parameters that cannot be read.
    """
    try:
        part, _ = await wait_for(_ask(request, name, texts or {}), PATIENCE)
    except UsageError:
        raise
    except (ArchiveError, HTTPException, TimeoutError):
        return None
    records: Sequence[Any] = part.records
    return records if whole else records[0]


def _following(request: Request, part: Part) -> str | None:
    """Return the address of the next part of a list."""
    return address(request.url.path[1:], **{**_texts(request), **part.following}) if part.following else None
