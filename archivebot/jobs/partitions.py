"""Work over the pages of an archive in parts, in this process, in several, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig, whole_uri
from archivebot.exceptions import StorageError
from archivebot.jobs import spark
from archivebot.terminal import guard

# Number of pages in one part: enough to be worth a process, few enough to spread over the cores.
PART = 200

T = TypeVar("T")

# Reads some pages of an archive, writes nothing, and depends on no other page, so that any process or machine
# can run it. It and its results are pickled.
Work = Callable[[ArchiveReader, Sequence[str]], T]


def parts(urls: Iterable[str]) -> Iterator[list[str]]:
    """Split the pages of an archive into parts that are processed independently.

    >>> [len(part) for part in parts(map(str, range(450)))]
    [200, 200, 50]
    """
    left = iter(urls)
    while part := list(islice(left, PART)):
        yield part


def over(
    archive: ArchiveReader, work: Work[T], urls: Iterable[str], config: ArchiveConfig | None = None
) -> Iterator[T]:
    """Yield the results of work on the parts of some pages, in the order of the pages.

    With the ``config`` of the archive several parts are processed on all cores, or on the cluster that it
    names. Raises StorageError if one of these processes is killed, and UsageError if it names no cluster.
    """
    if config and config.spark:
        spark.check(config.spark)  # also if the pages are so few that the cluster is not asked
    found = list(parts(urls))
    if config is None or len(found) < 2:
        for part in found:
            yield work(archive, part)
        return
    config = replace(config, uri=whole_uri(config.uri))
    if config.spark:
        yield from spark.results(config.spark, partial(apart, config, work), found)
        return
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"), initializer=guard) as pool:
        try:
            yield from pool.map(partial(apart, config, work), found)
        except BrokenProcessPool as error:
            raise StorageError(
                "a process that read pages was killed, perhaps because it needed more memory than there is:"
                " end other programs, then try again"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def apart(config: ArchiveConfig, work: Work[T], urls: Sequence[str]) -> T:
    """Return the result of work on one part, by a reader of its own."""
    with Archive.reader(config) as archive:
        return work(archive, urls)
