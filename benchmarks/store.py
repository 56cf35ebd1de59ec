"""Size, write time and read time of the archive compared with WARC.gz, a plain zstd chain and git.

    python benchmarks/store.py DATA/history-dev [--rounds 3] [--git] [--keep FOLDER]

Writes all versions in time order as one WARC.gz with revisit records (warcio), ingests that very file with
`scrapy ingest`, rebuilds every version and compares it with its SHA-256, then reads versions at random.
Writing, ingesting and checking run in processes of their own, whose CPU time and peak memory are measured
from outside, with the processes that they start; writing and ingesting take turns, and medians count. A read
uses a newly opened archive, so that our caches are empty; the fastest of three such reads of a version
counts, so that other work of the machine does not matter. `--git` also commits the versions in time order and
packs them with `git gc --aggressive` (minutes). Exit code 1 if a bound fails.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from common import (
    Cost,
    Version,
    data_folder,
    in_time_order,
    megabytes,
    need,
    percentile,
    read_index,
    run,
)
from tables import Row, Table, at_most, report

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

READS = 500
TRIES = 3
SEED = 20261120


def write_warc(data: Path, target: Path) -> None:
    """Write the peer's file: a response per body, a revisit for each body seen before."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    seen: dict[str, Version] = {}
    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for version in in_time_order(read_index(data)):
            body = version.file.read_bytes()
            digest = "sha1:" + _sha1_base32(body)
            http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            first = seen.setdefault(digest, version)
            dated = {"WARC-Date": _iso(version)}
            if first is version:
                record = writer.create_warc_record(
                    version.url,
                    "response",
                    io.BytesIO(body),
                    len(body),
                    http_headers=http,
                    warc_headers_dict=dated,
                )
            else:
                record = writer.create_revisit_record(
                    version.url, digest, first.url, _iso(first), http_headers=http, warc_headers_dict=dated
                )
            writer.write_record(record)


def _iso(version: Version) -> str:
    return version.date.strftime("%Y-%m-%dT%H:%M:%SZ")


def _sha1_base32(body: bytes) -> str:
    from base64 import b32encode

    return b32encode(hashlib.sha1(body).digest()).decode()


def write_chain(data: Path, target: Path) -> None:
    """Write each page as a bare chain: every body against the one before it, and no index."""
    with target.open("wb") as stream:
        for page in read_index(data):
            before = b""
            for version in page:
                body = version.file.read_bytes()
                if body != before:
                    known = zstd.ZstdDict(before, is_raw=True) if len(before) >= 8 else None
                    stream.write(zstd.compress(body, level=12, zstd_dict=known))
                before = body


def write_git(data: Path, target: Path) -> None:
    """Commit the versions in time order through fast-import and pack them as small as git can."""
    target.mkdir()
    quiet = ("-c", "gc.auto=0", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *quiet, "init", "--quiet", "--bare", str(target)], check=True)
    with subprocess.Popen(
        ["git", *quiet, "-C", str(target), "fast-import", "--quiet"], stdin=subprocess.PIPE
    ) as git:
        assert git.stdin is not None
        for version in in_time_order(read_index(data)):
            body = version.file.read_bytes()
            name = version.file.relative_to(data).parent.as_posix()
            stamp = int(version.date.timestamp())
            git.stdin.write(
                f"commit refs/heads/main\ncommitter b <b@localhost> {stamp} +0000\ndata 0\n"
                f"M 100644 inline {name}\ndata {len(body)}\n".encode()
            )
            git.stdin.write(body + b"\n")
        git.stdin.close()
    subprocess.run(["git", *quiet, "-C", str(target), "gc", "--quiet", "--aggressive"], check=True)


def check(data: Path, uri: str) -> dict[str, float]:
    """Rebuild every body by URL and time, walls and errors too; return how many are wrong."""
    from archivebot.archive import Archive
    from archivebot.config import ArchiveConfig

    archive = Archive.reader(ArchiveConfig(uri=uri))
    wrong = []
    for page in read_index(data):
        captures = {capture.captured_at: capture for capture in archive.captures(page[0].url)}
        bodies = {version: archive.body(captures[version.date]) for version in page}
        wrong += [v.file for v, body in bodies.items() if hashlib.sha256(body).hexdigest() != v.sha256]
    archive.close()
    for file in wrong[:10]:
        print(f"does not replay: {file.relative_to(data)}", file=sys.stderr)
    return {"wrong": len(wrong)}


def read(data: Path, uri: str) -> dict[str, float]:
    """Read versions at random and return milliseconds."""
    chosen = random.Random(SEED).choices(in_time_order(read_index(data)), k=READS)
    spent = [min(_read_cold(version, uri) for _ in range(TRIES)) * 1000 for version in chosen]
    return {"p50": percentile(spent, 0.5), "p95": percentile(spent, 0.95), "max": max(spent)}


def _read_cold(version: Version, uri: str) -> float:
    from archivebot.archive import Archive
    from archivebot.config import ArchiveConfig

    archive = Archive.reader(ArchiveConfig(uri=uri))
    started = time.perf_counter()
    archive.body(archive.at(version.url, version.date))
    seconds = time.perf_counter() - started
    archive.close()
    return seconds


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="times that writing and ingesting are measured")
    parser.add_argument("--git", action="store_true", help="also measure git gc --aggressive (minutes)")
    parser.add_argument("--keep", type=Path, help="write the files there and keep them")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        return _step(options.step, options.data, options.target)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        return _measure(options.data.resolve(), options.keep.resolve(), options)
    with tempfile.TemporaryDirectory() as folder:
        return _measure(options.data.resolve(), Path(folder), options)


