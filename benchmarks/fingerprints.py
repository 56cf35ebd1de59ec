"""Fingerprints: texts per second and quality compared with `simhash`, and near pairs of a million.

    python benchmarks/fingerprints.py DATA/wcxb-dev [--million 1]

SimHash of the main texts of the data, and of their paragraphs of 32 words and more: CPU time, in turns, the
best of three rounds; texts on which the package fails are left out for both. Then the balance of the bits,
and the distances at cosines of 0.99 and 0.9. Last, in a separate process, the second step of `scrapy
duplicates --pages`, after the fingerprints of an archive are read: it finds all pairs among a million pages,
a thousand of which repeat another page with three bits of its SimHash changed. It is compared with a linear
scan by NumPy, estimated from the time of some queries. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median

import numpy as np
from common import data_folder, need, run
from tables import Row, Table, at_least, at_most, report

from archivebot.duplicates.pairs import Collection
from archivebot.duplicates.rule import BANDS, KEY_BITS
from archivebot.fingerprint.simhash import distance, simhash, text_simhashes
from archivebot.models import Fingerprint

PEER = "simhash"
LEAST_SPEED = 20.0  # times the texts a second of the package
MOST_UNBALANCED = 0.05  # how far from one half the share of ones in a bit of 10,000 tokens may be
MOST_MEMORY = 1.5  # GB, of the whole process
COSINES = ((0.99, 2.9, 0.4), (0.9, 9.2, 0.5))  # each with the expected distance and its tolerance
ROUNDS = 3
PLANTED = 1000
SCANS = 20
WORDS = 100
SEED = 20261121

Printer = Callable[[Iterable[str]], int]


def main_texts(folder: Path) -> list[str]:
    """Return the main text of each page of the data."""
    files = sorted((folder / "ground-truth").glob("*.json"))
    texts = (json.loads(file.read_text("utf-8"))["ground_truth"].get("main_content") for file in files)
    return [text for text in texts if text]


def fits(text: str) -> bool:
    """Return whether the package takes a text: it fails if a feature occurs more than 255 times."""
    from simhash import Simhash

    try:
        Simhash(text)
    except OverflowError:
        return False
    return True


def their_print(features: str | Iterable[str]) -> int:
    from simhash import Simhash

    return int(Simhash(features if isinstance(features, str) else list(features)).value)


def their_prints(texts: Sequence[str]) -> list[int]:
    return [their_print(text) for text in texts]


def speed_table(texts: Sequence[str], paragraphs: Sequence[str], *, peer: bool) -> Table:
    rows = []
    for name, some, bounded in (("texts", texts, True), ("paragraphs", paragraphs, False)):
        workers = [text_simhashes, *([their_prints] if peer else [])]
        best = [float("inf")] * len(workers)
        for _ in range(ROUNDS):
            best = [min(b, _seconds(partial(work, some))) for b, work in zip(best, workers, strict=True)]
        ratio = best[-1] / best[0]
        cells = [f"{len(some) / seconds:.0f}" for seconds in best]
        bound = at_least(ratio, LEAST_SPEED) if peer and bounded else None
        rows.append(Row(f"{len(some)} {name}", [*cells, *([f"{ratio:.1f}"] if peer else [])], bound))
    return Table("SimHashes a second", ("archivebot", PEER, "ratio")[: 3 if peer else 1], rows)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def quality_table(texts: Sequence[str], *, peer: bool) -> Table:
    ours = [found for found in text_simhashes(texts) if found is not None]
    tokens = [[f"word{number}"] for number in range(10_000)]
    printers: list[Printer] = [simhash, *([their_print] if peer else [])]
    balances = [balance(ours), *([balance(their_prints(texts))] if peer else [])]
    of_tokens = [balance(list(map(prints, tokens))) for prints in printers]
    worst = max(abs(share - 0.5) for share in of_tokens[0])
    rows = [
        Row(
            "ones in a bit, texts: least, most",
            ["{:.3f}, {:.3f}".format(*each) for each in balances],
        ),
        Row(
            "the same, 10,000 tokens: off one half",
            ["{:.3f}, {:.3f}".format(*each) for each in of_tokens],
            at_most(worst, MOST_UNBALANCED),
        ),
    ]
    for cosine, expected, tolerance in COSINES:
        found = [mean_distance(prints, cosine) for prints in printers]
        name = f"distance at cosine {cosine}: off {expected}"
        rows.append(
            Row(name, [f"{each:.2f}" for each in found], at_most(abs(found[0] - expected), tolerance))
        )
    return Table("SimHash", ("archivebot", PEER)[: 1 + peer], rows)


def balance(prints: Sequence[int]) -> tuple[float, float]:
    """Return the least and the greatest share of fingerprints in which a bit is set."""
    shares = [mean(one >> bit & 1 for one in prints) for bit in range(64)]
    return min(shares), max(shares)


def mean_distance(prints: Printer, cosine: float) -> float:
    """Return the mean over 500 pairs of documents of 200 to 400 features with this cosine."""
    chance = random.Random(SEED)
    found = []
    for pair in range(500):
        size = chance.randrange(200, 401)
        changed = round(size * (1 - cosine))
        shared = [f"{pair} {number}" for number in range(size - changed)]
        one, other = ([*shared, *(f"{side} {pair} {n}" for n in range(changed))] for side in "ab")
        found.append(distance(prints(one), prints(other)))
    return mean(found)


def planted(count: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return random SimHashes, and the numbers of some with their SimHash changed by three bits."""
    prints = np.random.default_rng(SEED).integers(0, 2**64, count, np.uint64)
    chance = random.Random(SEED)
    numbers = chance.sample(range(count), PLANTED)
    masks = (sum(1 << bit for bit in chance.sample(range(64), 3)) for _ in numbers)
    return prints, [(number, int(prints[number]) ^ mask) for number, mask in zip(numbers, masks, strict=True)]


