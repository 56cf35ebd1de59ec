"""Why a request is not made, or has no answer: by our own rules, by robots.txt, or as the crawl ended."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

PRIVATE = "private_address"


class Refused(IgnoreRequest):
    """A request that is not made, by our own rules; it leaves a stat and no capture."""


class PrivateAddress(Refused):
    """A request to a private address whose host no seed names."""

    def __init__(self, host: str) -> None:
        super().__init__(PRIVATE)
        self.host = host


class RobotsDenied(IgnoreRequest):
    """robots.txt forbids the request; the refusal is recorded as an outcome."""


class Interrupted(Exception):
    """The crawl ended before an answer came."""
