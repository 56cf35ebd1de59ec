"""The index of words: what it holds after every run, and what becomes of it when runs and files die."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from unicodedata import normalize

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, SearchConfig
from archivebot.exceptions import CorruptObject, NotArchived, Outdated, StorageError, UsageError
from archivebot.jobs.indexing import Indexed, IndexProgress, update_index
from archivebot.jobs.search import Wanted, search
from archivebot.models import Outcome, Page
from archivebot.search import index_path
from archivebot.search.index import Index
from archivebot.search.reader import IndexReader
from archivebot.search.words import expression, pieces
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.factories import html, make_page
from tests.mockserver import MockServer, Reply
from tests.served import archived
from tests.servers import mongo_server, mongo_uri
from tests.test_ingest import Warc

__all__ = ["mongo_server", "mongo_uri"]

FURNITURE = "The furniture of the site is on each of its pages"
SITE = "http://example.com/"

Row = tuple[str, int, str, int, int | None, str | None]

LIVES = """
SELECT url, lineage, life.text, a.time, b.time, label FROM life JOIN page ON page.id = life.page
JOIN stint AS a ON a.page = life.page AND a.n = born
LEFT JOIN stint AS b ON b.page = life.page AND b.n = gone"""


def content(path: str) -> list[Row]:
    """Return the lives in an index, each with its text; every text is found by its words."""
    with closing(sqlite3.connect(path)) as database, IndexReader(path) as reader:
        rows = database.execute(LIVES).fetchall()
        texts = reader.texts([row[2] for row in rows])
        for number, text in texts.items():
            found = database.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{text}"',))
            assert (number,) in found.fetchall(), text
        assert database.execute("SELECT count(*) FROM life").fetchone() == (len(rows),)
    return sorted((url, lineage, texts[text], *rest) for url, lineage, text, *rest in rows)


def update(uri: str, path: str, progress: IndexProgress | None = None, *, rebuild: bool = False) -> Indexed:
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        return update_index(archive, path, progress or IndexProgress(), rebuild=rebuild)


def asked(uri: str, path: str, words: str) -> tuple[int, tuple[str, ...]]:
    """Search, and return the number of events and the notes."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        found = search(archive, path, Wanted(words))
    return len(found.records), found.notes


def pages(count: int = 12, days: Sequence[float] = (0, 1, 2, 3)) -> list[Page]:
    """Pages of a site whose blocks change, go and come back; some pages are gone for a day."""
    chance = random.Random(7)
    found = []
    for day in days:
        for number in range(count):
            words = [f"The word w{chance.randrange(9)} of block {block} is here" for block in range(4)]
            url = f"{SITE}{number}"
            if chance.random() < 0.15:
                found.append(make_page(b"gone", day, url=url, outcome=Outcome.GONE, status=410))
            else:
                found.append(make_page(html(FURNITURE, *words[: chance.randrange(1, 5)]), day, url=url))
    return found


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/archive.db"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "archive.search.db")


def fresh(uri: str, path: str) -> list[Row]:
    """Return what an index made in one run holds."""
    update(uri, f"{path}.fresh", rebuild=True)
    return content(f"{path}.fresh")


# Runs


@pytest.mark.parametrize("order", ["in time", "in any order"])
def test_runs_after_each_capture_lead_to_the_index_of_one_run(uri: str, path: str, order: str) -> None:
    captures = pages(4)
    if order == "in any order":
        random.Random(3).shuffle(captures)
    for capture in captures:
        archived(uri, [capture])
        assert update(uri, path).pages == 1
    assert content(path) == fresh(uri, path)
    assert len({text for _, _, text, *_ in content(path)}) == Index(path).texts()


def test_only_pages_with_new_captures_are_read(uri: str, path: str) -> None:
    archived(uri, pages())
    assert update(uri, path).pages == 12
    assert update(uri, path).pages == 0
    archived(uri, [make_page(html("Other words are here now"), 9, url=f"{SITE}1")])
    done = update(uri, path)
    assert (done.pages, done.texts) == (1, 1)
    assert done.size == os.stat(path).st_size


def test_the_words_of_a_pruned_version_stay_when_its_page_is_captured_again(uri: str, path: str) -> None:
    archived(uri, [make_page(html(text), day) for day, text in enumerate(("alpha", "bravo", "charlie"))])
    update(uri, path)
    before = content(path)
    pruned = run_scrapy(["prune", "--keep", "1d", "-s", f"ARCHIVE_URI={uri}"])
    assert "1 version of 1 page pruned" in pruned.stdout
    archived(uri, [make_page(html("charlie", "delta"), 9)])
    assert update(uri, path).texts == 1
    assert [row for row in content(path) if row[2] != "delta"] == before
    assert asked(uri, path, "bravo")[0] == 2
    assert update(uri, path, rebuild=True).damaged == []
    assert asked(uri, path, "bravo")[0] == 0


