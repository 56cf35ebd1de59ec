"""A collection: where its crawls begin, how they go, and what its pages have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from archivebot.metadata import COLLECTION, Terms
from archivebot.urls.scope import Scope

# The values of a collection that are arguments of spiders.
ARGUMENTS = (
    *("seeds", "scope", "depth", "pages", "bytes", "time", "level", "types", "size", "since", "until"),
    *("fields", "requisites", "topic", "focus"),
)


@dataclass(frozen=True, slots=True)
class Collection:
    """A named collection.

    ``arguments`` are arguments of spiders as texts, ``own`` the terms of all its pages, ``interval`` the days
    between two visits of a page (None: as the schedule decides), ``keep`` its rule of retention ("": none).
    """

    name: str
    scope: Scope
    arguments: Mapping[str, str] = field(default_factory=dict, hash=False)
    title: str = ""
    contact: str = ""
    interval: float | None = None
    keep: str = ""
    own: Terms = field(default_factory=dict, hash=False)

    @property
    def terms(self) -> Terms:
        """The terms of all its pages, its name among them."""
        return {COLLECTION: (self.name,), **self.own}

    def covers(self, url: str) -> bool:
        """Return whether a page belongs to it by its address: a collection of the whole web covers none."""
        return self.scope.kind != "web" and self.scope.refusal(url) is None
