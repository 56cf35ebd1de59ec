"""Text in any language and script: words, stems, stop words, language."""

from archivebot.text.tokenizer import (
    LETTERS,
    RUN,
    UNSPACED,
    WORD,
    collapse,
    compatible,
    composed,
    is_unspaced,
    normalise,
    pieces,
    words,
)

__all__ = [
    "LETTERS",
    "RUN",
    "UNSPACED",
    "WORD",
    "collapse",
    "compatible",
    "composed",
    "is_unspaced",
    "normalise",
    "pieces",
    "words",
]
