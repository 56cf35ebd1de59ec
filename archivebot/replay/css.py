"""The addresses in a style sheet, rewritten without a change of anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# The type of style sheets.
CSS = "text/css"

# Returns the new address of a reference, None to leave it as it is.
Replace = Callable[[str], str | None]

# Functions whose strings are addresses; the first two also take addresses without quotes.
_FUNCTIONS = frozenset(("url", "src", "image", "image-set", "-webkit-image-set"))
_UNQUOTED = frozenset(("url", "src"))

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+\s?+|[^\n])"
# What may stand in a name. As a list of what may, instead of what may not, it takes 70 ms to compile.
_IN_NAME = r"[^\x00-,./:-@\[\]^`{-\x7f]"
_NAME = rf"(?:[-\w]|[^\x00-\x7f]|{_ESCAPE})++"
_COMMENT = r"/\*.*?(?:\*/|\Z)"
_STRING = rf""""(?:{_ESCAPE}|\\\n|[^"\\\n])*+"? | '(?:{_ESCAPE}|\\\n|[^'\\\n])*+'?"""
# The tokens of CSS Syntax Level 3, section 4, as far as they decide what is an address. A string or an
# address that is not closed ends with its line or the sheet. Other names are passed over.
_TOKEN = re.compile(
    rf"""
      (?P<comment> {_COMMENT} )
    | (?P<string> {_STRING} )
    | @(?P<rule> {_NAME} )
    | (?<!{_IN_NAME})
      (?P<function> {_NAME} )\( (?: \s*+ (?P<address> (?:{_ESCAPE}|[^\s"'()\\])*+ ) \s*+ \) )?
    | (?P<sign> [(){{}};] )
    """,
    re.VERBOSE | re.DOTALL,
)
# What stands before the next address outside of functions, passed over at once: token by token, the
# sheets of 200 pages took 2.4 times as long. A name with an escape may be that of a function or a rule.
_BEFORE = re.compile(
    rf"""
    (?: [^"'/@(\\]++
      | {_COMMENT} | / | {_STRING}
      | @ (?! import | namespace | [-\w]*\\ )
      | {"".join(f"(?<!(?<!{_IN_NAME}){name})" for name in sorted(_FUNCTIONS))} \(
      | {_ESCAPE} (?: [-\w] | [^\x00-\x7f] | {_ESCAPE} )*+ (?! \( )
      | \\\n
    )*+
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_NAMED = re.compile(_IN_NAME)
_LONGEST = max(map(len, _FUNCTIONS)) + 1
# The rules in which strings, and no others, are addresses or names.
_WITH_STRINGS = ("import", "namespace")
_ESCAPED = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(\n)|(.))", re.DOTALL)

# The beginning of a tag or a comment in a sheet inside a page. The escape means the same to a style sheet,
# and no parser of HTML reads a tag there, whatever it takes the element for.
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
# For browsers that knew no style sheets. CSS passes it over there; as an escape it would be a selector.
_OPENING = re.compile(r"\A\s*<!--")


def rewrite_css(sheet: str, replace: Replace) -> str:
    r"""Return a style sheet with the addresses in it replaced.

    >>> rewrite_css("@import 'a.css'; p { b: url( x\\2e png ) }", "/{}".format)
    '@import "/a.css"; p { b: url("/x.png") }'
    >>> rewrite_css('/* url(a) */ q::after { content: "url(b)" } @namespace url(c);', "/{}".format)
    '/* url(a) */ q::after { content: "url(b)" } @namespace url(c);'
    >>> rewrite_css('i { b: image-set("a.png" 1x, url(b.png) type("image/png")) }', "/{}".format)
    'i { b: image-set("/a.png" 1x, url("/b.png") type("image/png")) }'
    >>> rewrite_css(r".w-\[calc\(9px\)\] q { b: url('a.png') }", "/{}".format)
    '.w-\\[calc\\(9px\\)\\] q { b: url("/a.png") }'
    """
    if "(" not in sheet and "@" not in sheet:  # most attributes
        return sheet
    done: list[str] = []
    copied = 0
    for token, new in _replaced(sheet, _State(replace)):
        done += sheet[copied : token.start()], new
        copied = token.end()
    return "".join((*done, sheet[copied:]))


def _replaced(sheet: str, state: _State) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the tokens of a style sheet that are replaced, and what replaces each."""
    at = passed = 0
    while True:
        if state.is_outside and at >= passed:
            passed = _passed(sheet, at)
            at = max(at, _name_start(sheet, passed))
        token = _TOKEN.search(sheet, at)
        if token is None:
            return
        at = token.end()
        if new := state.replaced(token):
            yield token, new


def _passed(sheet: str, at: int) -> int:
    found = _BEFORE.match(sheet, at)
    return found.end() if found else at


def _name_start(sheet: str, end: int) -> int:
    """Return where the name that ends at an offset begins, as far as it has no escapes."""
    start = end
    while start > max(0, end - _LONGEST) and _NAMED.match(sheet, start - 1):
        start -= 1
    return start


def without_tags(sheet: str) -> str:
    r"""Return a style sheet for an element of a page, in which nothing can be taken for a tag.

    >>> without_tags("a { b: url('data:image/svg+xml,<svg/>') } @media (width < 9em) {}")
    "a { b: url('data:image/svg+xml,\\3c svg/>') } @media (width < 9em) {}"
    """
    return _TAG.sub(r"\\3c ", _OPENING.sub("", sheet))


class _State:
    """Where in a style sheet a token stands: in which functions, in which at-rule."""

    def __init__(self, replace: Replace) -> None:
        self._replace = replace
        self._functions: list[str] = []  # "" for a parenthesis alone
        self._rule = ""

    @property
    def is_outside(self) -> bool:
        """Whether only a function or a rule may begin what is an address."""
        return not self._functions and self._rule not in _WITH_STRINGS

    def replaced(self, token: re.Match[str]) -> str | None:
        """Take in a token; return what replaces it, None if it stays."""
        kind = token.lastgroup
        if kind == "rule":
            self._rule = _plain(token["rule"]).lower()
        elif kind == "function" or kind == "address":
            return self._function(_plain(token["function"]).lower(), token["address"])
        elif kind == "string":
            return self._string(_inner(token[0]))
        elif kind == "sign":
            self._sign(token[0])
        return None

    def _function(self, name: str, address: str | None) -> str | None:
        if address is None:
            self._functions.append(name)
            return None
        if name not in _UNQUOTED or self._rule == "namespace":
            return None
        new = self._new(address)
        return new and f"url({new})"

    def _string(self, address: str) -> str | None:
        if self._functions:
            is_address = self._functions[-1] in _FUNCTIONS and self._rule != "namespace"
            return self._new(address) if is_address else None
        if self._rule != "import":
            return None
        self._rule = ""  # the conditions of an import follow its address
        return self._new(address)

    def _sign(self, sign: str) -> None:
        if sign == "(":
            self._functions.append("")
        elif sign == ")":
            del self._functions[-1:]
        else:
            self._functions.clear()
            self._rule = ""

    def _new(self, written: str) -> str | None:
        """Return the new address of a written one as a string, None if it stays."""
        address = _plain(written)
        new = self._replace(address) if address else None
        if new is None:
            return None
        escaped = new.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")
        return f'"{escaped}"'


def _inner(string: str) -> str:
    return string[1:-1] if len(string) > 1 and string[-1] == string[0] else string[1:]


def _plain(written: str) -> str:
    """Return a name or an address without its escapes."""
    return _ESCAPED.sub(_character, written) if "\\" in written else written


def _character(escape: re.Match[str]) -> str:
    digits, line_end, other = escape.groups()
    if digits:
        code = int(digits, 16)
        valid = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000
        return chr(code) if valid else "\ufffd"
    return "" if line_end else other
