"""Words of a text, for topics, comparison and search, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, pairwise

TOKENIZER_VERSION = 1

# Scripts written without spaces: Chinese characters and Japanese kana. Hangul is spaced.
UNSPACED = (
    "\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
SPACED_WORD = r"[^\W_]+(?:['’][^\W_]+)*"
WORD = re.compile(SPACED_WORD)
RUN = re.compile(rf"([{UNSPACED}]+)")


def words(text: str) -> list[str]:
    """Split a text into lower-case words; scripts without spaces give character bigrams.

    >>> words("Don't PANIC: 42 cafés")
    ["don't", 'panic', '42', 'cafés']
    >>> words("北京大学 news 東"), words("한국 신문")
    (['北京', '京大', '大学', 'news', '東'], ['한국', '신문'])
    >>> words("")
    []
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii() or not RUN.search(text):
        return WORD.findall(text)
    return list(chain.from_iterable(map(_run, RUN.split(text))))


def _run(text: str) -> Iterable[str]:
    if not RUN.match(text):
        return WORD.findall(text)
    return map("".join, pairwise(text)) if len(text) > 1 else text


def normalise(text: str) -> str:
    """Collapse white space inside lines and drop blank lines.

    >>> normalise("  a\\t b \\n\\n c\\xa0d ")
    'a b\\nc d'
    """
    return "\n".join(line for line in (" ".join(raw.split()) for raw in text.splitlines()) if line)
