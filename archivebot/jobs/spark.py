"""Calls on a cluster of Apache Spark."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from archivebot.exceptions import StorageError, UsageError

if TYPE_CHECKING:
    from pyspark import SparkContext

STANDALONE = "spark://"  # before the addresses of the masters of a cluster, with commas between them
MASTERS = re.compile(
    rf"local(\[[^]]+\])?|local-cluster\[.+\]|{STANDALONE}[^\s,]+:\d{{1,5}}(,[^\s,]+:\d{{1,5}})*|k8s://.+|yarn"
)
REACH_TIMEOUT = 10.0  # seconds; Spark itself tries for a minute, and prints the stacks of its processes

# Calls that the cluster has at once for each of its cores: their results come together, and wait in memory.
AHEAD = 4

P = TypeVar("P")
T = TypeVar("T")


def results(master: str, call: Callable[[P], T], arguments: Sequence[P]) -> Iterator[T]:
    """Yield the results of a call for each argument, in their order, from the processes of a cluster.

    ``master`` is its URL, or ``local[N]`` for N cores of this machine. The call, its arguments and its
    results are pickled. Raises the error of a call, UsageError if Spark cannot be started, and
    StorageError if the cluster fails.
    """
    context = _context(master)
    try:
        done = 0
        while done < len(arguments):
            # The cores are counted anew: at the beginning most machines have not joined yet.
            some = arguments[done : done + AHEAD * context.defaultParallelism]
            done += len(some)
            try:
                found = context.parallelize(some, len(some)).map(partial(_tried, call)).collect()
            except Exception as error:
                raise StorageError(f"Spark at {master} failed: {_cause(error)}; see its messages") from error
            for result in found:
                if isinstance(result, _Error):
                    raise result.error
                yield result
    finally:
        context.stop()


@dataclass(frozen=True, slots=True)
class _Error:
    """The error of a call, as its result: a call that raises is repeated, and ends the work of all."""

    error: Exception


def _tried(call: Callable[[P], T], argument: P) -> T | _Error:
    try:
        return call(argument)
    except Exception as error:
        return _Error(error)


def check(master: str) -> None:
    """Raise UsageError if a text is not the master of a cluster."""
    if not MASTERS.fullmatch(master):
        raise UsageError(
            f"ARCHIVE_SPARK is {master!r}: give the master of a cluster, as spark://host:7077 or yarn, or"
            " local[4] for four cores of this machine"
        )


def _reach(master: str) -> None:
    """Connect to one of the masters of a cluster; raises StorageError if none can be reached."""
    for address in master.removeprefix(STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), REACH_TIMEOUT).close()
        except (OSError, OverflowError, UnicodeError) as error:  # OverflowError: a port above 65535
            reason = error
        else:
            return
    raise StorageError(
        f"the Spark at {master} cannot be reached: {reason}. Begin its master, or leave ARCHIVE_SPARK empty"
        " to read the archive on this machine"
    )


def _context(master: str) -> SparkContext:
    check(master)
    try:
        from pyspark import SparkContext
    except ImportError as error:
        raise UsageError("ARCHIVE_SPARK needs pyspark: pip install pyspark") from error
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # otherwise it listens on the network
    elif master.startswith(STANDALONE):
        _reach(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the processes that make the calls
    try:
        return SparkContext(master, "archivebot")
    except Exception as error:
        raise UsageError(f"Spark cannot be started ({_cause(error)}); it needs Java 17 or later") from error


def _cause(error: Exception) -> str:
    """Return the first line of an error, without the stacks of all processes.

    >>> _cause(RuntimeError("calling o1.run failed\\n: java.io.IOException: gone\\n\\tat x"))
    'java.io.IOException: gone'
    """
    text = str(error)
    return (text.partition("\n: ")[2] or text).partition("\n")[0]
