"""Work over the parts of an archive on Apache Spark: the same as in one process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import NotArchived, StorageError, UsageError
from archivebot.jobs import spark
from archivebot.jobs.partitions import over
from tests import test_jobs_partitions
from tests.factories import html, make_page
from tests.servers import free_port
from tests.test_jobs_partitions import answers, found_by, killed, urls_of

ROOT = Path(__file__).parents[1]
LOCAL = "local[2]"
START_TIMEOUT = 60.0

# An archive of seven pages, which is three parts, and its reader.
config, archive = test_jobs_partitions.config, test_jobs_partitions.archive

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if not find_spec("pyspark") or not shutil.which("java"):
        pytest.skip("no Spark: pip install -e .[spark], and install Java 17 or later")
    # The processes of Spark import the functions of these tests by their names.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP"):  # a test before may have set them
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def there(config: ArchiveConfig) -> ArchiveConfig:
    return replace(config, spark=LOCAL)


def test_parts_come_in_order_from_the_processes_of_spark(
    archive: ArchiveReader, there: ArchiveConfig
) -> None:
    expected = [part for _, part in over(archive, found_by, urls_of(archive))]
    found = list(over(archive, found_by, urls_of(archive), there))
    assert [part for _, part in found] == expected
    assert os.getpid() not in {process for process, _ in found}


def test_more_parts_than_wait_at_once_come_in_order() -> None:
    numbers = range(3 * 2 * spark.AHEAD)
    assert list(spark.results(LOCAL, str, numbers)) == list(map(str, numbers))


def test_an_error_of_a_part_comes_back(archive: ArchiveReader, there: ArchiveConfig) -> None:
    with pytest.raises(NotArchived, match="never"):
        list(over(archive, found_by, [*urls_of(archive), "http://example.com/never"], there))


def test_a_killed_process_is_an_error(archive: ArchiveReader, there: ArchiveConfig) -> None:
    with pytest.raises(StorageError, match=r"Spark at local\[2\] failed: .*exited unexpectedly"):
        list(over(archive, killed, urls_of(archive), there))


def test_the_jobs_answer_the_same(archive: ArchiveReader, there: ArchiveConfig) -> None:
    assert answers(archive) == answers(archive, there)


@pytest.mark.parametrize("master", ["cluster.example:7077", "local[x]"])
def test_a_wrong_master_is_refused(master: str) -> None:
    with pytest.raises(UsageError, match=r"ARCHIVE_SPARK is|cannot be started \(.*local\[x\]"):
        list(spark.results(master, str, range(2)))


def test_a_wrong_master_is_refused_also_if_one_process_reads_all_pages(
    archive: ArchiveReader, config: ArchiveConfig
) -> None:
    wrong = replace(config, spark="spark://cluster.example")
    with pytest.raises(UsageError, match=r"ARCHIVE_SPARK is 'spark://cluster\.example': give"):
        list(over(archive, found_by, urls_of(archive)[:1], wrong))


def test_a_cluster_that_cannot_be_reached_is_one_message() -> None:
    masters = f"spark://127.0.0.1:{free_port()},[::1]:{free_port()}"
    began = time.monotonic()
    with pytest.raises(StorageError, match=r"cannot be reached: .*refused\. Begin its"):
        list(spark.results(masters, str, range(2)))
    assert time.monotonic() - began < spark.REACH_TIMEOUT


def test_without_pyspark_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError, match="pip install pyspark"):
        list(spark.results(LOCAL, str, range(2)))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The master of a cluster of one machine: a master and a worker, each a process of its own."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port, log = free_port(), tmp_path / "log"
    master = f"spark://127.0.0.1:{port}"
    began = []

    def begin(program: str, *options: str) -> None:
        command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{program}", *options]
        own = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
        with log.open("ab") as output:
            began.append(subprocess.Popen(command, env=own, cwd=tmp_path, stdout=output, stderr=output))

    try:
        begin("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        begin("worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "2", "-m", "1g", master)
        end = time.monotonic() + START_TIMEOUT
        while "Successfully registered" not in log.read_text():
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield master
    finally:
        for process in reversed(began):
            process.terminate()
        for process in began:
            process.wait(START_TIMEOUT)


def test_a_cluster_reads_the_archive_of_a_command(cluster: str, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/archive.db"
    with closing(Archive.open(ArchiveConfig(uri=uri))) as archive:
        for number in range(201):  # more than one part
            body = html(f"{test_jobs_partitions.TEXT} {number % 100}")
            archive.add(archive.segment(make_page(body, url=f"http://example.com/{number}")))

    def answer(*options: str) -> bytes:
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "duplicates",
            "--json",
            "--pages",
            "-s",
            f"ARCHIVE_URI={uri}",
        ]
        return subprocess.run(
            [*command, *options], cwd=ROOT, capture_output=True, check=True, timeout=300
        ).stdout

    here = answer()
    assert here.count(b"example.com") > 200
    assert answer("-s", f"ARCHIVE_SPARK={cluster}") == here
