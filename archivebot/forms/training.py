"""Training: the weights of the classifier from pages whose forms are labelled.

    python -m archivebot.forms.training FOLDER [-o MODEL.json]

FOLDER has ``labels.json``: for each page file its ``url`` and the kinds of its ``forms`` in the order of
the page; a kind that begins with SKIP or is NOT ANNOTATED is ignored.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from archivebot.exceptions import UsageError
from archivebot.forms.classifier import MODEL, FormClassifier
from archivebot.forms.features import events
from archivebot.forms.form import Form
from archivebot.forms.reader import read_forms
from archivebot.markup.media import media_of

SEARCH = "search"
UNKNOWN = ("SKIP", "NOT ANNOTATED")

# The figures are F1 on forms-dev, cross-validated over ten folds of sites; means of five deals of the sites.

# Pull of the weights to 0: 0.976 with 2 and 5, 0.974 with 10 and 20.
RIDGE = 5.0

# Minimum of sites of an event: 0.976 with 2 and 3 sites, 0.975 with 5.
LEAST_SITES = 3

# Weights nearer to 0 are left out: they change no decision.
LEAST_WEIGHT = 0.01

# The weight of a search form of several fields, of which there are 64 in 1208 forms: counted once 0.88 of
# them are found (F1 is 0.972), three times 0.94 (0.976), five times 0.95 (0.976), eight times 0.96 (0.974).
OF_SEVERAL = 5.0


@dataclass(frozen=True, slots=True)
class Example:
    """A form with its kind and its site; ``place`` is its page and its number on the page."""

    form: Form
    kind: str
    site: str
    place: tuple[str, int] = ("", 0)

    @property
    def searches(self) -> bool:
        return self.kind == SEARCH


def examples(folder: Path) -> Iterator[Example]:
    """Read the labelled forms of a folder; raises UsageError if it has no labels."""
    try:
        labels = json.loads((folder / "labels.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} has no labels.json that can be read: {error}") from error
    for name, page in labels.items():
        body = (folder / name).read_bytes()
        site = (urlsplit(page["url"]).hostname or name).removeprefix("www.")
        for number, (form, kind) in enumerate(
            zip(read_forms(body, media_of(body, saved=True).charset), page["forms"], strict=False)
        ):
            if not kind.startswith(UNKNOWN):
                yield Example(form, kind, site, (name, number))


def learnt(samples: Sequence[Example]) -> FormClassifier:
    """Learn the weights of events from labelled forms.

    Logistic regression (Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, 4.4):
    maximum likelihood of the labels, with a penalty of RIDGE/2 on the squared weights. It is the
    discriminative pair of naive Bayes, with the same form of decision (Ng, Jordan, "On discriminative vs.
    generative classifiers", 2001). Raises ValueError unless both labels occur.
    """
    right = np.array([sample.searches for sample in samples], dtype=float)
    if len(set(right)) < 2:
        raise ValueError("forms that search and forms that do not are needed")
    seen = [events(sample.form) for sample in samples]
    names = _known(seen, [sample.site for sample in samples])
    column = {name: at for at, name in enumerate(names)}
    rows = [[column[event] for event in each if event in column] for each in seen]
    starts = np.cumsum([0, *map(len, rows)])
    flat = np.array([at for row in rows for at in row], dtype=np.int64)
    inputs = csr_array((np.ones(len(flat)), flat, starts), shape=(len(rows), len(names)))
    counts = np.array([_count(sample) for sample in samples])
    bias, *weights = map(float, _fitted(inputs, right, counts).round(3))
    pairs = zip(names, weights, strict=True)
    return FormClassifier(bias, {name: weight for name, weight in pairs if abs(weight) >= LEAST_WEIGHT})


def _known(seen: Sequence[set[str]], sites: Sequence[str]) -> list[str]:
    """Return the events that were seen on several sites."""
    where: dict[str, set[str]] = defaultdict(set)
    for each, site in zip(seen, sites, strict=True):
        for event in each:
            where[event].add(site)
    return sorted(event for event, known in where.items() if len(known) >= LEAST_SITES)


def _count(sample: Example) -> float:
    return OF_SEVERAL if sample.searches and sample.form.questions > 1 else 1.0


def _fitted(
    inputs: csr_array, right: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bias and the weights of least loss."""

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = point[0] + inputs @ point[1:]
        value = counts @ (np.logaddexp(0, z) - right * z) + RIDGE / 2 * (point[1:] @ point[1:])
        off = counts * (1 / (1 + np.exp(-np.clip(z, -30, 30))) - right)
        return float(value), np.concatenate(([off.sum()], inputs.T @ off + RIDGE * point[1:]))

    found: NDArray[np.float64] = minimize(loss, np.zeros(inputs.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return found


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name(MODEL))
    options = parser.parse_args()
    learnt(list(examples(options.folder))).save(options.output)


if __name__ == "__main__":
    main()
