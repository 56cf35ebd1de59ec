"""Walls, errors and shells are told from pages, and articles about them stay pages."""

from __future__ import annotations

import pytest
from turbohtml import parse

from archivebot.models import QualityKind
from archivebot.quality.quality import HIDDEN, quality
from archivebot.quality.signs import PLENTY, signs_of

HTML = "text/html; charset=utf-8"
PROSE = "The river rose again in the night and the lower fields were under water by the morning. "
ARTICLE = f"<p>{PROSE * 12}"
MENU = "<nav>" + "".join(f"<a href=/{n}>Section number {n}</a> " for n in range(40)) + "</nav>"
FOOTER = f"<footer><p>{PROSE * 4}</footer>"
SCRIPTS = "<script src=/app.js></script><script>var state = {};</script>"

BAD = {
    "soft_404": [
        f"<title>Page not found | Example</title>{MENU}<h1>Oops!</h1><p>Try the search.{FOOTER}",
        f"<title>Example</title>{MENU}<h1>404</h1><p>Back to the front page.",
        "<title>Example</title><p>Sorry, the page you are looking for has moved or never was.",
        f"<title>Beispiel</title>{MENU}<h1>Seite nicht gefunden</h1><p>Bitte nutzen Sie die Suche.",
        "<title>Exemple</title><h2>Erreur 404</h2><p>Retour à l'accueil.",
        "<title>Ejemplo</title><p>Lo sentimos, no se ha encontrado la página.",
        "<title>示例网站</title><p>抱歉，您访问的页面不存在，请返回首页。",
    ],
    "login_wall": [
        "<title>Sign in - Example</title><form>E-mail <input name=u> <input type=password></form>",
        f"{MENU}<h1>Member login</h1><form><input name=u><input type=password><button>Go</button></form>",
        "<title>Example</title><p>User <input name=u> Password <input type=password>",
        "<title>Forum</title><p>Please log in to read this thread.",
        "<title>Forum</title><p>Bitte melden Sie sich an, um den Artikel zu lesen.",
        "<title>Connexion</title><form><input name=u><input type=password></form>",
        "<title>Foro</title><p>Debes iniciar sesión para ver este tema.",
        "<title>论坛</title><p>您需要登录才可以查看本帖。<input type=password>",
    ],
    "consent_wall": [
        f"<title>Before you continue to Google</title><p>{PROSE * 8}<button>Accept all</button>",
        f"<title>We value your privacy</title><p>{PROSE * 15}<button>I agree</button>",
        "<title>News</title><p>We use cookies. <button>Accept cookies</button> <a href=/m>More</a>",
        f"<title>Zeitung</title><h1>Privatsphäre-Einstellungen</h1><p>{PROSE}<button>Zustimmen</button>",
        f"<h2>Nous utilisons des cookies</h2><p>{PROSE}<a role=button>Tout accepter</a>",
        "<title>Diario</title><p>Utilizamos cookies propias.<input type=submit value='Aceptar todo'>",
        "<title>我们重视您的隐私</title><p>请选择。<button>同意</button>",
    ],
    "bot_wall": [
        "<title>Just a moment...</title><p>Verify you are human.<script>window._cf_chl_opt={}</script>",
        "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access this.",
        "<title>example.org</title><script src=https://geo.captcha-delivery.com/c.js></script>",
        "<title>Example</title><p>Our systems have detected unusual traffic from your network.",
        "<title>Pardon Our Interruption</title><p>Something about your browser made us think.",
        "<title>Beispiel</title><p>Bitte bestätigen Sie, dass Sie kein Roboter sind.",
        "<title>Un instant…</title><p>Vérifiez que vous êtes humain.",
        "<title>Un momento</title><p>Verifique que es humano.",
        f"{MENU}<h2>You’re temporarily blocked</h2><p>You are misusing this feature by going too fast.",
        "<h2>Cette fonction est temporairement bloquée</h2><p>Il semble que vous en ayez abusé.",
        "<title>百度安全验证</title><p>请完成下方验证后继续操作",
    ],
    "error_page": [
        "<title>503 Service Unavailable</title><h1>Service Unavailable</h1>",
        "<h1>Error establishing a database connection</h1>",
        f"<title>Welcome to nginx!</title><h1>Welcome to nginx!</h1><p>{PROSE * 3}",
        f"<title>Apache2 Ubuntu Default Page: It works</title><p>{PROSE * 20}",
        f"<br><b>Fatal error</b>: Uncaught Error in /var/www/index.php:3 {PROSE * 9}",
        "<title>App</title><pre>Traceback (most recent call last):\n  File 'a.py', line 1</pre>",
        "<title>Example</title><p>There has been a critical error on this website.",
        "<title>Beispiel</title><h1>Interner Serverfehler</h1>",
        "<title>Exemple</title><p>Le site est actuellement en maintenance.",
        "<title>Ejemplo</title><h1>Error del servidor</h1>",
        "<title>系统维护中</title><p>请稍后再来。",
    ],
    "script_shell": [
        f"<title>App</title><div id=root></div>{SCRIPTS}",
        f"<noscript>You need to enable JavaScript to run this app.</noscript><div id=app></div>{SCRIPTS}",
        f"<title>App</title><div id=__next><p>Loading…</div>{SCRIPTS}",
        f"<title>App</title><p>Bitte aktivieren Sie JavaScript.<a href=/hilfe>Hilfe</a>{SCRIPTS}",
        f"<noscript>Veuillez activer JavaScript.</noscript>{SCRIPTS}",
        f"<noscript>Habilite JavaScript para continuar.</noscript>{SCRIPTS}",
        f"<noscript>请启用JavaScript</noscript>{SCRIPTS}",
    ],
    "empty": [
        "",
        " \n\t",
        "<html><head><title>Example</title></head><body></body></html>",
        "<meta http-equiv=refresh content='0; url=/home'><p>Wait",
        "<script>window.location.href = '/home'</script>",
        "<body><!-- nothing --><p hidden>later",
    ],
}

