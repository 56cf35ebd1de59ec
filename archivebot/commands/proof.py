"""scrapy proof: the proof that a capture is in the log of the archive, or the checkpoint of the log."""

from __future__ import annotations

import argparse
from pathlib import Path

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import UsageError
from archivebot.proof.signing import Signer
from archivebot.proof.stamp import stamped
from archivebot.records import checkpoint_record, proof_record
from archivebot.terminal import note, write
from archivebot.timestamps import parse_time, timestamp


class Command(ArchiveCommand):
    """Prove that a capture is as it was stored, or print the checkpoint of the log"""

    arguments = "[URL]"
    least, most = 0, 1
    explanation = (
        "Shows the last capture at or before the time, else the first; without a time the last. Without a URL"
        " it prints the checkpoint, to be published. The exit code is 4 if the log does not have the capture."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--at", metavar="TIME", help="14 digits (or fewer), an ISO or an HTTP date")
        parser.add_argument("--key", metavar="FILE", help="sign the checkpoint with this private key, in PEM")
        parser.add_argument("--output", metavar="FILE", help="write the checkpoint to FILE")
        help_text = "a time-stamping authority (RFC 3161): its answer is written to FILE.tsr"
        parser.add_argument("--stamp", metavar="URL", help=help_text)
        help_text = "the certificates that the authority is verified by, in PEM"
        parser.add_argument("--stamp-roots", metavar="FILE", help=help_text)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if (opts.stamp and not opts.output) or (opts.stamp_roots and not opts.stamp):
            raise UsageError("--stamp goes with --output FILE, and --stamp-roots with --stamp")
        if opts.at and not args:
            raise UsageError("--at is a time of a page: give its URL")
        signer = Signer(Path(opts.key)) if opts.key else None
        if args:
            url, when = archive.resolve(args[0]), parse_time(opts.at) if opts.at else None
            proof = archive.proofs.proof(archive.at(url, when))
            checkpoint, text = proof.checkpoint, proof.checkpoint.note(signer)
            record = proof_record(proof, text)
        else:
            checkpoint = archive.proofs.checkpoint()
            text = checkpoint.note(signer)
            record = checkpoint_record(checkpoint, text)
        if opts.output:
            record |= _written(Path(opts.output), text, opts)
        if opts.json:
            print_json(record)
        elif args:
            shown = ("url", "captured_at", "leaf", "index", "size", "root")
            write("\n".join(f"{name:11}  {record[name]}" for name in shown))
            write("\n".join(f"{'path' * (not at):11}  {value}" for at, value in enumerate(record["path"])))
        elif not opts.output:
            write(text.removesuffix("\n"))
        return 0


def _written(path: Path, text: str, opts: argparse.Namespace) -> dict[str, str]:
    """Write the checkpoint and its time stamp; return the time that the stamp states."""
    stamp = None
    if opts.stamp:
        stamp, when = stamped(text.encode(), opts.stamp, Path(opts.stamp_roots) if opts.stamp_roots else None)
    try:
        path.write_text(text, "utf-8")
        if stamp:
            path.with_name(f"{path.name}.tsr").write_bytes(stamp)
    except OSError as error:
        raise UsageError(f"{error.filename or path} cannot be written: {error.strerror}") from error
    note(f"{path}: the checkpoint" + (f", stamped at {timestamp(when)}" if stamp else ""))
    return {"stamped_at": timestamp(when)} if stamp else {}
