"""Safe output to a terminal: printed text cannot steer it, hide text, or fail to be encoded."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from itertools import islice
from typing import Any, TextIO

# The styles of pieces of a line: the sequences that begin them, "" for none.
PLAIN, HEAD = "", "\x1b[1m"
ADDED, REMOVED, CHANGED, MOVED = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[36m"
_RESET = "\x1b[0m"

Piece = tuple[str, str]  # a text and its style

ERASE = "\r\x1b[K"  # back to the start of the line, and erase it

# C0 controls but for tab and line feed, DEL and C1 controls can drive a terminal. Bidi controls, line and
# paragraph separators, tags and other format characters show a text in another order, or not at all
# (Boucher, Anderson, "Trojan Source", 2021). Soft hyphens, U+200B to U+200D and the signs before Arabic
# numbers stay: Thai, Persian and emoji are not read without them. A lone surrogate has no encoding.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
# Texts that a spreadsheet takes for a formula: https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = re.compile(r"[\t\r\n]|\s*[=+@\-\uff1d\uff0b\uff20\uff0d]")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")

# Pieces of a JSON document that are written together.
MOST_PIECES = 10_000

STDOUT = "-"  # the name of a file that stands for standard output

PROGRAMS = ("scrapy", "archivebot")  # the programs that have the commands
_program = PROGRAMS[0]
# A command that a message names; "scrapy" alone is the library.
_COMMAND = re.compile(r"\bscrapy (?=[a-z]+\b)")


def name_program(name: str) -> None:
    """Set the name of the program that runs."""
    global _program
    _program = name


def program() -> str:
    """Return the name of the program that runs."""
    return _program


def commanded(text: str) -> str:
    """Return a message with the commands of the program that runs.

    >>> commanded("scrapy forms lists them; Scrapy 2.19")
    'scrapy forms lists them; Scrapy 2.19'
    """
    return text if _program == PROGRAMS[0] else _COMMAND.sub(f"{_program} ", text)


def harmless(text: str) -> str:
    """Replace what could steer a terminal or disguise a text.

    >>> harmless("a\\x1b[2Jb\\u202e") == "a\\ufffd[2Jb\\ufffd"
    True
    """
    return UNSAFE.sub("\ufffd", text)


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; the apostrophe marks it as text.

    >>> cell("=1+1"), cell(" -2"), cell("@SUM(A1)"), cell("a=b")
    ("'=1+1", "' -2", "'@SUM(A1)", 'a=b')
    """
    return harmless(f"'{text}" if FORMULA.match(text) else text)


def json_text(document: Any, indent: int | None = None) -> str:
    """Return a document as JSON, with each such character as an escape, so that its texts stay exact.

    >>> json_text(["é\\x7f\\u202e\\udc80"])
    '["é\\\\u007f\\\\u202e\\\\udc80"]'
    """
    return escaped(json.dumps(document, ensure_ascii=False, indent=indent))


def escaped(text: str) -> str:
    """Replace such characters in a JSON text by their escapes; they occur only inside its strings."""
    # The line feeds between the lines of a document are safe; those in its strings are already escapes.
    return UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


class Harmless:
    """A text stream that makes all text harmless; otherwise it behaves like the underlying stream."""

    def __init__(self, bare: Any) -> None:
        self.bare = bare

    def write(self, text: str) -> int:
        """Write a text, made harmless."""
        return int(self.bare.write(harmless(text)))

    def writelines(self, lines: list[str]) -> None:
        """Write texts, made harmless."""
        self.bare.writelines(map(harmless, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def guard() -> None:
    """Make everything harmless that this process prints from now on.

    A log line of Scrapy, an error of argparse or a traceback may contain text of a page. Characters that the
    terminal cannot encode are printed as escapes. What is printed to a closed stream is dropped.
    """
    _open_closed()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        if not isinstance(stream, Harmless):
            setattr(sys, name, Harmless(stream))


def _open_closed() -> None:
    """Open the null device for each standard stream that is closed, as after ``2>&-`` in a shell."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: that of the stream
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode))


def write(text: str = "") -> None:
    """Print a text to stdout, made harmless, in place of the line that :func:`status` printed."""
    status("")
    _bare(sys.stdout).write(f"{harmless(text)}\n")


def write_pieces(pieces: Iterable[Piece]) -> None:
    """Print the pieces of a line to stdout, made harmless, in their styles if :func:`has_colours`.

    They take the place of the line that :func:`status` printed.
    """
    status("")
    coloured = has_colours()
    line = "".join(_styled(harmless(text), style if coloured else PLAIN) for text, style in pieces)
    _bare(sys.stdout).write(f"{line}\n")


def _styled(text: str, style: str) -> str:
    return f"{style}{text}{_RESET}" if style and text else text


def has_colours() -> bool:
    """Return whether stdout is printed in colour.

    A terminal has colours unless NO_COLOR is set or TERM is ``dumb``; FORCE_COLOR has them in a file or a
    pipe, too. NO_COLOR counts more. An empty variable does not count: https://no-color.org,
    https://force-color.org.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def note(text: str) -> None:
    """Print a text to stderr, made harmless, in place of the line that :func:`status` printed."""
    status("")
    _bare(sys.stderr).write(f"{commanded(harmless(text))}\n")


_shown = ""  # the line that status() left on the terminal


def status(line: str, stream: TextIO | None = None) -> None:
    """Show a line, or several, on the terminal in place of those before; print nothing if it is no terminal.

    No line may be wider than the terminal.
    """
    global _shown
    stream = stream or sys.stderr
    if stream.isatty() and (line or _shown):
        above = _shown.count("\n") * f"\x1b[1A{ERASE}"  # a line up
        _bare(stream).write(ERASE + above + harmless(line))
        stream.flush()
        _shown = line


def write_json(document: Any, indent: int | None = None) -> None:
    """Print a document as JSON; in ASCII if the output has no Unicode."""
    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    encoder = json.JSONEncoder(ensure_ascii=False, indent=indent)
    # With indents there are five pieces for each value; those of a long history took a gigabyte.
    pieces = iter([encoder.encode(document)] if indent is None else encoder.iterencode(document))
    while text := escaped("".join(islice(pieces, MOST_PIECES))):
        _bare(sys.stdout).write(text if unicode else NOT_ASCII.sub(_escape, text))
    _bare(sys.stdout).write("\n")


def is_terminal() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout.isatty()


def columns() -> int | None:
    """Return the columns of the terminal, None if stdout is none; COLUMNS in the environment counts more."""
    return shutil.get_terminal_size().columns if is_terminal() else None


def write_bytes(data: bytes) -> None:
    """Write raw bytes to stdout, for a file or a program; never for a terminal."""
    flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def flush() -> None:
    """Flush stdout."""
    sys.stdout.flush()


def hush() -> None:
    """Print nothing more to stdout: its consumer (head, less) has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bare(stream: Any) -> Any:
    return stream.bare if isinstance(stream, Harmless) else stream
