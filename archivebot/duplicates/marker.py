"""The mark of a page that repeats another page of the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import takewhile

from archivebot.duplicates.rule import BANDS, RULE, Likeness, judge
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.fingerprint.simhash import NEAR, distance
from archivebot.models import Duplicate, Fingerprint

# A page of the archive: its URL, the number of its version, and the fingerprint of the version.
Known = tuple[str, int, Fingerprint]

# Maximum of pages whose texts are read for one mark: each takes as long as a page of the crawl. If more pages
# are candidates, they repeat one text and are about equally near.
LOOK = 8


def mark(
    near: Callable[[Sequence[int]], Iterable[Known]],
    url: str,
    fingerprint: Fingerprint,
    text: Callable[[], str],
    text_of: Callable[[str, int], str],
) -> Duplicate | None:
    """Return the archived page that a page repeats: the nearest, and among equals the first captured.

    ``near`` returns the pages that share a key, in the order of their captures; ``text`` the main text of the
    page, and ``text_of`` the main text of a version, called only if the fingerprints do not decide. A page is
    not a duplicate of itself or of a later capture. A page with too few words for a SimHash is never a
    duplicate: many pages say "No results". Versions that can no longer be read are skipped.
    """
    if fingerprint.simhash is None:
        return None
    before = takewhile(lambda known: known[0] != url, near(fingerprint.keys))
    likely = sorted(_likely(fingerprint, before), key=lambda found: found[0])
    text = cache(text)
    best: tuple[Likeness, Known] | None = None
    for apart, known in likely[:LOOK]:
        if best and apart > best[0].distance:
            break
        likeness = _judged(fingerprint, known, text, text_of)
        if likeness and (best is None or likeness.jaccard > best[0].jaccard):
            best = likeness, known
    if best is None:
        return None
    likeness, (other, number, _) = best
    return Duplicate(other, number, likeness.distance, likeness.jaccard, RULE)


def _likely(fingerprint: Fingerprint, pages: Iterable[Known]) -> Iterable[tuple[int, Known]]:
    """Yield the pages that may be near, with the distance of their SimHashes.

    One in 16,384 unrelated texts shares a part of the SimHash by chance; it is skipped without being read.
    """
    for known in pages:
        other = known[2]
        if other.simhash is not None and fingerprint.simhash is not None:
            apart = distance(fingerprint.simhash, other.simhash)
            if apart <= NEAR or {*fingerprint.keys[-BANDS:]} & {*other.keys[-BANDS:]}:
                yield apart, known


def _judged(
    fingerprint: Fingerprint, known: Known, text: Callable[[], str], text_of: Callable[[str, int], str]
) -> Likeness | None:
    url, number, other = known
    try:
        return judge(fingerprint, other, partial(_both, text, partial(text_of, url, number)))
    except (CorruptObject, NotArchived):
        return None


def _both(text: Callable[[], str], other: Callable[[], str]) -> tuple[str, str]:
    return text(), other()
