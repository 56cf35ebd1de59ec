"""Learns which lines of a page are main text, cross-validated by site and compared with trafilatura.

    python benchmarks/learn_maintext.py DATA/wcxb-dev DATA/articles-dev [--write]

Pages of both sets are divided into five groups of sites, and each is judged by a model that saw no page of
its site. `articles-dev` has two parts. The first has the text that a reader mode shows: word F1, mean over
pages. The second has phrases that must and that must not be in the main text: precision and recall of the
phrases. Of those pages the lines with phrases alone are learnt from, and the lines of the same kind.
trafilatura, if it can be imported, reads the pages of `articles-dev` in the same run. `--write` writes the
weights learnt from all pages. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from archivebot.content import maintext  # isort: skip  # before numpy, whose threads archivebot sets
import numpy as np
from common import ROOT, data_folder
from maintext import WORDS, f1, pages, trafilatura_text
from numpy.typing import NDArray
from tables import Bound, Row, Table, at_least, report
from turbohtml import Document

from archivebot.content.context import Context
from archivebot.content.known import TABLES, Features, near
from archivebot.content.lines import Line
from archivebot.content.measures import measures
from archivebot.content.model import WEIGHTS, Model
from archivebot.content.page import read, title_words
from archivebot.content.surroundings import Around
from archivebot.content.training import Sample, learnt

FOLDS = 5

# The bounds: F1 on WCXB, and how far precision may lie below that of trafilatura.
LEAST_WCXB = 0.815
PRECISION_BELOW = 0.01
KINDS = "article collection documentation forum listing product service".split()
ARTICLES = {"reader": "words of the reader mode", "phrases": "phrases"}
PEER = "trafilatura"

# The site of pages that neither state one nor link to one. They are tests of a parser with hardly any
# furniture and are not learnt from: a small page would be taken for main text as a whole.
NO_SITE = ""

# Names and words on fewer pages are no evidence.
LEAST_PAGES = 40

# Hidden values of a line; with 24 F1 is the same.
HIDDEN = 12

# Words from which a line that is repeated is right only as often as the main content has it.
LEAST_REPEATED = 3

# What the share of a line in the loss grows with: its words to this power.
GROWTH = 0.7

# Weight in the loss of a line of the same kind as one with a phrase, beside that one.
ALIKE = 0.3


@dataclass(frozen=True)
class Page:
    """A page with what is known of its main text: the text, or phrases."""

    site: str
    kind: str
    markup: bytes
    main: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


def of_wcxb(folder: Path) -> Iterator[Page]:
    for page in pages(folder):
        host = urlsplit(page.url).hostname or page.url
        yield Page(_domain(host), page.kind, page.markup, page.main)


def of_articles(folder: Path) -> Iterator[Page]:
    for label in json.loads((folder / "labels.json").read_text("utf-8")):
        markup = (folder / "html" / label["file"]).read_bytes()
        site = _site(label, markup)
        if main := label.get("main_text"):
            yield Page(site, "reader", markup, main)
        else:
            yield Page(site, "phrases", markup, "", tuple(label["with"]), tuple(label["without"]))


_HOST = re.compile(r"(?<![\w.-])(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
_CANONICAL = re.compile(rb"<link[^>]+canonical[^>]*>|<meta[^>]+og:url[^>]*>", re.IGNORECASE)
_HTTP = re.compile(rb"https?://([^/\"'>\s]+)")


def _site(label: Mapping[str, str], markup: bytes) -> str:
    """Name the site of a page: as the page says, else by its URL, else the site that it links to most; pages
    without any are of none.
    """
    stated = _CANONICAL.search(markup)
    if stated and (host := _HTTP.search(stated[0])):
        return _domain(host[1].decode("ascii", "replace"))
    url = label.get("url") or ""
    hosts = [host for host in _HOST.findall(url) if host != "web.archive.org"]
    if hosts:
        return _domain(hosts[0])
    linked = Counter(_domain(host.decode("ascii", "replace")) for host in _HTTP.findall(markup))
    return linked.most_common(1)[0][0] if linked else NO_SITE


def _domain(host: str) -> str:
    return ".".join(host.lower().removeprefix("www.").split(".")[-2:])


@dataclass(frozen=True)
class Example:
    """A page as the training sees it; ``labelled`` is how much each line tells."""

    page: Page
    document: Document
    lines: list[Line]
    right: NDArray[np.float64]
    labelled: NDArray[np.float64]

    @property
    def group(self) -> int:
        return zlib.crc32(self.page.site.encode()) % FOLDS

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.lines]


def example(page: Page) -> Example | None:
    document, walk = read(page.markup.decode("utf-8", "replace"))
    if not walk.lines:
        return None
    if page.main:
        right = agreement([line.text for line in walk.lines], page.main)
        counts = np.array([line.words for line in walk.lines], dtype=np.float64)
        return Example(page, document, walk.lines, np.array(right, dtype=np.float64), counts**GROWTH)
    return Example(page, document, walk.lines, *by_phrases(walk.lines, page))


def agreement(texts: Sequence[str], main: str) -> list[bool]:
    """Return which lines stand in the main content: by word triples across lines, short ones as a whole; a
    line that is repeated, as often as the main content has it.
    """
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
    said, joined = Counter[tuple[str, ...]](), f" {' '.join(wanted)} "
    for words in split:
        inside = sum(covered[at : at + len(words)])
        chained = at > 0 and covered[at - 1] and covered[at + len(words)] and inside == len(words)
        long = len(words) > 2 and 2 * inside >= len(words)
        yes = bool(words) and (tuple(words) in whole or bool(chained) or long)
        if yes and len(words) >= LEAST_REPEATED:
            said[tuple(words)] += 1
            times = said[tuple(words)]
            yes = times == 1 or joined.count(f" {' '.join(words)} ") >= times
        right.append(yes)
        at += len(words)
    return right


def by_phrases(lines: Sequence[Line], page: Page) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return which lines are right by the phrases in them, and how much each tells.

    Lines of the kind of a line with a phrase are taken to be as that is, unless lines of that kind are
    both; of those that are wanted only the running text between the first and the last.
    """
    wanted, unwanted = _with_phrases(lines, page.wanted), _with_phrases(lines, page.unwanted)
    unwanted &= ~wanted
    right, labelled = wanted.astype(np.float64), (wanted | unwanted).astype(np.float64)
    if wanted.any():
        kinds = [line.place.kind for line in lines]
        good, bad = ({kinds[at] for at in np.flatnonzero(each)} for each in (wanted, unwanted))
        first, last = np.flatnonzero(wanted)[[0, -1]]
        long = Around.of(lines).worded("long")
        for at, kind in enumerate(kinds):
            if labelled[at]:
                continue
            if kind in bad and kind not in good:
                labelled[at] = ALIKE
            elif kind in good and kind not in bad and first < at < last and long[at]:
                labelled[at], right[at] = ALIKE, 1
    return right, labelled


