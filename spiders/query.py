"""The spider that sends queries to a known form, and archives the answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from scrapy import Request
from scrapy.settings import BaseSettings

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.arguments import QueryArguments
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import NotArchived, UsageError
from archivebot.forms.history import form_versions
from archivebot.forms.query import Query, queries, read_grid
from archivebot.forms.record import FormRecord
from archivebot.jobs.addresses import was_private
from archivebot.jobs.forms import as_on_page
from archivebot.terminal import write
from archivebot.units import amount
from archivebot.urls import Scope, host_of, parse_seed

logger = logging.getLogger(__name__)


class QuerySpider(ArchiveSpider):
    """Sends one query to a stored form for each row of a grid; no other links are followed.

    ``scrapy crawl query -a form=ID -a values=@GRID.csv [-a pages=100] [-a depth=0] [-a dry=yes]``; the ID
    comes from ``scrapy forms``, the head of the grid names controls. ``dry=yes`` prints the URLs.
    """

    name = "query"
    arguments: QueryArguments
    arguments_class = QueryArguments
    _form: FormRecord
    _rows: list[dict[str, str]]

    def introduce(self, settings: BaseSettings) -> None:
        self._form, self.named = _known_form(settings, self.arguments.form)
        self._rows = read_grid(self.arguments.values)
        self.arguments = replace(self.arguments, seeds=tuple(seed for seed, _ in self._queries()))
        self.scope = Scope.from_seeds(self.arguments.seeds, self.arguments.scope)
        super().introduce(settings)

    async def start(self) -> AsyncIterator[Request]:
        seeds = self.arguments.seeds
        if self.arguments.dry:
            write("\n".join(seeds))
            self.idle = f"{amount(len(seeds), 'query', 'queries')}, none of them sent"
            return
        most = self.arguments.pages
        if most is not None and len(seeds) > most:
            logger.warning("%d queries, of which %d are asked: give -a pages=N", len(seeds), most)
        for seed, query in self._queries():
            if query.method == "GET":
                yield self.request(seed, archive_seed=True)
            else:
                request = self.request(query.url, archive_seed=True)
                kind = {**request.headers, "Content-Type": query.content_type}
                yield request.replace(method=query.method, body=query.body, headers=kind)

    def _queries(self) -> Iterator[tuple[str, Query]]:
        """Yield each distinct query with its seed; they are not kept, because long values make them large."""
        met = set()
        for query in queries(self._form, self._rows):
            if (seed := parse_seed(query.key)) not in met:
                met.add(seed)
                yield seed, query


def _known_form(settings: BaseSettings, prefix: str) -> tuple[FormRecord, frozenset[str]]:
    """Return the stored form whose id begins with ``prefix``, and the hosts that may have private addresses.

    That is the host of its page, if a crawl reached it at such an address. Raises UsageError and NotArchived.
    """
    with Archive.open(ArchiveConfig.from_settings(settings), create=False) as archive:
        found = [form for form in form_versions(archive.forms.all()) if form.id.startswith(prefix)]
        if not found:
            raise NotArchived(f"no form {prefix!r} in {archive.uri}; scrapy forms lists them")
        if len(found) > 1:
            raise UsageError(f"{len(found)} forms begin with {prefix!r}: give more of the id")
        page = found[0].kept.page
        named = {host_of(page)} if was_private(archive.captures(page)) else ()
        return as_on_page(archive, found[0]), frozenset(named)
