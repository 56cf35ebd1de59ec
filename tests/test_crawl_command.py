"""`scrapy crawl` as a user starts it: messages and exit codes."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.commands import run_scrapy
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply, html


def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("crawl", *arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["site"], "no seeds"),
        (["site", "-a", "sseds=http://a.example/"], "did you mean seeds?"),
        (["site", "-a", "seeds=http://a.example/", "-a", "scope=all"], "scope is 'all'"),
        (["site", "-a", "seeds=@/no/such/file"], "cannot be read"),
        (["site", "-a", "seeds=http://a.example/", "--jsn"], "there is no option --jsn; see scrapy crawl -h"),
        ([], "name one spider"),
        (["site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_URI=ftp://x"], "ftp"),
        (
            ["site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_LEVEL=99"],
            "ARCHIVE_LEVEL is 99: give a whole number from 1 to 9",
        ),
        (
            ["site", "-s", "ARCHIVE_REDERS=2"],
            "there is no setting ARCHIVE_REDERS: did you mean ARCHIVE_READERS?",
        ),
        (
            ["site", "-s", "DOWNLOAD_DELY=1"],
            "there is no setting DOWNLOAD_DELY: did you mean DOWNLOAD_DELAY?",
        ),
        (["site", "-s", "ARCHIVE_RETRY_BASE=-1"], "ARCHIVE_RETRY_BASE is '-1': give a number from 0 on"),
        (["site", "-s", "DOWNLOAD_DELAY=abc"], "DOWNLOAD_DELAY is 'abc': give a number"),
        (["site", "-s", "DOWNLOAD_DELAY=-1"], "DOWNLOAD_DELAY is '-1': give a number from 0 on"),
        (["site", "-s", "DOWNLOAD_TIMEOUT=nan"], "DOWNLOAD_TIMEOUT is 'nan': give a number from 0 on"),
        (["site", "-s", "CONCURRENT_REQUESTS=1.5"], "CONCURRENT_REQUESTS is '1.5': give a whole number"),
        *(
            (["site", "-s", f"{name}=0"], f"{name} is '0': give a whole number from 1 on")
            for name in (
                "CONCURRENT_ITEMS",
                "CONCURRENT_REQUESTS",
                "CONCURRENT_REQUESTS_PER_DOMAIN",
                "REACTOR_THREADPOOL_MAXSIZE",
            )
        ),
        (
            ["site", "-s", "ARCHIVE_LOCAL_CONCURRENCY=0"],
            "ARCHIVE_LOCAL_CONCURRENCY is 0: give at least 1 request at a time",
        ),
        (
            ["site", "-s", 'DOWNLOAD_SLOTS={"a.example": {"concurrency": 0}}'],
            "{'concurrency': 0}}\": give the delay of each host from 0 on, and its concurrency from 1 on",
        ),
        (
            ["site", "-s", "SCHEDULER_PERSIST=False"],
            "SCHEDULER_PERSIST is 'False': give True, because an interrupted crawl always continues;"
            " it starts over with SCHEDULER_FLUSH_ON_START=True",
        ),
        *(
            (["site", "-s", f"{setting}={value}"], f"{setting} is {value!r}: give a JSON object, in {{ }}")
            for setting, value in (
                ("DOWNLOAD_SLOTS", "[1]"),
                ("DOWNLOAD_SLOTS", "1"),
                ("DOWNLOAD_SLOTS", "a.example"),
                ("ITEM_PIPELINES", '["a.Stage"]'),
            )
        ),
        (["site", "-s", "ROBOTSTXT_OBEY=perhaps"], "ROBOTSTXT_OBEY is 'perhaps': give True or False"),
        (["site", "-L", "LOUD"], "LOG_LEVEL is 'LOUD': give one of DEBUG, INFO, WARNING, ERROR"),
        (["site", "-s", 'ARCHIVE_PRIORITY_WEIGHTS={"topic": "x"}'], "the weight of topic is no number"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_2(arguments: list[str], message: str) -> None:
    done = scrapy(*arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("feed", "reason"), [("folder.json", "Is a directory"), ("grid.csv/out.json", "Not a directory")]
)
def test_a_feed_that_cannot_be_written_is_refused_before_the_crawl(
    site: MockServer, tmp_path: Path, feed: str, reason: str
) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "grid.csv").touch()
    done = scrapy("site", "-a", f"seeds={site.url()}", "-O", str(tmp_path / feed))
    assert done.stderr == f"archivebot: the feed {tmp_path / feed} cannot be written: {reason}\n"
    assert done.returncode == 2
    assert not site.paths()
    done = scrapy("site", "-a", "seeds=", "-O", str(tmp_path / "new" / "out.json"))
    assert "no seeds" in done.stderr
    assert not (tmp_path / "new" / "out.json").exists()


@pytest.mark.parametrize(
    ("feed", "reason"),
    [
        (f"{'a' * 300}.json", "File name too long"),
        ("http://[a/x.json", "Invalid IPv6 URL"),
        ("http://a.example/x.json", "there is no storage for http://"),
    ],
)
def test_a_feed_that_no_file_can_be_is_refused_in_words(feed: str, reason: str) -> None:
    done = scrapy("site", "-a", "seeds=http://a.example/", "-O", feed)
    assert done.stderr == f"archivebot: the feed {feed} cannot be written: {reason}\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ('{"x.json": 3}', "the feed x.json has the options 3: give an object, for example"),
        ('{"x.json": {"encoding": "utf-9"}}', "the feed x.json cannot be written: unknown encoding: utf-9"),
        (
            '{"x.json": {"fields": 3}}',
            "the feed x.json cannot be written: its fields are 3: give a list of names",
        ),
        ('{"x.csv": {"fields": "url"}}', "the feed x.csv cannot be written: its fields are 'url': give a"),
        ('{"x.csv": {"fields": {"url": 1}}}', "the feed x.csv cannot be written: its fields are {'url': 1}"),
        ('{"x.txt": {}}', "the feed x.txt cannot be written: there is no format 'txt': give one of json,"),
        ('{"x.json": {"indent": "x"}}', "the feed x.json cannot be written: "),
    ],
)
def test_options_of_a_feed_that_cannot_be_are_refused_in_words(feeds: str, message: str) -> None:
    done = scrapy("site", "-a", "seeds=http://a.example/", "-s", f"FEEDS={feeds}")
    assert done.stderr.startswith(f"archivebot: {message}")
    assert done.returncode == 2


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_a_command_works_with_closed_standard_streams(site: MockServer, crawl: Crawl, closed: str) -> None:
    site.routes["/"] = html()
    given = ["-a", f"seeds={site.url()}", "-s", f"ARCHIVE_URI={crawl.uri}"]
    for words in (["crawl", "site", *given], ["list", *given[2:]]):
        line = f"exec {shlex.join([sys.executable, '-m', 'scrapy', *words])} {closed}"
        done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
    assert crawl.ask("list", "--pages")


def test_the_log_can_be_a_pipe(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    pipe = crawl.folder / "log"
    os.mkfifo(pipe)
    words = ("--logfile", str(pipe), "-s", f"ARCHIVE_URI={crawl.uri}")
    done = scrapy("site", "-a", f"seeds={site.url()}", *words)
    assert done.stderr == f"archivebot: the log {pipe} cannot be written: no program reads this pipe\n"
    assert done.returncode == 2
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        while scrapy("site", "-a", f"seeds={site.url()}", *words).returncode == 2:
            pass  # the reader has not opened the pipe yet
        log, _ = reader.communicate(timeout=30)
    assert "Spider closed (finished)" in log


@pytest.mark.parametrize("fields", ["null", '["url", "status"]', '{"url": "page", "status": "status"}'])
def test_a_feed_has_the_fields_of_its_options(site: MockServer, crawl: Crawl, fields: str) -> None:
    site.routes["/"] = html()
    feed = crawl.folder / "some.csv"
    done = run_scrapy(
        [
            *("crawl", "site", "-a", f"seeds={site.url()}", "-s", f"ARCHIVE_URI={crawl.uri}"),
            *("-s", f'FEEDS={{"{feed}": {{"fields": {fields}, "nosuch": 1}}}}'),
        ]
    )
    assert done.returncode == 0, done.stderr
    heads = {"null": "url,time,", '["url", "status"]': "url,status\n"}
    assert feed.read_text().startswith(heads.get(fields, "page,status\n"))


def test_an_exporter_of_the_user_gets_only_the_items_of_the_crawl(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    (crawl.folder / "short.py").write_text(
        "from scrapy.exporters import BaseItemExporter\n"
        "class Urls(BaseItemExporter):\n"
        "    def __init__(self, file, **options):\n"
        "        super().__init__(dont_fail=True, **options)\n"
        "        self.file = file\n"
        "    def export_item(self, item):\n"
        "        self.file.write(item.url.encode())\n"
    )
    feed = crawl.folder / "urls.txt"
    words = ["crawl", "site", "-a", f"seeds={site.url()}", "-s", f"ARCHIVE_URI={crawl.uri}"]
    words += ["-s", 'FEED_EXPORTERS={"urls": "short.Urls"}', "-O", f"{feed}:urls"]
    path = os.pathsep.join((str(crawl.folder), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert feed.read_text() == site.url()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="allowed: only Linux has a full device")
def test_a_feed_that_is_not_complete_is_an_exit_code(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    crawled = crawl("-O", "/dev/full:jsonl", seeds=site.url())
    last = crawled.log.splitlines()[-1]
    assert last == "archivebot: a feed is not complete: the lines above say why; the archive has all pages"
    assert crawled.code == 3
    assert crawl.ask("list", "--pages")


@pytest.mark.skipif(find_spec("boto3") is not None, reason="allowed: boto3 is there, which S3 needs")
def test_a_feed_whose_library_is_missing_is_an_exit_code(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    crawled = crawl("-O", "s3://bucket/x.jsonl", seeds=site.url())
    assert "missing boto3 library" in crawled.log
    assert crawled.code == 3


@pytest.mark.parametrize("option", ["--pidfile", "--profile"])
@pytest.mark.parametrize("command", [("crawl", "site", "-a", "seeds=http://a.example/"), ("stats",)])
def test_a_file_of_an_option_that_cannot_be_written_is_refused(
    tmp_path: Path, command: tuple[str, ...], option: str
) -> None:
    done = run_scrapy((*command, option, str(tmp_path / "none" / "x")))
    assert done.stderr.endswith(f" {tmp_path}/none/x cannot be written: No such file or directory\n")
    assert done.returncode == 2


@pytest.mark.parametrize("command", [("crawl", "site", "-a", "seeds=http://a.example/"), ("stats",)])
def test_a_log_that_cannot_be_written_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    log = tmp_path / "none" / "crawl.log"
    done = run_scrapy((*command, "--logfile", str(log)))
    assert done.stderr.endswith(f"the log {log} cannot be written: No such file or directory\n")
    assert done.returncode == 2


def test_an_archive_that_cannot_be_opened_is_exit_code_3() -> None:
    done = scrapy("site", "-a", "seeds=http://a.example/", "-s", "ARCHIVE_URI=sqlite:////no/such/folder/a.db")
    assert done.returncode == 3
    assert "archivebot: " in done.stderr


def test_a_file_that_is_no_archive_is_one_message_and_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(bytes(range(256)) * 40)
    done = scrapy("site", "-a", "seeds=http://a.example/", "-s", f"ARCHIVE_URI=sqlite:///{tmp_path}/a.db")
    assert done.returncode == 3
    assert "is damaged or no archive" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_checks_settings_as_well() -> None:
    done = run_scrapy(("stats", "-s", "DOWNLOAD_TIMEOUT=soon"))
    assert (done.returncode, done.stderr) == (2, "scrapy stats: DOWNLOAD_TIMEOUT is 'soon': give a number\n")


def test_a_command_checks_settings_that_are_tables_before_scrapy_reads_them() -> None:
    done = run_scrapy(("stats", "-s", "DOWNLOAD_SLOTS=[1]"))
    assert done.returncode == 2
    assert done.stderr.endswith("error: DOWNLOAD_SLOTS is '[1]': give a JSON object, in { }\n")
    assert "Traceback" not in done.stderr


def test_a_crawl_is_quiet_unless_asked(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    words = [word for word in crawl.words(seeds=site.url()) if word != "-v"]
    quiet = run_scrapy(words)
    assert quiet.returncode == 0
    assert quiet.stderr.startswith("\narchivebot: finished after")
    assert max(map(len, re.sub(r"\S*/archive.db\S*", "", quiet.stderr).splitlines())) <= 80
    assert len(quiet.stderr.splitlines()) < 12
    assert "INFO: Spider opened" in run_scrapy([*words, "-v"]).stderr
    assert "INFO: Spider opened" in run_scrapy([*words, "-a", "_job=1"]).stderr
    assert "INFO: Spider opened" in run_scrapy([*words, "-L", "INFO"]).stderr


def test_a_crawl_without_any_answer_fails_and_says_why(crawl: Crawl) -> None:
    done = crawl("-s", "RETRY_TIMES=0", seeds="http://127.0.0.1:9/?a=1&b=2")
    assert done.code == 8
    assert "failed:  robots.txt unreachable: http://127.0.0.1:9/?a=1&b=2 (" in done.log
    assert "archivebot: nothing could be fetched" in done.log
    assert "history 'http://127.0.0.1:9/?a=1&b=2'" in done.log


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sit"], "there is no spider 'sit': did you mean site?"),
        (["nothing"], "there is no spider 'nothing': the spiders are deepweb, query, recrawl, site, topic"),
        ([], "name one spider, for example: archivebot crawl site -a seeds=https://example.org/"),
        (
            ["site", "http://a.example/"],
            "'http://a.example/' is no argument of a spider: write NAME=VALUE behind -a, "
            "for example: archivebot crawl site -a seeds=https://example.org/",
        ),
        (["site", "-a", "seeds"], "Invalid -a value, use -a NAME=VALUE"),
        (
            ["site", "-a", "seeds=@none.txt"],
            "the seeds file 'none.txt' cannot be read: No such file or directory",
        ),
    ],
)
def test_a_mistyped_command_line_is_one_line(words: list[str], message: str) -> None:
    done = run_scrapy(["crawl", *words], program="archivebot")
    assert (done.returncode, done.stderr) == (2, f"archivebot: {message}\n")


def test_usage_names_the_program_that_runs() -> None:
    for command in ("crawl", "list"):
        done = run_scrapy([command, "-s"], program="archivebot")
        assert done.returncode == 2
        assert f"archivebot {command} [options]" in done.stderr
        assert "scrapy" not in done.stderr


def test_an_operator_without_a_contact_is_told(crawl: Crawl) -> None:
    words = crawl.words("-s", "DNS_TIMEOUT=1", "-s", "RETRY_TIMES=0", seeds="http://a.invalid/")
    done = run_scrapy([word for word in words if word != "-v"])
    assert (
        "archivebot: ARCHIVE_CONTACT is not set: the operators of sites cannot contact you\n" in done.stderr
    )


def test_a_limit_of_pages_counts_pages_that_a_server_answered(site: MockServer, crawl: Crawl) -> None:
    names = [f"/{number}" for number in range(12)]
    site.routes |= {"/": html(*names), **{name: html() for name in names}, "/1": Reply(status=503)}
    done = crawl("-s", "RETRY_TIMES=0", seeds=site.url(), pages=6)
    assert done.code == 0
    assert "archivebot: stopped at your limit of 6 pages" in done.log
    assert re.search(r"^  6 pages \(", done.log, re.MULTILINE)
    assert sum(record["status"] == 200 for record in done.records) == 6


@pytest.mark.parametrize("wrong", [("-a", "sedes=x"), ("-s", "ARCHIVE_LEVEL=99"), ("-s", "DOWNLOAD_DELAY=x")])
def test_a_job_that_cannot_start_is_an_error_in_its_log(wrong: tuple[str, str], tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    done = scrapy("site", "-a", "seeds=http://a.example/", "-a", "_job=1", "-s", f"LOG_FILE={log}", *wrong)
    assert done.returncode == 2
    message = done.stderr.removeprefix("archivebot: ").strip()
    assert f"[archivebot] ERROR: {message}\n" in log.read_text("utf-8")


@pytest.mark.long
def test_the_first_crawl_with_a_rules_file_sends_alerts(
    site: MockServer, crawl: Crawl, tmp_path: Path
) -> None:
    site.routes["/"] = html()
    assert crawl(seeds=site.url()).code == 0
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "all"\n\n[output.feed]\njson = "{tmp_path}/feed.json"\n')
    site.routes["/"] = Reply(b"<h1>Town</h1><p>The library opens at ten o'clock on Mondays.")
    watched = ("-s", f"ARCHIVE_WATCH={rules}")
    assert "scrapy watch: feed: 1 sent\n" in crawl(*watched, seeds=site.url()).log
    assert "opens at ten" in (tmp_path / "feed.json").read_text("utf-8")
    assert "scrapy watch: no alerts\n" in crawl(*watched, seeds=site.url()).log


@pytest.mark.long
def test_a_crawl_does_not_fail_because_another_run_judged_its_captures(
    site: MockServer, crawl: Crawl, tmp_path: Path
) -> None:
    site.routes["/"] = html()
    assert crawl(seeds=site.url()).code == 0
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nname = "all"\n')
    watched = ("-s", f"ARCHIVE_WATCH={rules}")
    assert crawl(*watched, seeds=site.url()).code == 0
    (outbox,) = tmp_path.glob("*.watch.db")
    with closing(sqlite3.connect(outbox)) as database:
        # The mark of this run comes too late.
        database.execute("CREATE TRIGGER late BEFORE UPDATE ON watch BEGIN SELECT RAISE(IGNORE); END")
    again = crawl(*watched, seeds=site.url())
    assert (again.code, "scrapy watch: another scrapy watch has judged" in again.log) == (0, True)
    with closing(sqlite3.connect(outbox, isolation_level=None)) as database:
        database.execute("DELETE FROM seen")
        database.execute("DELETE FROM watch")  # the next crawl is the first with the rules file
    assert crawl(*watched, seeds=site.url()).code == 0


def test_scrapyd_passes_its_job(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    assert crawl(seeds=site.url(), _job="26").code == 0
