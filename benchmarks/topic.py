"""Relevance of WebKB pages and of link targets, with one university left out, compared with scikit-learn.

    python benchmarks/topic.py DATA/webkb

DATA holds CLASS/UNIVERSITY/FILE: files as the server answered them, named by their URL with ^ for /. Each of
course, student, faculty and project is the topic once, and each university is left out once. The topic is
made from the pages of the other universities as by `scrapy topic --examples`, and the pages of the university
left out are judged as by `scrapy topic --evaluate`. LinearSVC of scikit-learn, on the damped and weighted
words of title and text, learns from the same pages.

Its link model, which a focused crawl begins with, ranks the links among the pages left out, by the link
alone. The peer counts how many of the five best words (chi-square) are in anchor and URL. All
figures are means over the runs. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from common import data_folder
from tables import Row, Table, at_least, report

from archivebot.exceptions import UsageError
from archivebot.text import words
from archivebot.text.terms import stem, terms
from archivebot.text.urltokens import url_tokens
from archivebot.topic.evaluation import Evaluation, auc, average_precision
from archivebot.topic.linkmodel import LinkModel
from archivebot.topic.linkterms import link_terms
from archivebot.topic.profile import TopicProfile
from archivebot.topic.selection import select
from archivebot.topic.sources import read_file
from archivebot.topic.training import Example, evaluated, from_examples, with_neighbours
from archivebot.urls import canonical_url

UNIVERSITIES = ("cornell", "texas", "wisconsin", "washington")
TOPICS = ("course", "student", "faculty", "project")
LEAST_PAGE_PRECISION, LEAST_PAGE_AREA = 0.43, 0.89
LEAST_LINK_PRECISION, LEAST_LINK_AREA = 0.52, 0.90

Pages = Sequence[tuple[str, str, Example]]
Measures = tuple[float, float]  # average precision, area under the ROC curve


@dataclass(frozen=True, slots=True)
class Result:
    """What one run gave: the judgement of pages, the ranking of links, and those of the peers."""

    pages: Evaluation
    svc: Measures
    links: Measures
    counted: Measures


def read_pages(folder: Path) -> Iterator[tuple[str, str, Example]]:
    """Yield (class, university, page) of every file whose name is a URL."""
    for path in sorted(folder.glob("*/*/*")):
        try:
            url = canonical_url(path.name.replace("^", "/").replace("http_//", "http://"))
        except UsageError:
            continue
        if path.parent.name in UNIVERSITIES:
            yield path.parent.parent.name, path.parent.name, read_file(path, url)


def result(pages: Pages, left_out: str, topic: str) -> Result:
    examples, held = (
        [
            Example(page.source, page.title, page.text, label == topic, page.links)
            for label, university, page in pages
            if (university == left_out) is out
        ]
        for out in (False, True)
    )
    profile = with_neighbours(from_examples(topic, examples), examples)
    return Result(
        evaluated(profile, held), by_svc(examples, held), ranked(profile, held), counted(examples, held)
    )


def by_svc(examples: Sequence[Example], held: Sequence[Example]) -> Measures:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    model = make_pipeline(DictVectorizer(), TfidfTransformer(sublinear_tf=True), LinearSVC())
    bags, unseen = ([Counter(words_of(page)) for page in each] for each in (examples, held))
    model.fit(bags, [page.relevant for page in examples])
    scores = [float(score) for score in model.decision_function(unseen)]
    return _measures(scores, [page.relevant for page in held])


def words_of(page: Example) -> list[str]:
    return words(f"{page.title}\n{page.text}")


def ranked(profile: TopicProfile, held: Sequence[Example]) -> Measures:
    """Rank the links among the pages held out by the link model of a topic."""
    assert profile.link_model is not None
    model = LinkModel.from_dict(profile.link_model)
    on_topic = {page.source: page.relevant for page in held}
    scores, labels = [], []
    for page in held:
        for link, bag in zip(page.links, link_terms(page.source, page.title, page.links), strict=True):
            if link.url in on_topic and link.url != page.source:
                labels.append(on_topic[link.url])
                scores.append(model.log_odds(bag))
    return _measures(scores, labels)


def counted(examples: Sequence[Example], held: Sequence[Example]) -> Measures:
    """Rank the same links by counting the five words that tell most."""
    bags = {
        name: [words_of(page) for page in examples if page.relevant is on]
        for name, on in (("on", True), ("off", False))
    }
    telling = set(map(stem, select(bags, best=5)))
    on_topic = {page.source: page.relevant for page in held}
    links = [link for page in held for link in page.links if link.url in on_topic and link.url != page.source]
    scores = [float(len(telling & {*terms(link.anchor), *url_tokens(link.url)})) for link in links]
    return _measures(scores, [on_topic[link.url] for link in links])


def _measures(scores: Sequence[float], labels: Sequence[bool]) -> Measures:
    return average_precision(scores, labels), auc(scores, labels)


def tables(results: Sequence[Result]) -> list[Table]:
    precision, area, f1, brier = (
        mean(getattr(each.pages, name) for each in results)
        for name in ("average_precision", "auc", "f1", "brier")
    )
    svc, links, peer = (
        [mean(getattr(each, name)[at] for each in results) for at in (0, 1)]
        for name in ("svc", "links", "counted")
    )
    pages = [
        Row("average precision", _figures(precision, svc[0]), at_least(precision, LEAST_PAGE_PRECISION)),
        Row("area under ROC", _figures(area, svc[1]), at_least(area, LEAST_PAGE_AREA)),
        Row("F1", _figures(f1)),
        Row("Brier score", _figures(brier)),
    ]
    targets = [
        Row("average precision", _figures(links[0], peer[0]), at_least(links[0], LEAST_LINK_PRECISION)),
        Row("area under ROC", _figures(links[1], peer[1]), at_least(links[1], LEAST_LINK_AREA)),
    ]
    return [
        Table(f"pages, {len(results)} runs", ("archivebot", "LinearSVC"), pages),
        Table(f"links, {len(results)} runs", ("archivebot", "five words"), targets),
    ]


def _figures(*values: float) -> list[str]:
    return [f"{value:.3f}" for value in values]


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--universities", nargs="+", choices=UNIVERSITIES, default=UNIVERSITIES)
    options = parser.parse_args()
    pages = list(read_pages(options.data))
    results = []
    for left_out in sorted({university for _, university, _ in pages}.intersection(options.universities)):
        for topic in TOPICS:
            results.append(result(pages, left_out, topic))
            found = results[-1]
            print(
                f"{left_out}, {topic}: pages {found.pages.average_precision:.3f}, links {found.links[0]:.3f}",
                file=sys.stderr,
            )
    return report(*tables(results))


if __name__ == "__main__":
    sys.exit(main())
