"""Marks of near-duplicates: precision and recall on pairs of real pages, beside simpler rules.

    python benchmarks/duplicates.py DATA/history-dev [--pages 300] [--versions 12] [--pairs 3000]

Pairs are successive versions of a page, and different pages of one site, so many of a site at random. What
keeps nine tenths of the words of its main text (as a multiset, of the longer one) is a near-duplicate,
whichever page it is on. Another page of the site that keeps less is none, such as one of the same template
with other content; a version that keeps less is left out, as an edit of that size is either. Equal texts
and pairs that come twice are left out.

The rule is asked about main texts. Beside it stand MinHash alone (datasketch, 128 permutations, at the
Jaccard coefficient of the rule), SimHash alone (3 bits), and the rule on all visible text of the pages,
which shows what furniture does. As the main text is our own reading, one more row takes for
near-duplicates what keeps nine tenths of all visible words of its page. The last ones are the share of
marked pairs that a key finds, and the speed of fingerprints. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import combinations, pairwise

from common import Row, Version, data_folder, read_index, report

from archivebot.content.page import content
from archivebot.duplicates.rule import LEAST_JACCARD, fingerprint, judge
from archivebot.fingerprint.minhash import minhash
from archivebot.fingerprint.simhash import NEAR, distance
from archivebot.markup.charset import charset_of
from archivebot.markup.dom import visible_text
from archivebot.models import Fingerprint

LEAST_PRECISION = 0.95
LEAST_RECALL = 0.9
MOST_MARKED = 0.002  # of the pairs of pages of one site that are no near-duplicates
LEAST_FOUND = 0.98  # of the marked pairs that share a key
KEPT_WORDS = 0.9
SEED = 20261122

Texts = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """What a version says, in its main text and all over."""

    main: str
    visible: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages, and whether they are near-duplicates."""

    one: Page
    other: Page
    near: bool


@cache
def known(text: str) -> Fingerprint:
    return fingerprint(text)


def read(version: Version) -> Page:
    body = version.file.read_bytes()
    charset = charset_of(body, "")
    return Page(content(body, charset).text, visible_text(body, charset))


@lru_cache(1024)
def counted(text: str) -> Counter[str]:
    return Counter(text.split())


def kept(one: str, other: str) -> float:
    """Give the share of the words of the longer text that the other has, too.

    >>> kept("a b b", "b a"), kept("", "a")
    (0.6666666666666666, 0.0)
    """
    first, second = counted(one), counted(other)
    return (first & second).total() / max(first.total(), second.total(), 1)


def read_pages(folder: Sequence[Sequence[Version]], versions: int) -> Iterator[tuple[str, list[Page]]]:
    """Give the site and the different texts of each page, in time order."""
    for number, page in enumerate(folder, 1):
        print(f"\r{number} of {len(folder)} pages read", end="", file=sys.stderr, flush=True)
        yield page[0].site, [read(version) for version in page[:versions]]
    print(file=sys.stderr)


def pairs_of(pages: Sequence[tuple[str, list[Page]]], most: int) -> Iterator[Pair]:
    """Give the pairs, each with its label."""
    for _, versions in pages:
        for one, other in pairwise(versions):
            if kept(one.main, other.main) >= KEPT_WORDS:
                yield Pair(one, other, near=True)
    chance = random.Random(SEED)
    for site in sorted({site for site, _ in pages}):
        last = [versions[-1] for found, versions in pages if found == site]
        every = list(combinations(last, 2))
        for one, other in chance.sample(every, min(most, len(every))):
            yield Pair(one, other, kept(one.main, other.main) >= KEPT_WORDS)


def different(pairs: Iterator[Pair]) -> list[Pair]:
    """Leave out pairs of equal main texts, and those whose texts came before."""
    found = {(pair.one.main, pair.other.main): pair for pair in pairs if pair.one.main != pair.other.main}
    return list(found.values())


def by_rule(one: str, other: str) -> bool:
    return judge(known(one), known(other), lambda: (one, other)) is not None


def by_simhash(one: str, other: str) -> bool:
    first, second = known(one).simhash, known(other).simhash
    return first is not None and second is not None and distance(first, second) <= NEAR


signature = cache(minhash)


def by_minhash(one: str, other: str) -> bool:
    first, second = signature(one), signature(other)
    return first is not None and second is not None and first.jaccard(second) >= LEAST_JACCARD


