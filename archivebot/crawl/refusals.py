"""Why a request is not made or has no answer: our own rules, robots.txt, the end of the crawl."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

PRIVATE = "private_address"


class Refused(IgnoreRequest):
    """A request refused by our own rules; it is counted in the stats and leaves no capture."""


class PrivateAddress(Refused):
    """A request to a private address whose host the operator did not name."""

    def __init__(self, host: str) -> None:
        super().__init__(PRIVATE)
        self.host = host


class RobotsDenied(IgnoreRequest):
    """robots.txt forbids the request; the refusal is recorded as an outcome."""


class Interrupted(Exception):
    """The crawl ended before an answer came."""