GOOD = [
    # About the thing, not the thing.
    f"<title>Page not found | Wiki</title><h1>Page not found</h1>{ARTICLE}",
    f"<title>How to fix a page not found error</title><h1>How to fix 404</h1><p>{PROSE * 5}",
    f"<title>404 Main Street | Houses</title><h1>404 Main Street</h1><p>{PROSE}",
    f"<title>Captcha - Wiki</title><h1>Captcha</h1>{ARTICLE}<p>Prove you are human.",
    f"<title>Why sites say just a moment</title>{ARTICLE}<p>Checking your browser before accessing.",
    f"<title>Cookies</title><h1>We use cookies</h1>{ARTICLE}<button>Accept all</button>",
    f"<title>Login - Wiki</title><h1>Login</h1>{ARTICLE}<p>Please log in to edit.",
    f"<title>Debugging</title><h1>Traces</h1><pre>Traceback (most recent call last):</pre>{ARTICLE}",
    f"<title>Bad gateway | Wiki</title>{MENU}<h1>Bad gateway</h1>{ARTICLE}",
    f"<title>Service unavailable?</title><h1>When trains stop</h1><p>{PROSE * 9}",
    f"<title>Welcome to nginx! | Blog</title><h1>Welcome to nginx!</h1>{ARTICLE}",
    f"<title>Seite nicht gefunden - Lexikon</title>{ARTICLE}",
    f"<title>验证码</title><h1>验证码</h1><p>{'验证码是一种区分用户是计算机还是人的程序。' * 12}",
    # With the thing beside it.
    f"<title>News</title>{ARTICLE}<div>We use cookies <button>Accept all</button></div>",
    f"<title>Forum</title><form><input name=u><input type=password></form><h1>Rivers</h1>{ARTICLE}",
    f"<title>Portal</title><h1>Portal</h1>{MENU}<h2>Login</h2><input name=u><input type=password><p>{PROSE}",
    f"<title>Contact</title><h1>Contact</h1><p>{PROSE * 2}<form><textarea></textarea></form>"
    "<script src=https://www.google.com/recaptcha/api.js></script>",
    f"<title>News</title><noscript>Please enable JavaScript.</noscript>{ARTICLE}{SCRIPTS}",
    f"<title>Blog</title><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script><p>{PROSE}",
    # Little text, but a page.
    "<title>Hello</title><h1>Hello</h1><p>I am Ann.",
    f"<title>Hello</title><p>I am Ann.{SCRIPTS}",
    f"<title>Hello</title><div id=app><h1>Hello</h1>I am Ann.</div>{SCRIPTS}",
    "<title>Photo</title><img src=a.jpg>",
    f"<title>Links</title>{MENU}{SCRIPTS}",
    "<title>Old</title><frameset><frame src=a.html><frame src=b.html></frameset>",
    f"<title>App</title><div style='visibility:hidden'>{ARTICLE * 2}</div>{SCRIPTS}",
    f"<title>Forum</title><noscript>{ARTICLE * 2}</noscript>{SCRIPTS}",
]


