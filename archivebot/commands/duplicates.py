"""scrapy duplicates: pages and blocks of the archive that differ only a little."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, LeftOut, print_json, print_table
from archivebot.config import ArchiveConfig
from archivebot.duplicates.loose import LEAST, LooseSurvey
from archivebot.duplicates.survey import BLOCK, PAGE, Match, Survey
from archivebot.exceptions import ArchiveError, NotArchived, UsageError
from archivebot.fingerprint.simhash import NEAR
from archivebot.jobs.duplicates import groups_of, loose_survey_of, survey_of
from archivebot.records import cluster_record, match_record
from archivebot.terminal import note, status, write

STEP = 50  # pages between two updates of the progress line
HEADS = {PAGE: ["page", "is like"], BLOCK: ["block", "of", "is also in"]}


class Command(ArchiveCommand):
    """Find pages and blocks that are near-duplicates"""

    arguments = "[URL]"
    least, most = 0, 1
    explanation = (
        "Compares the main texts of the latest versions, and their blocks of 32 words and more. It finds"
        " mirrors, print versions and syndicated stories. With a URL only duplicates of that page are listed."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--clusters", action="store_true", help="groups instead of pairs")
        parser.add_argument("--pages", action="store_true", help="whole pages only, no blocks")
        parser.add_argument(
            "--k", type=int, metavar="N", help=f"only pairs whose SimHashes are within N bits (0 to {NEAR})"
        )

        parser.add_argument(
            "--jaccard",
            type=float,
            metavar="J",
            help=f"whole pages that share J of their runs of three words ({LEAST} to 1), not by the rule",
        )

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if opts.k is not None and not 0 <= opts.k <= NEAR:
            raise UsageError(
                f"--k is {opts.k}: give 0 to {NEAR} bits. Beyond that texts match by chance: within"
                " 10 bits 5,000 pairs of a million pages. Without --k less similar texts are found, too"
            )
        if opts.jaccard is not None and not LEAST <= opts.jaccard <= 1:
            raise UsageError(
                f"--jaccard is {opts.jaccard}: give {LEAST} to 1; below, chance brings pages together"
            )
        url = archive.resolve(args[0]) if args else None
        left_out = LeftOut()
        survey = _survey(archive, self.config, opts.jaccard, left_out, blocks=not opts.pages)
        near = [match for match in survey.matches(url) if opts.k is None or match.likeness.distance <= opts.k]
        if not near:
            raise NotArchived(
                f"no page of {archive.uri} is like {url or 'another'}, whole or in part ({len(survey)} read)"
            )
        if opts.clusters:
            _print_clusters(near, opts.json)
        else:
            _print_pairs(near, opts.json)
        return left_out.exit_code(0)

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        if opts.json and isinstance(error, NotArchived):
            print_json([])
        return super().failed(error, opts)


def _survey(
    archive: ArchiveReader, config: ArchiveConfig, least: float | None, left_out: LeftOut, *, blocks: bool
) -> Survey | LooseSurvey:
    """Read the pages of an archive and show the progress; ``least`` is the least Jaccard coefficient."""

    def done(number: int, pages: int) -> None:
        if number % STEP == 0:
            status(f"{number} of {pages} pages read")

    survey: Survey | LooseSurvey
    if least is None:
        survey, unreadable = survey_of(archive, blocks, done, config, left_out)
    else:
        survey, unreadable = loose_survey_of(archive, least, done, config, left_out)
    status("")
    if unreadable:
        note(f"pages left out, as they could not be read: {unreadable}; see scrapy verify")
    return survey


def _print_pairs(matches: Sequence[Match], as_json: bool) -> None:
    if as_json:
        print_json([match_record(match) for match in matches])
        return
    for scope, group in groupby(matches, lambda match: match.a.scope):
        print_table(["distance", "jaccard", "words", *HEADS[scope]], map(_row, group))
    note(
        "Read one with: scrapy text URL. See what is like one page with: scrapy duplicates URL."
        " See groups with: scrapy duplicates --clusters"
    )


def _row(match: Match) -> list[object]:
    a, b, likeness = match.a, match.b, match.likeness
    topic = [a.topic] if a.scope == BLOCK else []
    return [likeness.distance, f"{likeness.jaccard:.3f}", a.words, *topic, a.url, b.url]


def _print_clusters(matches: Sequence[Match], as_json: bool) -> None:
    groups = list(groups_of(matches))
    if as_json:
        print_json([cluster_record(number, group) for number, group in enumerate(groups, 1)])
        return
    for number, group in enumerate(groups, 1):
        first = group[0]
        write(f"{number}: {len(group)} {first.scope}s of {first.words} words  {first.topic}".rstrip())
        for member in group:
            write(f"    {member.url}  {member.block}".rstrip())
