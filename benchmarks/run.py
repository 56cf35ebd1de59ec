"""Runs the benchmarks in order, writes their tables into docs/performance.md, and lists all bounds.

    python benchmarks/run.py [--data DATA] [NAME ...]

DATA is a folder that holds the data sets by their names. Without it only benchmarks without data run; with
names, only those benchmarks. The tables of a benchmark are replaced once it has ended, with the day, the
machine and the commit; the tables of other benchmarks stay. The last output is one table of all bounds. Exit
code 1 if one fails, or if a benchmark does not end.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from document import DOCUMENT, content, written
from tables import REPORT, Report, Row, Table, at_most

ROOT = Path(__file__).parents[1]
CODE = ("archivebot", "benchmarks", "pipelines", "spiders")  # what figures depend on
DATA = "DATA/"
MOST_SECONDS = 3 * 3600  # of one benchmark: on two cores the longest takes about one hour


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A script with its arguments; a word `DATA/set` stands for the folder of a data set."""

    name: str
    command: str

    @property
    def script(self) -> str:
        return self.command.partition(" ")[0]

    @property
    def sets(self) -> list[str]:
        return [word.removeprefix(DATA) for word in self.command.split() if word.startswith(DATA)]

    def lacks(self, data: Path | None) -> list[str]:
        """Return the data sets that are not in a folder."""
        return [name for name in self.sets if data is None or not (data / name).exists()]

    def words(self, data: Path | None) -> list[str]:
        """Return the command as it is run."""
        _, *words = (
            str(data / word.removeprefix(DATA)) if data and word.startswith(DATA) else word
            for word in self.command.split()
        )
        return [sys.executable, str(ROOT / "benchmarks" / self.script), *words]


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("robots", "robots.py DATA/robots-dev"),
        Benchmark("warc", "warc.py DATA/warc-dev"),
        Benchmark("account", "account.py DATA/warc-dev"),
        Benchmark("export", "export.py DATA/warc-dev --big 10000000000"),
        Benchmark("store", "store.py DATA/history-dev"),
        Benchmark("prune", "prune.py DATA/history-dev"),
        Benchmark("firstcrawl", "firstcrawl.py DATA/sites-dev"),
        Benchmark("localise", "localise.py DATA/history-dev"),
        Benchmark("partition", "partition.py DATA/history-dev"),
        Benchmark("blocks", "blocks.py DATA/blocks-random --visual"),
        Benchmark("maintext", "maintext.py DATA/wcxb-dev"),
        Benchmark("learn-maintext", "learn_maintext.py DATA/wcxb-dev DATA/articles-dev"),
        Benchmark("dates", "dates.py DATA/articles-dev DATA/wcxb-dev"),
        Benchmark("charsets", "charsets.py DATA/articles-dev DATA/forms-dev DATA/wcxb-dev"),
        Benchmark("language", "language.py DATA/udhr"),
        Benchmark("alarms", "alarms.py DATA/history-dev"),
        Benchmark("watch", "watch.py DATA/history-dev"),
        Benchmark("search", "search.py DATA/history-dev"),
        Benchmark("levels", "levels.py DATA/history-dev"),
        Benchmark("recrawl", "recrawl.py DATA/history-dev"),
        Benchmark("edits", "edits.py DATA/wcxb-dev"),
        Benchmark("duplicates", "duplicates.py DATA/history-dev"),
        Benchmark("fingerprints", "fingerprints.py DATA/wcxb-dev"),
        Benchmark("topic", "topic.py DATA/webkb"),
        Benchmark("focused", "focused.py DATA/webkb"),
        Benchmark("sites", "focused.py --made"),
        Benchmark("topicwords", "topicwords.py DATA/web60/web"),
        Benchmark("forms", "forms.py DATA/forms-dev"),
        Benchmark("deepweb", "deepweb.py DATA/forms-dev"),
        Benchmark("serve", "serve.py DATA/wcxb-dev"),
        Benchmark("replay", "replay.py DATA/wcxb-dev"),
        Benchmark("crawl", "crawl.py"),
        Benchmark("frontier", "frontier.py"),
        Benchmark("resume", "resume.py --redis"),
        Benchmark("kills", "faults.py kills"),
        Benchmark("power", "faults.py power"),
        Benchmark("flips", "faults.py flips"),
        Benchmark("cuts", "faults.py cuts"),
        Benchmark("bombs", "faults.py bombs"),
    )
}


