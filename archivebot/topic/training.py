"""Training: the profile of a topic from words, from texts, or from labelled examples."""

from __future__ import annotations

import heapq
import logging
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from archivebot.exceptions import UsageError
from archivebot.models import Link
from archivebot.text.bayes import NaiveBayes
from archivebot.text.terms import terms
from archivebot.topic.background import of_world
from archivebot.topic.evaluation import Evaluation, best_threshold, evaluate, folds
from archivebot.topic.linkmodel import LinkModel, TrainingPage, train
from archivebot.topic.logistic import Logistic, fit, probability
from archivebot.topic.profile import TopicProfile, alike, load, names
from archivebot.topic.query import is_query, read_query
from archivebot.topic.relevance import PageScorer, PageText, Relevance, features
from archivebot.topic.rings import Ring
from archivebot.topic.selection import Score, chi_square, select
from archivebot.topic.similarity import Similarity, neighbours
from archivebot.topic.vectors import Vector, centroid, damped, frequencies
from archivebot.topic.wordlist import weighted_words

logger = logging.getLogger(__name__)

# The minimum match of a relevant page for a topic of words alone, and the weight of the match in the
# log-odds. In simulated crawls of a web of 60 sites, four topics of twelve words each, the share of pages on
# topic after R/2 and R fetches is 0.93 and 0.76 with 0.12, 0.95 and 0.79 with 0.2. A slope larger by two
# thirds is as good; with half the slope the crawl loses its way: 0.57 after R/2.
EVEN_MATCH = 0.2
STEEPNESS = 30.0

# Minimum of examples of each kind from which weights can be learnt with held-out examples.
LEAST_EXAMPLES = 5
FOLDS = 5

# Of each kind. On WebKB the cosine with the terms for a topic orders pages as well with 500 of them as
# with all: mean average precision 0.447 and 0.446.
MOST_TERMS = 500

# Words that the page model has. WebKB's four classes, words of title and body, one of three universities
# left out: accuracy 0.834 with 2,000 words, 0.823 with 5,000.
MODEL_WORDS = 2000

# A page is relevant to a topic of examples alone from this share of their median match on, each of them
# being matched by the terms of the others.
EVEN_SHARE = 0.7

# On WebKB, 12 topics with one university left out, all three together order pages with a mean average
# precision of 0.458 (AUC 0.905); alone they have 0.285, 0.447 and 0.220.
PARTS = ("match", "bayes", "cosine", "count")
RIDGE = 0.01  # a cosine moves by some hundredths; a penalty of 1 would keep its weight down


@dataclass(frozen=True, slots=True)
class Example:
    """A page with its label: ``source`` is its URL or file, ``links`` are its links."""

    source: str
    title: str
    text: str = field(repr=False)
    relevant: bool = True
    links: tuple[Link, ...] = field(default=(), repr=False)


def profile_of(text: str, folder: Path) -> TopicProfile:
    """Return the profile with a name, or a profile made from words or a query.

    If words resemble the name of a topic, this is logged. Raises UsageError if the text names a file.
    """
    if text in names(folder):
        return load(text, folder)
    if text.startswith("@") or text.endswith(".json"):
        raise UsageError(f"{text!r} is a file: give the name of a topic, or words")
    if near := alike(text, folder):
        logger.warning("There is no topic %r, so its words are the topic; did you mean %s?", text, near[0])
    else:
        logger.info("There is no topic %r in %s: its words are the topic", text, folder)
    return from_text("words", text)


def from_text(name: str, text: str) -> TopicProfile:
    """Return a profile of words with weights, or of a Boolean query. Raises UsageError if it is neither.

    A page of a query's topic must satisfy the query, and matches the words that speak for the topic.

    >>> profile = from_text("sea", "(harbour OR port) AND NOT airport")
    >>> profile.terms, profile.negative
    ({'harbour': 1.0, 'port': 1.0}, {})
    """
    if not is_query(text):
        return from_words(name, weighted_words(text))
    query = read_query(text)
    return replace(from_words(name, query.weights), query=query)


def from_words(name: str, weighted: Mapping[str, float]) -> TopicProfile:
    """Return a profile of words with weights; words with a weight below 0 speak against the topic.

    Several words are a phrase, which counts as a whole. Among the terms a word has its own weight, or the
    largest weight of its phrases if it is not given alone. Raises UsageError without any word.

    >>> from_words("diving", {"coral reefs": 2.0, "casino": -1.0}).terms
    {'coral': 2.0, 'reef': 2.0}
    """
    given = {" ".join(parts): weight for text, weight in weighted.items() if (parts := terms(text))}
    found = {term: weight for phrase, weight in given.items() for term in phrase.split()}
    # The last weight of a word counts: its own, or the largest of its phrases. The order of the words stays.
    for phrase, weight in sorted(given.items(), key=lambda item: (" " not in item[0], item[1])):
        found |= dict.fromkeys(phrase.split(), weight)
    positive = {term: weight for term, weight in found.items() if weight > 0}
    if not positive:
        raise UsageError("the words of a topic need at least one meaningful word")
    negative = {term: -weight for term, weight in found.items() if weight < 0}
    return TopicProfile(name, positive, by_match(EVEN_MATCH), negative, given=given)


