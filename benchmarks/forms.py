"""Search forms compared with Formasaurus: F1 by cross-validation over sites, and forms per second.

    python benchmarks/forms.py DATA/forms-dev [--folds 10] [--errors]

The data is a folder with pages and ``labels.json``; forms labelled SKIP, or without a label, are not scored.
Sites (registrable domains) are dealt out into folds, and the forms of each fold are judged by a model that
was learnt from the others. A form searches if its label is "search", whether it has one field or several.
Recall on forms of several fields is that among search forms with more than one field to fill.

The peer is Formasaurus, if it can be imported: its own form model (all kinds of forms, its own features and
its own parameters) learns from the same folds of the same pages.

Speed is the CPU time of whole pages, from the bytes to the classification of every form, with the models of
the last fold; archivebot also determines attributes and labels, the peer omits the kinds of fields. Exit code
1 if a bound fails.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import data_folder
from tables import Row, Table, at_least, report

from archivebot.forms.classifier import FormClassifier
from archivebot.forms.reader import read_forms
from archivebot.forms.training import SEARCH, UNKNOWN, Example, examples, learnt
from archivebot.markup.media import media_of
from archivebot.urls.scope import Scope

PEER = "formasaurus"
LEAST_F1 = 0.94
LEAST_RECALL_OF_SEVERAL = 0.90
LEAST_SPEED = 3.0
ROUNDS = 3


@dataclass(frozen=True)
class Score:
    """How often a form that searches was found (``hits``), imagined, and missed."""

    hits: int
    imagined: int
    missed: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Score:
        """Count pairs of what is so and what was said."""
        counted = list(pairs)
        return cls(counted.count((True, True)), counted.count((False, True)), counted.count((True, False)))

    @property
    def recall(self) -> float:
        return self.hits / max(self.hits + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.hits / max(2 * self.hits + self.imagined + self.missed, 1)


def folds(labels: dict[str, Any], count: int) -> list[set[str]]:
    """Deal the sites out, the largest first, each to the fold with the fewest forms; return their pages."""
    pages: defaultdict[str, list[str]] = defaultdict(list)
    forms: defaultdict[str, int] = defaultdict(int)
    for name, page in labels.items():
        (site,) = Scope.from_seeds([page["url"]], "domain").sites
        pages[site].append(name)
        forms[site] += sum(not kind.startswith(UNKNOWN) for kind in page["forms"])
    dealt: list[set[str]] = [set() for _ in range(count)]
    sizes = [0] * count
    for site in sorted(pages, key=lambda site: (-forms[site], site)):
        least = sizes.index(min(sizes))
        dealt[least].update(pages[site])
        sizes[least] += forms[site]
    return dealt


def of_several(example: Example) -> bool:
    """Return whether an example is a search form with more than one field to fill."""
    return example.searches and example.form.questions > 1


def cross_validated(known: Sequence[Example], dealt: Sequence[set[str]]) -> dict[tuple[str, int], bool]:
    """Return whether each form, by its place, searches, by a model that saw no page of its site."""
    verdicts = {}
    for held in dealt:
        model = learnt([example for example in known if example.place[0] not in held])
        for example in known:
            if example.place[0] in held:
                verdicts[example.place] = model.decide(example.form).search
    return verdicts


class Peer:
    """Formasaurus's model of forms on the same pages; its forms are those of its own parser."""

    @classmethod
    def of(cls, folder: Path, labels: dict[str, Any]) -> Peer | None:
        """Return the peer, or None if it is not installed."""
        if not find_spec(PEER):
            return None
        warnings.filterwarnings("ignore")  # scikit-learn on its own future
        return cls(folder, labels)

    def __init__(self, folder: Path, labels: dict[str, Any]) -> None:
        from formasaurus.html import get_forms, load_html

        def forms(body: bytes) -> list[Any]:
            return list(get_forms(load_html(body)))

        self._forms = forms
        self.known = [
            ((name, number), form, kind)
            for name, page in labels.items()
            for number, (form, kind) in enumerate(
                zip(self._forms((folder / name).read_bytes()), page["forms"], strict=False)
            )
            if not kind.startswith(UNKNOWN)
        ]

    def learnt(self, held: set[str]) -> Any:
        """Return its model, learnt from all pages but those held back."""
        from formasaurus import formtype_model

        used = [(form, kind) for (name, _), form, kind in self.known if name not in held]
        return formtype_model.get_model().fit([form for form, _ in used], [kind for _, kind in used])

    def cross_validated(self, dealt: Sequence[set[str]]) -> dict[tuple[str, int], bool]:
        verdicts = {}
        for held in dealt:
            judged = [(place, form) for place, form, _ in self.known if place[0] in held]
            kinds = self.learnt(held).predict([form for _, form in judged])
            verdicts.update({place: kind == SEARCH for (place, _), kind in zip(judged, kinds, strict=True)})
        return verdicts

    def worker(self, model: Any) -> Callable[[bytes], int]:
        """Return a function that reads one page and judges its forms all at once, the quickest way it has."""

        def work(body: bytes) -> int:
            forms = self._forms(body)
            return len(model.predict(forms)) if forms else 0

        return work