def measured(words: Sequence[str], most: float = MOST_SECONDS) -> Report | str:
    """Run a benchmark; return its report, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        environment = {**os.environ, REPORT: str(file)}
        with subprocess.Popen(
            words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                code = process.wait(most)
            except subprocess.TimeoutExpired:
                return f"not done after {most:g} s"
            finally:
                _end(process)  # and the servers that it left
        return Report.from_json(file.read_text("utf-8")) if file.exists() else f"exit code {code}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the session that a process leads."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def described(benchmark: Benchmark) -> str:
    """Return how, when and where a benchmark is run, as the document says it."""
    return f"`{benchmark.command}`, {datetime.now(UTC):%Y-%m-%d}, {machine()}, {commit()}"


def machine() -> str:
    return f"{os.cpu_count()} cores of {processor()}"


def processor() -> str:
    """Return the name of the processor, as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def commit() -> str:
    """Return the commit of the checkout, and whether its code has changes."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False)
        return done.stdout.strip()

    changes = " with changes" if git("status", "--porcelain", "--", *CODE) else ""
    return f"commit {git('rev-parse', '--short', 'HEAD') or 'unknown'}{changes}"


def bounds(found: dict[str, Report | str]) -> Table:
    """Return one table of all bounds; a benchmark without a report holds none."""
    rows = []
    for name, report in found.items():
        if isinstance(report, str):
            rows.append(Row(name, (f"did not end: {report}", ""), at_most(1, 0)))
        else:
            rows += [
                Row(name, (f"{table.title}: {row.name}", _shown(bound.value)), bound)
                for table in report.tables
                for row, bound in table.bounds
            ]
    return Table("bounds", ("figure", "value"), rows)


def _shown(value: float) -> str:
    """Return a value with three digits at most behind the point.

    >>> _shown(2000), _shown(0.8672), _shown(0.00012)
    ('2000', '0.867', '0.00012')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".") if value >= 0.001 or not value else f"{value:.2g}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = options.data.resolve() if options.data else None
    if unknown := set(options.names) - BENCHMARKS.keys():
        parser.error(f"there is no benchmark {min(unknown)}: choose from {', '.join(BENCHMARKS)}")
    chosen = [BENCHMARKS[name] for name in options.names or BENCHMARKS]
    lacking = {each.name: ", ".join(each.lacks(data)) for each in chosen if each.lacks(data)}
    if lacking and options.names:
        parser.error("; ".join(f"{name} needs --data with {sets}" for name, sets in lacking.items()))
    found: dict[str, Report | str] = {}
    for benchmark in chosen:
        if benchmark.name not in lacking:
            print(f"\n== {benchmark.name}: {benchmark.command}", flush=True)
            found[benchmark.name] = _run(benchmark, data, options.document)
    table = bounds(found)
    print(f"\n{table.markdown()}")
    for name, sets in lacking.items():
        print(f"not run: {name} needs DATA with {sets}")
    return 0 if all(bound.held for _, bound in table.bounds) else 1


def _run(benchmark: Benchmark, data: Path | None, document: Path) -> Report | str:
    """Run a benchmark and write its tables, if it ends."""
    how = described(benchmark)
    report = measured(benchmark.words(data))
    if isinstance(report, Report):
        text = document.read_text("utf-8")
        document.write_text(written(text, benchmark.name, content(report, how)), "utf-8")
    return report


if __name__ == "__main__":
    sys.exit(main())