def by_match(even: float) -> Logistic:
    """Return log-odds that are even at the given match."""
    return Logistic(-STEEPNESS * even, {"match": STEEPNESS})


def from_examples(name: str, examples: Sequence[Example], score: Score = chi_square) -> TopicProfile:
    """Make a profile of labelled pages; those that are relevant are enough.

    The terms are Rocchio's: the centroid of the relevant pages less that of the others (Rocchio,
    "Relevance Feedback in Information Retrieval", 1971), times what each tells by the background. With five
    pages of each kind a naive Bayes is trained too, on the words that tell most by ``score``, and the weights
    of the parts are learnt from pages held out; without, the match alone decides. The links among labelled
    pages train the link model. Raises UsageError without a relevant page that has text.
    """
    pages = [(PageText.of(example.title, example.text), example.relevant) for example in examples]
    pages = [(page, label) for page, label in pages if page.words]
    relevant = sum(label for _, label in pages)
    if not relevant:
        raise UsageError("no page of the topic has text to learn from")
    labelled = min(relevant, len(pages) - relevant) >= LEAST_EXAMPLES
    profile = _described(name, pages, labelled, score)
    if not labelled:
        return replace(profile, combination=_by_match(pages, score))
    combination, threshold = _combined(pages, score)
    link_model = _link_model(examples, LinkModel.of_terms(profile.vector))
    return replace(profile, combination=combination, threshold=threshold, link_model=link_model)


def with_text(profile: TopicProfile, text: str) -> TopicProfile:
    """Return a profile from examples with words or a query, whose words weigh as much as its best term.

    A word speaks for or against the topic as the text says, whatever the examples say.
    """
    added = from_text(profile.name, text)
    best = max(profile.terms.values(), default=1.0)
    terms = {term: weight for term, weight in profile.terms.items() if term not in added.negative}
    negative = {term: weight for term, weight in profile.negative.items() if term not in added.terms}
    terms |= {term: best * weight for term, weight in added.terms.items()}
    negative |= {term: best * weight for term, weight in added.negative.items()}
    return replace(profile, terms=terms, negative=negative, query=added.query)


def with_synonyms(profile: TopicProfile, rings: Iterable[Ring]) -> TopicProfile:
    """Return a profile with rings of synonyms: each word counts as the best topic term in its ring.

    A near word of a ring is a neighbour of that term.

    >>> words = from_words("ferries", {"ferry": 2.0, "boat": 1.0, "car": -1.0})
    >>> ferries = with_synonyms(words, [Ring(("ferry", "boat", "ship"), {"raft": 0.5})])
    >>> ferries.neighbours
    {'raft': 0.5}
    >>> ferries.terms, ferries.vector
    ({'ferri': 2.0}, {'ferri': 2.0, 'car': -1.0, 'boat': 2.0, 'ship': 2.0})
    """
    given = list(rings)
    synonyms = dict.fromkeys((*profile.synonyms, *(ring.words for ring in given if len(ring.words) > 1)))
    known = replace(profile, synonyms=tuple(synonyms))
    same, widened = known.stands_for, known.vector
    neighbours = {**profile.neighbours, **_near(known.similarity(), given)}
    return replace(
        known,
        neighbours={word: near for word, near in neighbours.items() if word not in widened},
        terms={term: weight for term, weight in profile.terms.items() if term not in same},
        negative={term: weight for term, weight in profile.negative.items() if term not in same},
    )


def _near(topic: Similarity, rings: Iterable[Ring]) -> dict[str, float]:
    """Return the near words of rings, each with its similarity times that of the best word of its ring."""
    found: dict[str, float] = {}
    for ring in rings:
        best = max((topic.of(term) for word in ring.words for term in terms(word)), default=0.0)
        found |= {term: best * near for word, near in ring.near.items() for term in terms(word) if best}
    return found


def with_neighbours(profile: TopicProfile, examples: Iterable[Example]) -> TopicProfile:
    """Return a profile with the words that the relevant examples use in the contexts of its terms."""
    texts = [terms(f"{example.title}\n{example.text}") for example in examples if example.relevant]
    topic = profile.similarity().similarities
    learnt = neighbours(topic, texts, known=profile.vector)
    return replace(profile, neighbours={**learnt, **profile.neighbours})


def evaluated(profile: TopicProfile, examples: Sequence[Example]) -> Evaluation:
    """Judge labelled pages by a topic, and compare the judgements with the labels."""
    scorer = PageScorer(profile)
    return _held_against([scorer.score(each.title, each.text) for each in examples], examples)


