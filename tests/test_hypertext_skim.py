"""The links of a page are the same whether all of its nodes are visited or only the elements that matter."""

from __future__ import annotations

import random

import pytest

from archivebot.hypertext.links import MOST_OPEN, LinkWalk
from archivebot.markup.page import ParsedPage
from archivebot.models import Link

PIECES = (
    "<nav>",
    "</nav>",
    "<header><a href=/h>Head</a>",
    "</header>",
    "<article>",
    "</article>",
    "<form><p>Fill</p>",
    "</form>",
    "<template><a href=/no>No</a><nav>",
    "</template>",
    "<a href=/a>One <a href=/b>two</a>",
    "<a name=x><img alt=Three>",
    "<iframe src=/f></iframe>",
    "<link rel=next href=/n>",
    "<script>location='/s'</script>",
    "<svg><a href=/v>V</a></svg>",
    "<div>text</div>",
)


def found(markup: str, *, everything: bool) -> tuple[list[Link], object]:
    """Return the links that a walk finds, and the rest."""
    walk = LinkWalk(ParsedPage.of(markup).document, "http://a.example/", skip_nofollow=True)
    if everything:
        walk._visit(walk.tags)
    else:
        walk.walk()
    return list(walk.found.values()), (walk.robots, walk.scripts, walk.roles, walk.anchors, walk.forms)


@pytest.mark.parametrize("seed", range(40))
def test_the_links_are_those_of_a_visit_of_all_nodes(seed: int) -> None:
    chance = random.Random(seed)
    markup = "".join(chance.choice(PIECES) for _ in range(30))
    assert found(markup, everything=False) == found(markup, everything=True)


def test_sections_nested_deep_are_visited() -> None:
    markup = "<nav>" * (MOST_OPEN + 9) + "<a href=/deep>Deep</a>"
    [link], _ = found(markup, everything=False)
    assert (link.url, link.role) == ("http://a.example/deep", "navigation")
