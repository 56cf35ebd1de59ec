"""The training of the model's weights from annotated pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from archivebot.content.context import Context, Matrix, summed
from archivebot.content.known import Known
from archivebot.content.model import Model
from archivebot.content.surroundings import Column

# Passes over the pages, pages per step, and the first step size; steps grow over the first WARM_UP and fall
# to 0. Word F1 on the WCXB corpus, cross-validated by site, is 0.818 with 6 or 8 passes and 0.810 with 14.
EPOCHS = 8
BATCH = 12
STEP = 0.003
WARM_UP = 30

# Pull of the weights to 0 in each step, and the share of names, and of mixed values, left out at random:
# F1 is 0.817 with half of them left out, 0.815 with 0.3.
DECAY = 0.1
LEFT_OUT = 0.5

# Weight of 1 - F1 of a page beside its mean logarithmic loss; from 2 to 6 F1 is the same.
WHOLE = 2

# The moments of Adam.
_FIRST, _SECOND = 0.9, 0.995

# Approximate number of steps whose weights are averaged. F1 is 0.812 with the average and 0.811 with the last
# weights, on the articles of a reader mode 0.937 and 0.936.
AVERAGED = 100

Weights = list[Matrix]


@dataclass(frozen=True, slots=True)
class Sample:
    """An annotated page.

    ``right`` marks the right lines, ``share`` is the weight of each line in its page (with the sum 1),
    ``words`` its words (0 for a line without annotation), and ``wanted`` the total of wanted words.
    """

    inputs: Matrix
    known: Known
    context: Context
    right: Column
    share: Column
    words: Column
    wanted: float


def learnt(model: Model, samples: Sequence[Sample], seed: int = 0) -> Model:
    """Learn weights from pages, starting with those of a model.

    Each step lowers the logarithmic loss of the lines and 1 - F1 of the expected words of a few pages.
    Adam (Kingma, Ba, "Adam: a method for stochastic optimization", 2015) with decoupled decay
    (Loshchilov, Hutter, 2019); names and mixed values are left out at random (Srivastava et al.,
    "Dropout", 2014), without which the network learns the sites instead of the pages. The weights of the last
    steps are averaged (Polyak, Juditsky, "Acceleration of stochastic approximation by averaging", 1992).
    """
    chance = np.random.default_rng(seed)
    weights = [each.copy() for each in weights_of(model)]
    averages = [each.copy() for each in weights]
    first, second = ([np.zeros_like(each) for each in weights] for _ in range(2))
    steps = EPOCHS * -(-len(samples) // BATCH)
    for step, picked in enumerate(_batches(len(samples), chance), 1):
        now = with_weights(model, weights)
        found = [slopes(now, samples[index], chance) for index in picked]
        rate = STEP * min(1, step / WARM_UP) * (1 - (step - 1) / steps)
        for at, weight in enumerate(weights):
            slope = sum(each[at] for each in found) / len(picked)
            first[at] += (1 - _FIRST) * (slope - first[at])
            second[at] += (1 - _SECOND) * (slope**2 - second[at])
            spread = np.sqrt(second[at] / (1 - _SECOND**step)) + 1e-6
            weight -= rate * (first[at] / (1 - _FIRST**step) / spread + DECAY * weight * (weight.ndim > 1))
            averages[at] += (weight - averages[at]) / min(step, AVERAGED)
    return with_weights(model, averages)


def weights_of(model: Model) -> Weights:
    """Return all weights of a model that are learnt."""
    return [model.rows, *model.mixes, *model.outs]


def with_weights(model: Model, weights: Weights) -> Model:
    """Return a model with other weights, in the order of :func:`weights_of`."""
    rows, *others = weights
    count = len(others) // 2
    return replace(model, rows=rows, mixes=tuple(others[:count]), outs=tuple(others[count:]))


def _batches(count: int, chance: np.random.Generator) -> list[NDArray[np.int64]]:
    orders = (chance.permutation(count) for _ in range(EPOCHS))
    return [order[start : start + BATCH] for order in orders for start in range(0, count, BATCH)]


def loss(likelihood: Column, sample: Sample) -> float:
    """Return the loss of one page."""
    right, words = sample.right, sample.words
    each = right * np.log(likelihood) + (1 - right) * np.log(1 - likelihood)
    f1 = 2 * (likelihood @ (words * right)) / (likelihood @ words + sample.wanted)
    return float(WHOLE * (1 - f1) - sample.share @ each)


def slopes(model: Model, sample: Sample, chance: np.random.Generator | None = None) -> Weights:
    """Return the gradient of the loss of a page; with ``chance`` some values are dropped out."""
    known, starts = sample.known.by_line()
    counts = np.diff(starts, append=len(known))
    kept = np.ones(len(known))
    if chance:
        kept = (chance.random(len(kept)) >= LEFT_OUT) / (1 - LEFT_OUT)
        kept[starts] = 1  # the bias
    count = sample.inputs.shape[1]
    first = np.add.reduceat(model.rows[known] * kept[:, None], starts)
    first += sample.inputs @ model.rows[1 : count + 1]
    score, hidden = first[:, 0], [np.maximum(first[:, 1:], 0)]
    arounds, passes = [], []
    for mix, out in zip(model.mixes, model.outs, strict=True):
        around = sample.context.beside(hidden[-1])
        passed = np.ones_like(around)
        if chance:
            passed = (chance.random(around.shape) >= LEFT_OUT) / (1 - LEFT_OUT)
            around = around * passed
        arounds.append(around)
        passes.append(passed)
        hidden.append(np.maximum(around @ mix[:-1] + mix[-1], 0))
        score = score + hidden[-1] @ out
    of_drawn = _slope_of_score(np.clip(sample.context.together(score), -30, 30), sample)
    of_score = sample.context.apart(of_drawn)
    mixes, outs = [], []
    behind = np.zeros_like(hidden[-1])  # the gradient of the values from the next layer
    for at in reversed(range(len(model.mixes))):
        mix = model.mixes[at]
        of_mixed = (np.outer(of_score, model.outs[at]) + behind) * (hidden[at + 1] > 0)
        mixes.append(np.vstack([arounds[at].T @ of_mixed, of_mixed.sum(axis=0)]))
        outs.append(hidden[at + 1].T @ of_score)
        width = hidden[at].shape[1]
        own, *others = np.hsplit(of_mixed @ mix[:-1].T * passes[at], len(mix) // width)
        behind = own + sample.context.shares(others)
    of_first = np.column_stack([of_score, behind * (hidden[0] > 0)])
    rows = summed(known, np.repeat(of_first, counts, axis=0) * kept[:, None], len(model.rows))
    rows[1 : count + 1] += sample.inputs.T @ of_first
    return [rows, *reversed(mixes), *reversed(outs)]


def _slope_of_score(score: Column, sample: Sample) -> Column:
    likelihood = 1 / (1 + np.exp(-score))
    right = sample.words * sample.right
    size = likelihood @ sample.words + sample.wanted
    f1 = 2 * (right - (likelihood @ right) / size * sample.words) / size
    found: Column = sample.share * (likelihood - sample.right) - WHOLE * f1 * likelihood * (1 - likelihood)
    return found
