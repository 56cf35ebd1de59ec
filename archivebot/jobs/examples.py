"""The pages of an archive as examples: each with its title, main text and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archivebot.archive import ArchiveReader
from archivebot.markup.contenttype import content_type
from archivebot.topic.sources import example, readable
from archivebot.topic.training import Example


def archived_examples(archive: ArchiveReader, urls: Iterable[str]) -> Iterator[Example]:
    """Yield the latest content of URLs that are pages or texts."""
    for url in urls:
        page = archived_example(archive, url)
        if page is not None:
            yield page


def archived_example(archive: ArchiveReader, url: str, *, relevant: bool = True) -> Example | None:
    """Return the latest content of a URL, or None if there is none, or if it is no page and no text."""
    stored = archive.stored(url)
    if stored is None:
        return None
    capture, body = stored
    declared = content_type(capture.headers)
    return example(body, declared, url, relevant) if readable(body, declared) else None
