"""Main text of pages beside trafilatura, resiliparse, readability-lxml and jusText, as word F1 and speed.

The data is a folder in the form of WCXB: html/ID.html and ground-truth/ID.json. F1 is that of the bags
of words of a page's text and of its annotated main content, the mean over pages; pages without an
annotation are left out. Of the peers those that can be imported run. The weights that ship were learnt
from the development pages of WCXB, on which the honest figure is therefore that of ``--train``: it
cross-validates a model over five groups of sites, prints what it reaches on pages of sites that it has
not seen, and writes the weights learnt from all pages.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import re
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from archivebot.content import maintext  # isort: skip  # before numpy, whose threads archivebot sets
import numpy as np
from common import ROOT, Row, data_folder, report

from archivebot.content.context import Context
from archivebot.content.known import TABLES, known_by, near
from archivebot.content.lines import Line
from archivebot.content.measures import measures
from archivebot.content.model import WEIGHTS, Model
from archivebot.content.ownwords import own_words
from archivebot.content.page import main_text, read, title_words
from archivebot.content.surroundings import Around
from archivebot.content.training import Sample, learnt

WORDS = re.compile(r"\w+")
FOLDS = 5

# The bounds: F1 over all pages, and trafilatura's seconds in ours.
LEAST_F1 = 0.86
LEAST_SPEED = 5

# Names and words on fewer pages are no evidence.
LEAST_PAGES = 40

# Hidden values of a line; with 24 F1 is the same.
HIDDEN = 12


@dataclass(frozen=True)
class Page:
    """A page with its annotated main content."""

    url: str
    kind: str
    markup: bytes
    main: str


def pages(folder: Path) -> Iterator[Page]:
    for file in sorted((folder / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        if main := truth["ground_truth"].get("main_content"):
            markup = (folder / "html" / f"{file.stem}.html").read_bytes()
            yield Page(
                truth.get("url") or file.stem, truth["_internal"]["page_type"]["primary"], markup, main
            )


def f1(text: str, main: str) -> float:
    """Give the F1 of two bags of words."""
    found, wanted = (Counter(WORDS.findall(each.lower())) for each in (text, main))
    return 2 * (found & wanted).total() / max(found.total() + wanted.total(), 1)


def trafilatura_text() -> Callable[[str], str]:
    from trafilatura import extract  # type: ignore[import-not-found,unused-ignore]

    return lambda markup: extract(markup) or ""


def resiliparse_text() -> Callable[[str], str]:
    from resiliparse.extract.html2text import (  # type: ignore[import-not-found,unused-ignore]
        extract_plain_text,
    )

    return lambda markup: str(extract_plain_text(markup, main_content=True))


def readability_text() -> Callable[[str], str]:
    from lxml.html import fromstring
    from readability import Document  # type: ignore[import-not-found,unused-ignore]

    return lambda markup: str(fromstring(Document(markup).summary()).text_content())


def justext_text() -> Callable[[str], str]:
    import justext  # type: ignore[import-not-found,unused-ignore]

    words = justext.get_stoplist("English")

    def text(markup: str) -> str:
        found = justext.justext(markup.encode(), words)
        return "\n".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate)

    return text


PEERS = {
    "trafilatura": trafilatura_text,
    "resiliparse": resiliparse_text,
    "readability": readability_text,
    "justext": justext_text,
}


def all_text(markup: str) -> str:
    return "\n".join(line.text for line in read(markup)[1].lines)


def own_words_text(markup: str) -> str:
    """The block with the most words of its own, the oldest rule there is."""
    lines = read(markup)[1].lines
    return "\n".join(line.text for line, chosen in zip(lines, own_words(lines), strict=True) if chosen)


@dataclass(frozen=True)
class Result:
    """F1 of each page, and the CPU seconds for all."""

    scores: list[float]
    seconds: float

    def mean(self, chosen: Sequence[bool] | None = None) -> float:
        picked = [s for s, yes in zip(self.scores, chosen, strict=True) if yes] if chosen else self.scores
        return sum(picked) / len(picked)


def measured(extractors: Mapping[str, Callable[[str], str]], data: Sequence[Page]) -> dict[str, Result]:
    """Run all extractors over each page, in turn; a page that one fails on has no text.

    What they loaded for good is taken out of the reach of the garbage collector: whoever is measured when
    it comes by would otherwise pay for all of them.
    """
    scores: dict[str, list[float]] = {name: [] for name in extractors}
    seconds = dict.fromkeys(extractors, 0.0)
    for extract in extractors.values():
        extract("<p>Loaded.")
    gc.collect()
    gc.freeze()
    for page in data:
        markup = page.markup.decode("utf-8", "replace")
        for name, extract in extractors.items():
            started = time.process_time()
            try:
                text = extract(markup)
            except Exception:
                text = ""
            seconds[name] += time.process_time() - started
            scores[name].append(f1(text, page.main))
    return {name: Result(scores[name], seconds[name]) for name in extractors}


def compare(data: Sequence[Page]) -> int:
    peers = {name: make() for name, make in PEERS.items() if importlib.util.find_spec(name)}
    peers["most own words"] = own_words_text
    results = measured({"ours": main_text, "all text": all_text, **peers}, data)
    ours, everything = results["ours"], results["all text"]
    rows = [Row("word F1", f"{ours.mean():.3f}", "", ours.mean(), LEAST_F1, least=True)]
    for name in peers:
        rows += _beside(name, ours, results[name], len(data))
    for kind in sorted({page.kind for page in data}):
        chosen = [page.kind == kind for page in data]
        mean, base = ours.mean(chosen), everything.mean(chosen)
        rows.append(Row(f"{kind}: F1 / all text", f"{mean:.3f}", f"{base:.3f}", mean / base, 1, least=True))
    return report(f"main text of {len(data)} pages", rows)


def _beside(name: str, ours: Result, peer: Result, count: int) -> list[Row]:
    speed = peer.seconds / ours.seconds
    bound = LEAST_SPEED if name == "trafilatura" else None
    figure, other = (f"{count / each.seconds:.0f} pages/s" for each in (ours, peer))
    mean = peer.mean()
    return [
        Row(f"word F1 / {name}", f"{ours.mean():.3f}", f"{mean:.3f}", ours.mean() / mean, 1, least=True),
        Row(f"speed / {name}", figure, other, speed, bound, least=True),
    ]


@dataclass(frozen=True)
class Example:
    """A page as the training sees it."""

    page: Page
    group: int  # pages of one site are in one group
    lines: list[Line]
    title: str
    right: list[bool]

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.lines]


def example(page: Page) -> Example | None:
    document, walk = read(page.markup.decode("utf-8", "replace"))
    if not walk.lines:
        return None
    host = urlsplit(page.url).hostname or page.url
    group = zlib.crc32(".".join(host.split(".")[-2:]).encode()) % FOLDS
    right = agreement([line.text for line in walk.lines], page.main)
    return Example(page, group, walk.lines, title_words(document), right)


def agreement(texts: Sequence[str], main: str) -> list[bool]:
    """Tell which lines stand in the main content: by word triples across lines, short ones as a whole."""
    wanted = WORDS.findall(main.lower())
    triples = set(zip(wanted, wanted[1:], wanted[2:], strict=False))
    whole = {tuple(WORDS.findall(line.lower())) for line in main.splitlines()}
    split = [WORDS.findall(text.lower()) for text in texts]
    flow = [word for words in split for word in words]
    covered = bytearray(len(flow) + 2)
    for index, triple in enumerate(zip(flow, flow[1:], flow[2:], strict=False)):
        if triple in triples:
            covered[index : index + 3] = b"\1\1\1"
    right, at = [], 0
    for words in split:
        inside = sum(covered[at : at + len(words)])
        chained = at > 0 and covered[at - 1] and covered[at + len(words)] and inside == len(words)
        long = len(words) > 2 and 2 * inside >= len(words)
        right.append(bool(words) and (tuple(words) in whole or bool(chained) or long))
        at += len(words)
    return right


def blank(examples: Sequence[Example]) -> Model:
    """Give a model of random weights, with the measures of the pages and the names that enough have."""
    columns = [measures(each.lines, each.title, Around.of(each.lines)) for each in examples]
    scales = {}
    for name in columns[0]:
        values = np.concatenate([each[name] for each in columns])
        scales[name] = (round(float(values.mean()), 4), round(max(float(values.std()), 0.01), 4))
    count = Counter(entry for each in examples for entry in entries(each.lines))
    often = sorted(entry for entry, pages in count.items() if pages >= LEAST_PAGES)
    tables = {table: [name for kind, name in often if kind == table] for table in TABLES}
    return Model.random(scales, tables, HIDDEN)


def entries(lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Give all that the lines of a page are known by, with its table."""
    found: set[tuple[str, str]] = set()
    for place, *rest in known_by(lines):
        for table, names in zip(TABLES, (place.names, near(place), *rest), strict=True):
            found.update((table, name) for name in names)
    return found


