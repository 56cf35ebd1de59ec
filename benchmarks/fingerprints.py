"""Fingerprints beside other packages: documents a second, quality, and how fast near ones are found.

    python benchmarks/fingerprints.py DATA/wcxb-dev [--million 1 5 10] [--tables 4 10]

First the Hamming index at so many million random fingerprints, some of them asked for with three bits
changed: each size in a process of its own, beside a linear scan by NumPy. Then SimHash of the main
texts of the data beside the package `simhash` (CPU time, in turns, the best of three rounds; texts on
which that package fails are left out for both), with the balance of the bits and the distances at
cosines of 0.99 and 0.9 of both. Then the join of a million fingerprints in partitions, the bytes that
the gap codec takes for them, and datasketch's MinHashLSH at 50,000. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from common import Row, data_folder, need, report, run

from archivebot.fingerprint.gaps import encode
from archivebot.fingerprint.hamming import HammingIndex, Match
from archivebot.fingerprint.join import self_join
from archivebot.fingerprint.simhash import distance, simhash, text_simhashes

LEAST_SPEED = 20.0  # times the documents a second of the package simhash
MOST_TIME = 1.0  # ms, the median of a query
MOST_MEMORY = 1.5  # GB, of the whole process
MOST_SIZE = 0.86  # of 8 bytes, a fingerprint among a million
ROUNDS = 3
QUERIES = 1000
SCANS = 20
LSH_SIZE = 50_000
JOINED = 1_000_000
SEED = 20261121

Printer = Callable[[Iterable[str]], int]


def main_texts(folder: Path) -> list[str]:
    """Give the main text of each page of the data."""
    files = sorted((folder / "ground-truth").glob("*.json"))
    texts = (json.loads(file.read_text("utf-8"))["ground_truth"].get("main_content") for file in files)
    return [text for text in texts if text]


def fits(text: str) -> bool:
    """Tell whether the package takes a text: it fails where a feature occurs more than 255 times."""
    from simhash import Simhash

    try:
        Simhash(text)
    except OverflowError:
        return False
    return True


def speed_row(name: str, texts: list[str], least: float | None) -> Row:
    from simhash import Simhash

    def theirs() -> object:
        return [Simhash(text).value for text in texts]

    ours_best = theirs_best = float("inf")
    for _ in range(ROUNDS):
        ours_best = min(ours_best, _seconds(partial(text_simhashes, texts)))
        theirs_best = min(theirs_best, _seconds(theirs))
    ours, peer = (f"{len(texts) / seconds:.0f} texts/s" for seconds in (ours_best, theirs_best))
    return Row(name, ours, peer, theirs_best / ours_best, least, least=True)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def quality_rows(texts: list[str]) -> list[Row]:
    from simhash import Simhash

    def theirs(features: Iterable[str]) -> int:
        return int(Simhash(list(features)).value)

    own_prints = [found for found in text_simhashes(texts) if found is not None]
    their_prints = [int(Simhash(text).value) for text in texts]
    rows = [
        Row(
            "least and greatest share of ones in a bit, texts",
            "{:.3f} {:.3f}".format(*balance(own_prints)),
            "{:.3f} {:.3f}".format(*balance(their_prints)),
        )
    ]
    tokens = [f"word{number}" for number in range(10_000)]
    least, most = balance([simhash([token]) for token in tokens])
    figures = "{:.3f} {:.3f}".format(*balance([theirs([token]) for token in tokens]))
    worst = max(0.5 - least, most - 0.5)
    rows.append(Row("the same of 10,000 tokens", f"{least:.3f} {most:.3f}", figures, worst, 0.05))
    for cosine, expected, tolerance in ((0.99, 2.9, 0.4), (0.9, 9.2, 0.5)):
        ours, other = mean_distance(simhash, cosine), mean_distance(theirs, cosine)
        name = f"distance at cosine {cosine}: off the {expected} expected"
        rows.append(Row(name, f"{ours:.2f}", f"{other:.2f}", abs(ours - expected), tolerance))
    return rows


def balance(prints: list[int]) -> tuple[float, float]:
    """Give the least and the greatest share of fingerprints in which a bit is set."""
    shares = [mean(one >> bit & 1 for one in prints) for bit in range(64)]
    return min(shares), max(shares)


def mean_distance(prints: Printer, cosine: float) -> float:
    """Give the mean over 500 pairs of documents of 200 to 400 features with this cosine."""
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
    """Give random fingerprints, and numbers of some with the fingerprint changed by three bits."""
    prints = np.random.default_rng(SEED).integers(0, 2**64, count, np.uint64)
    chance = random.Random(SEED)
    numbers = chance.sample(range(count), QUERIES)
    masks = (sum(1 << bit for bit in chance.sample(range(64), 3)) for _ in numbers)
    return prints, [(number, int(prints[number]) ^ mask) for number, mask in zip(numbers, masks, strict=True)]


def milliseconds(search: Callable[[int], object], queries: Iterable[int]) -> tuple[float, list[Any]]:
    """Give the median time of a query, and the answers."""
    times, answers = [], []
    for query in queries:
        started = time.perf_counter()
        answers.append(search(query))
        times.append(time.perf_counter() - started)
    return median(times) * 1000, answers


def measure(count: int, tables: int) -> dict[str, float]:
    """Build an index and ask it; the process does nothing else, its memory is the index's."""
    prints, changes = planted(count)
    started = time.perf_counter()
    index = HammingIndex(prints, tables=tables)
    built = time.perf_counter() - started
    spent, answers = milliseconds(index.near, (query for _, query in changes))
    found = sum(Match(number, 3) in answer for (number, _), answer in zip(changes, answers, strict=True))
    started = time.perf_counter()
    for _, query in changes:
        index.add(query)
    added = (time.perf_counter() - started) / len(changes)
    return {"recall": found / len(changes), "ms": spent, "build": built, "add": added * 1e6}


