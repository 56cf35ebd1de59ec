"""Which elements are seen, which are blocks, and inside which cuts may be made."""

from __future__ import annotations

import pytest

from archivebot.markup.tree import Node, Source, children, content, root
from archivebot.segmentation.rules import GLANCE, INLINE_BYTES, LEAST_BYTES, divisible, is_block, visible


def node_of(markup: str) -> Node:
    """Return the first child of the body."""
    source = Source.of(markup.encode(), "utf-8")
    node = root(source)
    assert node is not None
    assert node.element is not None
    return next(iter(children(node.element, *content(node))))


@pytest.mark.parametrize(
    "markup",
    [
        "words",
        "<p>words</p>",
        "<div><span><b>words</b></span></div>",
        "<img>",
        "<div><p><img></p></div>",
        "<form><input></form>",
        "<div><textarea></textarea></div>",
        "<div><svg></svg></div>",
        "<div><iframe></iframe></div>",
        "<noscript><p>words</p></noscript>",
        "<div><script>x</script>words</div>",
    ],
)
def test_texts_pictures_and_controls_are_seen(markup: str) -> None:
    assert visible(node_of(markup))


@pytest.mark.parametrize(
    "markup",
    [
        "<p></p>",
        "<p> \n&nbsp;</p>",
        "<div><p></p><br><hr></div>",
        "<body><script>words</script>",
        "<div><style>p{}</style><script>words</script></div>",
        "<div><!-- words --></div>",
        "<div><noframes>words</noframes></div>",
    ],
)
def test_blanks_scripts_and_comments_are_not_seen(markup: str) -> None:
    assert not visible(node_of(markup))


def test_an_element_with_more_than_a_glance_of_empty_ones_is_taken_as_seen() -> None:
    assert not visible(node_of("<div>" + "<p></p>" * GLANCE + "</div>"))
    assert visible(node_of("<div>" + "<p></p>" * (GLANCE + 1) + "</div>"))


@pytest.mark.parametrize("tag", "div p section article nav ul form fieldset h1 blockquote my-element".split())
def test_layout_elements_are_blocks_however_small(tag: str) -> None:
    assert is_block(node_of(f"<{tag}>x</{tag}>"))


@pytest.mark.parametrize("tag", "a b i em font label button img svg textarea select iframe".split())
def test_inline_elements_are_blocks_only_where_they_wrap_a_region(tag: str) -> None:
    small = node_of(f"<{tag} title='{'x' * 100}'>x</{tag}>")
    large = node_of(f"<{tag} title='{'x' * INLINE_BYTES}'>x</{tag}>")
    assert not is_block(small)
    assert is_block(large)


def test_a_text_is_a_block_only_where_it_is_long() -> None:
    assert not is_block(Node(None, 0, INLINE_BYTES))
    assert is_block(Node(None, 0, INLINE_BYTES + 1))


@pytest.mark.parametrize("tag", ["li", "dt", "dd"])
def test_small_items_are_kept_together(tag: str) -> None:
    least = LEAST_BYTES[tag] - len(f"<{tag}></{tag}>")
    assert not is_block(node_of(f"<{tag}>{'x' * (least - 1)}</{tag}>"))
    assert is_block(node_of(f"<{tag}>{'x' * least}</{tag}>"))


@pytest.mark.parametrize(
    "tag", "script style title textarea template svg math select iframe noscript".split()
)
def test_no_cut_is_made_inside_what_is_no_layout(tag: str) -> None:
    node = node_of(f"<body><{tag}></{tag}>")
    assert node.tag == tag
    assert not divisible(node)


@pytest.mark.parametrize("tag", "div p table ul li a font form button object my-element".split())
def test_cuts_may_be_made_inside_layout_and_inside_what_can_wrap_it(tag: str) -> None:
    assert divisible(node_of(f"<{tag}>x</{tag}>"))


def test_no_cut_is_made_inside_a_text() -> None:
    assert not divisible(node_of("words"))
