"""Sets of tag names that several packages share; a reader of a page may add names of its own."""

from __future__ import annotations

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

# Elements whose text is never shown as running text.
MUTE = frozenset("head iframe math script style svg template".split())

# Elements that begin and end a line.
LINES = frozenset(
    """address article aside blockquote caption center dd details dir div dl dt fieldset figure footer form
    h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol p pre section table tbody tfoot th thead tr
    ul""".split()
)

FORMAT = frozenset(
    "abbr acronym b bdi bdo big br center cite code data del dfn em font i ins kbd mark nobr q rp rt ruby"
    " s samp small span strike strong sub sup time tt u var wbr".split()
)
FUNCTIONAL = frozenset("a area button label map meter object output progress select".split())
SEEN_WITHOUT_TEXT = frozenset(
    "audio button canvas embed iframe img input object picture select svg textarea video".split()
)
INVISIBLE = frozenset(
    "base basefont bgsound head link meta noframes param script source style template title track".split()
)

# Elements that are the whole page: their classes describe it, and if they are hidden, a script shows them.
WHOLE = frozenset(("html", "body"))
