"""Domains: the subject of the database behind a form, by naive Bayes over the words of the form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from archivebot.forms.features import pieces
from archivebot.forms.form import BUTTONS, FILLED, Form
from archivebot.forms.lexicon import OF_ANY_FORM
from archivebot.text.bayes import NaiveBayes

WORDS = "domains.json"

# The class of forms in no domain: all words are equally likely there.
OTHER = "other"

# A word of a list counts as if this many labelled forms had it. Two words that no other list has are then
# enough for a domain, one word is not; and learnt forms can outweigh the lists.
LISTED = 5

# A form belongs to a domain if its posterior is above this value ("Deep Web discovery", 2011: P(Ci|X) > 0.5).
LEAST = 0.5

MOST_TEXT = 1000  # characters between the controls: some forms are whole pages
MOST_WORDS = 3  # maximum of words that explain a verdict
MOST_OPTIONS = 10  # maximum read from a selection list: makes of cars must not outvote all else


@dataclass(frozen=True, slots=True)
class Verdict:
    """The domain of a form, or None; its posterior, and the words that speak most for it."""

    name: str | None
    posterior: float
    words: tuple[str, ...] = ()


class Domains:
    """Naive Bayes over domains: the single best class, if its posterior is above one half.

    It begins with lists of words, which count like examples, and learns more from labelled forms, which may
    add new domains. Each word of a form counts once. All domains, and the class without a domain, are equally
    likely beforehand.
    """

    def __init__(self, bayes: NaiveBayes) -> None:
        self._bayes = bayes

    @classmethod
    def from_words(cls, lists: Mapping[str, str]) -> Domains:
        """Return a model from lists of words."""
        bayes = NaiveBayes(priors=False)
        bayes.learn(OTHER, ())
        for name, listed in lists.items():
            bayes.learn(name, dict.fromkeys(pieces(listed), LISTED))
        return cls(bayes)

    @classmethod
    @cache
    def shipped(cls) -> Domains:
        """Return a model from the lists of the package."""
        return cls.from_words(json.loads((files("archivebot.forms") / WORDS).read_text("utf-8")))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self._bayes.labels if name != OTHER)

    def taught(self, labelled: Iterable[tuple[str, Form]]) -> Domains:
        """Return a model that has also learnt from labelled forms.

        Forms without a domain are labelled "other".
        """
        bayes = NaiveBayes.from_dict(self._bayes.as_dict())
        for name, form in labelled:
            bayes.learn(name, terms(form))
        return Domains(bayes)

    def of(self, form: Form) -> Verdict:
        """Return the domain of a form.

        >>> from archivebot.forms.form import Control
        >>> labelled = [Control("text", label=label) for label in ("Author", "Title", "ISBN")]
        >>> Domains.shipped().of(Form("", "", "get", (), tuple(labelled))).name
        'books'
        >>> Domains.shipped().of(Form("", "", "get", (), (Control("text", "q"),)))
        Verdict(name=None, posterior=0.0, words=())
        """
        seen = terms(form)
        shares = self._bayes.posterior(seen)
        name = max(self.names, key=lambda name: shares[name], default=OTHER)
        share = shares[name]
        if name == OTHER or share <= LEAST:
            return Verdict(None, 0.0)
        parts = self._bayes.contributions(seen, name)
        return Verdict(name, share, tuple(term for term, part in parts if part > 0)[:MOST_WORDS])


def terms(form: Form) -> dict[str, float]:
    """Return the words of a form, once each, without the words that any form may have.

    They are the words of its name and address, labels, fields, buttons and options.

    >>> from archivebot.forms.form import Control
    >>> by = Control("select", "by", options=("Any", "Author"))
    >>> sorted(terms(Form("findBook", "/s.asp", "get", (), (by,))))
    ['author', 'book']
    """
    texts = [form.name, form.action, form.css, form.text[:MOST_TEXT]]
    for control in form.named(FILLED):
        texts += [control.label, control.name, control.css, control.typed, *control.hints]
        texts += control.options[:MOST_OPTIONS]
    for control in form.named(BUTTONS):
        texts += [control.value, *control.hints]
    return {word: 1.0 for word in pieces(" ".join(texts)) if word not in OF_ANY_FORM}
