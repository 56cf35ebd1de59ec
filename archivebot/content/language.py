"""The language of a page: as it is declared, else by its script and its commonest words."""

from __future__ import annotations

import re
from collections import Counter

from turbohtml import Document

_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")

# Scripts that only one common language is written in, or that one is by far the commonest of.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),  # before Chinese: Japanese has both
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)

# Words that every longer text of the language has.
_COMMON = {
    "en": "the of and to in is that for with as was this are not from by be it",
    "de": "der die das und ist nicht ein eine mit von den zu sich auf für im dem auch",
    "fr": "le la les des et est une dans pour que qui sur pas au avec ce sont du",
    "es": "el los las una del que y en por con para es se no su como más al",
    "it": "il di che è una per non sono della del con gli le nel più come anche dei",
    "pt": "o os as um uma do da dos em não que para com é mais ao pela se",
    "nl": "de het een van en is dat niet met op voor zijn ook aan er bij maar worden",
    "sv": "och att det som en är på för med av inte den till har ett om jag var",
    "pl": "i w nie na się z do to że jest jak po co przez od ale dla oraz",
    "tr": "ve bir bu için ile da de olarak daha çok olan gibi sonra kadar en ne var değil",
}
_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _COMMON.items():
    for _word in _words.split():
        _BY_WORD.setdefault(_word, []).append(_language)

# Characters that are read, share of a script and of common words from which a language is named: a
# text of any of the ten languages has a fifth or more of such words, a list of names nearly none.
READ = 4000
SCRIPT_SHARE = 0.2
WORD_SHARE = 0.08


def language(document: Document, text: str) -> str:
    """Give the language of a page as its two- or three-letter code, or "" where nothing tells.

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
    """Guess the language of a text, or "" where it is too short or of none of those known.

    >>> guess("Das ist der Anfang und das Ende von der Geschichte."), guess("网页存档")
    ('de', 'zh')
    >>> guess("日本のウェブ"), guess("Kofi Annan, Ban Ki-moon"), guess("")
    ('ja', '', '')
    """
    read = text[:READ]
    letters = sum(map(str.isalpha, read))
    if not read.isascii():
        for code, script in _SCRIPTS:
            if len(script.findall(read)) > letters * SCRIPT_SHARE:
                return code
    words = re.findall(r"[^\W\d_]+", read.lower())
    votes = Counter(code for word in words for code in _BY_WORD.get(word, ()))
    best = votes.most_common(1)
    return best[0][0] if best and best[0][1] > len(words) * WORD_SHARE else ""
