"""The log of an archive: proofs, checkpoints, time stamps, and what a change of the past shows."""

from __future__ import annotations

import base64
import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.archive import Archive
from archivebot.archive.consistency import inconsistencies
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.fingerprint.payload import payload_key
from archivebot.models import Outcome, Page, Payload
from archivebot.proof.checkpoint import Checkpoint, read_checkpoint
from archivebot.proof.merkle import WIDTH, leaf_hash, path_of, root_by_path, root_of, subtrees
from archivebot.proof.signing import PublicKey, Signer
from archivebot.storage.sqlite.sums import enable, sum_of
from archivebot.wire import Wire
from tests.commands import run_scrapy
from tests.contracts.reader import keep
from tests.factories import START, URL


def at(day: float) -> datetime:
    """The time of a visit that ``keep`` made."""
    return START + timedelta(days=day)


BODY = b"<html><body><p>Ships leave at noon from the old harbour.</p></body></html>"


def tree(entries: list[bytes]) -> bytes:
    """The root as RFC 6962 defines it, by recursion."""
    if len(entries) < 2:
        return leaf_hash(entries[0]) if entries else sha256().digest()
    half = 1
    while 2 * half < len(entries):
        half *= 2
    return sha256(b"\1" + tree(entries[:half]) + tree(entries[half:])).digest()


@given(st.integers(0, 70), st.data())
def test_roots_and_paths_are_those_of_the_rfc(size: int, data: st.DataObject) -> None:
    entries = [bytes([number]) for number in range(size)]
    hashes = list(map(leaf_hash, entries))
    root = tree(entries)
    assert root_of(hashes) == root
    if size:
        index = data.draw(st.integers(0, size - 1))
        path = path_of(index, hashes)
        assert root_by_path(entries[index], index, size, path) == root
        other = data.draw(st.integers(0, size - 1))
        wrong = root_by_path(entries[index], other, size, path)
        assert (wrong == root) is (other == index)
        assert root_by_path(b"other", index, size, path) != root


