"""The retry policy: a maximum of retries, with a growing wait that honours Retry-After."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime

from scrapy.core.engine import ExecutionEngine
from scrapy.http import Response
from scrapy.settings import BaseSettings

from archivebot.config import PaceConfig
from archivebot.crawl.compat.engine import is_closing
from archivebot.http.date import read_date
from archivebot.http.robotstxt import UNREACHABLE
from archivebot.models import Outcome

PASSING = frozenset(
    (
        Outcome.ACCEPTED,
        Outcome.THROTTLED,
        Outcome.SERVER_ERROR,
        Outcome.TIMEOUT,
        Outcome.UNREACHABLE,
        Outcome.INCOMPLETE,
    )
)

# The outcomes with which a URL has failed; it does not count towards the page limit.
UNANSWERED = PASSING | {Outcome.PROTOCOL_ERROR, Outcome.TOO_LARGE}


def has_failed(outcome: Outcome, reason: str) -> bool:
    """Return whether a URL with this outcome has failed, so that `scrapy frontier --retry` queues it again.

    >>> [has_failed(Outcome.ROBOTS_DENIED, why) for why in (f"{UNREACHABLE}status 503", "disallowed")]
    [True, False]
    """
    return outcome in UNANSWERED or (outcome is Outcome.ROBOTS_DENIED and reason.startswith(UNREACHABLE))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``times`` retries, with waits from ``base`` up to ``ceiling`` seconds.

    ``longest`` is the maximum wait that a server may request with Retry-After.
    """

    times: int
    base: float
    ceiling: float
    longest: float

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RetryPolicy:
        """Read RETRY_ENABLED, RETRY_TIMES and the ARCHIVE_RETRY_ settings."""
        config = PaceConfig.from_settings(settings)
        return cls(
            times=settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0,
            base=config.retry_base,
            ceiling=config.retry_ceiling,
            longest=config.retry_after_max,
        )

    def wait(self, outcome: Outcome, attempt: int, asked: str | None = None) -> float | None:
        """Return the seconds to wait before the next try, or None if there is no further try.

        ``attempt`` counts the tries made so far from 1, ``asked`` is the Retry-After header.
        """
        if outcome not in PASSING or attempt > self.times:
            return None
        return self.backoff(attempt, asked)

    def backoff(self, attempt: int, asked: str | None = None) -> float:
        """Return a wait that doubles with each try; half of it is random, so that retries spread.

        It is as long as the server asks for, up to ``longest``.
        """
        doubled = min(self.base * 2.0 ** (attempt - 1), self.ceiling) * random.uniform(0.5, 1.0)
        return max(doubled, min(retry_after(asked), self.longest))


def asked_by(response: Response) -> str:
    """Return the Retry-After header of an answer, empty if there is none."""
    return (response.headers.get("Retry-After") or b"").decode("latin-1")


def retry_after(header: str | None, now: datetime | None = None) -> float:
    """Return the seconds that a Retry-After header asks for; 0 if it cannot be parsed.

    >>> retry_after("120"), retry_after(None), retry_after("soon")
    (120.0, 0.0, 0.0)
    >>> retry_after("Wed, 21 Oct 2026 07:28:30 GMT", datetime(2026, 10, 21, 7, 28, tzinfo=UTC))
    30.0
    """
    header = (header or "").strip()
    if header.isascii() and header.isdigit():
        return float(header[:9])
    when = read_date(header)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds()) if when else 0.0


async def pause(engine: ExecutionEngine, seconds: float) -> bool:
    """Wait without blocking; return False at once if the crawl begins to end meanwhile."""
    clock = asyncio.get_running_loop()
    until = clock.time() + seconds
    while not is_closing(engine):
        left = until - clock.time()
        if left <= 0:
            return True
        await asyncio.sleep(min(left, 0.25))
    return False
