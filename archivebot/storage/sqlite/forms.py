"""The forms of sites in the SQLite archive, and the pages that they were seen on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from archivebot.models import FoundForm
from archivebot.storage.base import KeptForm
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.links import NUMBER, numbers, text_reader
from archivebot.storage.sqlite.sums import intact, renew, whole
from archivebot.storage.times import milliseconds, moment

SEEN = "FROM form JOIN form_page ON form = form.id"
# The page of a form is that of the row with the minimum ``first``.
FORM = (
    f"SELECT {intact('form')}, site, signature, data, sum(NOT {intact('form_page')}) = 0, min(first),"
    f" (SELECT max(last) FROM form_page WHERE form = form.id), page, count(*) {SEEN}"
)
PAGES = f"SELECT {intact('form_page')}, page, first, last {SEEN} WHERE site = ? AND signature = ?"

# Whether the stored data of a form of a site on a page is intact: ?1 the page, ?2 and ?3 the form.
KNOWN = (
    f"SELECT {intact('form')} AND (form_page.form IS NULL OR {intact('form_page')}) FROM form"
    f" LEFT JOIN form_page ON form = form.id AND page = {NUMBER}"
    " WHERE site = ?2 AND signature = ?3"
)


class SQLiteForms:
    """The FormStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def add(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        with self._file.together():
            for form in forms:  # a damaged row must not get a new checksum
                self._file.one(whole, KNOWN, url, site, form.signature)
            self._put(site, url, forms, when)

    def all(self, site: str | None = None) -> Iterator[KeptForm]:
        where, values = (" WHERE site = ?", (site,)) if site is not None else ("", ())
        sql = f"{FORM}{where} GROUP BY form.id ORDER BY site, min(first), signature"
        with self._file.reading():
            text = text_reader(self._file.database)
            for row in self._file.database.execute(sql, values):
                name, signature, data, *seen = whole(row)
                first, last, page, count = whole(seen)
                form = FoundForm(signature, data)
                yield KeptForm(name, form, moment(first), moment(last), text(page), count)

    def pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        with self._file.reading():
            rows = self._file.all(whole, PAGES, site, signature)
            text = text_reader(self._file.database)
            return sorted((text(page), moment(first), moment(last)) for page, first, last in rows)

    def _put(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        """Store the forms of a page, in the current transaction."""
        database = self._file.database
        page, time = numbers(database, [url])[url], milliseconds(when)
        for form in forms:
            (identity,) = database.execute(
                "INSERT INTO form (site, signature, data) VALUES (?, ?, ?) ON CONFLICT (site, signature)"
                " DO UPDATE SET data = CASE WHEN ? >= (SELECT max(last) FROM form_page WHERE form = form.id)"
                " THEN excluded.data ELSE data END RETURNING id",
                (site, form.signature, form.data, time),
            ).fetchone()
            database.execute(
                "INSERT INTO form_page (form, page, first, last) VALUES (?1, ?2, ?3, ?3)"
                " ON CONFLICT (form, page) DO UPDATE SET"
                " first = min(first, excluded.first), last = max(last, excluded.last)",
                (identity, page, time),
            )
            database.execute(f"{renew('form')} WHERE id = ?", (identity,))
            database.execute(f"{renew('form_page')} WHERE form = ? AND page = ?", (identity, page))
