"""Word similarity to a topic, and the relevance weight RW of a link by the words around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from archivebot.text.terms import terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Words within this distance of each other occur together; narrower windows find interchangeable words, wider
# ones words of the same subject (Levy, Goldberg, Dagan, "Improving distributional similarity with lessons
# learned from word embeddings", 2015).
WINDOW = 5

MOST_WORDS = 5000
LEAST_COUNT = 3  # a rarer word has too few neighbours to be compared

# Context distribution smoothing of the same paper, against the bias of PMI to rare words.
SMOOTHING = 0.75

# Maximum number of neighbours, and their minimum similarity. On WebKB, where most anchors are
# names, RW of the anchor by the five best terms of a topic ranks links with an average precision of 0.106,
# with their neighbours from 0.1 on 0.114, from 0.3 on 0.108; by 500 terms 0.115 and 0.114.
MOST_NEIGHBOURS = 500
LEAST_SIMILARITY = 0.1

# Default minimum similarity of a near-synonym: the threshold c.
NEAR = 0.5

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Similarity:
    """The similarity of words to the words of a topic, 0 to 1.

    The best words of the topic, other forms of them and their synonyms have 1, near-synonyms 0.5 to 1,
    distant ones 0 to 0.5. Words are terms as returned by ``archivebot.text.terms``.
    """

    similarities: Mapping[str, float] = field(default_factory=dict)

    def of(self, term: str) -> float:
        """Return the similarity of a term to the topic, 0 if nothing is known of it."""
        return self.similarities.get(term, 0.0)

    def weight(self, words: Iterable[str], threshold: float = NEAR) -> float:
        """Return RW of a link by the terms of its anchor and surroundings.

        RW = 1 if the most similar term reaches the threshold, else its similarity; 0 without terms
        (Li, Zhao, Yu, "Design and Realization of Focused Web Crawler", 2002).

        >>> near = Similarity({"car": 1.0, "road": 0.6, "bridg": 0.2})
        >>> near.weight(["road", "bridg"]), near.weight(["road"], threshold=0.7)
        (1.0, 0.6)
        >>> near.weight(["bridg"]), near.weight([])
        (0.2, 0.0)
        """
        most = max(map(self.of, words), default=0.0)
        return 1.0 if most >= threshold else most


def stands_for(topic: Mapping[str, float], rings: Iterable[Iterable[str]]) -> dict[str, str]:
    """Return the topic term of each synonym: the heaviest term of its ring.

    A ring is a set of words with the same meaning, from the user. Rings that share a word are merged; a ring
    without a term of the topic is ignored.

    >>> stands_for({"car": 2.0, "truck": 1.0}, [["cars", "automobile", "truck"], ["ship", "boat"]])
    {'automobil': 'car', 'truck': 'car'}
    >>> stands_for({"casino": -2.0, "gambl": -1.0}, [["casino", "gambling"]])
    {'gambl': 'casino'}
    """
    groups: list[set[str]] = []
    for ring in rings:
        members = set(chain.from_iterable(map(terms, ring)))
        members.update(*(group for group in groups if group & members))
        groups = [group for group in groups if not group & members] + [members]
    found: dict[str, str] = {}
    for group in groups:
        if known := sorted(group & topic.keys()):
            best = max(known, key=lambda term: (topic[term] > 0, abs(topic[term])))
            found |= dict.fromkeys(sorted(group - {best}), best)
    return found


def neighbours(
    topic: Mapping[str, float], texts: Sequence[Sequence[str]], known: Container[str] = ()
) -> dict[str, float]:
    """Return the terms used in the same contexts as a term of the topic, the nearest first.

    ``topic`` has weights of 0 to 1, ``texts`` are terms in order, ``known`` are terms that need no
    neighbour. The similarity is the cosine of vectors of positive pointwise mutual information
    (Bullinaria, Levy, "Extracting semantic representations from word co-occurrence statistics", 2007) and
    the weight of the term of the topic, multiplied.

    >>> texts = [["car", "engin", "fuel"], ["truck", "engin", "fuel"], ["violin", "bow"]] * 3
    >>> neighbours({"car": 1.0}, texts, known=["engin", "fuel"])
    {'truck': 1.0}
    >>> neighbours({"car": 1.0}, [])
    {}
    """
    counts = Counter(chain.from_iterable(texts))
    common = (term for term, count in counts.most_common(MOST_WORDS) if count >= LEAST_COUNT)
    vocabulary = {term: number for number, term in enumerate(common)}
    seeds = {vocabulary[term]: weight for term, weight in topic.items() if term in vocabulary}
    if not seeds:
        return {}
    from scipy.sparse import diags_array  # imported here: see _vectors

    vectors = _vectors(texts, vocabulary)
    weighted = diags_array(list(seeds.values())) @ vectors[list(seeds)]
    nearest = (vectors @ weighted.T).max(axis=1).toarray().ravel().tolist()
    found = [
        (term, round(value, _DIGITS))
        for term, value in zip(vocabulary, nearest, strict=True)
        if value >= LEAST_SIMILARITY and term not in topic and term not in known
    ]
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0]))[:MOST_NEIGHBOURS])


def _vectors(texts: Sequence[Sequence[str]], vocabulary: Mapping[str, int]) -> csr_array:
    """Return a row of unit length for each term: positive PMI with the terms that it occurs with."""
    # Imported here: numpy and scipy take a third of a second.
    import numpy as np
    from scipy.sparse import coo_array, csr_array, diags_array

    size = len(vocabulary)
    gap = [-1] * WINDOW  # no window reaches from one text into the next
    places = chain.from_iterable((*(vocabulary.get(term, -1) for term in text), *gap) for text in texts)
    line = np.fromiter(places, np.int32)
    pairs = csr_array((size, size))
    for step in range(1, WINDOW + 1):
        left, right = line[:-step], line[step:]
        both = (left >= 0) & (right >= 0)
        pairs += coo_array((np.ones(both.sum()), (left[both], right[both])), shape=(size, size)).tocsr()
    pairs = (pairs + pairs.T).tocoo()
    often = pairs.sum(axis=1)
    expected = often**SMOOTHING
    pmi = np.log(pairs.data * expected.sum() / (often[pairs.row] * expected[pairs.col]))
    positive = coo_array((np.maximum(pmi, 0.0), (pairs.row, pairs.col)), shape=(size, size)).tocsr()
    lengths = np.sqrt(positive.power(2).sum(axis=1))
    return diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ positive
