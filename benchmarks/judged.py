"""The judged pairs of versions (judged.tsv), and the pages of a history that a benchmark takes."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

from common import Version, data_folder, read_index

# Characters of a SHA-256 by which judged.tsv names a version, and what it says of a changed main text.
NAMED = 12
CHANGED = "main"
LEFT_OUT = "wall"

Judged = dict[tuple[str, str], tuple[str, bool]]


def judged() -> Judged:
    """Read of which set each pair is, and whether its main text changed."""
    with Path(__file__).with_name("judged.tsv").open(encoding="utf-8", newline="") as file:
        return {
            (row["before"], row["after"]): (row["set"], row["changed"] == CHANGED)
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["changed"] != LEFT_OUT
        }


def named_pair(before: Version, after: Version) -> tuple[str, str]:
    """Return the names of two versions in judged.tsv."""
    return before.sha256[:NAMED], after.sha256[:NAMED]


def distinct(page: Sequence[Version]) -> list[Version]:
    """Leave out versions with the bytes of the one before."""
    return [
        version for index, version in enumerate(page) if not index or version.sha256 != page[index - 1].sha256
    ]


def history(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of arguments that takes a history, or some of its pages."""
    parser = data_folder(doc)
    parser.add_argument("--pages", type=int, help="only so many pages, evenly over the folder")
    return parser


def chosen_pages(options: argparse.Namespace) -> list[list[Version]]:
    """Return the pages that the arguments choose, each as its versions in time order."""
    pages = read_index(options.data)
    return pages[:: max(1, len(pages) // options.pages)] if options.pages else pages
