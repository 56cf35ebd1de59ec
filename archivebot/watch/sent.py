"""The alerts of an archive that are in the outbox, for readers: nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from archivebot.exceptions import StorageError
from archivebot.storage.sqlite.migration import failure
from archivebot.storage.sqlite.readonly import connect
from archivebot.timestamps import timestamp
from archivebot.watch.alert import Alert


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whether an output took an alert, and after how many attempts."""

    output: str
    sent: bool
    attempts: int


@dataclass(frozen=True, slots=True)
class SentAlert:
    """An alert and its deliveries."""

    alert: Alert
    deliveries: tuple[Delivery, ...]

    def record(self) -> dict[str, Any]:
        """Return the alert as a record; the error of an output is left out, because it may name a secret."""
        outputs = {each.output: {"sent": each.sent, "attempts": each.attempts} for each in self.deliveries}
        return self.alert.record() | {"captured_at": timestamp(self.alert.when), "outputs": outputs}


def sent_alerts(path: Path, archive: str) -> Iterator[SentAlert]:
    """Yield the alerts about an archive in the outbox at a path, the newest first; none without an outbox.

    ``archive`` is the identity of the archive. Raises StorageError if the outbox cannot be read
    or is damaged.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"the outbox {path} cannot be read: {error.strerror}") from error
    try:
        with closing(connect(str(path))[0]) as database:
            database.execute("BEGIN")  # one state of the outbox, whatever a run stores meanwhile
            rows = database.execute(
                "SELECT number, record FROM alert JOIN watch ON watch.id = alert.watch"
                " WHERE archive = ? ORDER BY number DESC",
                (archive,),
            )
            for number, record in rows:
                deliveries = database.execute(
                    "SELECT output, sent, attempts FROM delivery WHERE alert = ? ORDER BY output", (number,)
                )
                yield SentAlert(
                    Alert.from_json(record, path),
                    tuple(Delivery(output, bool(sent), attempts) for output, sent, attempts in deliveries),
                )
    except sqlite3.Error as error:
        raise failure(f"sqlite:///{path}", error, "no outbox; move it away") from error
