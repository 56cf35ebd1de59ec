"""The learned templates of sites, as rows of the SQLite archive."""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import Any

from archivebot.storage.base import LearnedTemplate
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.times import FOR_EVER, milliseconds, moment

TEMPLATE = (
    f"SELECT {intact('template')}, site, time, pages, tree FROM template WHERE site = ? AND time <= ?"
    " ORDER BY time DESC LIMIT 1"
)


class SQLiteTemplates:
    """The TemplateStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def add(self, template: LearnedTemplate) -> None:
        with self._file.together():
            self._file.database.execute(insert("template", "OR REPLACE"), template_row(template))

    def latest(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        limit = milliseconds(when) if when else FOR_EVER
        return self._file.one(template_of, TEMPLATE, site, limit)


def template_row(template: LearnedTemplate) -> tuple[str, int, int, bytes]:
    """Return the row of a template; its tree, about a megabyte, is compressed to a tenth."""
    tree = zlib.compress(template.tree.encode(), 9)
    return template.site, milliseconds(template.learned_at), template.pages, tree


def template_of(row: Any) -> LearnedTemplate:
    """Read a row of ``TEMPLATE``.

    >>> template = LearnedTemplate("a.example", moment(0), 3, "{}")
    >>> template_of((1, *template_row(template))) == template
    True
    """
    site, time, pages, tree = whole(row)
    return LearnedTemplate(site, moment(time), pages, zlib.decompress(tree).decode())