def scan_milliseconds(count: int) -> float:
    prints, changes = planted(count)

    def scan(query: int) -> np.ndarray:
        return np.flatnonzero(np.bitwise_count(prints ^ np.uint64(query)) <= 3)

    return milliseconds(scan, (query for _, query in changes[:SCANS]))[0]


def index_rows(millions: list[float], tables: list[int]) -> list[Row]:
    rows = []
    for million in millions:
        count = int(million * 1e6)
        scan = scan_milliseconds(count)
        for number in tables:
            cost = need(run([sys.executable, __file__, "--index", str(count), str(number)]), "the index")
            found = json.loads(cost.stdout)
            name = f"{million:g} million, {number} tables"
            memory = cost.peak / 1e9
            rows += [
                Row(f"{name}: recall", "", "", found["recall"], 1.0, least=True),
                Row(f"{name}: ms a query", f"{found['ms']:.3f}", f"scan {scan:.1f}", found["ms"], MOST_TIME),
                Row(f"{name}: GB", f"built in {found['build']:.1f} s", "", memory, MOST_MEMORY),
            ]
    return rows


def lsh_rows() -> list[Row]:
    """Set the index beside datasketch's, which takes the 64 bits as four bands of 16."""
    from datasketch import MinHash, MinHashLSH

    prints, changes = planted(LSH_SIZE)

    def bands_of(fingerprint: int) -> MinHash:
        parts = [fingerprint >> shift & 0xFFFF for shift in (48, 32, 16, 0)]
        return MinHash(num_perm=4, hashvalues=parts, scheme="legacy")

    def fill() -> object:
        for number, fingerprint in enumerate(prints.tolist()):
            lsh.insert(number, bands_of(fingerprint), check_duplication=False)
        return lsh

    lsh = MinHashLSH(num_perm=4, params=(4, 1))
    index = HammingIndex(prints)
    build, theirs_build = _seconds(partial(HammingIndex, prints)), _seconds(fill)
    queries = [query for _, query in changes]
    ours, _ = milliseconds(index.near, queries)
    theirs, answers = milliseconds(lambda query: lsh.query(bands_of(query)), queries)
    found = mean(number in answer for (number, _), answer in zip(changes, answers, strict=True))
    name = f"{LSH_SIZE:,} fingerprints, datasketch"
    return [
        Row(
            f"{name}: ms a query",
            f"{ours:.3f}",
            f"{theirs:.3f} (recall {found:.3f}, unchecked)",
            theirs / ours,
        ),
        Row(f"{name}: s to build", f"{build:.3f}", f"{theirs_build:.3f}", theirs_build / build),
    ]


def join_rows() -> list[Row]:
    """Join a million fingerprints, of which a thousand have a neighbour, in partitions; pack them."""
    prints, changes = planted(JOINED)
    together = np.concatenate([prints, np.array([query for _, query in changes], np.uint64)])
    expected = {(number, JOINED + place) for place, (number, _) in enumerate(changes)}
    found: list[tuple[int, int]] = []

    def join() -> None:
        for pairs in self_join(np.array_split(together, 4)):
            found.extend(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))

    def ask() -> None:
        index = HammingIndex(together)
        for query in together.tolist():
            index.near(query)

    joined, asked = _seconds(join), _seconds(ask)
    once = len(found) == len(set(found)) and set(found) >= expected
    size = len(encode(prints)) / prints.nbytes
    return [
        Row(
            "a million in four partitions: s, beside single queries",
            f"{joined:.1f}",
            f"{asked:.1f}",
            asked / joined,
        ),
        Row(
            "planted pairs found, each once",
            f"{len(found)}",
            f"{len(expected)}",
            float(once),
            1.0,
            least=True,
        ),
        Row("gaps: bytes of 8", f"{size * 8:.2f}", "", size, MOST_SIZE),
    ]


def main() -> int:
    if sys.argv[1:2] == ["--index"]:
        print(json.dumps(measure(int(sys.argv[2]), int(sys.argv[3]))))
        return 0
    parser = data_folder(__doc__)
    parser.add_argument("--million", type=float, nargs="*", default=[1, 5, 10], help="sizes of the index")
    parser.add_argument("--tables", type=int, nargs="*", default=[4, 10], help="layouts of the index")
    options = parser.parse_args()
    code = report("index: near ones within 3 bits", index_rows(options.million, options.tables))
    texts = list(filter(fits, main_texts(options.data)))
    blocks = list(
        filter(fits, [line for text in texts for line in text.split("\n") if len(line.split()) >= 32])
    )
    print(
        f"\n{len(texts)} texts, {mean(map(len, texts)):.0f} characters in the mean; {len(blocks)} paragraphs"
    )
    speed = [
        speed_row("texts / simhash", texts, LEAST_SPEED),
        speed_row("paragraphs of 32 words and more / simhash", blocks[:3000], None),
    ]
    code |= report("SimHash: speed (CPU time)", speed)
    code |= report("SimHash: quality", quality_rows(texts))
    code |= report("join and codec", join_rows())
    return report("index: datasketch's MinHashLSH beside it", lsh_rows()) or code


if __name__ == "__main__":
    sys.exit(main())
