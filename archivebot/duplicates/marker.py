"""The mark of a page that repeats another one of the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import takewhile

from archivebot.duplicates.rule import BANDS, RULE, Likeness, judge
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.fingerprint.simhash import NEAR, distance
from archivebot.models import Duplicate, Fingerprint

# A page of the archive: its URL, the number of its version, and the fingerprint of that.
Known = tuple[str, int, Fingerprint]

# Pages whose texts are read at most for one mark: each takes as long as a page of the crawl. Where more are
# likely they repeat one text, and are all about as near.
LOOK = 8


def mark(
    near: Callable[[Sequence[int]], Iterable[Known]],
    url: str,
    fingerprint: Fingerprint,
    text: Callable[[], str],
    text_of: Callable[[str, int], str],
) -> Duplicate | None:
    """Return which page of the archive a page repeats: of several the nearest, then the one captured first.

    ``near`` gives the pages that share a key, those captured first before others; ``text`` the main text
    of the page, ``text_of`` that of a version, asked for where the fingerprints leave it open. A page is
    no duplicate of itself nor of what was captured after it, and one of too few words for a SimHash is
    one of none: many pages say "No results". Versions that can no longer be read are passed over.
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

    Of other texts 1 in 16,384 shares a part of the SimHash by chance: it is left out, and not read.
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
