"""Marks of near-duplicates: precision and recall on pairs of real pages, beside simpler rules.

    python benchmarks/duplicates.py DATA/history-dev [--pages 300] [--versions 12] [--pairs 3000]

Pairs are successive versions of a page, and different pages of one site, a fixed number per site at random. A
pair with nine tenths of common words in the main texts (as multisets, relative to the longer one) is a
near-duplicate. Two pages of a site with less, for example of one template with different content, are not;
two versions with less are left out, as an edit of that size may count as either. Equal texts and repeated
pairs are left out.

The rule is applied to main texts. It is compared with MinHash alone (datasketch, 128 permutations, at the
Jaccard coefficient of the rule), SimHash alone (3 bits), and the rule on all visible text of the pages, which
shows the effect of furniture. As the main text is our own extraction, one more row defines near-duplicates by
nine tenths of all visible words of the page. The last rows are the share of marked pairs that a key finds,
and the speed of fingerprints. Exit code 1 if a bound fails.
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

from common import Version, data_folder, read_index
from tables import Row, Table, at_least, at_most, report

from archivebot.content.page import content
from archivebot.duplicates.rule import LEAST_JACCARD, fingerprint, judge
from archivebot.fingerprint.minhash import minhash
from archivebot.fingerprint.simhash import NEAR, distance
from archivebot.markup.dom import visible_text
from archivebot.markup.media import media_of
from archivebot.models import Fingerprint

LEAST_PRECISION = 0.95
LEAST_RECALL = 0.9
MOST_MARKED = 0.002  # of the pairs of pages of one site that are no near-duplicates
LEAST_FOUND = 0.98  # of the marked pairs that share a key
KEPT_WORDS = 0.9
PEERS = ("MinHash alone", "SimHash alone", "rule, all visible text")
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
    charset = media_of(body).charset
    return Page(content(body, charset).text, visible_text(body, charset))


@lru_cache(1024)
def counted(text: str) -> Counter[str]:
    return Counter(text.split())


def kept(one: str, other: str) -> float:
    """Return the share of the words of the longer text that the other has, too.

    >>> kept("a b b", "b a"), kept("", "a")
    (0.6666666666666666, 0.0)
    """
    first, second = counted(one), counted(other)
    return (first & second).total() / max(first.total(), second.total(), 1)


def read_pages(folder: Sequence[Sequence[Version]], versions: int) -> Iterator[tuple[str, list[Page]]]:
    """Yield the site and the different texts of each page, in time order."""
    for number, page in enumerate(folder, 1):
        print(f"\r{number} of {len(folder)} pages read", end="", file=sys.stderr, flush=True)
        yield page[0].site, [read(version) for version in page[:versions]]
    print(file=sys.stderr)


def pairs_of(pages: Sequence[tuple[str, list[Page]]], most: int) -> Iterator[Pair]:
    """Yield the pairs, each with its label."""
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


def score(pairs: Sequence[Pair], marks: Sequence[bool]) -> Score:
    right = sum(pair.near and mark for pair, mark in zip(pairs, marks, strict=True))
    return Score(right, sum(marks), sum(pair.near for pair in pairs))


def quality_table(pairs: Sequence[Pair], pages: Sequence[tuple[str, list[Page]]]) -> Table:
    mains = [(pair.one.main, pair.other.main) for pair in pairs]
    marks = [by_rule(*texts) for texts in mains]
    scores = [
        score(pairs, marks),
        score(pairs, [by_minhash(*texts) for texts in mains]),
        score(pairs, [by_simhash(*texts) for texts in mains]),
        score(pairs, [by_rule(pair.one.visible, pair.other.visible) for pair in pairs]),
    ]
    ours, others = scores[0], sum(not pair.near for pair in pairs)
    wrong = [each.marked - each.right for each in scores]
    found_by_key = [
        bool({*known(one).keys} & {*known(other).keys})
        for (one, other), mark in zip(mains, marks, strict=True)
        if mark
    ]
    rows = [
        Row(
            "precision",
            [f"{each.precision:.3f}" for each in scores],
            at_least(ours.precision, LEAST_PRECISION),
        ),
        Row(
            f"recall of {ours.near}",
            [f"{each.recall:.3f}" for each in scores],
            at_least(ours.recall, LEAST_RECALL),
        ),
        Row(
            f"marked of {others} other pairs",
            list(map(str, wrong)),
            at_most(wrong[0] / max(others, 1), MOST_MARKED),
        ),
        share_row("marked pairs that share a key", found_by_key, LEAST_FOUND),
        visible_row(pages),
    ]
    return Table(f"{len(pairs)} pairs of main texts", ("rule", *PEERS), rows)


def visible_row(pages: Sequence[tuple[str, list[Page]]]) -> Row:
    marks = [
        by_rule(one.main, other.main)
        for _, versions in pages
        for one, other in pairwise(versions)
        if one.visible != other.visible and kept(one.visible, other.visible) >= KEPT_WORDS
    ]
    return share_row("recall of what keeps all visible words but a tenth", marks, LEAST_RECALL)


def share_row(name: str, marks: Sequence[bool], least: float) -> Row:
    share = sum(marks) / max(len(marks), 1)
    return Row(f"{name}, of {len(marks)}", (f"{share:.3f}",), at_least(share, least))


def speed_table(texts: Sequence[str]) -> Table:
    """Time the fingerprint of texts beside datasketch's signature, in turns, the best of three rounds."""
    ours = theirs = float("inf")
    for _ in range(3):
        ours = min(ours, _seconds(partial(_all, fingerprint, texts)))
        theirs = min(theirs, _seconds(partial(_all, minhash, texts)))
    words = sum(known(text).words for text in texts) / 1000
    row = Row("CPU, ms for 1,000 words", [f"{1000 * seconds / words:.2f}" for seconds in (ours, theirs)])
    return Table(f"{len(texts)} texts", ("fingerprint with its keys", "MinHash"), [row])


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
    texts = [versions[-1].main for _, versions in pages]
    return report(quality_table(pairs, pages), speed_table(texts))


if __name__ == "__main__":
    sys.exit(main())
