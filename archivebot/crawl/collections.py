"""The collection of a crawl: its arguments, its contact, and whether a spider can read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scrapy.settings import BaseSettings

from archivebot.collection.collection import Collection
from archivebot.collection.file import read_collections
from archivebot.config import COLLECTION, CONTACT, read_collections_file
from archivebot.crawl.arguments import Arguments, TopicArguments
from archivebot.exceptions import UsageError


def with_collection(
    given: Mapping[str, str], settings: BaseSettings, arguments: type[Arguments]
) -> dict[str, str]:
    """Return the arguments of a spider with those of its collection that it takes; the ``given`` ones win.

    The settings get the collection and its contact. Raises UsageError if there is no such collection.
    """
    name = given.get("collection", "").strip()
    if not name:
        return dict(given)
    found = read_collections(read_collections_file(settings)).named(name)
    for error in wrong_arguments(found):
        raise error
    settings.set(COLLECTION, name, priority="cmdline")
    if found.contact:
        settings.set(CONTACT, found.contact, priority="spider")
    known = {key: value for key, value in found.arguments.items() if key in arguments.READERS}
    return {**known, **given}


def wrong_arguments(collection: Collection) -> Iterator[UsageError]:
    """Yield an error for each value of a collection that no spider can read."""
    for name, value in collection.arguments.items():
        try:
            TopicArguments.READERS[name](value)
        except UsageError as error:
            yield UsageError(f"collection {collection.name}, {name}: {error}")
