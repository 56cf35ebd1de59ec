"""Text in any language and script: words, stems, stop words, language."""

from archivebot.text.tokenizer import (
    LETTERS,
    RUN,
    TOKENIZER_VERSION,
    UNSPACED,
    WORD,
    collapse,
    compatible,
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
    "compatible",
    "is_unspaced",
    "normalise",
    "pieces",
    "words",
]
