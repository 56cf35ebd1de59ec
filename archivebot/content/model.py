"""The small network that estimates the probability of main content; see weights.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from archivebot.content.context import MEANS, Context, Matrix
from archivebot.content.known import TABLES, Known
from archivebot.content.lines import Line
from archivebot.content.measures import measures
from archivebot.content.surroundings import Around, Column

WEIGHTS = "weights.json"

# Maximum of standard deviations of a measure; larger values are clipped.
FARTHEST = 5

# Weights in the file are whole numbers, multiplied by this factor.
SCALE = 100

# Number of times that values are mixed with the values of the context.
LAYERS = 2


@dataclass(frozen=True)
class Model:
    """Weights of a network of two layers with a direct connection from input to output.

    ``rows`` holds the contribution of a measure or a name to a line: first directly to its score, then to
    each of its hidden values. The first row is the bias; the rows of the measures follow, then the rows of
    the ``index`` of each table. ``scales`` is mean and spread of each measure. The hidden values of a line
    and their means over its context are mixed by the first of ``mixes``, whose last row is a bias, and the
    first of ``outs`` adds the result to the score. The mixed values and their means go through the next, so
    that a line is judged by the judgements of its neighbours. Finally, similar lines are judged together.
    """

    scales: Mapping[str, tuple[float, float]]
    index: Mapping[str, Mapping[str, int]]
    rows: Matrix
    mixes: tuple[Matrix, ...]
    outs: tuple[Column, ...]

    def likelihood(self, lines: Sequence[Line], title: str, around: Around | None = None) -> Column:
        """Return the probability of main content for each line.

        ``title`` is in lower case, and ``around`` belongs to the lines, if the caller knows it.
        """
        if not lines:
            return np.zeros(0)
        around = around or Around.of(lines)
        known, context = self.known(around), Context.of(lines, around)
        return self.judged(self.inputs(lines, title, around), known, context)

    def inputs(self, lines: Sequence[Line], title: str, around: Around) -> Matrix:
        """Return the measures of each line in standard deviations."""
        columns = measures(lines, title, around)
        mean, spread = self._scaling
        inputs: Matrix = np.array([columns[name] for name in self.scales])
        inputs -= mean
        inputs /= spread
        return np.clip(inputs, -FARTHEST, FARTHEST, out=inputs).T

    def known(self, around: Around) -> Known:
        """Return the rows of the features of the lines."""
        return Known.of(around, self.index)

    def judged(self, inputs: Matrix, known: Known, context: Context) -> Column:
        """Return the probabilities for the results of the other methods."""
        first = known.sums(self.rows)
        first += inputs @ self.rows[1 : inputs.shape[1] + 1]
        del inputs  # 26 of the 190 MB of a process that reads a page of 2.7 MB
        score, hidden = first[:, 0], np.maximum(first[:, 1:], 0)
        for mix, out in zip(self.mixes, self.outs, strict=True):
            parts = [np.maximum(part @ mix[:-1] + mix[-1], 0) for part in context.parts(hidden)]
            hidden = np.concatenate(parts)
            score = score + hidden @ out
        likelihood: Column = 1 / (1 + np.exp(-np.clip(context.together(score), -30, 30)))
        return likelihood

    @cached_property
    def _scaling(self) -> tuple[Matrix, Matrix]:
        """The mean and the spread of each measure, one below the other."""
        mean, spread = np.array(list(self.scales.values())).T
        return mean[:, None], spread[:, None]

    @classmethod
    def random(
        cls, scales: Mapping[str, tuple[float, float]], tables: Mapping[str, Sequence[str]], hidden: int
    ) -> Model:
        """Return a model of random weights, with which the training starts."""
        chance = np.random.default_rng(0)
        index: dict[str, dict[str, int]] = {}
        count = len(scales) + 1
        for table in TABLES:
            index[table] = {name: count + at for at, name in enumerate(tables[table])}
            count += len(tables[table])
        rows = chance.normal(0, 0.05, (count, hidden + 1))
        rows[1 : len(scales) + 1] = chance.normal(0, 0.7 / len(scales) ** 0.5, (len(scales), hidden + 1))
        rows[0], rows[:, 0] = 0, 0
        around = (1 + MEANS) * hidden
        mixes = tuple(chance.normal(0, around**-0.5, (around + 1, hidden)) for _ in range(LAYERS))
        for mix in mixes:
            mix[-1] = 0
        outs = tuple(chance.normal(0, 0.3 * hidden**-0.5, hidden) for _ in range(LAYERS))
        return cls(scales, index, rows, mixes, outs)

    @classmethod
    def from_json(cls, text: str) -> Model:
        """Read a model written by :meth:`to_json`."""
        found: dict[str, Any] = json.loads(text)
        rows, scales, index = [found["bias"]], {}, {}
        for name, (mean, spread, *row) in found["measures"].items():
            scales[name] = (mean, spread)
            rows.append(row)
        for table in TABLES:
            index[table] = {name: len(rows) + at for at, name in enumerate(found[table])}
            rows += found[table].values()
        mixes, outs = (tuple(_numbers(each) for each in found[part]) for part in ("mixes", "outs"))
        return cls(scales, index, _numbers(rows), mixes, outs)

    def to_json(self) -> str:
        """Write the model with a line for each measure and name."""
        rows = _whole(self.rows)
        scaled = enumerate(self.scales.items(), 1)
        parts: dict[str, dict[str, list[float]]] = {
            "measures": {name: [*scale, *rows[at]] for at, (name, scale) in scaled},
            **{table: {name: rows[at] for name, at in self.index[table].items()} for table in TABLES},
        }
        texts = [f'"bias": {json.dumps(rows[0])}']
        for part, table in parts.items():
            inner = ",\n".join(f"{_compact(name)}:{_compact(row)}" for name, row in table.items())
            texts.append(f'"{part}": {{\n{inner}\n}}')
        mixes = ["[\n" + ",\n".join(map(_compact, _whole(mix))) + "\n]" for mix in self.mixes]
        texts += [f'"mixes": [{", ".join(mixes)}]', f'"outs": {_compact([_whole(out) for out in self.outs])}']
        return "{" + ",\n".join(texts) + "}\n"


def _whole(weights: Matrix) -> list[Any]:
    found: list[Any] = (weights * SCALE).round().astype(int).tolist()
    return found


def _numbers(whole: Sequence[Any]) -> Matrix:
    return np.array(whole, dtype=np.float64) / SCALE


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@cache
def shipped() -> Model:
    """Return the model that comes with archivebot."""
    return Model.from_json(files("archivebot.content").joinpath(WEIGHTS).read_text("utf-8"))