def test_a_page_whose_last_indexed_version_was_pruned_is_read_anew(uri: str, path: str) -> None:
    archived(uri, [make_page(html(text), day) for day, text in enumerate(("alpha", "bravo"))])
    update(uri, path)
    archived(uri, [make_page(html(text), day) for day, text in enumerate(("charlie", "delta"), 2)])
    run_scrapy(["prune", "--keep", "1d", "-s", f"ARCHIVE_URI={uri}"])
    assert (update(uri, path).damaged, asked(uri, path, "delta")[0]) == ([], 1)
    assert content(path) == fresh(uri, path)


def test_a_text_on_many_pages_is_stored_once(uri: str, path: str) -> None:
    archived(uri, [make_page(html(FURNITURE), url=f"{SITE}{number}") for number in range(20)])
    assert update(uri, path).texts == 1
    assert [text for _, _, text, *_ in content(path)] == [FURNITURE] * 20


def test_bodies_without_text_have_no_words(uri: str, path: str) -> None:
    png = (("Content-Type", "image/png"),)
    archived(uri, [make_page(b"\x89PNG\r\n\x1a\n a picture of words", headers=png)])
    assert update(uri, path).pages == 1
    assert content(path) == []


def test_nul_and_broken_characters_in_a_text_do_no_harm(uri: str, path: str) -> None:
    broken = html("one \0 two &#0; &#xd800; three").replace(b"three", b"\xff\xfe three")
    archived(uri, [make_page(broken), make_page(html("last"), url=SITE)])
    update(uri, path)
    assert asked(uri, path, "three")[0] == asked(uri, path, "last")[0] == 1


@pytest.mark.long
def test_an_archive_on_a_server_has_the_same_index(uri: str, path: str, mongo_uri: str) -> None:
    for each in (uri, mongo_uri):
        archived(each, pages(6, (0, 1)))
        update(each, f"{path}.{each[:5]}")
        archived(each, pages(6, (2, 0.5)))
        update(each, f"{path}.{each[:5]}")
    assert content(f"{path}.mongo") == content(f"{path}.sqlit") == fresh(mongo_uri, path)
    assert asked(mongo_uri, f"{path}.mongo", "furniture")[0] > 0


