"""Evidence from several sources: each class leans on the source that tells."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from archivebot.topic.evidence import Evidence, EvidenceClassifier

CLASSES = ("course", "faculty", "student")


def pages(seed: int, number: int = 90) -> list[tuple[str, Evidence]]:
    """Pages whose anchors tell the class four times of five, and whose text never does."""
    chance = random.Random(seed)
    found: list[tuple[str, Evidence]] = []
    for index in range(number):
        label = CLASSES[index % 3]
        anchor = label if chance.random() < 0.8 else chance.choice(CLASSES)
        text = Counter(chance.choices(["page", "home", "computer", "science"], k=20))
        found.append((label, {"text": text, "anchor": Counter([anchor])}))
    return found


def test_what_tells_is_believed_and_what_does_not_is_not() -> None:
    model = EvidenceClassifier.train(pages(1))
    right = [model.classify(evidence) == label for label, evidence in pages(2)]
    assert sum(right) >= 0.7 * len(right)
    parts = model.parts({"text": {"page": 20}, "anchor": {"course": 1}}, "course")
    assert parts["anchor"] > abs(parts["text"])


def test_the_parts_add_up_to_the_log_odds_of_each_class() -> None:
    model = EvidenceClassifier.train(pages(1))
    evidence = pages(3)[0][1]
    for label, odds in model.log_odds(evidence).items():
        assert sum(model.parts(evidence, label).values()) == pytest.approx(odds)


def test_a_group_is_held_out_together() -> None:
    # Every site has its own word for each class: by it pages are told apart within a site only.
    examples = [
        (label, {"word": {f"{site}-{label}": 1}, "anchor": {label: 1}})
        for site in "abcd"
        for label in CLASSES
        for _ in range(5)
    ]
    groups = [next(iter(evidence["word"]))[0] for _, evidence in examples]
    together = EvidenceClassifier.train(examples, groups).parts(examples[0][1], "course")
    apart = EvidenceClassifier.train(examples).parts(examples[0][1], "course")
    assert together["word"] < apart["word"]


def test_one_class_alone_cannot_be_told_apart() -> None:
    with pytest.raises(ValueError, match="both labels"):
        EvidenceClassifier.train([("course", {"text": {"a": 1}})] * 6)