def _with_phrases(lines: Sequence[Line], phrases: Sequence[str]) -> NDArray[np.bool_]:
    """Return which lines hold a phrase or a part of it that is at least half of them."""
    found = np.zeros(len(lines), dtype=bool)
    texts = [line.text for line in lines]
    flow = " ".join(texts)
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    for phrase in phrases:
        wanted = " ".join(phrase.split())
        at = flow.find(wanted)
        while at >= 0 and wanted:
            first, last = np.searchsorted(starts, [at, at + len(wanted) - 1], side="right") - 1
            found[first : last + 1] = True
            at = flow.find(wanted, at + len(wanted))
    return found


def blank(examples: Sequence[Example]) -> Model:
    """Return a model of random weights, with the measures of the pages and the names that enough have."""
    arounds = [Around.of(each.lines) for each in examples]
    columns = [
        measures(each.lines, title_words(each.document), around)
        for each, around in zip(examples, arounds, strict=True)
    ]
    scales = {}
    for name in columns[0]:
        values = np.concatenate([each[name] for each in columns])
        scales[name] = (round(float(values.mean()), 4), round(max(float(values.std()), 0.01), 4))
    count = Counter(entry for around in arounds for entry in entries(around))
    often = sorted(entry for entry, number in count.items() if number >= LEAST_PAGES)
    tables = {table: [name for kind, name in often if kind == table] for table in TABLES}
    return Model.random(scales, tables, HIDDEN)


def entries(around: Around) -> set[tuple[str, str]]:
    """Return all that the lines of a page are known by, with its table."""
    found: set[tuple[str, str]] = set()
    for place, *rest in Features.of(around).by_line(around):
        for table, names in zip(TABLES, (place.names, near(place), *rest), strict=True):
            found.update((table, name) for name in names)
    return found


def sample(model: Model, each: Example) -> Sample:
    """Prepare a page for the training. Of a page with phrases each line with one counts as much."""
    around = Around.of(each.lines)
    share = each.labelled / max(each.labelled.sum(), 1)
    if each.page.main:
        words = np.array([len(WORDS.findall(text)) for text in each.texts], dtype=np.float64)
        wanted = max(float(len(WORDS.findall(each.page.main))), 1)
    else:
        words = (each.labelled == 1).astype(np.float64)
        wanted = max(float(words @ each.right), 1)
    return Sample(
        model.inputs(each.lines, title_words(each.document), around),
        model.known(around),
        Context.of(each.lines, around),
        each.right,
        share,
        words,
        wanted,
    )


@dataclass(frozen=True)
class Text:
    """A page with the text that was found for it."""

    page: Page
    text: str


