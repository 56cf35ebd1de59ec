import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.urls.surt import MATCH_TYPES, host_of, key_range, urlkey

H = "0123456789abcdef0123456789abcdef"

VECTORS = [
    ("http://example.com", "com,example)/"),
    ("https://example.com/", "com,example)/"),
    ("http://www.example.com/", "com,example)/"),
    ("http://example.com/?", "com,example)/"),
    ("http://user:pw@example.com/", "com,example)/"),
    ("http://example.com./", "com,example)/"),
    ("http://example.com//", "com,example)/"),
    ("http://www2.example.com/a", "com,example)/a"),
    ("http://www1.www2.example.com/", "com,example,www2)/"),
    ("http://wwwfoo.com/", "com,wwwfoo)/"),
    ("http://www.com/", "com)/"),
    ("http://www.co.uk/", "uk,co)/"),
    ("http://sub.example.com/", "com,example,sub)/"),
    ("http://example.co.uk/a", "uk,co,example)/a"),
    ("http://example_a.com/", "com,example_a)/"),
    ("http://Example.COM:80/Path/Page.HTML", "com,example)/path/page.html"),
    ("HTTP://EXAMPLE.com/A", "com,example)/a"),
    ("  http://example.com/a  ", "com,example)/a"),
    ("https://example.com:443/x", "com,example)/x"),
    ("http://example.com:443/x", "com,example:443)/x"),
    ("https://example.com:80/x", "com,example:80)/x"),
    ("http://example.com:8080/x", "com,example:8080)/x"),
    ("http://a.b.c.example.com:8080/", "com,example,c,b,a:8080)/"),
    ("example.com/foo", "com,example)/foo"),
    ("http://example.com?x=1", "com,example)/?x=1"),
    ("http://bücher.example/", "example,xn--bcher-kva)/"),
    ("http://xn--bcher-kva.example/", "example,xn--bcher-kva)/"),
    ("http://127.0.0.1/", "1,0,0,127)/"),
    ("http://192.168.0.1:8080/a", "1,0,168,192:8080)/a"),
    ("http://[::1]/", "::1)/"),
    ("ftp://example.com/a", "com,example)/a"),
    ("urn:text:http://example.com/", "urn:text:http://example.com"),
    ("screenshot:http://example.com/", "screenshot:http://example.com"),
    ("mailto:a@b.c", "mailto:a@b.c"),
    ("dns:example.com", "dns:example.com"),
    ("warcinfo:x.warc", "warcinfo:x.warc"),
]

# What follows http://example.com, and what follows com,example)
PATH_VECTORS = [
    ("/a/", "/a"),
    ("/a#frag", "/a"),
    ("/a#!hash", "/a"),
    ("/a?", "/a"),
    ("/index.html", "/index.html"),
    ("/index.php?", "/index.php"),
    ("/a//b", "/a/b"),
    ("/./a/./b", "/a/b"),
    ("/a%2Fb", "/a/b"),
    ("/a/../b", "/b"),
    ("/../a", "/../a"),
    ("/?x=1", "/?x=1"),
    ("/a/?b=1", "/a?b=1"),
    ("/a?b=2&a=1", "/a?a=1&b=2"),
    ("/a?x=1&x=0", "/a?x=0&x=1"),
    ("/a?b&a=", "/a?a=&b"),
    ("/a?B=2&a=X", "/a?a=x&b=2"),
    ("/a?b=1&", "/a?&b=1"),
    ("/a?&&b=1", "/a?&&b=1"),
    ("/a?x=%2F", "/a?x=/"),
    ("/a?x=%26y", "/a?x=&y"),
    ("/a?x=%3D", "/a?x=="),
    ("/a?x=a+b", "/a?x=a+b"),
    ("/a?x=a%20b", "/a?x=a%20b"),
    ("/a?utm_source=x&id=1", "/a?id=1&utm_source=x"),
    (f"/x?PHPSESSID={H}&z=1", "/x?z=1"),
    (f"/a?jsessionid={H}&z=1", "/a?z=1"),
    (f"/a?sid={H}&z=1", "/a?z=1"),
    ("/a?ASPSESSIONIDQABBCCDD=ABCDEFGHIJKLMNOPQRSTUVWX&z=1", "/a?z=1"),
    ("/a?cfid=1234&cftoken=5678&z=1", "/a?z=1"),
    ("/a?sid=short&z=1", "/a?sid=short&z=1"),
    (f"/x?z=1&sid={H}", "/x?&z=1"),
    (f"/x;jsessionid={H}", f"/x;jsessionid={H}"),
    ("/a;b=1", "/a;b=1"),
    ("/(S(0123456789abcdef01234567))/p.aspx", "/p.aspx"),
    ("/%7Efoo/%41", "/~foo/a"),
    ("/a b", "/a%20b"),
    ("/a\tb", "/ab"),
    ("/a+b", "/a+b"),
    ("/a%2bb", "/a+b"),
    ("/%", "/%25"),
    ("/%25", "/%25"),
    ("/%zz", "/%25zz"),
    ("/café", "/caf%c3%a9"),
    ("/%e2%82%ac", "/%e2%82%ac"),
    ("/a|b\\c", "/a|b\\c"),
]


