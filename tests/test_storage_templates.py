"""What was learned of sites, in both stores."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from archivebot.storage import open_store
from archivebot.storage.base import ArchiveStore, LearnedTemplate
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

FIRST = LearnedTemplate("a.example", datetime(2026, 1, 1, tzinfo=UTC), 50, '{"elements":["é"]}')
SECOND = LearnedTemplate("a.example", FIRST.learned_at + timedelta(days=1), 60, "x" * 3_000_000)


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.long)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ArchiveStore]:
    sqlite = f"sqlite:///{tmp_path}/archive.db"
    store = open_store(sqlite if request.param == "sqlite" else str(request.getfixturevalue("mongo_uri")))
    yield store
    store.close()


def test_the_template_learned_last_is_given_and_those_before_stay(store: ArchiveStore) -> None:
    assert store.templates.latest("a.example") is None
    store.templates.add(FIRST)
    store.templates.add(SECOND)
    store.templates.add(SECOND)
    assert store.templates.latest("a.example") == SECOND
    assert store.templates.latest("a.example", SECOND.learned_at - timedelta(hours=1)) == FIRST
    assert store.templates.latest("a.example", FIRST.learned_at - timedelta(hours=1)) is None
    assert store.templates.latest("b.example") is None