def precision_recall(texts: Sequence[Text]) -> tuple[float, float]:
    """Return mean precision and recall of words over pages, or of the phrases of all pages."""
    if texts[0].page.main:
        counts = [(_bag(each.text), _bag(each.page.main)) for each in texts]
        held = [((found & wanted).total(), found.total(), wanted.total()) for found, wanted in counts]
        precision, recall = zip(*((both / max(a, 1), both / max(b, 1)) for both, a, b in held), strict=True)
        return sum(precision) / len(texts), sum(recall) / len(texts)
    good = [_is_in(phrase, each.text) for each in texts for phrase in each.page.wanted]
    bad = [_is_in(phrase, each.text) for each in texts for phrase in each.page.unwanted]
    return sum(good) / max(sum(good) + sum(bad), 1), sum(good) / len(good)


def _bag(text: str) -> Counter[str]:
    return Counter(WORDS.findall(text.lower()))


def _is_in(phrase: str, text: str) -> bool:
    return " ".join(phrase.split()) in " ".join(text.split())


def figure(texts: Sequence[Text]) -> float:
    """Return the mean word F1 over pages, or the F1 of the phrases of all pages."""
    if texts[0].page.main:
        return sum(f1(each.text, each.page.main) for each in texts) / len(texts)
    precision, recall = precision_recall(texts)
    return 2 * precision * recall / max(precision + recall, 1e-9)


def cross_validated(examples: Sequence[Example], start: Model, samples: Sequence[Sample]) -> list[Text]:
    """Judge each page by a model that saw no page of its site."""
    texts = []
    for fold in range(FOLDS):
        seen = [
            one
            for each, one in zip(examples, samples, strict=True)
            if each.group != fold and each.page.site != NO_SITE
        ]
        model = Model.from_json(learnt(start, seen).to_json())
        for each, one in zip(examples, samples, strict=True):
            if each.group == fold:
                likelihood = model.judged(one.inputs, one.known, one.context)
                chosen = maintext.choose(likelihood, [line.words for line in each.lines])
                texts.append(Text(each.page, maintext.joined(each.lines, chosen.tolist())))
    return texts


def peer_texts(data: Sequence[Page]) -> list[Text]:
    extract = trafilatura_text()
    return [Text(page, extract(page.markup.decode("utf-8", "replace"))) for page in data]


def article_table(kind: str, ours: Sequence[Text], peer: Sequence[Text] | None) -> Table:
    """Report one part of articles-dev, beside trafilatura if it is installed."""
    measured = [_figures(each) for each in (ours, peer) if each is not None]
    bounds: dict[str, Bound] = {}
    if peer is not None:
        (f1_, precision, _), (their_f1, their_precision, _) = measured
        bounds["F1"] = at_least(f1_, round(their_f1, 3))
        bounds["precision"] = at_least(precision, round(their_precision - PRECISION_BELOW, 3))
    rows = [
        Row(name, [f"{each[at]:.3f}" for each in measured], bounds.get(name))
        for at, name in enumerate(("F1", "precision", "recall"))
    ]
    return Table(f"{ARTICLES[kind]}, {len(ours)} pages", ("archivebot", PEER)[: len(measured)], rows)


def _figures(texts: Sequence[Text]) -> tuple[float, float, float]:
    return figure(texts), *precision_recall(texts)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("articles", type=Path, help="folder of articles-dev")
    parser.add_argument("--write", action="store_true", help="write the weights learnt from all pages")
    options = parser.parse_args()
    data = [*of_wcxb(options.data), *of_articles(options.articles)]
    examples = [each for page in data if (each := example(page))]
    start = blank(examples)
    samples = [sample(start, each) for each in examples]
    texts = cross_validated(examples, start, samples)
    texts += [Text(page, "") for page in data if page not in {each.page for each in examples}]
    wcxb = [each for each in texts if each.page.kind not in ARTICLES]
    rows = [Row("all", (f"{figure(wcxb):.3f}",), at_least(figure(wcxb), LEAST_WCXB))]
    kinds = {kind: [each for each in wcxb if each.page.kind == kind] for kind in KINDS}
    rows += [Row(kind, (f"{figure(of_kind):.3f}",)) for kind, of_kind in kinds.items() if of_kind]
    tables = [Table(f"word F1, {len(wcxb)} pages", ("sites not seen",), rows)]
    peer = find_spec(PEER) is not None
    for kind in ARTICLES:
        ours = [each for each in texts if each.page.kind == kind]
        theirs = peer_texts([each.page for each in ours]) if peer else None
        tables.append(article_table(kind, ours, theirs))
    if options.write:
        seen = [one for each, one in zip(examples, samples, strict=True) if each.page.site != NO_SITE]
        weights = learnt(start, seen).to_json()
        (ROOT / "archivebot/content" / WEIGHTS).write_text(weights, "utf-8")
    return report(*tables, missing=() if peer else (PEER,))


if __name__ == "__main__":
    sys.exit(main())