@dataclass(frozen=True, slots=True)
class Score:
    """How a rule did: pairs marked rightly, pairs marked, pairs to be marked."""

    right: int
    marked: int
    near: int

    @property
    def precision(self) -> float:
        return self.right / max(self.marked, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.near, 1)

    def __str__(self) -> str:
        return f"P {self.precision:.3f} R {self.recall:.3f} ({self.right} of {self.marked}, {self.near})"


def score(pairs: Sequence[Pair], marks: Sequence[bool]) -> Score:
    right = sum(pair.near and mark for pair, mark in zip(pairs, marks, strict=True))
    return Score(right, sum(marks), sum(pair.near for pair in pairs))


def quality_rows(pairs: Sequence[Pair]) -> list[Row]:
    mains = [(pair.one.main, pair.other.main) for pair in pairs]
    marks = [by_rule(*texts) for texts in mains]
    ours = score(pairs, marks)
    wrong, others = ours.marked - ours.right, sum(not pair.near for pair in pairs)
    peers = {
        "MinHash alone (datasketch)": [by_minhash(*texts) for texts in mains],
        "SimHash alone": [by_simhash(*texts) for texts in mains],
        "the rule on all visible text": [by_rule(pair.one.visible, pair.other.visible) for pair in pairs],
    }
    rows = [
        Row("precision", str(ours), "", ours.precision, LEAST_PRECISION, least=True),
        Row("recall", str(ours), "", ours.recall, LEAST_RECALL, least=True),
        Row(
            "other pages of the site marked", f"{wrong} of {others}", "", wrong / max(others, 1), MOST_MARKED
        ),
    ]
    for name, found in peers.items():
        peer = score(pairs, found)
        rows += [
            Row(f"precision / {name}", str(ours), str(peer), ours.precision / (peer.precision or 1)),
            Row(f"recall / {name}", str(ours), str(peer), ours.recall / (peer.recall or 1)),
        ]
    found_by_key = [
        bool({*known(one).keys} & {*known(other).keys})
        for (one, other), mark in zip(mains, marks, strict=True)
        if mark
    ]
    return [*rows, share_row("marked pairs that share a key", found_by_key, LEAST_FOUND)]


def visible_row(pages: Sequence[tuple[str, list[Page]]]) -> Row:
    marks = [
        by_rule(one.main, other.main)
        for _, versions in pages
        for one, other in pairwise(versions)
        if one.visible != other.visible and kept(one.visible, other.visible) >= KEPT_WORDS
    ]
    return share_row("recall on versions that keep 0.9 of all visible words", marks, LEAST_RECALL)


def share_row(name: str, marks: Sequence[bool], least: float) -> Row:
    return Row(name, f"{sum(marks)} of {len(marks)}", "", sum(marks) / max(len(marks), 1), least, least=True)


def speed_row(texts: Sequence[str]) -> Row:
    """Time the fingerprint of texts beside datasketch's signature, in turns, the best of three rounds."""
    ours = theirs = float("inf")
    for _ in range(3):
        ours = min(ours, _seconds(partial(_all, fingerprint, texts)))
        theirs = min(theirs, _seconds(partial(_all, minhash, texts)))
    words = sum(known(text).words for text in texts) / 1000
    figure, peer = (f"{seconds / words * 1000:.2f} ms per 1,000 words" for seconds in (ours, theirs))
    return Row("fingerprint with its keys / MinHash (datasketch)", figure, peer, theirs / ours)


def _all(work: Callable[[str], object], texts: Sequence[str]) -> None:
    for text in texts:
        work(text)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, default=300, help="pages at most")
    parser.add_argument("--versions", type=int, default=12, help="versions of a page at most")
    parser.add_argument("--pairs", type=int, default=3000, help="pairs of pages of one site at most")
    options = parser.parse_args()
    folder = read_index(options.data)
    chosen = random.Random(SEED).sample(folder, min(options.pages, len(folder)))
    pages = list(read_pages(chosen, options.versions))
    pairs = different(pairs_of(pages, options.pairs))
    rows = [*quality_rows(pairs), visible_row(pages)]
    code = report(f"duplicates: {len(pairs)} pairs of main texts (P precision, R recall)", rows)
    texts = [versions[-1].main for _, versions in pages]
    return report(f"duplicates: speed on {len(texts)} texts (CPU time)", [speed_row(texts)]) or code


if __name__ == "__main__":
    sys.exit(main())
