"""How the weights of the model are learnt."""

from __future__ import annotations

import numpy as np
import pytest
from turbohtml import parse

from archivebot.content import training
from archivebot.content.context import Context
from archivebot.content.lines import LineWalk
from archivebot.content.measures import measures
from archivebot.content.model import LAYERS, Model
from archivebot.content.surroundings import Around
from archivebot.content.training import Sample, learnt, loss, slopes, weights_of, with_weights

PROSE = "A tern dives for fish, and the male carries what he catches to the female that he courts. "
TABLES = {"names": ["nav", "p"], "near": ["li"], "words": ["home"], "above": ["<h1>"], "opened": ["home"]}


def page(count: int) -> LineWalk:
    menu = "".join(f"<li><a href=/{n}>Home {n}</a>" for n in range(count))
    text = f"<p>{PROSE * (count + 2)}</p>" * count
    return LineWalk(parse(f"<nav><ul>{menu}</ul></nav><h1>Terns</h1>{text}"))


def model() -> Model:
    lines = page(3).lines
    return Model.random(dict.fromkeys(measures(lines, "", Around.of(lines)), (0.1, 0.5)), TABLES, 4)


def sample(model: Model, count: int) -> Sample:
    lines = page(count).lines
    right = np.array([line.place.tag != "li" for line in lines], dtype=np.float64)
    words = np.array([len(line.text.split()) for line in lines], dtype=np.float64)
    known = model.known(Around.of(lines))
    share = words / words.sum()
    inputs = model.inputs(lines, "terns", Around.of(lines))
    return Sample(
        inputs, known, Context.of(lines, Around.of(lines)), right, share, words, float(words @ right)
    )


def judged(model: Model, sample: Sample) -> np.ndarray:
    return model.judged(sample.inputs, sample.known, sample.context)


@pytest.mark.parametrize("part", range(1 + 2 * LAYERS))
def test_a_slope_is_what_the_loss_gains_by_a_little_more_of_a_weight(part: int) -> None:
    start = model()
    one = sample(start, 3)
    every = weights_of(start)
    weights, found = every[part], slopes(start, one)[part]
    for at in np.random.default_rng(2).permutation(weights.size)[:40]:
        little = np.zeros(weights.size)
        little[at] = 1e-5
        more, less = (
            with_weights(
                start, [*every[:part], weights + sign * little.reshape(weights.shape), *every[part + 1 :]]
            )
            for sign in (1, -1)
        )
        gained = (loss(judged(more, one), one) - loss(judged(less, one), one)) / 2e-5
        assert np.isclose(gained, found.flat[at], atol=1e-6)


def test_what_is_learnt_tells_text_from_menu_on_a_page_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "EPOCHS", 40)
    start = model()
    found = learnt(start, [sample(start, count) for count in (2, 3, 5, 6)])
    unseen = sample(start, 4)
    likelihood = judged(found, unseen)
    assert likelihood[unseen.right == 1].min() > likelihood[unseen.right == 0].max()
    assert loss(likelihood, unseen) < loss(judged(start, unseen), unseen)


def test_learning_is_told_by_its_seed_and_leaves_the_start_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "EPOCHS", 2)
    start = model()
    before = start.to_json()
    samples = [sample(start, count) for count in (2, 3)]
    assert learnt(start, samples, 1).to_json() == learnt(start, samples, 1).to_json()
    assert start.to_json() == before
