"""scrapy verify: rebuild what is stored and hash it again."""

from __future__ import annotations

import argparse
from pathlib import Path

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.models import Damage
from archivebot.proof.checkpoint import Checkpoint, read_checkpoint
from archivebot.proof.signing import PublicKey
from archivebot.records import verification_record
from archivebot.terminal import commanded, write
from archivebot.units import amount, read_count


class Command(ArchiveCommand):
    """Rebuild every version, hash it again and list what is damaged"""

    least, most = 0, 0
    explanation = "Nothing is changed. The exit code is 0 only if nothing is damaged, else 4."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--sample", type=str, metavar="N", help="check only N versions, chosen at random")
        help_text = "check that the log still begins as in a checkpoint of scrapy proof"
        parser.add_argument("--checkpoint", metavar="FILE", help=help_text)
        help_text = "the public or private key, in PEM, that signed the checkpoint"
        parser.add_argument("--key", metavar="FILE", help=help_text)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        sample = None if opts.sample is None else read_count(opts.sample)
        if opts.sample is not None and sample is None:
            raise UsageError(f"--sample is {opts.sample!r}: give a whole number")
        if opts.key and not opts.checkpoint:
            raise UsageError("--key verifies a checkpoint: give --checkpoint FILE")
        checkpoint = _checkpoint(Path(opts.checkpoint), opts.key) if opts.checkpoint else None
        checked, damaged = archive.verify(sample, checkpoint)
        try:
            pruned = archive.retention.count()
        except CorruptObject as error:
            pruned, damaged = 0, [*damaged, Damage("", None, "", str(error))]
        if opts.json:
            print_json(verification_record(checked, pruned, damaged))
        else:
            for damage in damaged:
                write(f"damaged: {_place(damage)}{commanded(damage.reason)}")
            gone = f", {pruned} pruned" if pruned else ""
            write(f"{amount(checked, 'version')} checked, {len(damaged)} damaged{gone}")
        return CorruptObject.exit_code if damaged else 0


def _place(damage: Damage) -> str:
    """Return where a damage is, with a colon behind it; "" if it concerns the whole archive."""
    version = f"version {damage.version}" if damage.version is not None else ""
    words = " ".join(filter(None, (damage.url, version, damage.digest)))
    return f"{words}: " if words else ""


def _checkpoint(path: Path, key: str | None) -> Checkpoint:
    public = PublicKey.read(Path(key)) if key else None
    try:
        return read_checkpoint(path.read_text("utf-8"), public)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
