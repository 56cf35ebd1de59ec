"""Classes of WebKB pages and of the targets of links, one university left out, beside scikit-learn.

    python benchmarks/topic.py DATA/webkb

DATA holds CLASS/UNIVERSITY/FILE: files as the server answered them, named by their URL with ^ for /.
Pages of course, student, faculty and project of one university are told apart after training on the
other universities and misc; accuracy is over the pages of all universities left out. The naive Bayes
reads title and main text. The combination adds what the pages that link to it say: the words of their
anchors, of the headings above, and of their titles; labels of the linking pages are not used.
scikit-learn gets the same words.

For links each of the four classes is the topic once: the link model learns from the links among the
labelled pages of the other universities, and ranks those of the university left out whose target is
labelled, by the link alone. Average precision and area under the ROC curve are means over all runs; the
peer counts how many of the five words that tell most (chi-square) stand in anchor and URL. Exit code 1 if
a bound fails.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from common import Row, data_folder, report

from archivebot.exceptions import UsageError
from archivebot.text import words
from archivebot.text.terms import stem, terms
from archivebot.text.urltokens import url_tokens
from archivebot.topic.evaluation import auc, average_precision
from archivebot.topic.evidence import Evidence, EvidenceClassifier, source_model
from archivebot.topic.linkmodel import TrainingPage, train
from archivebot.topic.linkterms import link_terms
from archivebot.topic.selection import select
from archivebot.topic.sources import read_file
from archivebot.topic.training import Example
from archivebot.urls import canonical_url, host_of

UNIVERSITIES = ("cornell", "texas", "wisconsin", "washington")
CLASSES = ("course", "student", "faculty", "project")
LEAST_BAYES, LEAST_COMBINED = 0.83, 0.88
LEAST_PRECISION, LEAST_AREA = 0.52, 0.90

Pages = list[tuple[str, str, Example]]
Measures = tuple[float, float]  # average precision, area under the ROC curve


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page of the data, with what it says and what is said of it."""

    label: str
    university: str
    host: str
    evidence: Evidence


def read_pages(folder: Path) -> Pages:
    """Give (class, university, page) of every file whose name is a URL."""
    pages = []
    for path in sorted(folder.glob("*/*/*")):
        try:
            url = canonical_url(path.name.replace("^", "/").replace("http_//", "http://"))
        except UsageError:
            continue
        pages.append((path.parent.parent.name, path.parent.name, read_file(path, url)))
    return pages


def with_evidence(pages: Pages) -> list[LabelledPage]:
    """Gather for each page of the four classes its own words and those of the pages that link to it."""
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for _, _, page in pages:
        title = set(words(page.title))
        for link in page.links:
            if link.url != page.source:
                said[link.url].update([*words(link.anchor), *set(words(link.heading)), *title])
    return [
        LabelledPage(
            label,
            university,
            host_of(page.source),
            {
                "page": Counter(words(f"{page.title}\n{page.text}")),
                "title": Counter(words(page.title)),
                "neighbours": said[page.source],
            },
        )
        for label, university, page in pages
        if label in CLASSES
    ]


def group(page: LabelledPage) -> str:
    """Say what is held out together: a university, and of misc a third of its hosts."""
    return page.university if page.university != "misc" else f"misc{sum(page.host.encode()) % 3}"


