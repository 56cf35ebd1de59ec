"""The topic of a block: found, trimmed or extracted, in several languages."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.segmentation.topic import MOST_CHARACTERS, MOST_WORDS, topic


def of(markup: str) -> str:
    return topic(markup.encode(), "utf-8")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>Opening hours</h2><p>We are open all days.", "Opening hours"),
        ("<h3>Below</h3><h1>Above</h1>", "Above"),
        ("<nav aria-label='Main menu'><a>Home</a><a>News</a></nav>", "Main menu"),
        ("<table><caption>Ferries</caption><tr><td>08:00</table>", "Ferries"),
        ("<fieldset><legend>Your address</legend><input></fieldset>", "Your address"),
        ("<p><strong>Note:</strong> we moved.", "Note:"),
        ("<tr><th>Name</th><td>Value</td></tr>", "Name"),
        ("<h2>The news of the day</h2>", "The news of the day"),
        ("<h2>R&amp;D &ndash; caf&eacute;</h2>", "R&D – café"),
        ("<h3>北京大学图书馆</h3><p>开放时间", "北京大学图书馆"),
        ("<h3>図書館のお知らせ</h3><p>休館日", "図書館のお知らせ"),
        ("<h3>도서관 이용 안내</h3><p>휴관일", "도서관 이용 안내"),
    ],
)
def test_what_stands_out_is_the_topic_as_it_is(markup: str, expected: str) -> None:
    assert of(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<h2>The history of the old harbour and of its seven great lighthouses since 1850</h2>",
            "history old harbour seven great lighthouses",
        ),
        ("<h2>The fox, the fox and the FOX met the dog near a house</h2>", "fox met dog near house"),
        (
            "<h3>도서관 이용 시간 안내 그리고 휴관일 정보 모음</h3>",
            "도서관 이용 시간 안내 휴관일 정보",
        ),
    ],
)
def test_what_stands_out_but_is_long_loses_stop_words_and_repeated_ones(markup: str, expected: str) -> None:
    assert of(markup) == expected


def test_six_words_are_kept_and_a_seventh_makes_a_heading_trimmed() -> None:
    assert of("<h2>one and two and three four</h2>") == "one and two and three four"
    assert of("<h2>one and two and three four five</h2>") == "one two three four five"


def test_two_bigrams_count_as_one_word() -> None:
    twelve = "図書館開館時間変更知"
    assert of(f"<h2>{twelve}</h2>") == twelve


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>...</h2><p>Harbour opens", "Harbour opens"),
        ("<h2>◆</h2><h3>Harbour news</h3>", "Harbour news"),
        ("<p><b>»</b> Harbour opens", "Harbour opens"),
    ],
)
def test_what_stands_out_without_words_is_passed_over(markup: str, expected: str) -> None:
    assert of(markup) == expected


def test_a_long_heading_of_stop_words_only_is_passed_over() -> None:
    assert of("<h2>of the and a in to for by on at or so</h2><h3>Harbour</h3>") == "Harbour"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>Call the office on Monday", "Call office Monday"),
        ("<p>«Bonjour», (dit) l'homme!", "Bonjour dit l'homme"),
        ("<p>C++ and C#", "C++ C#"),
        ("<p>短文。", "短文"),
        ("<p>本日休館", "本日休館"),
        ("<p>오늘 은 휴관", "오늘 휴관"),
        ("<p>one two three four five six seven eight nine ten eleven", "one two three four five six"),
    ],
)
def test_a_short_text_gives_its_first_words(markup: str, expected: str) -> None:
    assert of(markup) == expected


def test_from_twelve_words_on_the_most_frequent_ones_count() -> None:
    words = "alpha beta gamma delta zeta theta kappa lambda sigma".split()
    assert of(f"<p>{' '.join(words)} omega omega").split()[0] == "alpha"
    assert of(f"<p>{' '.join(words)} omega omega omega").split()[0] == "omega"


def test_forms_of_an_english_word_are_counted_together() -> None:
    text = "<p>A ferry waits. Two ferries sail. The ferry and other ferries carry cars, mail and people home."
    assert of(text).split()[0] in ("ferry", "ferries")
    assert not {"ferry", "ferries"} <= set(of(text).split())


def test_a_term_in_many_lines_comes_before_one_crowded_in_a_line() -> None:
    crowded = "<li>tariff tariff tariff tariff price"
    spread = "".join(f"<li>harbour {name}" for name in "north south west".split())
    assert of(f"<ul>{crowded}{spread}<li>more things here to read today</ul>").split()[:2] == [
        "harbour",
        "tariff",
    ]


def test_numbers_and_stop_words_are_never_extracted() -> None:
    assert of("<p>" + "the 2026 of 17 and " * 10 + "harbour") == "harbour"
    assert of("<p>" + "the of and " * 10) == ""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("北京大学图书馆每天开放。北京大学的读者可以借书。欢迎来到北京大学，晚上也开门。", "北京 京大 大学"),
        ("図書館は月曜日に休みます。図書館の本は図書館で読みます。今日は図書館に行く。", "図書 書館"),
        (
            "도서관 문을 엽니다. 도서관 책을 읽습니다. 서울 도서관 오늘 휴관 내일 개관 모레 행사 안내",
            "도서관",
        ),
    ],
)
def test_frequent_terms_are_extracted_from_east_asian_texts(text: str, first: str) -> None:
    assert of(f"<p>{text}").startswith(first)


@pytest.mark.parametrize(
    "markup", ["", "<img src=a.png>", "<script>var x</script>", "<p> </p>", "<!-- x -->", "<p>…"]
)
def test_what_has_no_words_has_no_topic(markup: str) -> None:
    assert of(markup) == ""


@pytest.mark.parametrize(
    "markup",
    [
        "<h2>{}</h2>",
        "<p>{}",
        "<p><b>{}</b> x",
        "<nav aria-label='{}'>x</nav>",
        "<p>{0} {0} {0} a b c d e f g h i j",
    ],
)
@pytest.mark.parametrize("word", ["x" * 5000, "Donaudampfschifffahrtsgesellschaft-" * 4, "中" * 5000])
def test_a_topic_stays_short_enough_for_a_column(markup: str, word: str) -> None:
    assert 0 < len(of(markup.format(word))) <= MOST_CHARACTERS


PIECES = [
    "<h2>", "</h2>", "<p>", "<b>", "</b>", "<li>", "<br>", "<caption>", "<nav aria-label='a\nb'>",
    "<script>x</script>", "word ", "the ", "two words ", "中文 ", "ニュース", "한국 ", "&amp;", "\r\n", "\0",
    "…", "42 ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(deadline=None)
def test_any_topic_is_one_short_line_and_always_the_same(markup: str) -> None:
    found = of(markup)
    assert found == " ".join(found.split())
    assert len(found) <= MOST_CHARACTERS
    assert len(found.split()) <= 2 * MOST_WORDS
    assert of(markup) == found


@given(
    st.binary(max_size=200), st.sampled_from("ascii utf-8 utf-16-le shift_jis gb18030 euc_kr cp1252".split())
)
@settings(deadline=None)
def test_a_wrong_charset_never_raises(data: bytes, charset: str) -> None:
    topic(data, charset).encode()


@pytest.mark.long
def test_other_processes_give_the_same_topics() -> None:
    text = "<p>" + " ".join(f"word{n % 13} other{n % 7}" for n in range(60))
    code = f"from archivebot.segmentation.topic import topic; print(topic({text.encode()!r}, 'utf-8'))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {of(text)}
