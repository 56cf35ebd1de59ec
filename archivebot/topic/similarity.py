"""Word similarity to a topic, and the relevance weight RW of a link by the words around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from archivebot.terms import terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Words that stand within this many words of each other occur together; narrower windows find words
# that can take each other's place, wider ones words of the same subject (Levy, Goldberg, Dagan,
# "Improving distributional similarity with lessons learned from word embeddings", 2015).
WINDOW = 5

MOST_WORDS = 5000
LEAST_COUNT = 3  # a rarer word has too few neighbours to be compared

# Context distribution smoothing of the same paper, against the bias of PMI to rare words.
SMOOTHING = 0.75

# Neighbours that are kept, and the least similarity that is worth it.
MOST_NEIGHBOURS = 500
LEAST_SIMILARITY = 0.1

# The user's threshold c: from here on a word counts as a near-synonym.
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Similarity:
    """How similar words are to the words of a topic, 0 to 1.

    The words of the topic, other forms of them and their synonyms have 1, near-synonyms 0.5 to 1,
    distant ones 0 to 0.5. Words are terms as ``archivebot.terms`` gives them.
    """

    similarities: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, topic: Iterable[str], texts: Iterable[str] = (), rings: Iterable[Iterable[str]] = ()
    ) -> Similarity:
        """Learn from the terms of a topic, texts on the topic, and rings of synonyms as a user writes them.

        A ring that holds a word of the topic makes all its words as good as that word. From the texts
        come words used in the same company: cosine of their vectors of positive pointwise mutual
        information (Bullinaria, Levy, "Extracting semantic representations from word co-occurrence
        statistics", 2007). Without texts only rings and stems count.

        >>> cars = Similarity.learn(["car"], rings=[["car", "automobile"], ["ship", "boat"]])
        >>> cars.of("car"), cars.of("automobil"), cars.of("boat")
        (1.0, 1.0, 0.0)
        """
        exact = set(topic)
        for ring in rings:
            members = set(chain.from_iterable(map(terms, ring)))
            if members & exact:
                exact |= members
        similarities = _learnt(exact, [terms(text) for text in texts])
        return cls({**similarities, **dict.fromkeys(sorted(exact), 1.0)})

    def of(self, term: str) -> float:
        """Give the similarity of a term to the topic, 0 where nothing is known of it."""
        return self.similarities.get(term, 0.0)

    def weight(self, words: Iterable[str], threshold: float = THRESHOLD) -> float:
        """Give RW of a link by the terms of its anchor and surroundings.

        RW = 1 where the most similar term reaches the threshold, else its similarity; 0 without terms
        (Li, Zhao, Yu, "Design and Realization of Focused Web Crawler", 2002).

        >>> near = Similarity({"car": 1.0, "road": 0.6, "bridg": 0.2})
        >>> near.weight(["road", "bridg"]), near.weight(["road"], threshold=0.7)
        (1.0, 0.6)
        >>> near.weight(["bridg"]), near.weight([])
        (0.2, 0.0)
        """
        most = max(map(self.of, words), default=0.0)
        return 1.0 if most >= threshold else most

    def as_dict(self) -> dict[str, Any]:
        """Give what JSON can hold.

        >>> Similarity.from_dict(Similarity({"car": 1.0}).as_dict()).of("car")
        1.0
        """
        return {"similarities": {term: round(value, 4) for term, value in self.similarities.items()}}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Similarity:
        """Make what ``as_dict`` gave."""
        return cls(dict(stored["similarities"]))


def _learnt(topic: set[str], texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """Give the terms used in the company that a term of the topic is used in, the nearest first."""
    counts = Counter(chain.from_iterable(texts))
    common = (term for term, count in counts.most_common(MOST_WORDS) if count >= LEAST_COUNT)
    vocabulary = {term: number for number, term in enumerate(common)}
    seeds = [vocabulary[term] for term in sorted(topic) if term in vocabulary]
    if not seeds:
        return {}
    vectors = _vectors(texts, vocabulary)
    nearest = (vectors @ vectors[seeds].T).max(axis=1).toarray().ravel().tolist()
    found = sorted(zip(nearest, vocabulary, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return {term: value for value, term in found[:MOST_NEIGHBOURS] if value >= LEAST_SIMILARITY}


def _vectors(texts: Sequence[Sequence[str]], vocabulary: Mapping[str, int]) -> csr_array:
    """Give a row of unit length for each term: positive PMI with the terms that it occurs with."""
    # Imported where needed: numpy and scipy take a third of a second.
    import numpy as np
    from scipy.sparse import coo_array, diags_array

    size = len(vocabulary)
    gap = [-1] * WINDOW  # no window reaches from one text into the next
    line = np.array([number for text in texts for number in (*(vocabulary.get(t, -1) for t in text), *gap)])
    left = np.concatenate([line[:-step] for step in range(1, WINDOW + 1)])
    right = np.concatenate([line[step:] for step in range(1, WINDOW + 1)])
    both = (left >= 0) & (right >= 0)
    pairs = coo_array((np.ones(both.sum()), (left[both], right[both])), shape=(size, size)).tocsr()
    pairs = (pairs + pairs.T).tocoo()
    often = pairs.sum(axis=1)
    expected = often**SMOOTHING
    pmi = np.log(pairs.data * expected.sum() / (often[pairs.row] * expected[pairs.col]))
    positive = coo_array((np.maximum(pmi, 0.0), (pairs.row, pairs.col)), shape=(size, size)).tocsr()
    lengths = np.sqrt(positive.power(2).sum(axis=1))
    return diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ positive
