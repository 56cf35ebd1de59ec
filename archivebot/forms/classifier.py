"""The classifier: whether a form searches, whether it is a query interface, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from archivebot.exceptions import UsageError
from archivebot.forms.features import events
from archivebot.forms.form import Form
from archivebot.forms.rules import LEAST_FIELDS, credentials, rejection

MODEL = "model.json"
FORMAT = 1

# Events that a reason names.
MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class Decision:
    """The classification of a form, and its ``reason``.

    ``search`` is whether it searches at all, with the posterior as ``score`` (0 if a rule forbids it), and
    ``multi_field`` whether it is a query interface with several fields.
    """

    search: bool
    score: float
    multi_field: bool
    reason: str


@dataclass(frozen=True)
class FormClassifier:
    """Weights of events: above 0 for a form that searches, below 0 against it.

    As in naive Bayes the evidence is summed as logarithms, including the evidence of the classes (the
    ``bias``). V_yes is the sum for, V_no the sum against; a form searches if and only if V_yes > V_no, and
    the posterior of yes is e^V_yes / (e^V_yes + e^V_no). But the weights are learnt together, not counted one
    by one (see :mod:`archivebot.forms.training`): the events of a form depend on each other, and counted
    weights reach an F1 of 0.92, learnt weights 0.97.
    """

    bias: float
    weights: Mapping[str, float]

    def votes(self, seen: Iterable[str]) -> tuple[float, float]:
        """Return V_yes and V_no of events, in nats.

        >>> FormClassifier(-0.5, {"method post": -1.0, "a name of search boxes": 2.0}).votes(["method post"])
        (0.0, 1.5)
        """
        parts = [self.bias, *(self.weights.get(event, 0.0) for event in seen)]
        return sum([part for part in parts if part > 0], 0.0), sum([-part for part in parts if part < 0], 0.0)

    def decide(self, form: Form, least: int = LEAST_FIELDS) -> Decision:
        """Return the classification of a form, which is never submitted.

        A form that asks for a password or a user name does not search. A query interface of the Deep Web is a
        form that searches and that no rule rejects.

        >>> FormClassifier(0.0, {}).decide(Form("", "", "get", (), ()))
        Decision(search=False, score=0.5, multi_field=False, reason='nothing speaks for it or against it')
        """
        if reason := credentials(form):
            return Decision(False, 0.0, False, reason)
        seen = events(form)
        yes, no = self.votes(seen)
        score = posteriors(yes, no)[0]
        if yes <= no:
            return Decision(False, score, False, self._because(seen, -1))
        reason = self._because(seen, 1)
        if rejected := rejection(form, least):
            return Decision(True, score, False, f"{reason}; no query interface by {rejected}")
        return Decision(True, score, True, reason)

    def _because(self, seen: Iterable[str], sign: int) -> str:
        """Return the strongest events for a decision, present events before missing ones."""
        parts = [
            (sign * self.weights.get(event, 0.0), event)
            for event in seen
            if not event.startswith(("0 ", "no "))
        ]
        best = sorted((part for part in parts if part[0] > 0), key=lambda part: (-part[0], part[1]))
        return "; ".join(event for _, event in best[:MOST_REASONS]) or "nothing speaks for it or against it"

    def as_dict(self) -> dict[str, Any]:
        """Return the model as JSON values."""
        return {"format": FORMAT, "bias": self.bias, "weights": dict(sorted(self.weights.items()))}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FormClassifier:
        """Return the model written by :meth:`as_dict`; raises UsageError for other values."""
        try:
            if data["format"] != FORMAT:
                raise UsageError(f"the model has format {data['format']}, and {FORMAT} is read")
            return cls(float(data["bias"]), {str(name): float(w) for name, w in data["weights"].items()})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                "this is no model of forms; python -m archivebot.forms.training makes one"
            ) from error

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        path.write_text(json.dumps(self.as_dict(), ensure_ascii=False, indent=0) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path) -> FormClassifier:
        """Read a model written by :meth:`save`; raises UsageError for another file."""
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} is no model of forms: {error}") from error
        return cls.from_dict(data)

    @classmethod
    @cache
    def shipped(cls) -> FormClassifier:
        """Return the model of the package, learnt from the pages of ``forms-dev``."""
        return cls.from_dict(json.loads((files("archivebot.forms") / MODEL).read_text("utf-8")))


def posteriors(yes: float, no: float) -> tuple[float, float]:
    """Return the posteriors of yes and no, which sum to 1.

    >>> posteriors(0.0, 0.0), posteriors(0.0, 1000.0), posteriors(1000.0, 0.0)
    ((0.5, 0.5), (0.0, 1.0), (1.0, 0.0))
    """
    top = max(yes, no)
    shares = math.exp(yes - top), math.exp(no - top)
    return shares[0] / sum(shares), shares[1] / sum(shares)