STEPS = ("warc", "chain", "git", "check", "read")


def _step(step: str, data: Path, target: str) -> int:
    if step in ("check", "read"):
        print(json.dumps((check if step == "check" else read)(data, target)))
    else:
        {"warc": write_warc, "chain": write_chain, "git": write_git}[step](data, Path(target))
    return 0


def _child(step: str, data: Path, target: object) -> Cost:
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        str(data),
        "--step",
        step,
        "--target",
        str(target),
    ]
    return need(run(command), step)


def _scrapy(*words: str, uri: str) -> Cost:
    command = [sys.executable, "-m", "scrapy", *words, "-s", f"ARCHIVE_URI={uri}"]
    return need(run(command, together=True), words[0])


def _in_turns(data: Path, folder: Path, rounds: int) -> tuple[list[Cost], list[Cost]]:
    """Write the WARC.gz and ingest it into a new archive, again and again; the last of each stays."""
    warc, archive = folder / "pages.warc.gz", folder / "archive.db"
    writing: list[Cost] = []
    ingesting: list[Cost] = []
    for _ in range(rounds):
        for old in folder.glob("archive.db*"):
            old.unlink()
        writing.append(_child("warc", data, warc))
        ingesting.append(_scrapy("ingest", str(warc), uri=f"sqlite:///{archive}"))
        print(f"CPU: {writing[-1].cpu:.1f} s written, {ingesting[-1].cpu:.1f} s ingested", file=sys.stderr)
    return writing, ingesting


def _measure(data: Path, folder: Path, options: argparse.Namespace) -> int:
    warc, chain, archive = folder / "pages.warc.gz", folder / "pages.zst", folder / "archive.db"
    if archive.exists():
        raise SystemExit(f"{archive} is there already: name an empty folder")
    uri = f"sqlite:///{archive}"
    writing, ingesting = _in_turns(data, folder, options.rounds)
    chaining = _child("chain", data, chain)
    checking = json.loads(_child("check", data, uri).stdout)
    reading = json.loads(_child("read", data, uri).stdout)
    verifying = _scrapy("verify", "--json", uri=uri)
    verified = json.loads(verifying.stdout)
    stored = sum(file.stat().st_size for file in folder.glob("archive.db*"))
    versions = in_time_order(read_index(data))
    raw = sum(version.file.stat().st_size for version in versions)
    written, ingested = (median(cost.cpu for cost in costs) for costs in (writing, ingesting))
    wall = [median(cost.seconds for cost in costs) for costs in (ingesting, writing)]
    share = median(cost.seconds / cost.cpu for cost in ingesting)
    together = max(cost.together for cost in ingesting) / 1e6
    peak = max(cost.peak for cost in writing) / 1e6
    damaged = len(verified["damaged"])
    sizes = [
        _size_row("WARC.gz with revisits", stored, warc.stat().st_size, 0.13),
        _size_row("bare zstd-12 chain", stored, chain.stat().st_size, 1.05),
    ]
    times = [
        _time_row("ingest / writing the WARC.gz, CPU", ingested, written, 3.0),
        _time_row("ingest / writing the WARC.gz, wall", wall[0], wall[1], None),
        _time_row("ingest / writing the chain, CPU", ingested, chaining.cpu, None),
    ]
    rows = [
        Row("random version, cold, median, ms", (f"{reading['p50']:.2f}",)),
        Row("the same, 95th percentile, ms", (f"{reading['p95']:.2f}",), at_most(reading["p95"], 5)),
        Row(f"the same, slowest of {READS}, ms", (f"{reading['max']:.2f}",)),
        Row("bodies that are not rebuilt", (f"{checking['wrong']}",), at_most(checking["wrong"], 0)),
        Row("versions that `scrapy verify` finds damaged", (str(damaged),), at_most(damaged, 0)),
        Row("`scrapy verify`, CPU, s", (f"{verifying.cpu:.1f}",)),
        Row("`scrapy verify`, wall, s", (f"{verifying.seconds:.1f}",)),
        Row("wall time of ingest / its CPU time", (f"{share:.2f}",), at_most(share, 0.6)),
        Row(
            "peak memory of ingest, all processes, MB",
            (f"{together:.0f}",),
            at_most(together, 500),
        ),
        Row("peak memory of writing the WARC.gz, MB", (f"{peak:.0f}",)),
    ]
    if options.git:
        _child("git", data, folder / "git")
        sizes.append(_size_row("git gc --aggressive", stored, _tree_size(folder / "git"), None))
    pages = len({version.url for version in versions})
    title = f"{pages} pages, {len(versions):,} versions, {megabytes(raw)}"
    return report(
        Table(title, ("archive", "peer", "ratio"), sizes),
        Table("time", ("ingest", "peer", "ratio"), times),
        Table("reading and memory", ("archivebot",), rows),
    )


def _size_row(name: str, ours: int, peer: int, bound: float | None) -> Row:
    ratio = ours / peer
    cells = megabytes(ours), megabytes(peer), f"{ratio:.3f}"
    return Row(name, cells, at_most(ratio, bound) if bound else None)


def _time_row(name: str, ours: float, peer: float, bound: float | None) -> Row:
    ratio = ours / peer
    cells = f"{ours:.1f} s", f"{peer:.1f} s", f"{ratio:.1f}"
    return Row(name, cells, at_most(ratio, bound) if bound else None)


def _tree_size(folder: Path) -> int:
    files: Iterable[str] = (os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)
    return sum(os.path.getsize(file) for file in files)


if __name__ == "__main__":
    sys.exit(main())
