"""Evidence from several sources, with a naive Bayes for each and learnt weights between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from archivebot.text.bayes import NaiveBayes
from archivebot.topic.evaluation import folds
from archivebot.topic.logistic import Logistic, fit, squeezed
from archivebot.topic.selection import select

Evidence = Mapping[str, Mapping[str, int]]

# WebKB's four classes, words of title and body, one of three universities left out: accuracy 0.834 with
# 2,000 words, 0.823 with 5,000. The number was chosen on these same universities.
BEST = 2000


class EvidenceClassifier:
    """Classifies pages by several sources: page text, title, in-link anchors ...

    Each source has its own naive Bayes; each class has a logistic regression on their log-odds, learnt from
    held-out examples (Wolpert, "Stacked Generalization", 1992).
    """

    def __init__(self, models: Mapping[str, NaiveBayes], combinations: Mapping[str, Logistic]) -> None:
        self._models, self._combinations = models, combinations

    @classmethod
    def train(
        cls, examples: Sequence[tuple[str, Evidence]], groups: Sequence[Hashable] | None = None
    ) -> EvidenceClassifier:
        """Learn from pairs of a label and the terms of each source; all pairs have the same sources.

        Examples of one group (a site) are held out together; without groups five even folds are.
        Raises ValueError unless there are two labels.
        """
        labels = [label for label, _ in examples]
        held = folds(labels) if groups is None else groups
        names = list(examples[0][1]) if examples else []
        rows: list[dict[str, dict[str, float]]] = [{} for _ in examples]
        for fold in dict.fromkeys(held):
            models = _models(
                [example for example, group in zip(examples, held, strict=True) if group != fold], names
            )
            for index, (_, evidence) in enumerate(examples):
                if held[index] == fold:
                    rows[index] = {label: _odds(models, evidence, label) for label in set(labels)}
        combinations = {
            label: fit([row[label] for row in rows], [own == label for own in labels], names)
            for label in dict.fromkeys(labels)
        }
        return cls(_models(examples, names), combinations)

    def log_odds(self, evidence: Evidence) -> dict[str, float]:
        """Return the log-odds of each class against all others, in nats."""
        return {
            label: combination.log_odds(_odds(self._models, evidence, label))
            for label, combination in self._combinations.items()
        }

    def parts(self, evidence: Evidence, label: str) -> dict[str, float]:
        """Return what each source adds to the log-odds of a class."""
        return self._combinations[label].parts(_odds(self._models, evidence, label))

    def classify(self, evidence: Evidence) -> str:
        """Return the class with the highest log-odds."""
        odds = self.log_odds(evidence)
        return max(odds, key=odds.__getitem__)


def source_model(examples: Sequence[tuple[str, Mapping[str, int]]], best: int = BEST) -> NaiveBayes:
    """Train a naive Bayes on the best terms of one source by chi-square.

    >>> source_model([("a", {"x": 2, "z": 1}), ("b", {"y": 1, "z": 1})], best=2).posterior(["z"])
    {'a': 0.5, 'b': 0.5}
    """
    classes: dict[str, list[Mapping[str, int]]] = {}
    for label, counts in examples:
        classes.setdefault(label, []).append(counts)
    model = NaiveBayes(vocabulary=select(classes, best=best))
    for label, counts in examples:
        model.learn(label, counts)
    return model


def _models(examples: Sequence[tuple[str, Evidence]], names: Sequence[str]) -> dict[str, NaiveBayes]:
    return {name: source_model([(label, given[name]) for label, given in examples]) for name in names}


def _odds(models: Mapping[str, NaiveBayes], evidence: Evidence, label: str) -> dict[str, float]:
    return {name: squeezed(model.log_odds(evidence[name], label)) for name, model in models.items()}
