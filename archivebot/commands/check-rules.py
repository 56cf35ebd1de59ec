"""scrapy check-rules: check a file of collections and rules, and show what it sets."""  # noqa: N999 - Scrapy names the command after this file

from __future__ import annotations

import argparse
from typing import Any

from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.collection.collection import Collection
from archivebot.collection.collections import Collections
from archivebot.collection.file import read_collections
from archivebot.config import UserFile, read_collections_file
from archivebot.crawl.collections import wrong_arguments
from archivebot.exceptions import UsageError
from archivebot.fields.file import read_sites
from archivebot.jobs.schedule import days
from archivebot.models import Label
from archivebot.records import block_metadata_record, metadata_record
from archivebot.terminal import note, write
from archivebot.units import amount
from archivebot.urls import parse_seed
from archivebot.versioning.keep import Keep


class Command(ArchiveCommand):
    """Check a file of collections and rules of metadata"""

    arguments = "[FILE]"
    least, most = 0, 1
    explanation = (
        "Without a file it is that of ARCHIVE_COLLECTIONS. The exit code is 2 if something is wrong: each"
        " error is printed with its line and its table. No archive is opened."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--for", dest="page", metavar="URL", help="print the metadata of a page")

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        file = UserFile.read(args[0], "file of collections") if args else self._file
        errors: list[str] = []
        found = read_collections(file, lambda error: errors.append(str(error)))
        for collection in found.collections.values():
            errors += [f"{file.name}, {error}" for error in _wrong(collection)]
        for error in errors:
            note(f"scrapy check-rules: {error}")
        url = parse_seed(opts.page) if opts.page else None
        if opts.json:
            print_json({"file": file.name, "errors": errors, **(_page(found, url) if url else _all(found))})
        elif not errors:
            _print_page(found, url) if url else _print(found)
        return UsageError.exit_code if errors else 0

    @property
    def _file(self) -> UserFile:
        file = read_collections_file(self.settings)
        if not file.name:
            raise UsageError("which file? give its name, or set ARCHIVE_COLLECTIONS")
        return file


def _wrong(collection: Collection) -> list[UsageError]:
    """Return the errors in the values of a collection that spiders and prune read."""
    errors = [*wrong_arguments(collection)]
    try:
        if collection.keep:
            Keep.parse(collection.keep)
        if name := collection.arguments.get("fields"):
            read_sites(UserFile.read(name))
    except UsageError as error:
        errors.append(UsageError(f"collection {collection.name}: {error}"))
    return errors


def _all(found: Collections) -> dict[str, Any]:
    collections = [
        {
            "name": each.name,
            "title": each.title,
            "contact": each.contact,
            "arguments": {**each.arguments, "seeds": each.arguments["seeds"].splitlines()},
            "interval": each.interval,
            "keep": each.keep,
            "metadata": each.terms,
        }
        for each in found.collections.values()
    ]
    return {"collections": collections, "rules": len(found.rules)}


def _page(found: Collections, url: str) -> dict[str, Any]:
    metadata = found.metadata(url)
    return {
        "url": url,
        "metadata": metadata_record(metadata),
        "labels": {label: block_metadata_record(metadata, Label(label)) for label in metadata.labels},
    }


def _print(found: Collections) -> None:
    rows = [
        [
            each.name,
            len(each.arguments["seeds"].splitlines()),
            each.scope.kind,
            days(each.interval) if each.interval else None,
            each.keep or None,
            ", ".join(each.own) or None,
            each.title,
        ]
        for each in found.collections.values()
    ]
    if rows:
        print_table(["collection", "seeds", "scope", "interval", "keep", "terms", "title"], rows)
    parts = amount(len(found.collections), "collection"), amount(len(found.rules), "rule")
    write(f"{found.name}: {', '.join(parts)}, nothing wrong")


def _print_page(found: Collections, url: str | None) -> None:
    metadata = found.metadata(url or "")
    write(url or "")
    for term, values in metadata.terms.items():
        write(f"    dcterms:{term}: {'; '.join(values)}")
    for label in Label:
        for term, values in (metadata.labels.get(label) or {}).items():
            write(f"    {label}  dcterms:{term}: {'; '.join(values)}")
