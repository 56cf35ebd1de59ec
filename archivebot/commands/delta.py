"""scrapy delta: what changed between two versions of a page, block by block."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import replace

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, add_fields_option, linewise, print_json
from archivebot.exceptions import NotArchived
from archivebot.markup.words import wordless
from archivebot.models import AttributeChange, BlockChange, Change, ChangeKind, Delta
from archivebot.records import delta_record
from archivebot.storage.base import StoredVersion
from archivebot.terminal import ADDED, CHANGED, MOVED, PLAIN, REMOVED, write, write_pieces
from archivebot.timestamps import parse_time
from archivebot.units import size

STYLES = {
    Change.ADDED: ADDED,
    Change.REMOVED: REMOVED,
    Change.MODIFIED: CHANGED,
    Change.MOVED: MOVED,
    Change.MARKUP: PLAIN,
    Change.UNCHANGED: PLAIN,
}


class Command(ArchiveCommand):
    """Show what changed between two versions of a page, block by block"""

    arguments = "URL [A] [B]"
    least, most = 1, 3
    explanation = (
        "A and B are version numbers or times. By default B is the last version and A the version before it."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="print all blocks, also unchanged ones")
        parser.add_argument(
            "--markup", action="store_true", help="print the blocks whose markup alone changed, too"
        )
        add_fields_option(parser)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        url = archive.resolve(args[0])
        after = _version(archive, url, args[2]) if len(args) > 2 else archive.seen(archive.at(url, None))
        before = _version(archive, url, args[1]) if len(args) > 1 else _one_before(archive, url, after)
        delta = archive.delta(url, before, after)
        since, kind = archive.gone_since(url), _media(archive, after) or _media(archive, before)
        if kind:  # its blocks have no words
            delta = replace(delta, changes=())
        if opts.json:
            print_json(delta_record(delta, since, kind))
            return 0
        write(f"{delta.url}  version {delta.before} -> {delta.after}")
        if since:
            write(f"gone since {since:{TIME}}")
        if kind:
            write(f"{kind}: {size(before.length)} -> {size(after.length)}")
        else:
            hidden = {Change.UNCHANGED} if opts.markup else {Change.UNCHANGED, Change.MARKUP}
            _print(delta, set() if opts.all else hidden)
        return 0


def _version(archive: ArchiveReader, url: str, text: str) -> StoredVersion:
    """Return a version by its number, or by a time if the number is too large for a version."""
    if text.isdecimal() and len(text) < 15 and (len(text) < 4 or int(text) <= archive.version_count(url)):
        return archive.version(url, int(text))
    return archive.seen(archive.at(url, parse_time(text)))


def _one_before(archive: ArchiveReader, url: str, after: StoredVersion) -> StoredVersion:
    if after.number is None:
        raise NotArchived(f"{url} never had content; see scrapy history {url}")
    for capture in reversed(archive.captures(url)):
        if capture.number not in (None, after.number) and not capture.pruned:
            return archive.seen(capture)
    since = archive.gone_since(url)
    more = f"it is gone since {since:{TIME}}" if since else "crawl again later to see what changed"
    raise NotArchived(f"{url} has only one version; {more}")


def _media(archive: ArchiveReader, version: StoredVersion) -> str | None:
    """Return the media kind of a version that is not text, else None."""
    capture = archive.fetched(version.url, f"sha256:{version.digest}")
    return wordless(*archive.document(capture)) if capture else None


def _print(delta: Delta, hidden: Collection[Change]) -> None:
    counts = {kind: sum(change.change is kind for change in delta.changes) for kind in Change}
    write("  ".join(f"{count} {kind.value.lower()}" for kind, count in counts.items() if count))
    if delta.kind is ChangeKind.FURNITURE:
        write(f"no change of content: {delta.reason}")
    if delta.layout_changed:
        write("the layout around the blocks changed")
    for attribute in delta.attributes:
        _print_attribute(attribute)
    for change in delta.changes:
        if change.change not in hidden:
            _print_change(change)


def _print_attribute(change: AttributeChange) -> None:
    of = f"  {change.of}" if change.of else ""
    furniture = "" if change.content else "  furniture"
    write(f"\n{change.attribute.value}{of}{furniture}")
    for sign, style, value in (("-", REMOVED, change.before), ("+", ADDED, change.after)):
        if value:
            write_pieces([(f"  {sign} {value}", style)])


def _print_change(change: BlockChange) -> None:
    alike = f"  {change.similarity:.0%} the same words" if change.change is Change.MODIFIED else ""
    furniture = "  furniture" if change.kind is ChangeKind.FURNITURE else ""
    label = f"  {change.label}" if change.label else ""
    rest = f"  {change.lineage}{label}  {change.topic}{alike}{furniture}".rstrip()
    write()
    write_pieces([(change.change.value, STYLES[change.change]), (rest, PLAIN)])
    if change.change in (Change.UNCHANGED, Change.MARKUP, Change.MOVED):
        return
    if change.before is None or change.after is None:
        sign, style = ("+", ADDED) if change.before is None else ("-", REMOVED)
        for line in (change.after or change.before or "").splitlines():
            write_pieces([(f"  {sign} {line}", style)])
        return
    for pieces in linewise(change.before, change.after):
        write_pieces(pieces)
