"""Topics as JSON: the relevance of a page, the evaluation of a profile, the clusters of sites."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from archivebot.topic.clusters import Cluster
from archivebot.topic.evaluation import Evaluation
from archivebot.topic.relevance import Relevance


def relevance_record(source: str, relevance: Relevance) -> dict[str, Any]:
    """Return the relevance of a page as a record, with the terms that explain it."""
    return {
        "source": source,
        "relevance": round(relevance.value, 4),
        "relevant": relevance.relevant,
        "terms": [[term, round(weight, 4)] for term, weight in relevance.terms],
    }


def evaluation_record(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as a record; shares have four decimals.

    >>> evaluation_record(Evaluation(3, 2, 2 / 3, 1.0, 0.8, 0.5, 0.75, 0.125))["precision"]
    0.6667
    """
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in asdict(evaluation).items()
    }


def sites_record(number: int, cluster: Cluster) -> dict[str, Any]:
    """Return a cluster of sites as a record."""
    return {"cluster": number, **asdict(cluster)}
