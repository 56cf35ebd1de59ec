"""The main text is what remains without furniture, as long as enough remains."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from archivebot.hypertext import read
from archivebot.hypertext.topictext import LEAST_RUN, LEAST_TEXT, Line, topic_text

PROSE = "The reading room of the library is open on all days of the week but Monday. " * 10


def text(body: str) -> str:
    return read(body.encode(), "utf-8", "http://a.example/", context=True).text


def test_the_other_parts_of_the_page_are_left_out() -> None:
    body = f"""<header><p>Site name</header><nav>Menu</nav><main><p>{PROSE}<select><option>One</select>
    <script>run()</script></main><aside>Also read</aside><footer>Imprint</footer>"""
    assert text(body) == PROSE.strip()


def test_a_page_with_little_text_keeps_everything() -> None:
    assert text("<nav>Menu</nav><p>Short.</p><footer>Imprint</footer>") == "Menu\nShort.\nImprint"


def test_a_page_that_is_all_list_keeps_its_list() -> None:
    body = "".join(
        f"<li><a href=/{number}>Course number {number} of the autumn term</a>" for number in range(40)
    )
    assert "Course number 39" in text(body)


def test_a_menu_is_a_run_of_lines_that_are_links() -> None:
    entry = "<p><a href=/x>Entry</a></p>"
    assert "Entry" not in text(entry * LEAST_RUN + f"<p>{PROSE}")
    assert "Entry" in text(entry * (LEAST_RUN - 1) + f"<p>{PROSE}")


lines = st.lists(
    st.builds(
        Line,
        st.text("ab ", min_size=1, max_size=300),
        st.sampled_from(["main", "navigation", "form"]),
        st.floats(0, 1),
    ),
    max_size=20,
)


@given(lines)
def test_what_is_left_is_enough_or_everything(lines: list[Line]) -> None:
    got = topic_text(lines)
    everything = "\n".join(line.text for line in lines)
    assert got == everything or len(got) >= LEAST_TEXT
    assert set(got.split("\n")) <= {line.text for line in lines} | {""}