@pytest.mark.parametrize("size", [WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 7])
def test_the_roots_of_subtrees_make_the_root_of_all(size: int) -> None:
    entries = [number.to_bytes(2, "big") for number in range(size)]
    assert root_of(list(subtrees(entries))) == tree(entries)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive with 10 captures of two pages; one was judged again, since an earlier visit came later."""
    path = tmp_path / "a.db"
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        for minute in (0, 2, 1, 3, 4):
            keep(archive, minute, links=2)
            keep(archive, minute, url="http://example.com/other")
    return path


def asked(path: Path, *command: str) -> tuple[int, Any]:
    done = run_scrapy((*command, "--json", "-s", f"ARCHIVE_URI=sqlite:///{path}"))
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def reasons(path: Path) -> list[str]:
    """Return the damage that a verification finds."""
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        return [damage.reason for damage in archive.verify()[1]]


def test_each_capture_is_proved_from_its_record_to_the_root(archive: Path) -> None:
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{archive}")) as reader:
        for day in range(5):
            proof = reader.proofs.proof(reader.at(URL, at(day)))
            record = json.dumps(proof.record, sort_keys=True, separators=(",", ":")).encode()
            assert proof.record["time"] == at(day).timestamp() * 1000
            assert sha256(record).digest() == proof.leaf
            found = root_by_path(proof.leaf, proof.index, proof.checkpoint.size, proof.path)
            assert found == proof.checkpoint.root
        checkpoint = reader.proofs.checkpoint()
    code, answer = asked(archive, "proof", URL, "--at", at(3).isoformat())
    assert code == 0
    assert {"leaf", "index", "size", "path", "root", "checkpoint"} <= answer.keys()
    assert answer["record"]["time"] == at(3).timestamp() * 1000
    assert (answer["root"], answer["size"]) == (checkpoint.root.hex(), checkpoint.size)
    code, whole = asked(archive, "proof")
    assert (code, whole["checkpoint"]) == (0, answer["checkpoint"])
    assert asked(archive, "proof", "http://example.com/none")[0] == 1


def changed(path: Path, *statements: str) -> None:
    """Rewrite the archive as a person would who knows its checksums."""
    with closing(sqlite3.connect(path)) as database:
        enable(database)
        for statement in statements:
            assert database.execute(statement).rowcount > 0
        database.commit()


RENEWED = f"UPDATE shape SET sum = {sum_of('shape')}"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (("UPDATE shape SET status = 500 WHERE status = 200", RENEWED), "it was changed"),
        (("UPDATE capture SET time = time + 1", f"UPDATE capture SET sum = {sum_of('capture')}"), "changed"),
        (
            (
                "UPDATE version SET digest = zeroblob(32) WHERE id = 1",
                f"UPDATE version SET sum = {sum_of('version')}",
            ),
            "it was changed",
        ),
        (("DELETE FROM capture WHERE page = 1",), "has no capture"),
        (("UPDATE log SET entry = zeroblob(32) WHERE id = 3",), "the entry 2 of the log has no capture"),
        (("UPDATE log SET entry = 'text' WHERE id = 3",), "the entry 2 of the log has no capture"),
        (("INSERT INTO subtree VALUES (1, 'text')",), "the log has roots of entries that are lost"),
        (("UPDATE version SET number = x'01' WHERE id = 1",), "cannot be compared with the log"),
        (("DELETE FROM log WHERE id = 3",), "the entry 2 of the log is lost"),
        (("DELETE FROM log WHERE id = (SELECT max(id) FROM log)",), "it was changed"),
    ],
)
def test_a_rewritten_past_is_found(archive: Path, statements: tuple[str, ...], found: str) -> None:
    assert reasons(archive) == []
    changed(archive, *statements)
    assert any(found in reason for reason in reasons(archive)), reasons(archive)


def test_entries_that_are_lost_with_their_root_are_damage(archive: Path) -> None:
    rows = (
        "WITH number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 300) SELECT n FROM number"
    )
    changed(archive, f"INSERT INTO log (entry) SELECT zeroblob(32) FROM ({rows})")
    changed(archive, f"DELETE FROM log WHERE id <= {WIDTH}")
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{archive}")) as reader:
        with pytest.raises(CorruptObject, match="the entry 0 of the log is lost"):
            reader.proofs.checkpoint()
        assert list(reader._store.log.entries(WIDTH, WIDTH + 9)) == [bytes(32)] * 9
        with pytest.raises(CorruptObject, match="the entry 310 of the log is lost"):
            list(reader._store.log.entries(WIDTH, 311))


def test_a_subtree_that_another_writer_completes_meanwhile_is_no_damage(archive: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{archive}")
    with Archive.open(config) as writer, Archive.reader(config) as reader:
        for day in range(10, 10 + WIDTH - 1 - writer._store.log.size()):
            keep(writer, day)
        assert writer._store.log.size() == WIDTH - 1

        def meanwhile(sql: str) -> None:
            if "FROM subtree" in sql:  # it is about to be read
                keep(writer, 999)

        reader._store.database.set_trace_callback(meanwhile)
        assert list(inconsistencies(reader._store)) == []
        reader._store.database.set_trace_callback(None)
        assert writer._store.log.size() == WIDTH


def test_a_capture_is_stored_although_an_entry_of_the_log_is_lost(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archivebot.storage.sqlite.log.WIDTH", 4)
    changed(archive, "DELETE FROM log WHERE id = 9")
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{archive}")) as opened:
        for day in range(10, 16):
            keep(opened, day)
        assert len(opened.captures(URL)) == 11
        assert opened._store.log.subtrees().keys() == {3}  # subtree 2 is not whole, the next one is
    assert "the entry 8 of the log is lost: restore a copy of the archive" in reasons(archive)


@pytest.mark.parametrize("table", ["log", "version", "page_key", "attachment"])
def test_all_damage_is_listed_although_a_table_cannot_be_read(archive: Path, table: str) -> None:
    changed(archive, "UPDATE link SET links = x'00'")
    with closing(sqlite3.connect(archive)) as database:
        ((page, size),) = database.execute(
            "SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = ?", (table,)
        )
    with archive.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
    code, answer = asked(archive, "verify")
    assert code == 4
    found = [each["reason"] for each in answer["damaged"]]
    assert any("malformed" in reason for reason in found), found
    assert any("the links of page" in reason for reason in found), found


def test_a_changed_capture_has_no_proof(archive: Path) -> None:
    changed(archive, "UPDATE shape SET status = 500 WHERE status = 200", RENEWED)
    code, answer = asked(archive, "proof", URL)
    assert code == 4
    assert "it was changed" in answer
    assert asked(archive, "verify")[0] == 4


def test_every_changed_byte_of_a_run_a_version_or_an_entry_is_found(archive: Path) -> None:
    whole = archive.read_bytes()
    places = ("capture", "visits"), ("version", "digest"), ("log", "entry"), ("frame", "data")
    for table, column in places:
        with closing(sqlite3.connect(archive)) as database:
            keys = database.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
        value = bytes(keys[0])
        for byte in {0, len(value) // 2, len(value) - 1}:
            other = value[:byte] + bytes([value[byte] ^ 1]) + value[byte + 1 :]
            with closing(sqlite3.connect(archive)) as database:
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (other, value))
                database.commit()
            assert reasons(archive), (table, column, byte)
            archive.write_bytes(whole)


def test_a_checkpoint_that_finds_the_disk_full_is_named(archive: Path) -> None:
    code, error = asked(archive, "proof", "--output", "/dev/full")
    assert code == 2
    assert error == "scrapy proof: /dev/full cannot be written: No space left on device\n"


def test_a_checkpoint_shows_that_the_log_was_written_anew(archive: Path, tmp_path: Path) -> None:
    note = tmp_path / "checkpoint"
    assert asked(archive, "proof", "--output", str(note))[0] == 0
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{archive}")) as opened:
        keep(opened, 9)
    assert asked(archive, "verify", "--checkpoint", str(note))[0] == 0
    # The log is thrown away, and written again as for an archive without one, in another order.
    changed(archive, "DELETE FROM log", "UPDATE page SET versions = versions")
    with closing(sqlite3.connect(archive)) as database:
        database.execute("CREATE TABLE unlogged (id INTEGER PRIMARY KEY)")
    assert asked(archive, "stats")[0] == 0
    assert asked(archive, "verify")[0] == 0
    code, answer = asked(archive, "verify", "--checkpoint", str(note))
    assert code == 4
    assert "checkpoint" in str(answer["damaged"])


def test_a_checkpoint_is_compared_although_the_identity_is_damaged(archive: Path, tmp_path: Path) -> None:
    note = tmp_path / "checkpoint"
    assert asked(archive, "proof", "--output", str(note))[0] == 0
    changed(archive, "UPDATE archive SET identity = '0'", "UPDATE log SET entry = zeroblob(32) WHERE id = 3")
    code, answer = asked(archive, "verify", "--checkpoint", str(note))
    assert code == 4
    found = " ".join(each["reason"] for each in answer["damaged"])
    assert "the identity of the archive does not have its checksum" in found
    assert "do not have the root of the checkpoint" in found
    assert "the entry 2 of the log has no capture" in found


def test_an_older_archive_gets_its_log(archive: Path) -> None:
    with closing(sqlite3.connect(archive)) as database:
        for table in ("attachment", "log", "subtree"):
            database.execute(f"DROP TABLE {table}")
        database.execute("PRAGMA user_version = 11")  # the last schema without a log
    assert asked(archive, "stats")[0] == 0
    assert reasons(archive) == []
    assert asked(archive, "proof")[1]["size"] == 10


def test_a_resolved_revisit_removes_the_unresolved_one(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    payload = Payload(payload_key(f"sha256:{sha256(BODY).hexdigest()}"), URL, at(0))
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        revisit = Page(
            URL, at(5), Outcome.UNRESOLVED, 200, payload=payload, wire=Wire(b"HTTP/1.1 200 OK\r\n")
        )
        archive.add(archive.segment(revisit))
        page = Page(URL, at(0), Outcome.FETCHED, 200, (("Content-Type", "text/html"),), BODY, payload=payload)
        archive.add(archive.segment(page))
        (found,) = archive.released(page)
        archive.settle(archive.segment(found))
        assert [capture.outcome for capture in archive.captures(URL)] == [Outcome.FETCHED] * 2
    assert reasons(path) == []
    assert asked(path, "proof")[1]["size"] == 4  # unresolved, fetched, resolved, removed


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.pem"
    made = ["openssl", "ecparam", "-genkey", "-name", "secp384r1", "-noout", "-out", str(path)]
    subprocess.run(made, check=True, capture_output=True)
    return path


def test_a_signed_checkpoint_is_verified_with_its_key(archive: Path, key: Path, tmp_path: Path) -> None:
    note, public = tmp_path / "checkpoint", tmp_path / "public.pem"
    subprocess.run(["openssl", "ec", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
    assert asked(archive, "proof", "--key", str(key), "--output", str(note))[0] == 0
    verify = "verify", "--checkpoint", str(note), "--key", str(public)
    assert asked(archive, *verify)[0] == 0
    text = note.read_text("utf-8")
    note.write_text(text.replace("\n1", "\n2", 1), "utf-8")
    code, answer = asked(archive, *verify)
    assert code == 2
    assert "no valid signature" in answer


def test_each_signature_of_a_checkpoint_is_tried(key: Path) -> None:
    checkpoint, signer = Checkpoint("archivebot/0", 7, bytes(32)), Signer(key)
    note = checkpoint.note(signer)
    other = base64.b64encode(signer.public.key_id + b"of another key").decode()
    both = note.replace("\n\n", f"\n\n— archivebot/0 {other}\n")
    assert read_checkpoint(both, signer.public) == checkpoint
    with pytest.raises(UsageError, match="no valid signature"):
        read_checkpoint(f"{checkpoint.text}\n— archivebot/0 {other}\n", signer.public)


@pytest.mark.parametrize("read", [Signer, PublicKey.read])
def test_a_key_of_an_unknown_curve_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "key.pem"
    made = "openssl ecparam -genkey -noout -name secp160k1 -out".split()
    subprocess.run([*made, path], check=True, capture_output=True)
    if read is not Signer:
        public = ["openssl", "ec", "-in", path, "-pubout", "-out", path]
        subprocess.run(public, check=True, capture_output=True)
    with pytest.raises(UsageError, match=r"key of another kind \(Curve .*openssl ecparam"):
        read(path)


class Authority(BaseHTTPRequestHandler):
    """A time-stamping authority made of ``openssl ts``, in a folder with its key and certificates."""

    folder: Path

    def do_POST(self) -> None:
        query = self.rfile.read(int(self.headers["Content-Length"]))
        (self.folder / "query").write_bytes(query)
        command = ["openssl", "ts", "-reply", "-config", "ts.cnf", "-queryfile", "query"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=True)
        self.send_response(200)
        self.send_header("Content-Type", "application/timestamp-reply")
        self.send_header("Content-Length", str(len(done.stdout)))
        self.end_headers()
        self.wfile.write(done.stdout)

    def log_message(self, *args: object) -> None:
        """Be silent."""


CONFIG = """
[tsa]
default_tsa = own
[own]
serial = serial
crypto_device = builtin
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
[stamps]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
"""


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The URL of a time-stamping authority on loopback, and its certificate."""
    folder = tmp_path / "tsa"
    folder.mkdir()
    (folder / "ts.cnf").write_text(CONFIG)
    (folder / "serial").write_text("01")
    for command in (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem"
        " -days 3650 -subj /CN=Root",
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tsa.key -out tsa.csr"
        " -subj /CN=Stamps",
        "openssl x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -out tsa.pem"
        " -extfile ts.cnf -extensions stamps",
    ):
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    handler = type("Handler", (Authority,), {"folder": folder})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", folder / "ca.pem"
        server.shutdown()
        thread.join()