def sample(model: Model, each: Example) -> Sample:
    """Prepare a page for the training; repeats count little, as they are left out of the text."""
    counts = np.array([len(WORDS.findall(text)) for text in each.texts], dtype=np.float64)
    texts = each.texts
    first = dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))
    repeat = np.array([first[text] < at for at, text in enumerate(texts)])
    words = np.where(repeat & (counts >= maintext.LEAST_REPEATED), 0, counts)
    share = counts**0.7 * np.where(words == counts, 1, 0.1)
    around = Around.of(each.lines)
    return Sample(
        model.inputs(each.lines, each.title, around),
        model.known(each.lines, around),
        Context.of(each.lines, around),
        np.array(each.right, dtype=np.float64),
        share / max(share.sum(), 1),
        words,
        max(len(WORDS.findall(each.page.main)), 1),
    )


def score(model: Model, each: Example, prepared: Sample) -> float:
    likelihood = model.judged(prepared.inputs, prepared.known, prepared.context)
    chosen = maintext.choose(likelihood, [len(text.split()) for text in each.texts])
    return f1(maintext.joined(each.texts, chosen), each.page.main)


def train(data: Sequence[Page]) -> int:
    """Cross-validate, then write the weights. Which measures and names there are is told by all pages
    together; what they weigh by those of the other sites.
    """
    examples = [each for page in data if (each := example(page))]
    empty = len(data) - len(examples)
    start = blank(examples)
    samples = [sample(start, each) for each in examples]
    scores: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        seen = [one for each, one in zip(examples, samples, strict=True) if each.group != fold]
        model = Model.from_json(learnt(start, seen).to_json())
        for each, one in zip(examples, samples, strict=True):
            if each.group == fold:
                scores.setdefault(each.page.kind, []).append(score(model, each, one))
    every = [value for values in scores.values() for value in values]
    rows = [Row("all pages", f"{sum(every) / (len(every) + empty):.3f}")]
    rows += [Row(kind, f"{sum(values) / len(values):.3f}") for kind, values in sorted(scores.items())]
    (ROOT / "archivebot/content" / WEIGHTS).write_text(learnt(start, samples).to_json(), "utf-8")
    return report(f"word F1 of {len(data)} pages, each by a model that has seen no page of its site", rows)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, help="only so many pages, evenly over the folder")
    parser.add_argument("--train", action="store_true", help="cross-validate, then write the weights")
    options = parser.parse_args()
    data = list(pages(options.data))
    if options.pages:
        data = data[:: max(1, len(data) // options.pages)]
    return train(data) if options.train else compare(data)


if __name__ == "__main__":
    sys.exit(main())
