"""Forms of sites, in both stores."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from archivebot.models import FoundForm
from archivebot.storage import open_store
from archivebot.storage.base import ArchiveStore, KeptForm
from archivebot.storage.sqlite.store import SQLiteStore
from tests.contracts.store import at
from tests.servers import mongo_server, mongo_uri
from tests.test_storage_fingerprints import uri
from tests.test_storage_sqlite_store import make_older, path

__all__ = ["mongo_server", "mongo_uri", "path", "uri"]

SITE, PAGE, OTHER = "a.example", "http://a.example/", "http://a.example/books?q=ü"
BOOKS, JOBS = FoundForm("0b", '{"search": true, "label": "Titel für \\u0000"}'), FoundForm("0a", "{}")


@pytest.fixture
def store(uri: str) -> Iterator[ArchiveStore]:
    store = open_store(uri)
    yield store
    store.close()


def kept(form: FoundForm, first: datetime, last: datetime, page: str, pages: int) -> KeptForm:
    return KeptForm(SITE, form, first, last, page, pages)


def test_an_archive_without_forms_gives_none(store: ArchiveStore) -> None:
    assert [*store.forms.all(), *store.forms.all(SITE), *store.forms.pages(SITE, "0b")] == []


def test_a_form_on_two_pages_is_one_with_its_first_page(store: ArchiveStore) -> None:
    store.forms.add(SITE, OTHER, [BOOKS], at(2))
    store.forms.add(SITE, PAGE, [BOOKS, JOBS], at(1))
    expected = [kept(JOBS, at(1), at(1), PAGE, 1), kept(BOOKS, at(1), at(2), PAGE, 2)]
    assert [*store.forms.all()] == [*store.forms.all(SITE)] == expected
    assert store.forms.pages(SITE, "0b") == [(PAGE, at(1), at(1)), (OTHER, at(2), at(2))]


def test_forms_told_again_change_nothing(store: ArchiveStore) -> None:
    for _ in range(3):
        store.forms.add(SITE, PAGE, [BOOKS], at(1))
    assert [*store.forms.all()] == [kept(BOOKS, at(1), at(1), PAGE, 1)]


def test_what_is_said_of_a_form_is_what_was_said_last(store: ArchiveStore) -> None:
    newer, older = FoundForm("0b", '{"new": 1}'), FoundForm("0b", '{"old": 1}')
    store.forms.add(SITE, PAGE, [BOOKS], at(5))
    store.forms.add(SITE, PAGE, [newer], at(9))
    store.forms.add(SITE, OTHER, [older], at(2))
    assert [*store.forms.all()] == [kept(newer, at(2), at(9), OTHER, 2)]


def test_forms_of_two_sites_are_two(store: ArchiveStore) -> None:
    store.forms.add(SITE, PAGE, [BOOKS], at(1))
    store.forms.add("b.example", PAGE, [BOOKS], at(0))
    assert [form.site for form in store.forms.all()] == [SITE, "b.example"]
    assert [form.site for form in store.forms.all("b.example")] == ["b.example"]


def test_a_page_without_forms_leaves_nothing(store: ArchiveStore) -> None:
    store.forms.add(SITE, PAGE, [], at(1))
    assert [*store.forms.all()] == []


def test_an_archive_of_schema_3_takes_forms(path: object) -> None:
    make_older(path, schema=3)
    store = SQLiteStore(str(path))
    store.forms.add(SITE, PAGE, [BOOKS], at(1))
    assert [*store.forms.all()] == [kept(BOOKS, at(1), at(1), PAGE, 1)]
    store.close()
