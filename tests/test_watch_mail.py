"""Mail: how a message reaches a real server on loopback, with a password and through TLS."""

from __future__ import annotations

import socket
import socketserver
import ssl
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from archivebot.exceptions import Refused, Undelivered
from archivebot.watch.file import read_rules
from archivebot.watch.mail import Mail
from tests.servers import certificate
from tests.watching import ALERT

USER, PASSWORD = "zoë", "pässword€"


class Relay(socketserver.StreamRequestHandler):
    """A server of RFC 5321 that knows some mechanisms of AUTH, and STARTTLS if it has a certificate."""

    mechanisms = ""
    context: ssl.SSLContext | None = None
    known: tuple[str, str] | None = None  # the only user and password
    refusal = "535 who?"
    greeting = "220 here"
    replies: Mapping[str, str] = {}  # to commands, instead of the usual ones
    taken: list[bytes]
    secured = False

    def handle(self) -> None:
        self._say(self.greeting)
        with suppress(ssl.SSLError):  # the client does not trust the certificate
            self._serve()

    def _serve(self) -> None:
        while line := self.rfile.readline().decode("ascii").strip():
            verb, _, rest = line.partition(" ")
            match verb.upper():
                case known if known in self.replies:
                    self._say(self.replies[known])
                case "EHLO":
                    offers = ["here"]
                    offers += [f"AUTH {self.mechanisms}"] * bool(self.mechanisms)
                    offers += ["STARTTLS"] * bool(self.context and not self.secured)
                    self._say(*(f"250-{each}" for each in offers[:-1]), f"250 {offers[-1]}")
                case "STARTTLS":
                    assert self.context
                    self._say("220 go on")
                    self.secured = True
                    with self.context.wrap_socket(self.connection, server_side=True) as safe:
                        self.rfile, self.wfile = safe.makefile("rb"), safe.makefile("wb", buffering=0)
                        self._serve()
                    return
                case "AUTH":
                    self._say("235 welcome" if self._named(rest) == self.known else self.refusal)
                case "DATA":
                    self._say("354 go on")
                    self.taken.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                    self._say("250 ok")
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 ok")

    def _named(self, rest: str) -> tuple[str, str]:
        mechanism, _, first = rest.partition(" ")
        if mechanism == "PLAIN":
            _, user, password = b64decode(first).decode().split("\0")
            return user, password
        words = []
        for asked in ("VXNlcm5hbWU6", "UGFzc3dvcmQ6"):
            self._say(f"334 {asked}")
            words.append(b64decode(self.rfile.readline()).decode())
        return words[0], words[1]

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


@contextmanager
def relay(**given: object) -> Iterator[tuple[int, list[bytes]]]:
    """Run a server, and yield its port and the messages that it takes."""
    taken: list[bytes] = []
    kind = type("Own", (Relay,), {"taken": taken, **given})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1], taken
        server.shutdown()
        thread.join()


def mail(port: int, user: str = "", password: str = "", host: str = "127.0.0.1") -> Mail:
    named = f"{quote(user)}:{quote(password)}@" * bool(user)
    return Mail("mail", "a@example.org", "b@example.org", f"smtp://{named}{host}:{port}", timeout=9)


@pytest.mark.parametrize("mechanisms", ["PLAIN LOGIN", "LOGIN", "CRAM-MD5 PLAIN"])
def test_a_password_with_other_characters_than_ascii_is_sent_in_utf_8(mechanisms: str) -> None:
    with relay(mechanisms=mechanisms, known=(USER, PASSWORD)) as (port, taken):
        mail(port, USER, PASSWORD).send([ALERT])
    assert len(taken) == 1


@pytest.mark.parametrize("mechanisms", ["PLAIN LOGIN", "LOGIN", "CRAM-MD5", ""])
def test_no_error_of_a_log_in_shows_the_password(mechanisms: str) -> None:
    with relay(mechanisms=mechanisms) as (port, taken), pytest.raises(Undelivered) as raised:
        mail(port, USER, PASSWORD).send([ALERT])
    assert str(raised.value).startswith("127.0.0.1: ")
    assert not any(secret in str(raised.value) for secret in (USER, PASSWORD))
    assert taken == []


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"greeting": "421 too busy"}, Undelivered, "421 too busy"),
        ({"greeting": "HTTP/1.1 400 Bad Request"}, Undelivered, "its answer is no SMTP"),
        ({"replies": {"MAIL": "550 5.7.1 not you"}}, Undelivered, "550 5.7.1 not you"),
        ({"replies": {"RCPT": "450-4.2.0 greylisted,\r\n450 come again"}}, Undelivered, "450 4.2.0 grey"),
        ({"replies": {"RCPT": "550 5.1.1 no such user"}}, Refused, "550 5.1.1 no such user"),
        ({"replies": {"DATA": "554 \x1b[2Jspam"}}, Refused, "554 \ufffd[2Jspam"),
        ({"replies": {"DATA": "451 later"}}, Undelivered, "451 later"),
    ],
)
def test_what_a_server_replies_is_told(given: dict[str, Any], error: type[Undelivered], said: str) -> None:
    with relay(**given) as (port, taken), pytest.raises(error) as raised:
        mail(port).send([ALERT])
    assert type(raised.value) is error
    assert str(raised.value).startswith(f"127.0.0.1: {said}")
    assert "b'" not in str(raised.value)
    assert taken == []


def test_a_mail_that_was_taken_is_sent_whatever_the_farewell_is() -> None:
    with relay(replies={"QUIT": f"221 {'bye ' * 9000}"}) as (port, taken):
        mail(port).send([ALERT])
    assert len(taken) == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_nothing_is_sent_before_the_server_accepts_the_password(mechanism: str) -> None:
    with relay(mechanisms=mechanism, refusal="334 ") as (port, taken), pytest.raises(Undelivered):
        mail(port, USER, PASSWORD).send([ALERT])
    assert taken == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_relay_on_this_machine_may_have_a_certificate_of_its_own(tmp_path: Path, host: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    with relay(context=context, mechanisms="PLAIN", known=("zoe", "word")) as (port, taken):
        mail(port, "zoe", "word", host).send([ALERT])
    assert len(taken) == 1


def test_only_this_machine_may_have_a_certificate_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *rest, **more: found("127.0.0.1", *rest, **more))
    with relay(context=context) as (port, taken), pytest.raises(Undelivered, match="CERTIFICATE_VERIFY"):
        mail(port, host="mail.example.org").send([ALERT])
    assert taken == []


def test_the_domain_of_an_address_may_have_other_letters_than_ascii(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    with relay() as (port, taken):
        rules.write_text(
            '[[rule]]\nname = "all"\n[output.office]\nmail = "a@bücher.example"\n'
            f'server = "smtp://127.0.0.1:{port}"\n',
            "utf-8",
        )
        read_rules(str(rules)).outputs["office"].send([ALERT])
    assert b"To: a@xn--bcher-kva.example\r\n" in taken[0]