def worker(model: FormClassifier) -> Callable[[bytes], int]:
    def work(body: bytes) -> int:
        return len([model.decide(form) for form in read_forms(body, media_of(body, saved=True).charset)])

    return work


def speeds(bodies: Sequence[bytes], workers: dict[str, Callable[[bytes], int]]) -> dict[str, float]:
    """Return forms per second of each worker, in turns, the best of some rounds."""
    best = dict.fromkeys(workers, 0.0)
    for _ in range(ROUNDS):
        for name, work in workers.items():
            started = time.process_time()
            forms = sum(map(work, bodies))
            best[name] = max(best[name], forms / (time.process_time() - started))
    return best


def errors(known: Sequence[Example], verdicts: dict[tuple[str, int], bool]) -> Iterator[str]:
    for example in known:
        if verdicts[example.place] != example.searches:
            page, number = example.place
            yield f"  {page} form {number}: {example.kind}, {example.form.questions} fields"


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--pages", type=int, default=200, help="pages read for the speed")
    parser.add_argument("--errors", action="store_true", help="name the forms that were judged wrongly")
    options = parser.parse_args()
    labels = json.loads((options.data / "labels.json").read_text("utf-8"))
    known = list(examples(options.data))
    dealt = folds(labels, options.folds)
    verdicts = cross_validated(known, dealt)
    ours = Score.of((example.searches, verdicts[example.place]) for example in known)
    several = Score.of((True, verdicts[example.place]) for example in known if of_several(example))
    bodies = [(options.data / name).read_bytes() for name in sorted(labels)[: options.pages]]
    last = [example for example in known if example.place[0] not in dealt[-1]]
    workers = {"archivebot": worker(learnt(last))}
    scores = [ours]
    if peer := Peer.of(options.data, labels):
        judged = peer.cross_validated(dealt)
        scores.append(Score.of((kind == SEARCH, judged[place]) for place, _, kind in peer.known))
        workers[PEER] = peer.worker(peer.learnt(dealt[-1]))
    speed = speeds(bodies, workers)
    if options.errors:
        print("\n".join(errors(known, verdicts)))
    rows = [
        Row("F1 of search forms", [f"{each.f1:.3f}" for each in scores], at_least(ours.f1, LEAST_F1)),
        Row("found", [str(each.hits) for each in scores]),
        Row("imagined", [str(each.imagined) for each in scores]),
        Row("missed", [str(each.missed) for each in scores]),
        Row(
            f"found of {several.hits + several.missed} with several fields",
            (str(several.hits),),
            at_least(several.recall, LEAST_RECALL_OF_SEVERAL),
        ),
        Row("forms a second", [f"{each:.0f}" for each in speed.values()]),
    ]
    if peer:
        better, faster = ours.f1 / scores[1].f1, speed["archivebot"] / speed[PEER]
        rows.append(Row("F1, times the peer's", (f"{better:.3f}",), at_least(better, 1)))
        rows.append(
            Row("forms a second, times the peer's", (f"{faster:.1f}",), at_least(faster, LEAST_SPEED))
        )
    title = f"{len(known)} forms on {len(labels)} pages, {options.folds} folds"
    return report(Table(title, tuple(workers), rows), missing=() if peer else (PEER,))


if __name__ == "__main__":
    sys.exit(main())
