"""Sets of tag names that several packages share."""

from __future__ import annotations

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