@pytest.mark.long
def test_runs_at_the_same_time_lead_to_one_index(uri: str, path: str) -> None:
    archived(uri, pages(150, (0, 1)))
    context = multiprocessing.get_context("spawn")
    runs = [context.Process(target=update, args=(uri, path)) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
        assert run.exitcode == 0
    assert content(path) == fresh(uri, path)


# Kills


class Killed(IndexProgress):
    """Kills its process after the first batch of pages."""

    def read(self, done: int, pages: int) -> None:
        assert done < pages
        os.kill(os.getpid(), signal.SIGKILL)


def kill_in_a_transaction(path: str) -> None:
    with Index(path) as index, index.writing():
        index.remove(f"{SITE}1")
        index.text("words that are never committed")
        os.kill(os.getpid(), signal.SIGKILL)


def die(work: Callable[[], object]) -> None:
    """Run something in a process that is killed."""
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.long
def test_a_killed_run_is_continued_by_the_next(uri: str, path: str) -> None:
    archived(uri, pages(100, (1, 2)))
    die(partial(update, uri, path, Killed()))
    count, notes = asked(uri, path, "furniture")
    assert count > 0
    assert notes == ("the index is not complete: scrapy index completes it",)
    done = update(uri, path)
    assert (done.pages, done.anew) == (36, "")
    die(partial(kill_in_a_transaction, path))
    assert content(path) == fresh(uri, path)
    archived(uri, pages(100, (0,)))  # before the others, so that all pages are read anew
    die(partial(update, uri, path, Killed()))
    assert update(uri, path).pages == 36
    assert content(path) == fresh(uri, path)
    assert asked(uri, path, "furniture")[1] == ()


# What an index does not know


def test_an_index_says_that_it_is_behind(uri: str, path: str) -> None:
    archived(uri, pages(2, (0,)))
    update(uri, path)
    assert asked(uri, path, "furniture")[1] == ()
    archived(uri, pages(2, (1,)))
    assert asked(uri, path, "furniture")[1] == ("the index is behind the archive: scrapy index updates it",)


def test_without_an_index_the_command_that_makes_it_is_named(uri: str, path: str) -> None:
    archived(uri, pages(1))
    with pytest.raises(NotArchived, match=r"scrapy index makes it"):
        asked(uri, path, "word")


def test_the_index_of_another_archive_is_not_searched_but_made_anew(uri: str, path: str) -> None:
    archived(uri, pages(2))
    archived(f"{uri}.other", pages(3))
    update(f"{uri}.other", path)
    with pytest.raises(StorageError, match="the index of another archive"):
        asked(uri, path, "word")
    assert "another archive" in update(uri, path).anew
    assert content(path) == fresh(uri, path)


def test_the_index_of_a_later_state_is_made_anew(uri: str, path: str, tmp_path: Path) -> None:
    archived(uri, pages(2, (0,)))
    before = (tmp_path / "archive.db").read_bytes()
    archived(uri, pages(2, (1,)))
    update(uri, path)
    (tmp_path / "archive.db").write_bytes(before)
    with pytest.raises(StorageError, match="a later state"):
        asked(uri, path, "word")
    assert "a later state" in update(uri, path).anew
    assert content(path) == fresh(uri, path)


def test_a_damaged_version_is_left_out_and_reported(uri: str, path: str, tmp_path: Path) -> None:
    archived(uri, pages(3, (0, 1)))
    with closing(sqlite3.connect(tmp_path / "archive.db")) as database, database:
        last = "(SELECT max(id) FROM version)"
        database.execute(f"UPDATE frame SET data = x'00' WHERE version = {last}")
    done = update(uri, path)
    assert len(done.damaged) == 1
    assert asked(uri, path, "furniture")[0] > 0
    code = run_scrapy(["index", "--rebuild"], environment={**os.environ, "ARCHIVE_URI": uri}).returncode
    assert code == CorruptObject.exit_code


# Damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    path.write_bytes(random.Random(5).randbytes(20_000))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def lose(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE words")


def forget(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM words_data WHERE id > 10")


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "options", "reason"),
    [
        (cut, (), "malformed"),
        (scramble, (), "not a database"),
        (empty, (), ""),
        (lose, (), "no such table"),
        (forget, ("--rebuild",), "as asked"),
    ],
)
def test_a_damaged_index_is_named_and_made_anew(
    uri: str, path: str, damage: Callable[[Path], None], options: Sequence[str], reason: str
) -> None:
    archived(uri, pages(60, (0, 1)))
    update(uri, path)
    damage(Path(path))
    environment = {**os.environ, "ARCHIVE_URI": uri}
    found = run_scrapy(["search", "furniture"], environment=environment)
    assert found.returncode in (1, 4), found.stdout
    assert "scrapy index" in found.stderr
    assert "Traceback" not in found.stderr
    archived(uri, [make_page(html("Something is new"), 9, url=f"{SITE}new")])
    done = run_scrapy(["index", *options], environment=environment)
    assert done.returncode == 0, done.stderr
    assert reason in done.stderr
    assert ("made anew" in done.stderr) == bool(reason)
    assert content(path) == fresh(uri, path)


@pytest.mark.long
def test_flipped_bits_lead_to_answers_or_messages(uri: str, path: str) -> None:
    archived(uri, pages(20, (0, 1)))
    update(uri, path)
    whole = Path(path).read_bytes()
    chance = random.Random(11)
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(4):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            Path(path).write_bytes(data)
            try:
                search(archive, path, Wanted("furniture site"))
            except (StorageError, NotArchived):
                continue


