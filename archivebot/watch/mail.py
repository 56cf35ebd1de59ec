"""Mail: an alert as a message to one address."""

from __future__ import annotations

import smtplib
import socket
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from archivebot.exceptions import Refused, Undelivered
from archivebot.net import connected, tls_context
from archivebot.terminal import harmless
from archivebot.text import collapse
from archivebot.watch.alert import Alert

_MOST_SUBJECT, _MOST_REPLY = 200, 300  # characters


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail address, and the server that takes the messages: ``smtp://`` or ``smtps://``.

    If a server offers STARTTLS, it is used. User name and password, parts of the address of the server, are
    sent only through TLS or to this machine. The certificate of a relay on this machine, to which they would
    be sent without TLS as well, may be its own.
    """

    name: str
    to: str
    sender: str
    server: str = field(repr=False)
    timeout: float = 30.0
    shown: int = 0

    @property
    def patience(self) -> float:
        """Seconds after which sending has ended."""
        return self.timeout

    def send(self, alerts: list[Alert]) -> None:
        """Send an alert; raises Undelivered, or Refused if the server refuses this message."""
        parts = urlsplit(self.server)
        host, accepted = parts.hostname or "", False
        tls = parts.scheme == "smtps"
        try:
            with (
                connected(host, parts.port or (465 if tls else 25), self.timeout, tls) as line,
                closing(_Client(line, host)) as client,
            ):
                self._prepare(client, parts)
                client.send_message(message(alerts[0], self.sender, self.to))
                accepted = True
                client.quit()
        except (OSError, smtplib.SMTPException) as error:
            if accepted:  # only the farewell is lost
                return
            raise _failure(host, error) from error

    def _prepare(self, client: _Client, parts: SplitResult) -> None:
        """Begin TLS if the server offers it, and log in."""
        client.ehlo()
        is_local = _is_local(parts.hostname or "")
        safe = parts.scheme == "smtps" or is_local
        if parts.scheme == "smtp" and client.has_extn("starttls"):
            client.starttls(context=tls_context(is_verified=not is_local))
            safe = True
        if parts.username:
            if not safe:
                raise Undelivered(
                    f"{parts.hostname} offers no TLS, and a password must not be sent without it"
                )
            client.log_in(unquote(parts.username), unquote(parts.password or ""))


class _Client(smtplib.SMTP):
    """A client that uses a connection that is there."""

    def __init__(self, line: socket.socket, host: str) -> None:
        self._line = line
        super().__init__(host)

    def connect(self, *args: object, **more: object) -> tuple[int, bytes]:
        """Return the greeting of the server; the constructor calls this method."""
        self.sock, self.file = self._line, None
        return self.getreply()

    def log_in(self, user: str, password: str) -> None:
        """Log in; raises SMTPException.

        A name or password that is not ASCII, which smtplib cannot send, is sent in UTF-8 (RFC 4616).
        """
        if f"{user}{password}".isascii():
            self.login(user, password)
            return
        offered = self.esmtp_features.get("auth", "").split()
        if "PLAIN" in offered:
            both = "\0".join(("", user, password))
            steps = [f"AUTH PLAIN {_coded(both)}"]
        elif "LOGIN" in offered:
            steps = ["AUTH LOGIN", _coded(user), _coded(password)]
        else:
            raise smtplib.SMTPException("it offers no AUTH PLAIN or LOGIN, and the password is not ASCII")
        for step in steps:
            code, said = self.docmd(step)
            if code != 334:  # it asks for no more
                break
        if code not in (235, 503):  # accepted, or logged in already
            raise smtplib.SMTPAuthenticationError(code, said)


def _failure(host: str, error: OSError) -> Undelivered:
    """Return what an error means for the message: the server refuses it, or may take it later."""
    if not isinstance(error, smtplib.SMTPRecipientsRefused | smtplib.SMTPResponseException):
        return Undelivered(f"{host}: {error or type(error).__name__}")
    code, said = _reply(error)
    is_about_it = isinstance(error, smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError)
    return (Refused if is_about_it and code >= 500 else Undelivered)(f"{host}: {said}")


def _reply(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPResponseException) -> tuple[int, str]:
    """Return the code of the reply that an error is about, and the reply as one line.

    >>> _reply(smtplib.SMTPDataError(451, b"4.7.1 wait\\nplease"))
    (451, '451 4.7.1 wait please')
    """
    text: bytes | str
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        ((code, text),) = error.recipients.values()
    else:
        code, text = error.smtp_code, error.smtp_error
    if code < 0:
        return code, "its answer is no SMTP"
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return code, collapse(harmless(f"{code} {words}"))[:_MOST_REPLY]


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


def message(alert: Alert, sender: str, to: str) -> EmailMessage:
    """Return an alert as a message; its Message-ID is the same whenever it is sent again.

    A mail server, or the program that reads the mail, drops a message that it already has by its Message-ID.
    """
    mail = EmailMessage()
    mail["Subject"] = alert.title[:_MOST_SUBJECT]
    mail["From"], mail["To"] = sender, to
    mail["Date"] = format_datetime(alert.when)
    mail["Message-ID"] = f"<{alert.id}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no vacation notes
    mail.set_content(alert.text)
    return mail


def _is_local(host: str) -> bool:
    """Return whether a host is this machine.

    >>> _is_local("localhost"), _is_local("::1"), _is_local("mail.example.org")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
