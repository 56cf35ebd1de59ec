"""scrapy duplicates: pages and blocks of the archive that are the same but for small differences."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.content.page import content
from archivebot.duplicates.rule import fingerprint
from archivebot.duplicates.survey import BLOCK, PAGE, Match, Member, Reading, Survey, content_blocks
from archivebot.exceptions import ArchiveError, CorruptObject, NotArchived, UsageError
from archivebot.fingerprint.clusters import clusters
from archivebot.fingerprint.simhash import NEAR
from archivebot.labels.labeller import Label, label_blocks
from archivebot.markup.charset import charset_of, is_markup
from archivebot.models import Block
from archivebot.records import match_record, member_record
from archivebot.terminal import say, status, tell

BEGINNING = datetime.min.replace(tzinfo=UTC)
STEP = 50  # pages between two signs of progress
HEADS = {PAGE: ["page", "is like"], BLOCK: ["block", "of", "is also in"]}

# Labels of blocks that are no content though they hold running text, such as a note on rights.
FURNITURE = frozenset((Label.NAVIGATION, Label.HEADER, Label.FOOTER, Label.FORM, Label.ADVERT))


class Command(ArchiveCommand):
    """Find pages and blocks that are near-duplicates"""

    arguments = "[URL]"
    least, most = 0, 1
    explanation = (
        "Compared are the main texts of the latest versions, and their blocks of 32 words and more. It finds"
        " mirrors, print versions and syndicated stories. With a URL it tells only what is like that page."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--clusters", action="store_true", help="groups instead of pairs")
        parser.add_argument("--pages", action="store_true", help="whole pages only, no blocks")
        parser.add_argument(
            "--k", type=int, metavar="N", help=f"only pairs whose SimHashes are within N bits (0 to {NEAR})"
        )

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        if opts.k is not None and not 0 <= opts.k <= NEAR:
            raise UsageError(
                f"--k is {opts.k}: give 0 to {NEAR} bits. Further apart, chance brings texts together: within"
                " 10 bits 5,000 pairs of a million pages. Without --k looser likeness is found, too"
            )
        url = archive.resolve(args[0]) if args else None
        survey = read(archive, blocks=not opts.pages)
        near = [match for match in survey.matches(url) if opts.k is None or match.likeness.distance <= opts.k]
        if not near:
            raise NotArchived(
                f"no page of {archive.uri} is like {url or 'another'}, whole or in part ({len(survey)} read)"
            )
        if opts.clusters:
            _tell_clusters(near, opts.json)
        else:
            _tell_pairs(near, opts.json)
        return 0

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        if opts.json and isinstance(error, NotArchived):
            print_json([])
        return super().failed(error, opts)


def read(archive: Archive, blocks: bool) -> Survey:
    """Take the latest version of each page of an archive, those first captured before the others."""
    survey = Survey(lambda url: _reading(archive, url, blocks=True))
    pages = sorted(_first_seen(archive))
    stored = {} if blocks else {(url, number): known for url, number, known in archive.fingerprints.all()}
    damaged = 0
    for done, (_, url) in enumerate(pages):
        if done % STEP == 0:
            status(f"{done} of {len(pages)} pages read")
        known = stored.get((url, archive.at(url, None).number or 0))
        if known:
            survey.add(url, known)
            continue
        try:
            reading = _reading(archive, url, blocks)
        except CorruptObject:
            damaged += 1
            continue
        survey.add(url, fingerprint(reading.text), reading.blocks)
    status("")
    if damaged:
        tell(f"pages left out, as they could not be read: {damaged}; see scrapy verify")
    return survey


def _first_seen(archive: Archive) -> Iterator[tuple[datetime, str]]:
    """Give the pages that have content, each with the time of its first capture; walls are no pages."""
    for _, url in archive.pages():
        if archive.version_count(url) and not archive.at(url, None).quality:
            yield archive.at(url, BEGINNING).captured_at, url


def _reading(archive: Archive, url: str, blocks: bool) -> Reading:
    """Read the latest version of a page; what is no markup says nothing."""
    capture = archive.at(url, None)
    body, content_type = archive.document(capture)
    charset = charset_of(body, content_type)
    if not is_markup(body, content_type, charset):
        return Reading("")
    page = content(body, charset)
    found = content_blocks(archive.blocks(archive.seen(capture)), page.ranges) if blocks else ()
    cut = [Block(block.start, block.end, block.level) for block, _ in found]
    labels = (labelled.label for labelled in label_blocks(body, cut, content_type))
    said = [block for block, label in zip(found, labels, strict=True) if label not in FURNITURE]
    return Reading(page.text, said)


def _tell_pairs(matches: Sequence[Match], as_json: bool) -> None:
    if as_json:
        print_json([match_record(match) for match in matches])
        return
    for scope, group in groupby(matches, lambda match: match.a.scope):
        print_table(["distance", "jaccard", "words", *HEADS[scope]], map(_row, group))
    tell(
        "Read one with: scrapy text URL. See what is like one page with: scrapy duplicates URL."
        " See groups with: scrapy duplicates --clusters"
    )


def _row(match: Match) -> list[object]:
    a, b, likeness = match.a, match.b, match.likeness
    topic = [a.topic] if a.scope == BLOCK else []
    return [likeness.distance, f"{likeness.jaccard:.3f}", a.words, *topic, a.url, b.url]


def _tell_clusters(matches: Sequence[Match], as_json: bool) -> None:
    groups = list(groups_of(matches))
    if as_json:
        print_json(
            [
                {"cluster": number, "scope": group[0].scope, "members": list(map(member_record, group))}
                for number, group in enumerate(groups, 1)
            ]
        )
        return
    for number, group in enumerate(groups, 1):
        first = group[0]
        say(f"{number}: {len(group)} {first.scope}s of {first.words} words  {first.topic}".rstrip())
        for member in group:
            say(f"    {member.url}  {member.block}".rstrip())


def groups_of(matches: Sequence[Match]) -> Iterator[list[Member]]:
    """Give the clusters by density of what is near: pages first, the largest first."""
    members = list(dict.fromkeys(member for match in matches for member in (match.a, match.b)))
    places = {member: place for place, member in enumerate(members)}
    around = [[place] for place in range(len(members))]
    for match in matches:
        one, other = places[match.a], places[match.b]
        around[one].append(other)
        around[other].append(one)
    groups: dict[int, list[Member]] = {}
    for member, label in zip(members, clusters(len(members), around.__getitem__), strict=True):
        groups.setdefault(label, []).append(member)
    yield from sorted(groups.values(), key=lambda group: (group[0].scope != PAGE, -len(group)))