def test_a_checkpoint_is_stamped_by_an_authority(
    archive: Path, authority: tuple[str, Path], tmp_path: Path
) -> None:
    note, (url, roots) = tmp_path / "checkpoint", authority
    command = "proof", "--output", str(note), "--stamp", url, "--stamp-roots", str(roots)
    code, answer = asked(archive, *command)
    assert code == 0, answer
    assert answer["stamped_at"].startswith("20")
    verify = ["openssl", "ts", "-verify", "-data", note, "-in", f"{note}.tsr", "-CAfile", roots]
    assert b"OK" in subprocess.run(verify, check=True, capture_output=True).stdout
    other = tmp_path / "other.pem"  # the certificate of nobody whom the authority knows
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Other -keyout"
    subprocess.run([*made.split(), tmp_path / "other.key", "-out", other], check=True, capture_output=True)
    code, answer = asked(archive, *command[:-1], str(other))
    assert code == 3
    assert "is not valid" in answer


def test_an_authority_that_does_not_answer_is_named(archive: Path, tmp_path: Path) -> None:
    note = tmp_path / "checkpoint"
    code, answer = asked(archive, "proof", "--output", str(note), "--stamp", "http://127.0.0.1:9/")
    assert code == 3
    assert "does not answer" in answer
    assert not note.exists()