def cross_validated(
    examples: Sequence[Example], number: int = FOLDS, score: Score = chi_square
) -> Evaluation:
    """Judge each example by a profile of the other folds. Raises UsageError with one kind only."""
    labels = [example.relevant for example in examples]
    if min(sum(labels), len(labels) - sum(labels)) < 2:
        raise UsageError("cross-validation needs at least two relevant and two other examples")
    given = folds(labels, min(number, sum(labels), len(labels) - sum(labels)))
    found: dict[int, Relevance] = {}
    for fold in sorted(set(given)):
        train = [example for example, held in zip(examples, given, strict=True) if held != fold]
        scorer = PageScorer(from_examples("evaluation", train, score))
        for index, example in enumerate(examples):
            if given[index] == fold:
                found[index] = scorer.score(example.title, example.text)
    return _held_against([found[index] for index in range(len(examples))], examples)


def _held_against(judged: Sequence[Relevance], examples: Sequence[Example]) -> Evaluation:
    return evaluate(
        [each.log_odds for each in judged],
        [each.value for each in judged],
        [each.relevant for each in judged],
        [each.relevant for each in examples],
    )


Labelled = tuple[PageText, bool]


def _link_model(examples: Iterable[Example], words: LinkModel) -> dict[str, Any] | None:
    pages = (TrainingPage(page.source, page.title, page.relevant, page.links) for page in examples)
    model = train(list(pages), words)
    return model.as_dict() if model else None


def _described(name: str, pages: Sequence[Labelled], labelled: bool, score: Score) -> TopicProfile:
    """Return the terms and the page model; the combination is still to come."""
    relevant = [page for page, label in pages if label]
    other = [page for page, label in pages if not label]
    terms, negative = _rocchio(relevant, other)
    model = page_model(relevant, other, score).as_dict() if labelled else None
    unset = Logistic(0.0, {})
    return TopicProfile(
        name, terms, unset, negative, page_model=model, relevant=len(relevant), other=len(other)
    )


def page_model(
    relevant: Iterable[PageText], other: Iterable[PageText], score: Score = chi_square
) -> NaiveBayes:
    """Train a naive Bayes on the words of pages that tell most by a score."""
    classes = {
        label: [page.words for page in pages] for label, pages in (("relevant", relevant), ("other", other))
    }
    model = NaiveBayes(vocabulary=select(classes, score, MODEL_WORDS))
    for label, bags in classes.items():
        for bag in bags:
            model.learn(label, bag)
    return model


def _rocchio(relevant: Sequence[PageText], other: Sequence[PageText]) -> tuple[Vector, Vector]:
    known = Counter(term for page in relevant for term in {*page.title, *page.body})
    # A term of a single page is specific to it, if there are other pages to compare it with.
    least = 2 if len(relevant) > 2 else 1
    towards = _centroid(relevant)
    against = _centroid(other)
    weights = {
        term: (weight - against.get(term, 0.0)) * of_world(term)
        for term, weight in towards.items()
        if known[term] >= least
    }
    best = heapq.nlargest(MOST_TERMS, weights.items(), key=lambda item: item[1])
    worst = {term: (weight - towards.get(term, 0.0)) * of_world(term) for term, weight in against.items()}
    most = heapq.nlargest(MOST_TERMS, worst.items(), key=lambda item: item[1])
    scale = max(best[0][1], 1e-9) if best else 1.0
    return (
        {term: weight / scale for term, weight in best if weight > 0},
        {term: weight / scale for term, weight in most if weight > 0},
    )


def _centroid(pages: Iterable[PageText]) -> dict[str, float]:
    return centroid(damped(frequencies(page.title, page.body)) for page in pages)


def _combined(pages: Sequence[Labelled], score: Score) -> tuple[Logistic, float]:
    """Learn the weights of the parts, and the threshold with the best F1, from pages not trained on."""
    labels = [label for _, label in pages]
    rows: list[dict[str, float]] = []
    kept: list[bool] = []
    for profile, held in _held_out(pages, labels, score):
        model = NaiveBayes.from_dict(profile.page_model) if profile.page_model else None
        rows.extend(features(page, profile, model) for page, _ in held)
        kept.extend(label for _, label in held)
    combination = fit(rows, kept, PARTS, ridge=RIDGE)
    return combination, best_threshold([probability(combination.log_odds(row)) for row in rows], kept)


def _by_match(pages: Sequence[Labelled], score: Score) -> Logistic:
    """Set the odds by relevant pages held out: even at a share of their median match."""
    relevant = [(page, True) for page, label in pages if label]
    seen = [2.0 * EVEN_MATCH]
    if len(relevant) > 1:
        held_out = _held_out(relevant, [True] * len(relevant), score)
        seen = [features(page, profile, None)["match"] for profile, held in held_out for page, _ in held]
    return by_match(EVEN_SHARE * statistics.median(seen) or EVEN_MATCH)


def _held_out(
    pages: Sequence[Labelled], labels: Sequence[bool], score: Score
) -> Iterable[tuple[TopicProfile, list[Labelled]]]:
    given = folds(labels, min(FOLDS, len(pages)))
    for fold in sorted(set(given)):
        train = [page for page, held in zip(pages, given, strict=True) if held != fold]
        labelled = any(not label for _, label in train)
        yield (
            _described("", train, labelled, score),
            [page for page, held in zip(pages, given, strict=True) if held == fold],
        )
