"""The learned templates of sites, as documents of a MongoDB server."""

from __future__ import annotations

import zlib
from datetime import datetime

from archivebot.storage.base import LearnedTemplate
from archivebot.storage.mongo.database import DESCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document
from archivebot.storage.mongo.sums import sealed, whole
from archivebot.storage.times import milliseconds, moment


class MongoTemplates:
    """The TemplateStore of an archive in a database."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database, self._templates = database, database.collection("templates")

    def add(self, template: LearnedTemplate) -> None:
        document = sealed("templates", template_document(template))
        self._database.upsert(self._templates, document.pop("_id"), {"$set": document})

    def latest(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        query: Document = {"site": site} | ({"time": {"$lte": milliseconds(when)}} if when else {})
        found = self._database.all(self._templates, query, [("time", DESCENDING)], 1)
        return template_of(whole("templates", found[0])) if found else None


def template_document(template: LearnedTemplate) -> Document:
    """Return the document of a template; its tree, about a megabyte, is compressed to a tenth."""
    time = milliseconds(template.learned_at)
    return {
        "_id": f"{template.site} {time}",
        "site": template.site,
        "time": time,
        "pages": template.pages,
        "tree": zlib.compress(template.tree.encode(), 9),
    }


def template_of(document: Document) -> LearnedTemplate:
    """Read a template.

    >>> template = LearnedTemplate("a.example", moment(0), 3, "{}")
    >>> template_of(template_document(template)) == template
    True
    """
    learned_at = moment(document["time"])
    tree = zlib.decompress(document["tree"]).decode()
    return LearnedTemplate(document["site"], learned_at, document["pages"], tree)