def pairs(count: int) -> dict[str, float]:
    """Find the pairs among so many pages; what may be near is read as the same text."""
    prints, changes = planted(count)
    simhashes = [*prints.tolist(), *(changed for _, changed in changes)]
    chance = np.random.default_rng(SEED)
    collection = Collection(lambda number: "the text of a page")
    for digest, found in enumerate(simhashes):
        keys = (-1 - chance.integers(0, 1 << KEY_BITS, BANDS)).tolist()
        collection.add(Fingerprint(digest, found, tuple(keys), WORDS))
    started = time.process_time()
    told = [(pair.first, pair.second) for pair in collection.pairs()]
    seconds = time.process_time() - started
    expected = {(number, count + place) for place, (number, _) in enumerate(changes)}
    right = len(expected.intersection(told))
    return {"seconds": seconds, "recall": right / len(expected), "others": len(told) - right}


def scan_seconds(count: int) -> float:
    """Return what a linear scan for each of so many fingerprints would take."""
    prints, changes = planted(count)
    times = []
    for _, query in changes[:SCANS]:
        started = time.process_time()
        np.flatnonzero(np.bitwise_count(prints ^ np.uint64(query)) <= 3)
        times.append(time.process_time() - started)
    return median(times) * count


def pairs_table(count: int) -> Table:
    cost = need(run([sys.executable, __file__, "--pairs", str(count)]), "the search for pairs")
    found = json.loads(cost.stdout)
    memory = cost.peak / 1e9
    rows = [
        Row("planted pairs that are found", (f"{found['recall']:.3f}",), at_least(found["recall"], 1)),
        Row("other pairs that are found", (f"{found['others']:.0f}",), at_most(found["others"], 0)),
        Row("CPU, s", (f"{found['seconds']:.1f}", f"{scan_seconds(count):.0f}")),
        Row("peak memory, GB", (f"{memory:.2f}",), at_most(memory, MOST_MEMORY)),
    ]
    return Table(f"all pairs of {count:,} pages", ("archivebot", "linear scan"), rows)


def main() -> int:
    if sys.argv[1:2] == ["--pairs"]:
        print(json.dumps(pairs(int(sys.argv[2]))))
        return 0
    parser = data_folder(__doc__)
    parser.add_argument("--million", type=float, default=1, help="millions of pages (1)")
    options = parser.parse_args()
    among = pairs_table(int(options.million * 1e6))
    peer = find_spec(PEER) is not None
    texts = [text for text in main_texts(options.data) if not peer or fits(text)]
    lines = [line for text in texts for line in text.split("\n") if len(line.split()) >= 32]
    paragraphs = [line for line in lines if not peer or fits(line)][:3000]
    return report(
        speed_table(texts, paragraphs, peer=peer),
        quality_table(texts, peer=peer),
        among,
        missing=() if peer else (PEER,),
    )


if __name__ == "__main__":
    sys.exit(main())
