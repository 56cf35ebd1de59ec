"""Text in any language and script: its words, their stems, the words that say nothing, its language."""

from archivebot.text.tokenizer import (
    LETTERS,
    RUN,
    TOKENIZER_VERSION,
    UNSPACED,
    WORD,
    collapse,
    is_unspaced,
    normalise,
    pieces,
    words,
)

__all__ = [
    "LETTERS",
    "RUN",
    "TOKENIZER_VERSION",
    "UNSPACED",
    "WORD",
    "collapse",
    "is_unspaced",
    "normalise",
    "pieces",
    "words",
]
