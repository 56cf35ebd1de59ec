"""False alarms: which changed versions are furniture only, beside plain text diff.

    python benchmarks/alarms.py DATA/history-dev

The question is whether the content of a page changed between two successive versions. It is answered by
archivebot, with the earlier versions as history, and by a plain diff of all visible text, as in simple
watchers. The truth is judged.tsv: 2,181 pairs of versions, each judged by reading the diff of their visible
text, without any program's answer at hand (docs/performance.md has the rules):

    main       words, numbers, items or order of the main content changed
    visit      in the main content only relative times, clocks, counters or tokens changed
    furniture  only menus, notices, adverts, boxes beside the content, the foot, or white space
    none       no visible text changed
    wall       one of the two is not a page but an error, a wall or a shell; these are left out

It contains all pairs of the first six versions of each page, 500 later ones, and 600 held out, on which no
rule was tuned. Then the same question is answered by whether an extractor returns another main text, ignoring
white space: archivebot, trafilatura, resiliparse, readability-lxml and jusText, if they can be imported. Each
of them sometimes chooses another line for the main text although the page is unchanged. The last row is the
CPU time of an answer, including the reading of both versions, relative to that of one main text. Exit code 1
if a bound fails.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from common import Version
from judged import Judged, chosen_pages, distinct, history, judged, named_pair
from maintext import PEERS
from tables import Row, Table, at_least, at_most, report

from archivebot.content.page import content
from archivebot.markup.media import media_of
from archivebot.models import ChangeKind
from archivebot.significance.reading import Reading
from archivebot.significance.significance import significance

LEAST_TOUCHED = 0.985  # of the versions whose main text is unchanged
MOST_MISSED = 0.005  # of those whose main text changed
MOST_COST = 2.5

# Extractors besides ours from which their agreement counts.
LEAST_PEERS = 2

OURS = "archivebot"

Extractor = Callable[[str], str]


@dataclass(frozen=True)
class Pair:
    """Two versions in a row: of which set they are, whether their main text changed, and who says so."""

    set: str
    truth: bool
    alarm: bool
    visible: bool
    changed: Mapping[str, bool]

    @property
    def agreed(self) -> bool | None:
        """Whether the main text changed by all extractors, or None where they disagree."""
        said = set(self.changed.values())
        return said.pop() if len(said) == 1 else None


@dataclass
class Clock:
    """CPU seconds of our answers, and of the main texts of the same versions."""

    answers: float = 0.0
    texts: float = 0.0


def extractors() -> dict[str, Extractor]:
    return {name: make() for name, make in PEERS.items() if importlib.util.find_spec(name)}


def pairs(
    page: Sequence[Version], truth: Judged, peers: Mapping[str, Extractor], clock: Clock
) -> Iterator[Pair]:
    earlier: list[Reading] = []
    versions = distinct(page)
    for index, version in enumerate(versions):
        reading = Reading(version.file.read_bytes())
        before = versions[index - 1] if index else version
        if found := truth.pop(named_pair(before, version), None):
            old, new = before.file.read_bytes(), version.file.read_bytes()
            started = time.process_time()
            alarm = alarming(Reading(old), Reading(new), earlier[:-1])
            clock.answers += time.process_time() - started
            then, now = (main_texts(body, peers, clock) for body in (old, new))
            changed = {name: then[name] != text for name, text in now.items()}
            yield Pair(*found, alarm, earlier[-1].lines != reading.lines, changed)
        earlier.append(reading)


def alarming(before: Reading, after: Reading, earlier: Sequence[Reading]) -> bool:
    history = (each.lines for each in reversed(earlier))
    return significance(before, after, history).kind is ChangeKind.CONTENT


def main_texts(body: bytes, peers: Mapping[str, Extractor], clock: Clock) -> dict[str, str]:
    """Return the main text of a version by each extractor; that of one that fails is empty."""
    charset = media_of(body).charset
    started = time.process_time()
    texts = {OURS: content(body, charset).text}
    clock.texts += (time.process_time() - started) / 2  # both versions of a pair are read
    markup = body.decode(charset, "replace")
    for name, extract in peers.items():
        try:
            texts[name] = extract(markup)
        except Exception:
            texts[name] = ""
    return {name: " ".join(text.split()) for name, text in texts.items()}


def share(picked: Sequence[bool]) -> float:
    return sum(picked) / max(len(picked), 1)


def rows_of(name: str, truth: Sequence[tuple[bool, Pair]]) -> list[Row]:
    """Report how many pairs are called furniture, of those that are unchanged and of those that changed."""
    rows = []
    for changed, label in ((False, "unchanged"), (True, "changed")):
        picked = [pair for said, pair in truth if said is changed]
        ours, plain = share([not pair.alarm for pair in picked]), share([not pair.visible for pair in picked])
        bound = at_most(ours, MOST_MISSED) if changed else at_least(ours, LEAST_TOUCHED)
        rows.append(Row(f"{len(picked)} {label}, {name}", (f"{ours:.3f}", f"{plain:.3f}"), bound))
    return rows


def by_extractor(name: str, found: Sequence[Pair]) -> Row:
    """Report the same shares of the pairs whose text by one extractor is equal, and is not."""
    shares = (
        share([not pair.alarm for pair in found if pair.changed[name] is changed])
        for changed in (False, True)
    )
    return Row(name, [f"{each:.3f}" for each in shares])


def main() -> int:
    pages = chosen_pages(history(__doc__).parse_args())
    truth, peers, clock = judged(), extractors(), Clock()
    found = [pair for page in pages for pair in pairs(page, truth, peers, clock)]
    rows = []
    for part, name in (("held", "held out"), ("tuned", "the others")):
        rows += rows_of(name, [(pair.truth, pair) for pair in found if pair.set == part])
    if len(peers) >= LEAST_PEERS:
        agreed = [(said, pair) for pair in found if (said := pair.agreed) is not None]
        rows += rows_of("by all extractors", agreed)
    alarms, plain = (share([getattr(pair, name) for pair in found]) for name in ("alarm", "visible"))
    rows.append(Row("versions that alert", (f"{alarms:.3f}", f"{plain:.3f}")))
    cost = clock.answers / clock.texts
    rows.append(Row("CPU of an answer, in readings of a page", (f"{cost:.2f}",), at_most(cost, MOST_COST)))
    shares = [by_extractor(name, found) for name in (OURS, *peers)]
    return report(
        Table(f"{len(found)} judged pairs, called `touched`", ("archivebot", "plain diff"), rows),
        Table("called `touched`, main text by", ("text is equal", "text is another"), shares),
        missing=PEERS.keys() - peers.keys(),
    )


if __name__ == "__main__":
    sys.exit(main())
