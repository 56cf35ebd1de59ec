"""The questions to a whole archive and to its crawls that programs ask over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from archivebot.archive import ArchiveReader
from archivebot.exceptions import NotArchived
from archivebot.frontier import FrontierReader, read_frontier
from archivebot.jobs.activity import activity, events
from archivebot.jobs.changes import changed_pages
from archivebot.jobs.damage import leave_out
from archivebot.jobs.duplicates import groups_of, survey_of
from archivebot.jobs.forms import kept_forms
from archivebot.jobs.frontier import LAST, crawl_state, found_in, since_of
from archivebot.jobs.harvest import points_of, sampled
from archivebot.jobs.listing import Filter, listed_pages
from archivebot.jobs.rank import METHODS, ranking
from archivebot.jobs.search import MOST_LIVES_SERVED, Wanted, search
from archivebot.models import Kind, Label
from archivebot.records import cluster_record, kept_form_record, match_record
from archivebot.records.question import (
    PARTS,
    PERIOD,
    SINCE,
    SITE,
    SWITCH,
    URL,
    WORDS,
    Given,
    Parameter,
    Part,
    Question,
    count,
)
from archivebot.records.shapes import EVENT, list_of, one_of, ref
from archivebot.search.events import WordChange
from archivebot.timestamps import DURATION, parse_since, parse_time
from archivebot.topic.relevance import PageScorer
from archivebot.topic.training import profile_of
from archivebot.urls import parse_seed

_CRAWL = Parameter("crawl", WORDS, "the name of a crawl; by default the crawl begun last")
_TOPIC = Parameter("topic", WORDS, "the name of a topic, or some words")
_BLOCKS = Parameter("blocks", SWITCH, "blocks of pages, too: every page is read")
_TOP = Parameter("top", count(1000, 20, least=1), "rows of each list")


def questions(frontier: str, topics: Path, index: str) -> tuple[Question, ...]:
    """Return the questions to an archive.

    Its frontier is at a URI, the topics are in a folder, and the index of its words at a path.
    """

    def of_crawl(answer: Callable[[FrontierReader, Given], Any]) -> Callable[[ArchiveReader, Given], Any]:
        return partial(_of_crawl, frontier, answer)

    return (
        Question(
            "pages",
            "The pages of the archive or of a site, each with its title and its last capture",
            list_of(ref("Page")),
            partial(_pages, topics),
            (
                SITE,
                Parameter("kind", one_of(Kind), "the kind of the last capture"),
                Parameter("status", count(999, least=100), "the status of the last capture"),
                Parameter("since", SINCE, "captured at or after a time, or a duration before now (7d)"),
                Parameter("topic", WORDS, "only pages on a topic: its name, or some words"),
                Parameter("after", URL, "continues after the page with this URL"),
                Parameter("limit", count(1000, 100, least=1), "the most pages to return"),
            ),
            reads_all=True,
            passing=_is_up_to_now,
        ),
        Question(
            "changes",
            "The pages that are new, changed, touched, gone, moved or back since a time",
            list_of(ref("ChangedPage")),
            partial(_changes, frontier),
            (
                Parameter(
                    "since",
                    SINCE | {"default": "last"},
                    "a time, a duration before now (7d), or last: the begin of the last crawl",
                ),
                SITE,
                Parameter("content_only", SWITCH, "without pages whose furniture alone changed"),
                *PARTS,
            ),
            reads_all=True,
            passing=_is_up_to_now,
        ),
        Question(
            "search",
            "When words came to pages and when they went, block by block",
            list_of(ref("WordEvent")),
            partial(_search, topics, index),
            (
                Parameter("q", WORDS, 'words, and phrases in "quotes", of one block', is_required=True),
                Parameter("change", one_of(WordChange), "only when the words came, or only when they went"),
                Parameter("from", SINCE, "since a time, or a duration before now (7d)"),
                Parameter("to", SINCE, "at or before a time"),
                SITE,
                Parameter("label", one_of(Label), "only blocks with this label"),
                _TOPIC,
                Parameter("newest", SWITCH, "the newest first"),
                *PARTS,
            ),
        ),
        Question(
            "activity",
            "The pages of a site that were new, changed, removed or islanded, by day, month or year",
            list_of(ref("Period")),
            _activity,
            (Parameter("site", URL, "a URL on the host", is_required=True), *PARTS),
            reads_all=True,
        ),
        Question(
            "events",
            "What happened to the pages of a site: the events that the activity counts, the last first",
            list_of(ref("Event")),
            _events,
            (
                Parameter("site", URL, "a URL on the host", is_required=True),
                Parameter("what", EVENT, "only events of this kind"),
                Parameter("period", PERIOD, "only events of a day, month or year, such as 2026-11"),
                *PARTS,
            ),
            reads_all=True,
        ),
        Question(
            "duplicates",
            "Pairs of pages that are near-duplicates",
            list_of(ref("Match")),
            _duplicates,
            (
                Parameter("url", URL, "only the duplicates of this page"),
                _BLOCKS,
                *PARTS,
            ),
            reads_all=True,
        ),
        Question(
            "clusters",
            "Groups of pages that are near-duplicates, the largest first",
            list_of(ref("Cluster")),
            _clusters,
            (_BLOCKS, *PARTS),
            reads_all=True,
        ),
        Question(
            "forms",
            "The forms that the archive keeps",
            list_of(ref("Form")),
            _forms,
            (
                Parameter("site", URL, "only the forms of this host"),
                Parameter("domain", WORDS, "only forms about a subject, such as books"),
                *PARTS,
            ),
            reads_all=True,
            reads_pages=False,
        ),
        Question(
            "frontier",
            "The state of a crawl: what waits, what was rejected and why",
            ref("Crawl"),
            of_crawl(_crawl),
            (_CRAWL, _TOP),
            reads_all=True,
            reads_pages=False,
            passing=_always,
        ),
        Question(
            "explain",
            "All that a crawl knows about a URL: its state, the parts of its score, the way from the seed",
            ref("Explanation"),
            partial(_explanation, frontier),
            (Parameter("url", URL, "the URL", is_required=True), _CRAWL),
        ),
        Question(
            "harvest",
            "Harvest rate and topical hosts over the pages of a focused crawl",
            ref("Harvest"),
            of_crawl(_harvest),
            (_CRAWL, Parameter("step", count(1_000_000, 500, least=1), "pages between two points")),
            reads_all=True,
            reads_pages=False,
            passing=_always,
        ),
        Question(
            "rank",
            "The most important pages by the links of the archive; hubs and authorities",
            ref("Ranking"),
            partial(_rank, topics),
            (
                Parameter(
                    "by", {"type": "string", "enum": list(METHODS), "default": "pagerank"}, "the method"
                ),
                _TOPIC,
                _TOP,
                Parameter("external", SWITCH, "only links between different domains"),
            ),
            reads_all=True,
        ),
    )


def _always(given: Given) -> bool:
    return True


def _is_up_to_now(given: Given) -> bool:
    """Return whether a period begins a duration before now, or with the last crawl."""
    since = (given["since"] or "").strip()
    return since == LAST or DURATION.fullmatch(since) is not None


def _of_crawl(
    frontier: str, answer: Callable[[FrontierReader, Given], Any], archive: ArchiveReader, given: Given
) -> Any:
    with closing(read_frontier(frontier, given["crawl"])) as crawl:
        return answer(crawl, given)


def _crawl(crawl: FrontierReader, given: Given) -> dict[str, Any]:
    return crawl_state(crawl, given["top"])


def _explanation(frontier: str, archive: ArchiveReader, given: Given) -> dict[str, Any]:
    return found_in(frontier, given["url"], given["crawl"])


def _search(topics: Path, index: str, archive: ArchiveReader, given: Given) -> Part:
    return search(archive, index, _wanted(topics, given))


def _activity(archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    return list(map(asdict, activity(archive, parse_seed(given["site"]))))


def _duplicates(archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    return list(map(match_record, _matches(archive, given)))


def _pages(topics: Path, archive: ArchiveReader, given: Given) -> Part:
    only = Filter(
        Kind(given["kind"]) if given["kind"] else None,
        given["status"],
        parse_since(given["since"], datetime.now(UTC)) if given["since"] else None,
        PageScorer(profile_of(given["topic"], topics)) if given["topic"] else None,
    )
    site = parse_seed(given["site"]) if given["site"] else None
    damaged: list[str] = []
    pages = listed_pages(archive, only, lambda url, _: damaged.append(url), site, given["after"])
    found = list(islice(pages, given["limit"] + 1))
    shown = found[: given["limit"]]
    more = {"after": shown[-1].last.url} if len(found) > len(shown) else None
    notes = (f"damaged pages are left out: {len(damaged)}; see scrapy verify",) if damaged else ()
    return Part([page.record() for page in shown], more, notes)


def _wanted(topics: Path, given: Given) -> Wanted:
    return Wanted(
        given["q"],
        WordChange(given["change"]) if given["change"] else None,
        parse_since(given["from"], datetime.now(UTC)) if given["from"] else None,
        parse_time(given["to"]) if given["to"] else None,
        parse_seed(given["site"]) if given["site"] else None,
        Label(given["label"]) if given["label"] else None,
        PageScorer(profile_of(given["topic"], topics)) if given["topic"] else None,
        given["newest"],
        given["skip"],
        given["limit"],
        MOST_LIVES_SERVED,
    )


def _changes(frontier: str, archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    site = parse_seed(given["site"]) if given["site"] else None
    since = since_of(given["since"], frontier, "since=")
    found = changed_pages(archive, since, site, content_only=given["content_only"], damaged=leave_out)
    return [page.record() for page in found]


def _events(archive: ArchiveReader, given: Given) -> list[dict[str, str]]:
    found = events(archive, parse_seed(given["site"]))
    return [
        event.record()
        for event in found
        if given["what"] in (None, event.what)
        and event.captured_at.isoformat().startswith(given["period"] or "")
    ]


def _matches(archive: ArchiveReader, given: Given) -> list[Any]:
    survey, _ = survey_of(archive, given["blocks"], lambda number, pages: None, damaged=leave_out)
    return list(survey.matches(archive.resolve(given["url"]) if given.get("url") else None))


def _clusters(archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    return [
        cluster_record(number, group) for number, group in enumerate(groups_of(_matches(archive, given)), 1)
    ]


def _forms(archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    return list(map(kept_form_record, kept_forms(archive, given["site"], given["domain"])))


def _harvest(crawl: FrontierReader, given: Given) -> dict[str, Any]:
    points = points_of(crawl)
    if not points:
        raise NotArchived(f"no page of crawl {crawl.crawl} was judged; scrapy crawl topic judges them")
    return {"crawl": crawl.crawl, "points": [asdict(point) for point in sampled(points, given["step"])]}


def _rank(topics: Path, archive: ArchiveReader, given: Given) -> dict[str, Any]:
    profile = profile_of(given["topic"], topics) if given["topic"] else None
    found = ranking(
        archive, given["by"], profile, given["top"], external=given["external"], damaged=leave_out
    )
    return {"by": given["by"], **{name: list(map(asdict, pages)) for name, pages in found.items()}}
