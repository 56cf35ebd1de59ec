"""The priority of a waiting URL: a linear sum of its features, with each part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from archivebot.exceptions import UsageError

INITIAL = 1.0  # the priority of an unknown URL

# Words in a URL that speak for or against its page: the location metric of Cho, Garcia-Molina, Page,
# "Efficient crawling through URL ordering", 1998.
_RAISING = frozenset(("com", "home"))
_LOWERING = frozenset(("cc", "map"))


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each kind of evidence; 0 leaves it out."""

    domain: float = 1.0
    popularity: float = 1.0
    parent: float = 1.0
    depth: float = 1.0
    topic: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence on a URL before it is fetched.

    ``domain`` is the weight of the words in its host and path, ``popularity`` the number of links to it,
    ``parent`` the worth of the linking page, ``depth`` the depth of its path, as a negative number, ``topic``
    the weighted occurrences of the topic's terms in the evidence of its link.
    """

    domain: float = 0.0
    popularity: float = 0.0
    parent: float = INITIAL
    depth: float = 0.0
    topic: float = 0.0

    @classmethod
    def of(cls, url: str, hosts: int, parent: float = INITIAL, topic: float = 0.0) -> Evidence:
        """Return the evidence of a canonical URL, each part between -1 and 1.

        ``hosts`` is the number of hosts that link to it: links of one site are one opinion, and easily made.

        >>> Evidence.of("http://a.example/x/y", hosts=1, topic=3)
        Evidence(domain=0.5, popularity=0.5, parent=1.0, depth=-0.6666666666666666, topic=0.75)
        """
        return cls(url_weight(url), _share(hosts), parent, -_share(depth(url)), _share(topic))


def weights_of(given: Mapping[str, Any]) -> Weights:
    """Return weights, some given by name and the others 1; raises UsageError for unknown names.

    >>> weights_of({"depth": 0})
    Weights(domain=1.0, popularity=1.0, parent=1.0, depth=0, topic=1.0)
    """
    if unknown := given.keys() - Weights.__slots__:
        raise UsageError(f"a priority has {', '.join(Weights.__slots__)}, and no {min(unknown)!r}")
    for name, weight in given.items():
        if not (isinstance(weight, int | float) and math.isfinite(weight)):
            raise UsageError(f"the weight of {name} is {weight!r}, which is not a number")
    return Weights(**given)


def parts(evidence: Evidence, weights: Weights | None = None) -> dict[str, float]:
    """Return what each kind of evidence adds; the priority is their sum.

    >>> found = Evidence(domain=2, popularity=3, parent=4, depth=-1, topic=5)
    >>> parts(found)
    {'domain': 2.0, 'popularity': 3.0, 'parent': 4.0, 'depth': -1.0, 'topic': 5.0}
    >>> sum(parts(found).values()), sum(parts(found, Weights(topic=0)).values())
    (13.0, 8.0)
    >>> sum(parts(Evidence()).values())
    1.0
    """
    weights = weights or Weights()
    return {name: getattr(weights, name) * getattr(evidence, name) for name in Evidence.__slots__}


def url_weight(url: str) -> float:
    """Return the weight of a URL by its words alone: 1 if they speak for it, 0 against it, else 0.5.

    >>> url_weight("http://www.a.com/"), url_weight("http://a.cc/map"), url_weight("http://a.example/")
    (1.0, 0.0, 0.5)
    """
    address = urlsplit(url.lower())
    found = set(f"{address.hostname or ''}/{address.path}".replace(".", "/").split("/"))
    return 0.5 + 0.5 * (bool(found & _RAISING) - bool(found & _LOWERING))


def depth(url: str) -> int:
    """Return the number of parts in the path of a URL.

    >>> depth("http://a.example/"), depth("http://a.example/x//y/?q=/z")
    (0, 2)
    """
    return len(list(filter(None, urlsplit(url).path.split("/"))))


def _share(amount: float) -> float:
    """Map an amount from [0, infinity) to [0, 1)."""
    return amount / (1.0 + amount)