@pytest.mark.parametrize(("url", "key"), VECTORS)
def test_key_is_the_one_of_other_archives(url: str, key: str) -> None:
    assert urlkey(url) == key


@pytest.mark.parametrize(("path", "key"), PATH_VECTORS)
def test_key_of_path_and_query_is_the_one_of_other_archives(path: str, key: str) -> None:
    assert urlkey(f"http://example.com{path}") == f"com,example){key}"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("", ")/"),
        ("//example.com/a", "com,example)/a"),
        ("localhost:8000/x", "localhost:8000)/x"),
        ("http://[2001:DB8::1]:8080/", "2001:db8::1:8080)/"),
        ("http://example.com:/x", "com,example)/x"),
        ("http://example.com:0080/x", "com,example)/x"),
        ("http://EXAMPLE..com/", "com,example)/"),
        ("http://a%2Eb/", "b,a)/"),
        ("http://a b.example/", "example,a%20b)/"),
        (f"http://{'ü' * 64}.example/", f"example,{'%c3%bc' * 64})/"),
        ("http://example.com/a/../../../b", "com,example)/b"),
        ("http://example.com:" + "9" * 5000, "com,example:" + "9" * 5000 + ")/"),
        ("http://example.com/%2525", "com,example)/%25"),
        ("http://example.com/%252541%%34%31", "com,example)/aa"),
        ("http://example.com/%" + "25" * 100_000, "com,example)/%25"),
        ("urn:uuid:A B", "urn:uuid:a%20b"),
    ],
)
def test_any_text_has_a_key(url: str, key: str) -> None:
    assert urlkey(url) == key


@given(st.text() | st.text().map("http://example.com/".__add__))
def test_key_is_one_word_of_printable_ascii(url: str) -> None:
    key = urlkey(url)
    assert key.isascii()
    assert not any(character <= " " or character == "\x7f" for character in key)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user:pw@Www.Example.COM:8443/a", "www.example.com"),
        ("http://bücher.example", "xn--bcher-kva.example"),
        ("http://[::1]:80/", "::1"),
        ("http://example.com./", "example.com"),
        ("localhost:8000", "localhost"),
        ("dns:example.com", ""),
        ("", ""),
    ],
)
def test_host_stands_without_user_and_port(url: str, host: str) -> None:
    assert host_of(url) == host


KEYS = sorted(
    urlkey(url)
    for url in (
        "http://example.com/",
        "http://example.com/a",
        "http://example.com/a?x=1",
        "http://example.com/a/b",
        "http://example.com/ab",
        "http://example.com:8080/a",
        "http://sub.example.com/a",
        "http://example-b.com/a",
        "http://examples.com/a",
        "http://example.org/a",
    )
)


def found(url: str, match: str) -> list[str]:
    start, end = key_range(url, match)
    return [key for key in KEYS if start <= key < end]


@pytest.mark.parametrize(
    ("url", "match", "keys"),
    [
        ("http://example.com/a", "exact", ["com,example)/a"]),
        ("http://example.com/", "exact", ["com,example)/"]),
        ("http://example.com/a/", "prefix", ["com,example)/a/b"]),
        (
            "http://example.com/a",
            "prefix",
            ["com,example)/a", "com,example)/a/b", "com,example)/a?x=1", "com,example)/ab"],
        ),
        ("http://example.com:8080/", "host", ["com,example:8080)/a"]),
    ],
)
def test_range_holds_what_matches(url: str, match: str, keys: list[str]) -> None:
    assert found(url, match) == keys


def test_host_leaves_out_sub_domains_and_domain_takes_them_in() -> None:
    assert len(found("http://example.com/a", "host")) == 5
    assert set(found("http://example.com/", "domain")) == {
        *found("http://example.com/", "host"),
        "com,example,sub)/a",
    }


@pytest.mark.parametrize("match", ["exact", "prefix"])
def test_range_holds_for_lines_that_go_on_after_the_key(match: str) -> None:
    start, end = key_range("http://example.com/a", match)
    assert start <= "com,example)/a 20240101000000 {}" < end


def test_unknown_match_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=", ".join(MATCH_TYPES)):
        key_range("http://example.com/", "suffix")
