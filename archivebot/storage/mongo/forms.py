"""Converts the forms of sites to documents of a MongoDB server, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from archivebot.models import FoundForm
from archivebot.storage.base import KeptForm
from archivebot.storage.mongo.database import ASCENDING, DESCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document, page_id
from archivebot.storage.mongo.sums import sum_of
from archivebot.storage.times import milliseconds, moment


class MongoForms:
    """The FormStore of an archive in a database."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._forms, self._pages = database.collection("forms"), database.collection("form_pages")

    def add(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        for form in forms:
            identity = form_id(site, form.signature)
            latest = self._database.all(self._pages, {"form": identity}, [("last", DESCENDING)], 1)
            if not latest or latest[0]["last"] <= milliseconds(when):
                document = {"site": site, "signature": form.signature}
                total = sum_of("forms", {**document, "data": form.data})
                change = {"$setOnInsert": document, "$set": {"data": form.data, "sum": total}}
                self._database.upsert(self._forms, identity, change)
            self._database.upsert(self._pages, *form_page_change(identity, url, when))

    def all(self, site: str | None = None) -> Iterator[KeptForm]:
        found = [
            form_of(document, pages)
            for document in self._database.whole(self._forms, {} if site is None else {"site": site})
            # A killed process may have written a form without its pages.
            if (pages := list(self._database.rows(self._pages, {"form": document["_id"]})))
        ]
        yield from sorted(found, key=lambda kept: (kept.site, kept.first, kept.form.signature))

    def pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        found = self._database.rows(self._pages, {"form": form_id(site, signature)}, [("url", ASCENDING)])
        return [form_page_of(document) for document in found]


def form_id(site: str, signature: str) -> str:
    """Return the id of a form of a site.

    >>> form_id("a.example", "0a") == form_id("a.example", "0b")
    False
    """
    return page_id(f"{site} {signature}")


def form_page_change(form: str, url: str, when: datetime) -> tuple[str, Document]:
    """Return the change that stores a form of a page: the id of the document, and the change."""
    time = milliseconds(when)
    change = {"$setOnInsert": {"form": form, "url": url}, "$min": {"first": time}, "$max": {"last": time}}
    return f"{form}-{page_id(url)}", change


def form_page_of(document: Document) -> tuple[str, datetime, datetime]:
    """Read a page with a form, with its first and last time."""
    return document["url"], moment(document["first"]), moment(document["last"])


def form_of(document: Document, pages: list[Document]) -> KeptForm:
    """Read a form with the pages on which it was seen."""
    seen = [form_page_of(page) for page in pages]
    url, first, _ = min(seen, key=lambda page: page[1])
    form = FoundForm(document["signature"], document["data"])
    return KeptForm(document["site"], form, first, max(last for *_, last in seen), url, len(seen))