@pytest.mark.long
def test_a_locked_file_is_not_deleted(uri: str, path: str) -> None:
    archived(uri, pages(1))
    update(uri, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            update(uri, path, rebuild=True)
    assert content(path)


def test_the_file_of_another_program_is_not_deleted(uri: str, path: str) -> None:
    archived(uri, pages(1))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE mine (a)")
    before = Path(path).read_bytes()
    for options in ((), ("--rebuild",)):
        done = run_scrapy(["index", *options], environment={**os.environ, "ARCHIVE_URI": uri})
        assert done.returncode == 3
        assert "another program" in done.stderr
        assert Path(path).read_bytes() == before


def test_an_index_that_cannot_be_written_is_searched_but_not_updated(
    uri: str, path: str, tmp_path: Path
) -> None:
    archived(uri, pages(2, (0,)))
    update(uri, path)
    archived(uri, pages(2, (1,)))
    for each in (*tmp_path.iterdir(), tmp_path):
        each.chmod(0o555)
    environment = {**os.environ, "ARCHIVE_URI": uri}
    try:
        found = run_scrapy(["search", "furniture"], environment=environment, bound=True)
        done = run_scrapy(["index"], environment=environment, bound=True)
    finally:
        tmp_path.chmod(0o755)
    assert FURNITURE in found.stdout
    assert "the index is behind" in found.stderr
    assert done.returncode == 3
    assert "may you write to it?" in done.stderr


# Settings


def test_a_setting_names_the_file(uri: str, tmp_path: Path) -> None:
    archived(uri, pages(1))
    given = ("-s", f"ARCHIVE_SEARCH_INDEX=sqlite:///{tmp_path}/words")
    done = run_scrapy(["index", "--json", *given], environment={**os.environ, "ARCHIVE_URI": uri})
    record = json.loads(done.stdout)
    size = os.stat(tmp_path / "words").st_size
    assert record == {
        "index": f"sqlite:///{tmp_path}/words",
        "pages": 1,
        "texts": record["texts"],
        "bytes": size,
        "anew": None,
        "damaged": [],
    }
    found = run_scrapy(["search", "furniture", *given], environment={**os.environ, "ARCHIVE_URI": uri})
    assert FURNITURE in found.stdout
    for wrong in ("words.db", "sqlite:///", f"sqlite:///{Path.cwd()}/archive.db"):
        with pytest.raises(UsageError, match="ARCHIVE_SEARCH_INDEX"):
            index_path(ArchiveConfig(), SearchConfig(search_index=wrong))


def test_a_crawl_updates_the_index_if_the_setting_says_so(
    site: MockServer, crawl: Crawl, tmp_path: Path
) -> None:
    site.routes["/"] = Reply(body=html("The crawl has found these words"))
    path = tmp_path / "archive.search.db"
    assert crawl(seeds=site.url("/")).code == 0
    assert not path.exists()
    done = crawl("-s", "ARCHIVE_SEARCH_UPDATE=True", seeds=site.url("/"))
    assert "1 page read, 1 new text" in done.log
    assert asked(crawl.uri, str(path), '"these words"') == (1, ())


def test_an_ingest_updates_the_index_if_the_setting_says_so(uri: str, path: str, tmp_path: Path) -> None:
    with Warc(tmp_path / "a.warc.gz") as warc:
        warc.response("2026-01-01T00:00:00Z", html("The file has these words"))
    given = ("-s", "ARCHIVE_SEARCH_UPDATE=True", "-s", f"ARCHIVE_URI={uri}")
    done = run_scrapy(["ingest", str(warc.path), *given])
    assert "1 page read, 1 new text" in done.stderr
    assert asked(uri, path, '"these words"') == (1, ())


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ο υπουργός Κώστας", "ΥΠΟΥΡΓΟΣ κωστασ"),
        ("Η ΟΔΟΣ ΚΛΕΙΝΕΙ", '"η οδός κλείνει"'),
        ("Ёлка и её огни", "елка ее"),
        ("Министерство и елка", "ёлка"),
        ("שָׁלוֹם לכולם", "שלום"),
        ("قَالَ الوَزِيرُ إِنَّ المَدْرَسَةَ", "قال الوزير ان المدرسة"),
        ("أعلنت الوزارة", "اعلنت"),
        ("مـحـمـد", "محمد"),
        ("Die Straße am Fluß", "STRASSE fluss"),
        ("DIE STRASSE", "straße"),
        ("Öffent\xadlich\xadkeit", "öffentlichkeit"),
        ("Ở Đà Nẵng", "o Da Nang"),
        (normalize("NFD", "Việt Nam"), "VIET"),
        ("ılık Işık IŞIK", '"ilik ışık ışık"'),
        ("DİYARBAKIR", "diyarbakır"),
        ("Łódź, Tromsø", "lodz TROMSO"),
    ],
)
def test_case_and_accents_are_ignored_in_all_scripts(uri: str, path: str, text: str, words: str) -> None:
    archived(uri, [make_page(html(text))])
    update(uri, path)
    assert asked(uri, path, words)[0] == 1
    assert any(is_found for _, is_found in pieces(text, words))


def test_the_alternative_texts_of_images_are_found_when_they_came_and_went(uri: str, path: str) -> None:
    drawn = '<a href="/">Boats<img src="b.png" alt="{}">of the bay</a>'
    archived(uri, [make_page(html(drawn.format(alt)), day) for day, alt in enumerate(("The pier", "A tern"))])
    update(uri, path)
    assert asked(uri, path, "pier boats")[0] == 2
    assert asked(uri, path, '"Boats A tern of"')[0] == 1
    assert asked(uri, path, "boats bay")[0] == 1


