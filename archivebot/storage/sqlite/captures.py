"""The captures of a SQLite archive: runs of visits, and the shapes that visits have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture, Duplicate, Outcome
from archivebot.storage.base import Damaged, When, raised
from archivebot.storage.sqlite.file import FAULTS, ArchiveFile
from archivebot.storage.sqlite.log import SQLiteLog
from archivebot.storage.sqlite.rows import (
    FACTS,
    NO_FACTS,
    PAGE_OF,
    SHAPE,
    Shape,
    capture_of,
    origin_parts,
    packed,
)
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.sqlite.visits import (
    EMPTY,
    LONGEST,
    Run,
    Visit,
    alone,
    opened,
    runs,
    texts_of,
    unpacked,
)
from archivebot.storage.sqlite.wire import reference_for
from archivebot.storage.times import FOR_EVER, milliseconds
from archivebot.storage.wire import UNLIKE, Exchange, deflated, dictionary_of, exchange_of
from archivebot.urls import urlkey

# Versions in the cache while captures are read.
VERSIONS = 256

RUN = f"SELECT {intact('capture')}, time, visits FROM capture WHERE page ="

# The run that a visit at a time belongs to: the last one that began by then, or else the first one.
AROUND = (
    f"SELECT * FROM ({RUN} ?1 AND time <= ?2 ORDER BY time DESC LIMIT 1) UNION ALL"
    f" SELECT * FROM ({RUN} ?1 AND time > ?2 ORDER BY time LIMIT 1) LIMIT 1"
)

# The runs of a URL: the first one may begin before its visits after the third parameter.
BETWEEN = (
    f"{RUN} {PAGE_OF} AND time <= ?2 AND time >= coalesce("
    f"(SELECT max(time) FROM capture WHERE page = {PAGE_OF} AND time <= ?3), ?3) ORDER BY time"
)

# The runs of a page: their number, the begin of the last one, and their checksums in one. Pruning changes no
# run, so the ids of the pruned versions are added up as well: 10 ms for a page with 10,000 versions.
STATE = (
    "SELECT count(*), max(time), sum(sum), (SELECT sum(id) FROM version WHERE page = ?1 AND cost = 0)"
    " FROM capture WHERE page = ?1"
)

ALIKE = (
    "SELECT id FROM shape WHERE sum = checksum(?1, ?2, ?3, ?4, ?5, ?6) AND outcome = ?1 AND kind = ?2"
    " AND status IS ?3 AND origin IS ?4 AND quality IS ?5 AND reference IS ?6"
)


class Shapes:
    """The shapes of the captures of a URL, read once; call it with the id of a shape."""

    def __init__(self, file: ArchiveFile, url: str) -> None:
        self._file, self._url = file, url
        self._known: dict[int, Shape] = {}

    def __call__(self, identity: int) -> Shape:
        if identity not in self._known:
            row = self._file.database.execute(SHAPE, (identity,)).fetchone()
            if row is None:
                raise CorruptObject(f"the shape {identity} of captures is lost")
            self._known[identity] = Shape(*whole(row))
        return self._known[identity]

    def dictionary(self, identity: int) -> bytes:
        """Return the dictionary that the exchanges of a shape are compressed with."""
        return dictionary_of(self(identity).exchange, self._url)


class SQLiteCaptures:
    """The captures in the file of an archive; pages and versions are named by their ids."""

    def __init__(self, file: ArchiveFile, log: SQLiteLog) -> None:
        self._file, self._log = file, log

    def add(self, page: int, capture: Capture, version: int) -> bool:
        """Store a capture and its entry of the log in the transaction; False if it was already stored."""
        shapes = Shapes(self._file, capture.url)
        time = milliseconds(capture.captured_at)
        began, run = self._around(page, time, shapes)
        if any(_is(visit, time, version, capture.outcome, shapes) for visit in run.visits):
            return False
        self._log.record(capture)
        if run.visits and time <= run.visits[-1].time:
            visit = self._visit(capture, version, shapes, ())
            self._replace(page, began, [*run.visits, visit], shapes)
            return True
        longer = run.joined(self._visit(capture, version, shapes, run.visits), shapes.dictionary)
        if run.visits and len(longer.data) > LONGEST:
            began, longer = time, EMPTY.joined(self._visit(capture, version, shapes, ()), shapes.dictionary)
        self._file.database.execute(insert("capture", "OR REPLACE"), (page, began, longer.data))
        return True

    def take_out(self, page: int, url: str, time: int, outcome: Outcome, version: int | None) -> None:
        """Remove the capture of a time with an outcome and a version (None: any), in the transaction."""
        shapes = Shapes(self._file, url)
        began, run = self._around(page, time, shapes)
        kept = [visit for visit in run.visits if not _is(visit, time, version, outcome, shapes)]
        if len(kept) < len(run.visits):
            for visit in run.visits:
                if _is(visit, time, version, outcome, shapes):
                    self._log.record_removal(self._capture(visit, url, shapes))
            self._replace(page, began, kept, shapes)

    def _capture(self, visit: Visit, url: str, shapes: Shapes) -> Capture:
        facts = self._file.database.execute(FACTS, (visit.version,)).fetchone() or NO_FACTS
        return capture_of(url, urlkey(url), visit, shapes(visit.shape), facts, dict)

    def visits(self, url: str, newest_first: bool = False, until: When = None) -> Iterator[Visit]:
        """Yield the visits of a URL as they are stored, at or before ``until`` if given."""
        return self._between(url, newest_first, until, None, iter, raised)

    def all(
        self,
        url: str,
        marks: Callable[[], Mapping[int, Duplicate]],
        newest_first: bool = False,
        until: When = None,
        since: When = None,
        brief: bool = False,
        damaged: Damaged = raised,
    ) -> Iterator[Capture]:
        """Yield the captures of a URL; ``marks`` returns the marks of its versions, by number.

        With ``brief`` they have neither headers nor exchanges. ``damaged`` gets the errors of those that
        cannot be read.
        """
        shapes, key = Shapes(self._file, url), urlkey(url)

        @lru_cache(VERSIONS)
        def facts(version: int) -> tuple[object, ...]:
            return self._file.database.execute(FACTS, (version,)).fetchone() or NO_FACTS

        def texts(visits: Sequence[Visit]) -> Iterator[Visit]:
            return map(alone, visits) if brief else opened(visits, shapes.dictionary)

        for visit in self._between(url, newest_first, until, since, texts, damaged):
            try:
                capture = capture_of(url, key, visit, shapes(visit.shape), facts(visit.version), marks)
            except FAULTS as error:
                damaged(self._file.damage(error))
            else:
                yield capture

    def _between(
        self,
        url: str,
        newest_first: bool,
        until: When,
        since: When,
        read: Callable[[Sequence[Visit]], Iterator[Visit]],
        damaged: Damaged,
    ) -> Iterator[Visit]:
        last = milliseconds(until) if until else FOR_EVER
        before = milliseconds(since) if since else -FOR_EVER
        order = -1 if newest_first else 1
        sql = f"{BETWEEN} {'DESC' if newest_first else 'ASC'}"
        for row in self._file.database.execute(sql, (url, last, before)):
            found: list[Visit] = []
            try:
                visits = unpacked(*whole(row))
                if not any(before < visit.time <= last for visit in visits):
                    continue  # nothing of the run is decompressed
                found.extend(read(visits))  # those before the first that cannot be read, if one cannot
            except FAULTS as error:
                damaged(self._file.damage(error))
            for visit in found[::order]:
                if before < visit.time <= last:
                    yield visit

    def _around(self, page: int, time: int, shapes: Shapes) -> tuple[int, Run]:
        """Return the run that a visit belongs to, and when it begins; if there is none, an empty one."""
        with self._file.reading():
            row = self._file.database.execute(AROUND, (page, time)).fetchone()
            if row is None:
                return time, EMPTY
            began, data = whole(row)
            return began, Run(tuple(opened(unpacked(began, data), shapes.dictionary)), data)

    def _replace(self, page: int, began: int, visits: list[Visit], shapes: Shapes) -> None:
        """Store visits in place of the run that began at a time."""
        visits.sort(key=lambda visit: (visit.time, visit.version))
        parts = list(runs(visits, shapes.dictionary))
        if len(parts) > 1:  # two halves, each with room for more visits
            half = len(visits) // 2
            while half < len(visits) and visits[half].time == visits[half - 1].time:
                half += 1
            parts = [
                part for each in (visits[:half], visits[half:]) for part in runs(each, shapes.dictionary)
            ]
        database = self._file.database
        database.execute("DELETE FROM capture WHERE page = ? AND time = ?", (page, began))
        database.executemany(insert("capture"), [(page, part.visits[0].time, part.data) for part in parts])

    def _visit(self, capture: Capture, version: int, shapes: Shapes, before: Sequence[Visit]) -> Visit:
        """Return a capture as the visit after others; a new shape and a new reference are added."""
        wire = capture.wire
        exchange = exchange_of(wire, capture.captured_at) if wire else None
        reference = self._reference(capture, exchange, shapes, before) if exchange else None
        origin, place = origin_parts(capture.origin)
        quality = capture.quality.kind if capture.quality else None
        shape = self._shape(capture.outcome, capture.kind, capture.status, origin, quality, reference)
        (lag, first_byte, ended, length), texts, record = exchange or Exchange((0, 0, 0, 0), b"", None)
        return Visit(
            time=milliseconds(capture.captured_at),
            shape=shape,
            place=0 if place is None else place + 1,
            record=record,
            texts=texts or None,
            lag=lag,
            first_byte=first_byte,
            ended=ended,
            version=version,
            stored_bytes=capture.stored_bytes,
            new_blocks=capture.new_blocks,
            links=capture.links,
            length=length,
            wired=int(exchange is not None),
            location=None if capture.location is None else capture.location.encode(),
            reason=capture.reason.encode() or None,
            headers=packed(capture.headers, wire),
        )

    def _reference(
        self, capture: Capture, exchange: Exchange, shapes: Shapes, before: Sequence[Visit]
    ) -> int | None:
        """Return the reference of an exchange: that of the exchange before, if it resembles that one."""
        texts, known = exchange.texts, texts_of(before)
        for last in (visit for visit in reversed(before) if visit.wired):
            together = shapes.dictionary(last.shape) + known
            alone = dictionary_of(None, capture.url)
            if texts == known or len(deflated(texts, together)) <= UNLIKE * len(deflated(texts, alone)):
                return shapes(last.shape).reference
            break
        return reference_for(self._file.database, capture, exchange)

    def _shape(self, *values: object) -> int:
        """Return the id of the row with what a capture has in common with others; a new one is added."""
        database = self._file.database
        found = database.execute(ALIKE, values).fetchone()
        if found is None:
            return int(database.execute(insert("shape"), values).lastrowid or 0)
        return int(found[0])


def _is(visit: Visit, time: int, version: int | None, outcome: Outcome, shapes: Shapes) -> bool:
    return visit.time == time and version in (None, visit.version) and shapes(visit.shape).outcome == outcome
