"""A webhook: an alert as JSON in a POST request."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from archivebot.exceptions import Refused, Undelivered
from archivebot.terminal import json_text
from archivebot.watch.alert import Alert
from archivebot.watch.outputs import deadline

# Answers that another try may change, besides the errors of servers.
_PASSING = frozenset((408, 425, 429))

_TRIES = 3
_MOST_READ = 4096  # bytes of an answer, which only shows that the request was processed


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which each alert is sent, with its id in the header Idempotency-Key.

    The header is that of the IETF draft "The Idempotency-Key HTTP Header Field": a receiver that knows it
    drops an alert that is sent again because its first answer was lost. Redirects are not followed.
    ``timeout`` is the maximum of seconds of a request, ``pause`` the seconds before the second try.
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
        return _TRIES * (self.timeout + 2 * self.pause)

    def send(self, alerts: list[Alert]) -> None:
        """Send an alert; raises Undelivered after the last try, Refused if another try is of no use."""
        for attempt in range(1, _TRIES + 1):
            try:
                return self._post(alerts[0])
            except Refused:
                raise
            except Undelivered:
                if attempt == _TRIES:
                    raise
            time.sleep(self.pause * attempt)
        return None

    def _post(self, alert: Alert) -> None:
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "archivebot",
            **self.headers,
            "Idempotency-Key": f'"{alert.id}"',
        }
        try:
            with deadline(self.timeout, lambda: connection.sock):
                connection.request("POST", path, json_text(alert.record()).encode(), headers)
                answer = connection.getresponse()
                status, location = answer.status, answer.getheader("Location")
                answer.read(_MOST_READ)
        except (OSError, HTTPException) as error:
            raise Undelivered(f"{parts.hostname}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if status in _PASSING or status >= 500:
            raise Undelivered(f"{parts.hostname} answered {status}")
        if 300 <= status < 400:
            raise Undelivered(
                f"{parts.hostname} answered {status}: name {location} in the rules file instead"
            )
        if not 200 <= status < 300:
            raise Refused(f"{parts.hostname} refused it with {status}")
