"""A command that is run for each alert."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from archivebot.exceptions import Refused, Undelivered
from archivebot.terminal import harmless, json_text
from archivebot.watch.alert import Alert

_MOST_ERRORS = 300  # characters of what it printed last
_MOST_READ = 4096  # bytes of it


@dataclass(frozen=True, slots=True)
class Program:
    """A program with fixed arguments, run in the folder of the rules file without a shell.

    It gets the alert as JSON on its standard input: no text of a page becomes an argument. Exit code 0 means
    that it took the alert. After ``timeout`` seconds it is killed with the processes that it started.
    """

    name: str
    words: tuple[str, ...]
    folder: Path
    timeout: float = 60.0
    shown: int = 0

    @property
    def patience(self) -> float:
        """Seconds after which it has ended."""
        return self.timeout

    def send(self, alerts: list[Alert]) -> None:
        """Run the program; raises Refused if it fails, Undelivered if it cannot be run or does not end."""
        # Files instead of pipes: a program that reads nothing, or leaves a process behind, cannot block us.
        try:
            with TemporaryFile() as given, TemporaryFile() as errors:
                given.write(json_text(alerts[0].record()).encode())
                given.seek(0)
                self._run(given, errors)
        except OSError as error:
            raise Undelivered(f"{self.words[0]} cannot be run: {error.strerror}") from error

    def _run(self, given: IO[bytes], errors: IO[bytes]) -> None:
        process = subprocess.Popen(
            self.words,
            cwd=self.folder,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired as error:
            raise Undelivered(f"{self.words[0]} did not end in {self.timeout:g} s") from error
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if code:
            errors.seek(max(errors.seek(0, os.SEEK_END) - _MOST_READ, 0))
            lines = harmless(errors.read(_MOST_READ).decode("utf-8", "replace")).split("\n")
            last = next((line for line in reversed(lines) if line.strip()), "")
            said = f": {last[:_MOST_ERRORS]}" if last else ""
            raise Refused(f"{self.words[0]} ended with exit code {code}{said}")