@pytest.mark.parametrize(("kind", "page"), [(kind, page) for kind, pages in BAD.items() for page in pages])
def test_what_is_no_page_is_told_with_its_kind(kind: str, page: str) -> None:
    found = quality(200, page.encode(), HTML, "http://example.org/a")
    assert (found.kind, bool(found.reason)) == (kind, True), found


@pytest.mark.parametrize("page", GOOD)
def test_a_page_is_good_whatever_it_is_about(page: str) -> None:
    found = quality(200, page.encode(), HTML, "http://example.org/a")
    assert found.kind is QualityKind.GOOD, found


def test_every_kind_has_its_pages() -> None:
    assert {"good", *BAD} == {kind.value for kind in QualityKind}
    assert min(map(len, BAD.values())) >= 4


def test_what_is_not_html_is_good_unless_blank() -> None:
    assert quality(200, b"404 not found", "text/plain").kind is QualityKind.GOOD
    assert quality(200, b"%PDF-1.4", "application/pdf").kind is QualityKind.GOOD
    assert quality(200, b"\n", "text/plain").kind is QualityKind.EMPTY


def test_the_charset_of_the_header_is_used() -> None:
    body = "<title>页面不存在</title>".encode("gb18030")
    assert quality(200, body, "text/html; charset=gb2312").kind is QualityKind.SOFT_404


@pytest.mark.parametrize(
    ("status", "kind"), [(301, "good"), (304, "good"), (204, "good"), (404, "error_page"), (200, "empty")]
)
def test_the_status_decides_over_a_blank_body(status: int, kind: str) -> None:
    assert quality(status, b"", HTML).kind == kind


def test_a_wall_with_an_error_status_is_a_wall() -> None:
    page = BAD["bot_wall"][0].encode()
    assert quality(403, page, HTML).kind is QualityKind.BOT_WALL
    assert quality(500, GOOD[0].encode(), HTML).reason == "status 500"


def test_the_address_tells_where_the_text_does_not() -> None:
    page = "<title>Example</title><p>Hello, traveller."
    assert quality(200, page.encode(), HTML, "http://a.org/404.html").kind is QualityKind.SOFT_404
    assert quality(200, page.encode(), HTML, "http://a.org/area-404").kind is QualityKind.GOOD
    form = f"<title>Example</title><p>{PROSE * 2}<input><input type=password>"
    assert quality(200, form.encode(), HTML, "http://a.org/login?next=/").kind is QualityKind.LOGIN_WALL
    assert quality(200, form.encode(), HTML, "http://a.org/rivers").kind is QualityKind.GOOD
    assert quality(200, form.encode(), HTML, "http://a.org/auth/register").kind is QualityKind.GOOD
    wall = f"<title>Example</title><p>{PROSE * 9}<button>Accept all</button>"
    assert quality(200, wall.encode(), HTML, "https://consent.a.org/x").kind is QualityKind.CONSENT_WALL
    assert quality(200, wall.encode(), HTML, "https://a.org/x").kind is QualityKind.GOOD


def test_a_missing_page_with_much_hidden_is_missing_still() -> None:
    page = f"<h1>Page not found</h1><div hidden>{PROSE * 30}</div>"
    assert signs_of(parse(page)).hidden > HIDDEN
    assert quality(200, page.encode(), HTML).kind is QualityKind.SOFT_404


@pytest.mark.parametrize("start", ["<body style='display:none'>", "<body hidden>", "<html hidden>"])
def test_a_page_that_a_script_shows_is_judged_by_its_text(start: str) -> None:
    assert quality(200, f"{start}{ARTICLE}".encode(), HTML).reason.endswith("no sign of a wall")
    missing = f"{start}<title>Page not found</title><p>Sorry."
    assert quality(200, missing.encode(), HTML).kind is QualityKind.SOFT_404


def test_the_walk_ends_where_there_is_plenty_of_prose() -> None:
    page = f"<p>{PROSE * 60}</p><p>end<input type=password>"
    signs = signs_of(parse(page))
    assert signs.prose >= PLENTY
    assert signs.passwords == 0
