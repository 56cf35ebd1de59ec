"""False alarms: which changed versions are furniture only, beside plain text diff and by four extractors.

    python benchmarks/alarms.py DATA/history-dev [--versions 8]

Takes the first versions of each page, and of those each that differs from the one before. Asked is
whether its content changed: by our answer, with the earlier versions as history; by a plain diff of
all visible text, which is what simple watchers do; and, as the truth, by whether the main text is
another, white space aside. What the main text is each extractor tells otherwise: ours, trafilatura,
resiliparse, readability-lxml and jusText, those that can be imported. All are printed. The bounds
are asked of our own main text and, with two of the four or more, of the versions on which all agree;
no answer is right by all of them elsewhere. The last row is the CPU time of an answer, with both
versions read, in that of one main text. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from common import Row, Version, data_folder, read_index, report
from maintext import PEERS

from archivebot.content.page import content
from archivebot.segmentation.charset import charset_of
from archivebot.significance.reading import Reading
from archivebot.significance.significance import ChangeKind, significance

LEAST_TOUCHED = 0.95  # of the versions whose main text is unchanged
MOST_MISSED = 0.01  # of those whose main text changed
MOST_COST = 2.5

# Extractors besides ours from which their agreement counts.
LEAST_PEERS = 2

Extractor = Callable[[str], str]


@dataclass(frozen=True)
class Pair:
    """Two versions in a row: whether we and a plain diff see a change, and who sees one of main text."""

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


def distinct(page: Sequence[Version]) -> list[Version]:
    """Leave out versions with the bytes of the one before."""
    return [
        version for index, version in enumerate(page) if not index or version.sha256 != page[index - 1].sha256
    ]


def pairs(page: Sequence[Version], peers: Mapping[str, Extractor], clock: Clock) -> Iterator[Pair]:
    earlier: list[Reading] = []
    texts: dict[str, str] = {}
    for version in distinct(page):
        body = version.file.read_bytes()
        then, texts = texts, main_texts(body, peers, clock)
        started = time.process_time()
        reading = Reading(body)
        alarm = bool(earlier) and alarming(earlier, reading)
        clock.answers += time.process_time() - started
        if earlier:
            changed = {name: then[name] != text for name, text in texts.items()}
            yield Pair(alarm, earlier[-1].lines != reading.lines, changed)
        earlier.append(reading)


def alarming(earlier: Sequence[Reading], reading: Reading) -> bool:
    history = (each.lines for each in reversed(earlier[:-1]))
    return significance(earlier[-1], reading, history).kind is ChangeKind.CONTENT


def main_texts(body: bytes, peers: Mapping[str, Extractor], clock: Clock) -> dict[str, str]:
    """Give the main text of a version by each extractor; one that fails on it gives none."""
    charset = charset_of(body)
    started = time.process_time()
    texts = {"ours": content(body, charset).text}
    clock.texts += time.process_time() - started
    markup = body.decode(charset, "replace")
    for name, extract in peers.items():
        try:
            texts[name] = extract(markup)
        except Exception:
            texts[name] = ""
    return {name: " ".join(text.split()) for name, text in texts.items()}


def share(picked: Sequence[bool]) -> float:
    return sum(picked) / max(len(picked), 1)


def rows_of(name: str, truth: Sequence[tuple[bool, Pair]], *, bound: bool) -> list[Row]:
    """Report what is called furniture of the pairs that one definition calls unchanged, and changed."""
    rows = []
    for changed, label, limit in ((False, "unchanged", LEAST_TOUCHED), (True, "changed", MOST_MISSED)):
        picked = [pair for said, pair in truth if said is changed]
        ours, plain = share([not pair.alarm for pair in picked]), share([not pair.visible for pair in picked])
        figure = f"{ours:.1%} of {len(picked)}"
        title = f"{name}, {label}: touched"
        rows.append(
            Row(title, figure, f"{plain:.1%} diff", ours, limit if bound else None, least=not changed)
        )
    return rows


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--versions", type=int, default=8, help="only the first of each page (0: all)")
    parser.add_argument("--pages", type=int, help="only so many pages, evenly over the folder")
    options = parser.parse_args()
    pages = read_index(options.data)
    if options.pages:
        pages = pages[:: max(1, len(pages) // options.pages)]
    peers, clock = extractors(), Clock()
    found = [pair for page in pages for pair in pairs(page[: options.versions or None], peers, clock)]
    agreed = [(said, pair) for pair in found if (said := pair.agreed) is not None]
    rows = rows_of("all agree", agreed, bound=len(peers) >= LEAST_PEERS)
    for name in ("ours", *peers):
        told = [(pair.changed[name], pair) for pair in found]
        rows += rows_of(name, told, bound=name == "ours")
    alarms, plain = (share([getattr(pair, name) for pair in found]) for name in ("alarm", "visible"))
    rows.append(Row("versions that alert", f"{alarms:.1%}", f"{plain:.1%} diff", alarms / plain))
    cost = 2 * clock.answers / clock.texts
    rows.append(Row("CPU of an answer / of a main text", "", "", cost, MOST_COST))
    return report(f"{len(found)} changed versions, extractors: {', '.join(('ours', *peers))}", rows)


if __name__ == "__main__":
    sys.exit(main())
