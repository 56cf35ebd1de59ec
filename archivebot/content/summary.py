"""The summary of a page: what it says of itself, and the first sentences of its main text."""

from __future__ import annotations

import re
from itertools import islice

from turbohtml import Document

from archivebot.markup.edits import Edits
from archivebot.text import words

# Sentences of a summary. On 152 articles of articles-dev with a description of eight words or more, the words
# of the first two sentences agree best with it (ROUGE-1, F1): 0.51; one sentence 0.45, three 0.46. The two
# sentences with the densest frequent words (Luhn, "The Automatic Creation of Literature Abstracts", 1958)
# reach 0.22, those with the most frequent words (Nenkova, Vanderwende, "The Impact of Frequency on
# Summarization", 2005) 0.23.
SENTENCES = 2

# Minimum of words of a sentence: a shorter line is a date line or a name.
LEAST_WORDS = 6

# Maximum of characters; a longer summary is cut at a blank.
MOST = 600

_NAMES = ("description", "og:description")
# The next sentence begins after at most so many signs: to look further takes quadratic time.
_END = re.compile(r"""(?<=[.!?…])["”’»)\]]*\s+(?=[\W_]{0,20}[^\W_a-z])|(?<=[。！？])""")
_IS_SENTENCE = re.compile(r"""[.!?…。！？]["”’»)\]]*$""")


def is_kept(edits: Edits) -> bool:
    """Return whether a page describes itself as an earlier version, by the edits since."""
    return edits.keeps("name", "property", "content", tags=("meta",))


def description(document: Document) -> str:
    """Return how a page describes itself in a META element, "" if it does not.

    >>> from turbohtml import parse
    >>> description(parse('<meta property="og:description" content=b><meta name=Description content=" a ">'))
    'a'
    """
    found: dict[str, str] = {}
    for meta in document.find_all("meta"):
        name = str(meta.attrs.get("name") or meta.attrs.get("property") or "").lower()
        text = " ".join(str(meta.attrs.get("content") or "").split())
        if name in _NAMES and text:
            found.setdefault(name, text)
    return next((found[name] for name in _NAMES if name in found), "")


def summary(text: str) -> str:
    """Return the first sentences of a main text; if it has none, "".

    >>> summary("Terns\\nA tern dives for fish in the sea. It is a bird of the coast, too. It flies far.")
    'A tern dives for fish in the sea. It is a bird of the coast, too.'
    >>> summary("Home")
    ''
    """
    pieces = (piece.strip() for line in text.split("\n") for piece in _END.split(line))
    sentences = (piece for piece in pieces if _IS_SENTENCE.search(piece) and len(words(piece)) >= LEAST_WORDS)
    found = " ".join(islice(sentences, SENTENCES))
    return found if len(found) <= MOST else f"{found[:MOST].rpartition(' ')[0]} …"
