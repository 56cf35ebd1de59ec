import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.urls.canonical import TRACKING, canonical_url, parse_seed

H = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM/Path/Page.HTML", "https://example.com/Path/Page.HTML"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("http://example.com:08080/", "http://example.com:8080/"),
        ("http://example.com:/", "http://example.com/"),
        ("http://user:pw@example.com/", "http://example.com/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[::0:1]:8080/", "http://[::1]:8080/"),
        ("http://example.com/a|b[c]%7cd;jsessionid=1", "http://example.com/a%7Cb%5Bc%5D%7Cd"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        (" \n\x00http://example.com/a\tb\r\nc ", "http://example.com/abc"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com\\a", "http://example.com/a"),
    ],
)
def test_scheme_host_and_surroundings_take_one_form(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/a/./b/../c", "/a/c"),
        ("/../../a", "/a"),
        ("/a/%2e%2E/b", "/b"),
        ("/a//b/", "/a//b/"),
        ("/.well-known/x", "/.well-known/x"),
        ("/%7euser/%41", "/~user/A"),
        ("/a%2fb%3fc", "/a%2Fb%3Fc"),
        ("/%", "/%25"),
        ("/%%34%31", "/%2541"),
        ("/%e4", "/%E4"),
    ],
)
def test_path_is_resolved_and_keeps_its_meaning(path: str, canonical: str) -> None:
    assert canonical_url(f"http://example.com{path}") == f"http://example.com{canonical}"


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("?", ""),
        ("?&&", ""),
        ("?b=2&a=1&b=1", "?a=1&b=1&b=2"),
        ("?a=&b", "?a=&b="),
        ("?q=a%20b", "?q=a+b"),
        ("?wsdl", "?wsdl"),
        ("?b&a", "?b&a"),
        ("?ü ?", "?%C3%BC%20?"),
    ],
)
def test_query_is_sorted_where_it_is_form_data(query: str, canonical: str) -> None:
    assert canonical_url(f"http://example.com/a{query}") == f"http://example.com/a{canonical}"


@pytest.mark.parametrize(
    "session",
    [
        "jsessionid=1A2B.node",
        "JSESSIONID=",
        f"PHPSESSID={H}",
        "phpsessid=26characters",
        f"sid={H}",
        "ASPSESSIONIDQABBCCDD=ABCDEFGHIJKLMNOPQRSTUVWX",
        "cftoken=5678&CFID=1234",
        "PHPSESS%49D=1",
    ],
)
def test_session_id_is_dropped(session: str) -> None:
    assert canonical_url(f"http://example.com/a?z=1&{session}") == "http://example.com/a?z=1"
    assert canonical_url(f"http://example.com/a?{session}") == "http://example.com/a"


@pytest.mark.parametrize("query", ["sid=short", f"sid={H}0", "cfid=1", "my_utm_source=1", "gclids=1"])
def test_other_parameter_is_kept(query: str) -> None:
    assert canonical_url(f"http://example.com/?{query}") == f"http://example.com/?{query}"


NAMES = [name for name in TRACKING if name.isidentifier()]


@pytest.mark.parametrize("name", [*NAMES, "utm_id", "UTM_Source"])
def test_tracking_parameter_is_dropped(name: str) -> None:
    assert canonical_url(f"http://example.com/?a=1&{name}=x.y") == "http://example.com/?a=1"


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        (f"/x;jsessionid={H}", "/x"),
        (f"/x;JSessionId={H}!1/y;b=1?z=1", "/x/y;b=1?z=1"),
        ("/a/..;jsessionid=1/b", "/b"),
        ("/x;%6Asessionid=1/y", "/x/y"),
        ("/?z=;jsessionid=1", "/?z=%3Bjsessionid%3D1"),
    ],
)
def test_session_id_of_the_path_is_dropped(path: str, canonical: str) -> None:
    assert canonical_url(f"http://example.com{path}") == f"http://example.com{canonical}"


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("c", "http://example.com/a/c"),
        ("../c#x", "http://example.com/c"),
        ("/c", "http://example.com/c"),
        ("//b.example", "http://b.example/"),
        ("?q=1", "http://example.com/a/b?q=1"),
        ("", "http://example.com/a/b"),
        (" c\nd ", "http://example.com/a/cd"),
        ("https://b.example/x", "https://b.example/x"),
    ],
)
def test_reference_is_resolved_against_its_base(reference: str, canonical: str) -> None:
    assert canonical_url(reference, "http://example.com/a/b") == canonical


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/a",
        "example.com/foo",
        "ftp://example.com/",
        "mailto:a@b.example",
        "javascript:void(0)",
        "http://",
        "http://./",
        "http://a..b/",
        "http://exa mple.com/",
        "http://example.com:x/",
        "http://example.com:99999/",
        "http://[::1/",
        "http://[::g]/",
        "http://example.com/\ud800",
        f"http://{'ü' * 64}.example/",
    ],
)
def test_other_text_is_refused_and_the_message_says_what_to_write(url: str) -> None:
    with pytest.raises(UsageError, match=r"write it like http://example.com/page"):
        canonical_url(url)


def test_link_that_leaves_the_web_is_refused_with_its_base() -> None:
    with pytest.raises(UsageError):
        canonical_url("mailto:a@b.example", "http://example.com/")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("example.com/Foo", "http://example.com/Foo"),
        (" example.com ", "http://example.com/"),
        ("//example.com/a", "http://example.com/a"),
        ("localhost:8000", "http://localhost:8000/"),
        ("127.0.0.1:8000/a?b=1", "http://127.0.0.1:8000/a?b=1"),
        ("example.com/?next=http://b.example/", "http://example.com/?next=http%3A%2F%2Fb.example%2F"),
        ("https://example.com", "https://example.com/"),
    ],
)
def test_seed_may_be_typed_without_a_scheme(text: str, canonical: str) -> None:
    assert parse_seed(text) == canonical


@pytest.mark.parametrize("text", ["", "mailto:a@b.example", "ftp://example.com/", "two words", "urn:isbn:1"])
def test_text_that_is_no_address_is_no_seed(text: str) -> None:
    with pytest.raises(UsageError):
        parse_seed(text)


PIECES = """
    a B / // .. . ? & = % %2 %35 %2F %41 %25 %2e + é %ff # ; ;jsessionid=1 jsessionid %6A sid= utm_a
    gclid=1 cfid=1 cftoken= | \\ @ : [ ] ' " < ~ İ ß 。
"""
ATOMS = st.sampled_from([*PIECES.split(), H, " ", "\t", "\x00", "\x7f", "\xa0", "\u200b"])
TAILS = st.lists(ATOMS, max_size=12).map("".join) | st.text()


@given(st.sampled_from(["http://example.com/", "https://EXAMPLE.com:80", "http://", ""]), TAILS)
@example("http://example.com/", "%%34%31")
@example("http://example.com/", "a/..;jsessionid=1/b")
def test_canonical_url_is_its_own_canonical_url(start: str, tail: str) -> None:
    try:
        canonical = canonical_url(start + tail, "http://example.com/x/y")
    except UsageError:
        return
    assert canonical_url(canonical) == canonical
    assert canonical.isascii()
    assert canonical.startswith(("http://", "https://"))
    assert parse_seed(canonical) == canonical
