"""Main text of pages beside trafilatura, resiliparse, readability-lxml and jusText, as word F1 and speed.

The data is a folder in the form of WCXB: html/ID.html and ground-truth/ID.json. F1 is that of the bags
of words of a page's text and of its annotated main content, the mean over pages; pages without an
annotation are left out. Of the peers those that can be imported run. The weights that ship were learnt
from the development pages of WCXB, on which the honest figure is therefore that of ``--train``: it
cross-validates a model over five groups of sites, prints what it reaches on pages of sites that it has
not seen, and writes the weights learnt from all pages.
"""

from __future__ import annotations

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
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from common import ROOT, Row, data_folder, report

from archivebot.content import lines as lines_module
from archivebot.content import maintext
from archivebot.content.measures import measures
from archivebot.content.model import WEIGHTS, Model, line_words, near
from archivebot.content.page import content, read, title_words

WORDS = re.compile(r"\w+")
FOLDS = 5

# The bounds: F1 over all pages, and trafilatura's seconds in ours.
LEAST_F1 = 0.86
LEAST_SPEED = 5

# Names and words on fewer pages are no evidence: with 504 names and 539 words F1 is 0.778, with 603 and
# 670 and the words of headings 0.780, all 739 pages counted.
LEAST_PAGES = 50

# Strength of the regression: scikit-learn's C with weights of mean 1.
STRENGTH = 0.003


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


def our_text(markup: str) -> str:
    return content(markup).text


@dataclass(frozen=True)
class Result:
    """F1 of each page, and the CPU seconds for all."""

    scores: list[float]
    seconds: float

    def mean(self, chosen: Sequence[bool] | None = None) -> float:
        picked = [s for s, yes in zip(self.scores, chosen, strict=True) if yes] if chosen else self.scores
        return sum(picked) / len(picked)


def measured(extract: Callable[[str], str], data: Sequence[Page]) -> Result:
    """Run one extractor over all pages; a page that it fails on has no text."""
    scores, seconds = [], 0.0
    for page in data:
        markup = page.markup.decode("utf-8", "replace")
        started = time.process_time()
        try:
            text = extract(markup)
        except Exception:
            text = ""
        seconds += time.process_time() - started
        scores.append(f1(text, page.main))
    return Result(scores, seconds)


def compare(data: Sequence[Page]) -> int:
    ours, everything = measured(our_text, data), measured(all_text, data)
    rows = [Row("word F1", f"{ours.mean():.3f}", "", ours.mean(), LEAST_F1, least=True)]
    for name, make in PEERS.items():
        if importlib.util.find_spec(name):
            rows += _beside(name, ours, measured(make(), data), len(data))
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
    """A page as the regression sees it: a row for each line."""

    group: int  # pages of one site are in one group
    main: str
    texts: list[str]
    words: list[int]
    columns: Mapping[str, Any]
    features: list[set[tuple[str, str]]]
    right: list[bool]
    page: Page

    @property
    def weights(self) -> Any:
        """Every page counts the same, and in it longer lines more."""
        weights = np.array(self.words, dtype=np.float64) ** 0.7
        return weights / max(weights.sum(), 1)


def example(page: Page) -> Example | None:
    document, walk = read(page.markup.decode("utf-8", "replace"))
    if not walk.lines:
        return None
    texts = [line.text for line in walk.lines]
    host = urlsplit(page.url).hostname or page.url
    return Example(
        zlib.crc32(".".join(host.split(".")[-2:]).encode()) % FOLDS,
        page.main,
        texts,
        [len(WORDS.findall(text)) for text in texts],
        measures(walk.lines, title_words(document)),
        [_features(line) for line in walk.lines],
        agreement(texts, page.main),
        page,
    )


def _features(line: lines_module.Line) -> set[tuple[str, str]]:
    return {
        *(("names", name) for name in line.place.names),
        *(("near", name) for name in near(line.place)),
        *(("words", word) for word in line_words(line.text)),
    }


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


def known(examples: Sequence[Example]) -> list[tuple[str, str]]:
    """Give the names and words that enough pages have."""
    count = Counter(feature for each in examples for feature in set().union(*each.features))
    return sorted(feature for feature, pages in count.items() if pages >= LEAST_PAGES)


def learnt(examples: Sequence[Example]) -> Model:
    """Learn a model from pages."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped,unused-ignore]

    vocabulary = {feature: index for index, feature in enumerate(known(examples))}
    names = list(examples[0].columns)
    dense = np.vstack([np.column_stack([each.columns[name] for name in names]) for each in examples])
    mean, spread = dense.mean(axis=0), np.maximum(dense.std(axis=0), 1e-6)
    rows = [
        sorted(vocabulary[f] for f in features if f in vocabulary)
        for each in examples
        for features in each.features
    ]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row])
    known_part = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(vocabulary)))
    weights = np.concatenate([each.weights for each in examples])
    right = np.concatenate([each.right for each in examples])
    regression = LogisticRegression(C=STRENGTH, max_iter=100, tol=1e-3)
    both = sparse.hstack([known_part, sparse.csr_matrix((dense - mean) / spread)]).tocsr()
    regression.fit(both, right, sample_weight=weights / weights.mean())
    learned = regression.coef_[0]
    slopes = learned[len(vocabulary) :] / spread
    tables: dict[str, dict[str, float]] = {"names": {}, "near": {}, "words": {}}
    for (table, name), index in vocabulary.items():
        if weight := round(float(learned[index]), 3):
            tables[table][name] = weight
    return Model(
        round(float(regression.intercept_[0] - slopes @ mean), 4),
        {name: round(float(slope), 4) for name, slope in zip(names, slopes, strict=True)},
        **tables,
    )


def score(model: Model, each: Example) -> float:
    walk = read(each.page.markup.decode("utf-8", "replace"))
    likelihood = model.likelihood(walk[1].lines, title_words(walk[0]))
    chosen = maintext.choose(likelihood, each.words)
    return f1(maintext.joined(each.texts, chosen), each.main)


def train(data: Sequence[Page]) -> int:
    examples = [each for page in data if (each := example(page))]
    empty = len(data) - len(examples)
    scores: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        model = learnt([each for each in examples if each.group != fold])
        for each in examples:
            if each.group == fold:
                scores.setdefault(each.page.kind, []).append(score(model, each))
    every = [value for values in scores.values() for value in values]
    rows = [Row("all pages", f"{sum(every) / (len(every) + empty):.3f}")]
    rows += [Row(kind, f"{sum(values) / len(values):.3f}") for kind, values in sorted(scores.items())]
    model = learnt(examples)
    text = json.dumps(vars(model), indent=0, sort_keys=True, ensure_ascii=False)
    (ROOT / "archivebot/content" / WEIGHTS).write_text(f"{text}\n", "utf-8")
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
