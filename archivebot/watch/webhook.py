"""A webhook: an alert as JSON in a POST request."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from archivebot.exceptions import Refused, Undelivered
from archivebot.net import Answer, post
from archivebot.terminal import json_text
from archivebot.units import amount, read_count
from archivebot.watch.alert import Alert

# Answers that another try may change, besides the errors of servers.
_PASSING = frozenset((408, 425, 429))

_TRIES = 3
_MOST_READ = 4096  # bytes of an answer, which only shows that the request was processed


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which each alert is sent, with its id in the header Idempotency-Key.

    The header is that of the IETF draft "The Idempotency-Key HTTP Header Field": a receiver that knows it
    drops an alert that is sent again because its first answer was lost. Redirects are not followed.
    ``timeout`` is the maximum of seconds of a request, and of a wait that the receiver asks for; ``pause``
    is the seconds before the second try if it asks for none.
    """

    name: str
    url: str = field(repr=False)  # it may hold a secret
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    timeout: float = 10.0
    pause: float = 0.5
    shown: int = 0

    @property
    def patience(self) -> float:
        """Seconds after which all tries have ended."""
        return 2 * _TRIES * (self.timeout + self.pause)

    def send(self, alerts: list[Alert]) -> None:
        """Send an alert; raises Undelivered after the last try, Refused if another try is of no use."""
        host = urlsplit(self.url).hostname
        failure, wait = "", 0.0
        for attempt in range(_TRIES):
            time.sleep(wait)
            wait = self.pause * (attempt + 1)
            try:
                answer = self._post(alerts[0])
            except OSError as error:
                failure = f"{host}: {error or type(error).__name__}"
                continue
            if 200 <= answer.status < 300:
                return
            if 300 <= answer.status < 400:
                moved = f": name {answer.location} in the rules file instead"
                unknown = ", which is no receipt: name another address"
                raise Undelivered(f"{host} answered {answer.status}{moved if answer.location else unknown}")
            if answer.status not in _PASSING and answer.status < 500:
                raise Refused(f"{host} refused it with {answer.status}")
            failure = f"{host} answered {answer.status}"
            asked = read_count(answer.retry_after.strip()) or 0  # a date is rare here
            if asked > self.timeout:
                raise Undelivered(f"{failure} and asks to wait {amount(asked, 'second')}")
            wait = max(wait, asked)
        raise Undelivered(failure)

    def _post(self, alert: Alert) -> Answer:
        """Send an alert once; raises OSError if no answer comes."""
        usual = {"Content-Type": "application/json", "User-Agent": "archivebot"}
        given = {key.lower() for key in self.headers}  # the case of a name does not count
        headers = {key: value for key, value in usual.items() if key.lower() not in given}
        headers |= {**self.headers, "Idempotency-Key": f'"{alert.id}"'}
        return post(self.url, json_text(alert.record()).encode(), headers, self.timeout, _MOST_READ)
