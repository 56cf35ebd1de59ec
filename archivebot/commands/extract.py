"""scrapy extract: the fields of a page, as selectors find them."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, add_fields_option, note_age, print_json
from archivebot.exceptions import NotArchived, UsageError
from archivebot.fields.changes import entries, shown
from archivebot.metadata import Metadata
from archivebot.models import Capture, Field
from archivebot.records import extract_record
from archivebot.terminal import write
from archivebot.timestamps import parse_time

_Found = tuple[Capture, tuple[Field, ...], Metadata]


class Command(ArchiveCommand):
    """Print the fields of a page, as selectors find them"""

    arguments = "URL"
    explanation = (
        "The fields are those kept with the version, and what the selectors of ARCHIVE_FIELDS find."
        " With --fields only these selectors are used, on the archived bytes. Metadata are terms of Dublin"
        " Core."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--at", metavar="TIME", help="the page at that time; the last one by default")
        which.add_argument("--version", metavar="N", type=int, help="the version with this number")
        which.add_argument("--all", action="store_true", help="every version, oldest first")
        add_fields_option(parser)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        url = archive.resolve(args[0])
        found = self._found(archive, url, opts)
        if opts.json:
            records = [extract_record(*each) for each in found]
            print_json(records if opts.all else records[0])
            return 0
        if not opts.all:
            note_age(archive, found[0][0], parse_time(opts.at) if opts.at else None)
        for capture, fields, metadata in found:
            write(f"{capture.captured_at:{TIME}}  version {capture.number}")
            for field in fields:
                _print(field)
            for term, values in metadata.terms.items():
                write(f"    dcterms:{term}: {'; '.join(values)}")
        return 0

    def _found(self, archive: ArchiveReader, url: str, opts: argparse.Namespace) -> list[_Found]:
        """Return the captures that the options choose, with what their versions keep; raises NotArchived."""
        if opts.fields_file and archive.sites.of(url) is None:
            raise UsageError(f"{opts.fields_file} has no site that matches {url}")
        when = parse_time(opts.at) if opts.at else None
        if opts.all:
            captures = _versions(archive, url)
        elif opts.version is not None:
            captures = [each for each in _versions(archive, url) if each.number == opts.version]
        else:
            captures = [archive.at(url, when)]
        if not captures:
            raise NotArchived(f"{url} has no version {opts.version}; see scrapy history {url}")
        found = [_kept(archive, each, anew=bool(opts.fields_file)) for each in captures]
        if not any(fields or metadata for _, fields, metadata in found):
            raise NotArchived(f"{url} has no fields: it is no page, or no selector of its site has a name")
        return found


def _kept(archive: ArchiveReader, capture: Capture, *, anew: bool) -> _Found:
    """Return a capture with the fields and the metadata of its version."""
    version = archive.seen(capture)
    return capture, archive.fields(version, anew=anew), archive.metadata(capture.url, version)


def _print(field: Field) -> None:
    """Print a field on one line, or the entries of a list on a line each."""
    listed = entries(field)
    write(f"    {field.name}: {'' if listed else shown(field)}".rstrip())
    for entry in listed or ():
        write(f"        {entry}")


def _versions(archive: ArchiveReader, url: str) -> list[Capture]:
    """Return the first capture of each version of content, in the order of time."""
    first: dict[int, Capture] = {}
    for capture in archive.captures(url):
        if capture.number is not None:
            first.setdefault(capture.number, capture)
    return [*first.values()]