@pytest.mark.parametrize(("words", "found"), [("python", "Python"), ("py*", "Python"), ("cafe", "Café")])
def test_a_word_between_characters_of_a_script_without_spaces_is_marked(words: str, found: str) -> None:
    assert pieces("使用Python编程。東京Café店", words)[1] == (found, True)
    assert pieces("使用CPython编程。東京xCafé店", words) == [("使用CPython编程。東京xCafé店", False)]


@pytest.mark.parametrize(
    ("text", "words"), [("がき", "かき"), ("हिन्दी", "हन्द"), ("น้ำ", "นำ"), ("한국", "하국")]
)
def test_signs_that_make_other_words_are_not_ignored(uri: str, path: str, text: str, words: str) -> None:
    archived(uri, [make_page(html(text))])
    update(uri, path)
    assert asked(uri, path, words)[0] == 0


def test_words_that_only_changed_their_accents_or_their_case_stay(uri: str, path: str) -> None:
    archived(uri, [make_page(html("Ο ΥΠΟΥΡΓΟΣ"), 0), make_page(html("Ο υπουργός"), 1)])
    update(uri, path)
    assert asked(uri, path, "υπουργος")[0] == 1


def test_an_index_of_an_earlier_archivebot_is_made_anew(uri: str, path: str) -> None:
    archived(uri, pages(2))
    update(uri, path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")
    with pytest.raises(Outdated, match="scrapy index makes it anew"):
        asked(uri, path, "furniture")
    assert update(uri, path).pages == 2
    assert content(path) == fresh(uri, path)


# Excerpts


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("A free plan. FREE-PLAN!", '"free plan"', ["free plan", "FREE-PLAN"]),
        ("planet plan planar", "plan", ["plan"]),
        ("planet plan planar", "plan*", ["planet", "plan", "planar"]),
        ("我在北京大学。", "京大", ["京大"]),
        ("a+b (c) [d]", '"a b" c', ["a+b", "c"]),
        ("Das Café, CAFÉ Müller", "cafe MULLER", ["Café", "CAFÉ", "Müller"]),
        ("A cafe and cafes", "café", ["cafe"]),
        ("The ＡＢＣ of tides", "abc", ["ＡＢＣ"]),
        ("Ü " * 5000 + "naïve" + " ö" * 5000, "naive", ["naïve"]),
        ("x " * 5000 + "needle" + " y" * 5000, "needle", ["needle"]),
        ("nothing here", "else", []),
        ("ὁ λόγος " * 100 + "Ο ΥΠΟΥΡΓΟΣ", "υπουργός", ["ΥΠΟΥΡΓΟΣ"]),
        (normalize("NFD", "Chính phủ Việt Nam"), "viet", [normalize("NFD", "Việt")]),
        ("Die Straße, die STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("ο νέος, το νέο", "νεο", ["νέο"]),
        ("北京大学的研究", "京*", ["京"]),
        ("क\u093cलम, \u0958लम", "\u0958लम", ["क\u093cलम", "\u0958लम"]),
        ("カ\u3099ス, ｶﾞｽ, ガス, カス", "ガス", ["カ\u3099ス", "ｶﾞｽ", "ガス"]),
        (normalize("NFD", "한국어"), "한국어", [normalize("NFD", "한국어")]),
        ("ﬁsh and chips, a ﬂat ﬁsh", "fish", ["ﬁsh", "ﬁsh"]),
        ("I don’t and don't", "don't", ["don’t", "don't"]),
        ("old_file_name", "file", ["file"]),
        ("old_file_name", '"file name"', ["file_name"]),
        ("file_names", "file*", ["file"]),
    ],
)
def test_an_excerpt_marks_the_words(text: str, words: str, found: list[str]) -> None:
    parts = pieces(text, words)
    assert [part for part, is_found in parts if is_found] == found
    assert len("".join(part for part, _ in parts)) < 500


def test_a_full_width_quote_of_a_search_is_a_quote() -> None:
    assert expression("＂東京＂") == expression('"東京"')
    assert expression("a＂b") == expression('a"b')


@pytest.mark.parametrize(
    "words", ["“high water”", "„high water“", "”high water”", "«high water»", "« high water »"]
)
def test_the_quotes_of_all_languages_make_a_phrase(words: str) -> None:
    assert [part.strip() for part in expression(f"tide {words}").split('"')[1::2]] == ["tide", "high water"]
    assert pieces("water high, high water", words)[1] == ("high water", True)
