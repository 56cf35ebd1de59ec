"""What goes from one process of a crawl to another comes as it went."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass, replace

import pytest

from archivebot import exceptions, models
from archivebot.archive import Archive
from archivebot.archive.process.parcel import pack
from archivebot.models import Block, Focus, Link, Partition, Snapshot
from tests.factories import make_page

DATACLASSES = [kind for kind in vars(models).values() if isinstance(kind, type) and is_dataclass(kind)]
ERRORS = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]


def test_a_call_is_the_same_after_its_way() -> None:
    links = (Link("http://b.example/", "b", role="navigation"), Link("http://c.example/"))
    page = replace(make_page(b"<p>\xff</p>"), links=links, focus=Focus(0.5, True, 0.25, 0, 1))
    call = (Archive.add, (Snapshot(page, Partition(9, 3, "utf-8", 1, (Block(0, 9, 3),))),), {})
    assert pickle.loads(pack(call)) == call


@pytest.mark.parametrize("kind", DATACLASSES)
def test_each_value_of_the_vocabulary_may_travel(kind: type) -> None:
    value = kind(*range(len(fields(kind))))
    assert pickle.loads(pack(value)) == value


@pytest.mark.parametrize("kind", ERRORS)
def test_each_error_may_travel(kind: type[exceptions.ArchiveError]) -> None:
    error = pickle.loads(pack(kind("what is wrong")))
    assert type(error) is kind
    assert str(error) == "what is wrong"