def peers(train: Sequence[LabelledPage], test: Sequence[LabelledPage]) -> dict[str, list[bool]]:
    """Let scikit-learn classify by the same words of the page."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    models: dict[str, Any] = {
        "MultinomialNB": make_pipeline(DictVectorizer(), MultinomialNB()),
        "LinearSVC": make_pipeline(DictVectorizer(), TfidfTransformer(sublinear_tf=True), LinearSVC()),
    }
    right = {}
    for name, model in models.items():
        model.fit([page.evidence["page"] for page in train], [page.label for page in train])
        found = model.predict([page.evidence["page"] for page in test])
        right[name] = [bool(label == page.label) for label, page in zip(found, test, strict=True)]
    return right


def judged(train: Sequence[LabelledPage], test: Sequence[LabelledPage]) -> dict[str, list[bool]]:
    """Say of each page whether it was put into its class, by each classifier."""
    bayes = source_model([(page.label, page.evidence["page"]) for page in train])
    combined = EvidenceClassifier.train(
        [(page.label, page.evidence) for page in train], [group(page) for page in train]
    )
    right = peers(train, test)
    right["bayes"] = []
    right["combined"] = []
    for page in test:
        scores = bayes.scores(page.evidence["page"])
        right["bayes"].append(max(scores, key=scores.__getitem__) == page.label)
        right["combined"].append(combined.classify(page.evidence) == page.label)
    return right


def ranked_links(pages: Pages, left_out: str, topic: str) -> tuple[Measures, Measures]:
    """Give (average precision, area) of the link model and of counting words, for one run."""
    classes = [(page, label == topic) for label, university, page in pages if university in _others(left_out)]
    training = [TrainingPage(page.source, page.title, on, page.links) for page, on in classes]
    model = train(training)
    assert model is not None
    bags = {
        "on": [words(f"{page.title} {page.text}") for page, on in classes if on],
        "off": [words(f"{page.title} {page.text}") for page, on in classes if not on],
    }
    told = set(map(stem, select(bags, best=5)))
    test = {
        page.source: (page, label == topic) for label, university, page in pages if university == left_out
    }
    labels, scores, counts = [], [], []
    for page, _ in test.values():
        for link, bag in zip(page.links, link_terms(page.source, page.title, page.links), strict=True):
            if link.url in test and link.url != page.source:
                labels.append(test[link.url][1])
                scores.append(model.log_odds(bag))
                counts.append(float(len(told & {*terms(link.anchor), *url_tokens(link.url)})))
    return _measures(scores, labels), _measures(counts, labels)


def _others(left_out: str) -> set[str]:
    return {*UNIVERSITIES} - {left_out}


def _measures(scores: Sequence[float], labels: Sequence[bool]) -> Measures:
    return average_precision(scores, labels), auc(scores, labels)


def link_rows(pages: Pages) -> list[Row]:
    ours, peer = [], []
    for left_out in UNIVERSITIES:
        if not any(university == left_out for _, university, _ in pages):
            continue
        for topic in CLASSES:
            found, counted = ranked_links(pages, left_out, topic)
            print(f"{left_out}, {topic}: {found[0]:.3f}, {found[1]:.3f}", file=sys.stderr)
            ours.append(found)
            peer.append(counted)
    rows = []
    for name, measure, least in (("precision", 0, LEAST_PRECISION), ("area", 1, LEAST_AREA)):
        value = mean(found[measure] for found in ours)
        words_alone = mean(counted[measure] for counted in peer)
        rows.append(Row(f"links: {name}", f"{value:.3f}", f"words {words_alone:.3f}", value, least, True))
    return rows


def main() -> int:
    options = data_folder(__doc__).parse_args()
    read = read_pages(options.data)
    pages = with_evidence(read)
    right: dict[str, list[bool]] = defaultdict(list)
    for left_out in UNIVERSITIES:
        test = [page for page in pages if page.university == left_out]
        if not test:
            continue
        found = judged([page for page in pages if page.university != left_out], test)
        shares = ", ".join(f"{name} {sum(hits) / len(hits):.3f}" for name, hits in sorted(found.items()))
        print(f"{left_out}: {len(test)} pages; {shares}", file=sys.stderr)
        for name, hits in found.items():
            right[name] += hits
    accuracy = {name: sum(hits) / len(hits) for name, hits in right.items()}
    peer = {name: f"{name} {accuracy[name]:.3f}" for name in ("MultinomialNB", "LinearSVC")}
    rows = [
        Row(
            "pages: naive Bayes",
            f"{accuracy['bayes']:.3f}",
            peer["MultinomialNB"],
            accuracy["bayes"],
            LEAST_BAYES,
            True,
        ),
        Row(
            "pages: combination",
            f"{accuracy['combined']:.3f}",
            peer["LinearSVC"],
            accuracy["combined"],
            LEAST_COMBINED,
            True,
        ),
    ]
    return report("WebKB, four classes, one university left out", rows + link_rows(read))


if __name__ == "__main__":
    sys.exit(main())
