"""Files named on the command line."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings
from scrapy.utils.conf import feed_complete_default_values_from_settings
from scrapy.utils.misc import load_object
from w3lib.url import file_uri_to_path

from archivebot.exceptions import UsageError

_OWN = ("archivebot.", "scrapy.")  # the packages of exporters that take any item


def named_files(names: Sequence[str]) -> list[Path]:
    """Return the paths of files; raises UsageError if one of them does not exist."""
    for name in names:
        if not Path(name).is_file():
            raise UsageError(f"{name} is no file")
    return list(map(Path, names))


def file_body(path: Path) -> bytes:
    """Return the bytes of a file; raises UsageError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def check_feeds(settings: BaseSettings) -> None:
    """Raise UsageError if a feed cannot be written; Scrapy says so only during the crawl."""
    storages = settings.getwithbase("FEED_STORAGES")  # by scheme
    exporters = settings.getwithbase("FEED_EXPORTERS")  # by format
    for feed, options in settings.getdict("FEEDS").items():
        if not isinstance(options, Mapping):
            wanted = 'give an object, for example {"format": "json"}'
            raise UsageError(f"the feed {feed} has the options {options!r}: {wanted}")
        try:
            codecs.lookup(options.get("encoding") or settings["FEED_EXPORT_ENCODING"] or "utf-8")
            whole = feed_complete_default_values_from_settings(dict(options), settings, str(feed))
            _try_options(whole, exporters)
            _try_feed(str(feed), storages)
        # LookupError: an unknown encoding; ValueError: an address or a path that cannot be.
        except (OSError, LookupError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"the feed {feed} cannot be written: {reason}") from error


def _try_options(options: Mapping[str, Any], exporters: Mapping[str, Any]) -> None:
    """Write one item as a feed with these options does; raises TypeError or ValueError if that cannot be."""
    name, fields = options["format"], options["fields"]
    if name not in exporters:
        raise ValueError(f"there is no format {name!r}: give one of {', '.join(exporters)}")
    names = [*fields, *fields.values()] if isinstance(fields, Mapping) else fields or []
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise TypeError(f"its fields are {fields!r}: give a list of names")
    kind = load_object(exporters[name])
    if not kind.__module__.startswith(_OWN):
        return  # one of the user may not take the item below
    exporter = kind(
        BytesIO(),
        fields_to_export=fields,
        encoding=options["encoding"],
        indent=options["indent"],
        **options["item_export_kwargs"],
    )
    exporter.start_exporting()
    exporter.export_item(dict.fromkeys(names or ["url"]))
    exporter.finish_exporting()


def _try_feed(feed: str, storages: Collection[str]) -> None:
    """Open the file of a feed for writing; raises OSError or ValueError."""
    scheme = urlsplit(feed).scheme
    if scheme and scheme not in storages:
        raise ValueError(f"there is no storage for {scheme}://")
    if scheme not in ("", "file") or "%(" in feed:
        return  # no file, or one that gets its name when the crawl begins
    path = Path(file_uri_to_path(feed) if scheme else feed)
    if path.is_fifo():
        return  # its reader would take the end of this check for the end of the feed
    is_new = not path.exists()
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
    path.open("ab").close()
    if is_new:
        path.unlink()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise UsageError if the block cannot write to a file."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
