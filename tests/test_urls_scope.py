import subprocess
import sys
import time

import pytest

from archivebot.exceptions import UsageError
from archivebot.urls.scope import KINDS, Scope


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.com/", None),
        ("https://example.com/a?b=1", None),
        ("http://www.example.com/a", None),
        ("HTTP://EXAMPLE.com:80/a", None),
        ("http://example.com:8080/", "other_host"),
        ("http://sub.example.com/", "other_host"),
        ("http://example.com.evil.example/", "other_host"),
        ("http://evil.example/example.com/", "other_host"),
        ("http://example.com@evil.example/", "other_host"),
        ("http://b.example:8080/", None),
        ("http://b.example/", "other_host"),
    ],
)
def test_host_takes_www_and_both_schemes_and_counts_the_port(url: str, reason: str | None) -> None:
    scope = Scope.from_seeds(["https://www.example.com/start", "http://b.example:8080/"], "host")
    assert scope.refusal(url) == reason


@pytest.mark.parametrize(
    ("seed", "url", "reason"),
    [
        ("http://www.shop.example.com/", "https://example.com:8443/a", None),
        ("http://example.com/", "http://deep.sub.example.com/", None),
        ("http://example.com/", "http://example.org/", "other_domain"),
        ("http://a.co.uk/", "http://b.a.co.uk/", None),
        ("http://a.co.uk/", "http://b.co.uk/", "other_domain"),
        ("http://me.github.io/", "http://you.github.io/", "other_domain"),
        ("http://localhost:8000/", "http://localhost:9000/a", None),
        ("http://localhost/", "http://127.0.0.1/", "other_domain"),
        ("http://127.0.0.1/", "http://127.0.0.1:8000/", None),
        ("http://10.0.0.1/", "http://20.0.0.1/", "other_domain"),
        ("http://[::1]/", "http://[::1]:80/a", None),
        ("http://bücher.de/", "http://www.xn--bcher-kva.de/", None),
    ],
)
def test_domain_is_the_registrable_one_or_the_host_itself(seed: str, url: str, reason: str | None) -> None:
    assert Scope.from_seeds([seed], "domain").refusal(url) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.com/docs/", None),
        ("https://www.example.com/docs/a/b", None),
        ("http://example.com/docs/?q=1", None),
        ("http://example.com/docs", "outside_prefix"),
        ("http://example.com/docs-old/", "outside_prefix"),
        ("http://example.com/docs/../blog", "outside_prefix"),
        ("http://example.com/", "outside_prefix"),
        ("http://example.com:81/docs/", "other_host"),
        ("http://evil.example/docs/", "other_host"),
        ("http://b.example/anything", None),
    ],
)
def test_prefix_ends_with_the_last_slash_of_the_path(url: str, reason: str | None) -> None:
    scope = Scope.from_seeds(["http://example.com/docs/index.html?next=/a/b", "http://b.example"], "prefix")
    assert scope.refusal(url) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.com/a", None),
        ("https://www.example.com/a#top", None),
        ("http://example.com/b?x=1&y=2", None),
        ("http://example.com/b?y=2&x=1", None),
        ("http://example.com/b", "not_a_seed"),
        ("http://example.com/a/", "not_a_seed"),
        ("http://evil.example/a", "not_a_seed"),
    ],
)
def test_page_takes_the_seeds_only(url: str, reason: str | None) -> None:
    scope = Scope.from_seeds(["http://example.com/a", "example.com/b?y=2&x=1"], "page")
    assert scope.refusal(url) == reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/", "scheme"),
        ("mailto:a@example.com", "scheme"),
        ("", "scheme"),
        ("http://exa mple.com/", "malformed"),
        ("http://", "malformed"),
    ],
)
def test_what_is_no_http_url_is_refused_in_every_scope(kind: str, url: str, reason: str) -> None:
    assert Scope.from_seeds(["http://example.com/"], kind).refusal(url) == reason


@pytest.mark.parametrize("kind", KINDS)
def test_seed_is_in_its_own_scope(kind: str) -> None:
    seed = "https://www.example.co.uk:8443/a/b.html?c=/d/e"
    assert Scope.from_seeds([seed], kind).refusal(seed) is None


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"web"}))
def test_without_seeds_nothing_is_in_scope(kind: str) -> None:
    assert Scope.from_seeds([], kind).refusal("http://example.com/") is not None


def test_scopes_of_the_same_seeds_are_equal() -> None:
    seeds = ["http://example.com/a", "http://example.com/a"]
    assert Scope.from_seeds(seeds, "page") == Scope.from_seeds(seeds[:1], "page")


@pytest.mark.parametrize("kind", ["page", "prefix"])
def test_a_url_is_looked_up_among_many_seeds_as_among_few(kind: str) -> None:
    seeds = [f"http://example.com/{number}/a" for number in range(20_000)]
    few, many = Scope.from_seeds(seeds[:10], kind), Scope.from_seeds(seeds, kind)
    assert many.refusal(seeds[-1]) is None

    def seconds(scope: Scope) -> float:
        began = time.process_time()
        assert all(scope.refusal(f"http://example.com/x/{number}") for number in range(1000))
        return time.process_time() - began

    assert min(seconds(many) for _ in range(3)) < 5 * min(seconds(few) for _ in range(3))


def test_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="host, domain, prefix, page"):
        Scope.from_seeds(["http://example.com/"], "site")


def test_seed_that_is_no_url_is_refused() -> None:
    with pytest.raises(UsageError):
        Scope.from_seeds(["mailto:a@example.com"], "host")


def test_import_does_not_load_the_suffix_list() -> None:
    code = "import sys, archivebot.urls; sys.exit('tldextract' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_web_is_everything_that_can_be_fetched() -> None:
    scope = Scope.from_seeds(["http://example.com/"], "web")
    assert scope.refusal("https://elsewhere.example/a") is None
    assert scope.refusal("ftp://example.com/") == "scheme"
    assert scope.refusal("http://a..b/") == "malformed"
