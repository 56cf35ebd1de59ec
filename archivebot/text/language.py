"""The language of a page: as declared, else detected from its text."""

from __future__ import annotations

import re
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier
from turbohtml import Document

_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")

# Maximum of characters read. Of passages in 45 languages (benchmarks/language.py) all are recognised from 300
# characters.
READ = 2000

# Minimum probability of a language. A list of names has 0.05 to 0.11; of correctly recognised single messages
# in 42 languages 0.5 % have less.
LEAST_PROBABILITY = 0.25

# Bosnian and Malay are reported as Croatian and Indonesian: half of the texts of the latter were taken for
# the former.
_TAKEN_FOR_ANOTHER = frozenset(("bs", "ms"))


def language(document: Document, text: str) -> str:
    """Return the language of a page as its two- or three-letter code, or "" if unknown.

    The declaration of the page comes first: the LANG attribute of HTML, then META elements; else the
    text decides.

    >>> from turbohtml import parse
    >>> language(parse('<html lang="en-GB"><p>Guten Tag'), "Guten Tag")
    'en'
    >>> language(parse('<meta http-equiv="content-language" content="fr, en">'), "")
    'fr'
    >>> language(parse("<p>"), ""), language(parse('<html lang="x-default">'), "")
    ('', '')
    """
    return _declared(document) or guess(text)


def _declared(document: Document) -> str:
    root = document.find("html")
    stated = [root.attrs.get(name) for name in ("lang", "xml:lang")] if root else []
    for meta in document.find_all("meta"):
        name = str(meta.attrs.get("http-equiv") or meta.attrs.get("name") or meta.attrs.get("property") or "")
        if name.lower() in ("content-language", "language", "dc.language", "og:locale"):
            stated.append(meta.attrs.get("content"))
    codes = (_TAG.match(str(value)) for value in stated if value)
    return next((code[1].lower() for code in codes if code), "")


def guess(text: str) -> str:
    """Return the language of a text as its two-letter code, or "" if it is too short.

    >>> guess("Das ist der Anfang und das Ende von der Geschichte."), guess("网页存档")
    ('de', 'zh')
    >>> guess("日本のウェブ"), guess("Kofi Annan, Ban Ki-moon"), guess("")
    ('ja', '', '')
    """
    code, probability = _identifier().classify(text[:READ])
    return str(code) if probability >= LEAST_PROBABILITY else ""


@cache
def _identifier() -> LanguageIdentifier:
    """Load the model of py3langid, for the languages that have a two-letter code.

    py3langid is naive Bayes over byte n-grams (Lui, Baldwin, "langid.py", 2012).
    """
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    codes = {code for code in identifier.labels if len(code) == 2}
    identifier.set_languages(codes - _TAKEN_FOR_ANOTHER)
    return identifier
