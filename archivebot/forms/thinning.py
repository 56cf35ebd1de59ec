"""Limits the attributes of a tag; further ones are removed before a page is parsed."""

from __future__ import annotations

import re

# libxml2 compares each attribute of a tag with all earlier ones: 15,000 take 0.25 seconds, 80,000 take 6. No
# tag of 3,870 real pages of WCXB, Formasaurus and others had more than these.
MOST = 1000
LEAST_BYTES = 16 * 1024  # shorter pages cannot hold enough attributes to take long

# https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state
_ATTRIBUTE = rb"""(?>
    [\s/]*+ [^\s/>] [^\s/>=]*+
    (?: \s*+ = \s*+ (?: "[^"]*+"? | '[^']*+'? | [^\s>"'][^\s>]*+ )? )?
)"""
_TAG = re.compile(
    rb"""< (?: (?P<script> script (?=[\s/>]) ) | [A-Z] [^\s/>]*+ )
    %b{0,%d}+ (?P<rest> %b*+ )
    (?(script) (?: [^<]++ | < (?!/script) )*+ )"""  # what looks like a tag there is none
    % (_ATTRIBUTE, MOST, _ATTRIBUTE),
    re.IGNORECASE | re.VERBOSE,
)


def thinned(markup: bytes) -> bytes:
    """Return markup with at most :data:`MOST` attributes per tag, in a charset compatible with ASCII.

    >>> crowd = b" ".join(b"a%d=1" % number for number in range(5000))
    >>> thinned(b"<p><a href=x " + crowd + b">y</a>").endswith(b" a998=1>y</a>")
    True
    """
    if len(markup) < LEAST_BYTES:
        return markup
    kept, at = [], 0
    for tag in _TAG.finditer(markup):
        if tag["rest"]:
            kept.append(markup[at : tag.start("rest")])
            at = tag.end("rest")
    return b"".join((*kept, markup[at:]))
