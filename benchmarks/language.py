"""The language of texts, beside turbohtml's detector.

    python benchmarks/language.py FOLDER [--characters 300]

FOLDER has a file for each language, named by its two-letter code: fr.txt, or fr.html with the text in P
elements. Passages of so many characters are cut from each, 20 of a language at most (a Chinese, Japanese or
Korean one has a third of the characters). The text alone tells. Norwegian is `no`. Exit code 1 if a bound
fails.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from common import Row, data_folder, report
from turbohtml import parse
from turbohtml.detect import detect_language

from archivebot.text.language import guess

LEAST_RIGHT = 0.97
MOST_PASSAGES = 20
DENSE = ("zh", "ja", "ko")

# Two-letter codes of what turbohtml names with three.
SHORT = dict(
    pair.split(":")
    for pair in """
    afr:af ara:ar ben:bn bul:bg cat:ca ces:cs cmn:zh dan:da deu:de ell:el eng:en est:et fin:fi fra:fr
    heb:he hin:hi hrv:hr hun:hu ind:id isl:is ita:it jpn:ja kor:ko lav:lv lit:lt nld:nl nob:no pes:fa
    pol:pl por:pt ron:ro rus:ru slk:sk slv:sl spa:es srp:sr swe:sv swh:sw tam:ta tgl:tl tha:th tur:tr
    ukr:uk urd:ur vie:vi
    """.split()
)


def passages(file: Path, characters: int) -> list[str]:
    """Cut a file into passages of whole paragraphs."""
    text = file.read_text("utf-8")
    if file.suffix == ".html":
        paragraphs: Iterator[str] = (each.text for each in parse(text).select("p"))
    else:
        paragraphs = iter(text.splitlines())
    least = characters // 3 if file.stem in DENSE else characters
    found, waiting = [], ""
    for paragraph in paragraphs:
        waiting = " ".join(f"{waiting} {paragraph}".split())
        if len(waiting) >= least:
            found.append(waiting[:least])
            waiting = ""
    return found[:MOST_PASSAGES]


def turbohtml_guess(text: str) -> str:
    code = detect_language(text).language or ""
    return SHORT.get(code, code)


def measured(tell: Callable[[str], str], texts: list[tuple[str, str]]) -> tuple[float, float, Counter[str]]:
    """Return the share that is told rightly, milliseconds of a passage, and which languages were mistaken."""
    tell(texts[0][1])
    started = time.process_time()
    told = [tell(text) for _, text in texts]
    seconds = time.process_time() - started
    wrong = Counter(
        f"{code} as {said or 'none'}" for (code, _), said in zip(texts, told, strict=True) if code != said
    )
    return 1 - wrong.total() / len(texts), 1000 * seconds / len(texts), wrong


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--characters", type=int, default=300, help="length of a passage (default: 300)")
    options = parser.parse_args()
    files = sorted(file for file in options.data.iterdir() if file.suffix in (".txt", ".html"))
    texts = [(file.stem, text) for file in files for text in passages(file, options.characters)]
    ours, cost, wrong = measured(guess, texts)
    peer, peer_cost, peer_wrong = measured(turbohtml_guess, texts)
    rows = [
        Row("told rightly / turbohtml", f"{ours:.3f}", f"{peer:.3f}", ours, LEAST_RIGHT, least=True),
        Row("ms a passage", f"{cost:.2f}", f"{peer_cost:.2f}"),
    ]
    for name, mistakes in (("ours", wrong), ("turbohtml", peer_wrong)):
        if mistakes:
            print(f"{name}: {', '.join(f'{pair} {count}' for pair, count in mistakes.most_common(10))}")
    languages = len({code for code, _ in texts})
    return report(
        f"language of {len(texts)} passages of {options.characters} characters, {languages} languages", rows
    )


if __name__ == "__main__":
    sys.exit(main())
