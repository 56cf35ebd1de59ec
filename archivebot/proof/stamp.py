"""Time stamps of RFC 3161: an authority signs that a checkpoint existed at a time."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from archivebot.exceptions import StorageError, UsageError
from archivebot.net import is_address, post

# Seconds in which an authority has to answer, and the most bytes of its answer: tokens with certificates have
# some kilobytes.
PATIENCE = 30
LONGEST = 1 << 20


def stamped(note: bytes, url: str, roots: Path | None = None) -> tuple[bytes, datetime]:
    """Return the answer of a time-stamping authority to a note, as it comes, and the time that it states.

    ``roots`` is a file with the certificates in PEM that are trusted; with it, the signature of the authority
    is verified. Without it, only the digest and the number of the request are compared.

    Raises UsageError if the library or the URL is missing, StorageError if no valid answer comes.
    """
    library = _library()
    request = (
        library.TimestampRequestBuilder().data(note).hash_algorithm(library.HashAlgorithm.SHA256).build()
    )
    answer = _posted(url, request.as_bytes())
    try:
        response = library.decode_timestamp_response(answer)
        if response.status not in (0, 1):  # granted, or granted with changes
            raise StorageError(
                f"{url} refused a time stamp: {' '.join(response.status_string) or response.status}"
            )
        info = response.tst_info
        if info.message_imprint.message != sha256(note).digest() or info.nonce != request.nonce:
            raise StorageError(f"{url} stamped something else")
        if roots is not None:
            builder = library.VerifierBuilder.from_request(request)
            for certificate in _certificates(roots):
                builder = builder.add_root_certificate(certificate)
            builder.build().verify_message(response, note)
    except (ValueError, library.VerificationError) as error:
        raise StorageError(f"the time stamp of {url} is not valid: {error}") from error
    return answer, info.gen_time


def _library() -> Any:
    try:
        import rfc3161_client
    except ImportError as error:
        raise UsageError("time stamps need rfc3161-client: pip install rfc3161-client") from error
    return rfc3161_client


def _certificates(path: Path) -> list[Any]:
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} holds no certificates in PEM") from error


def _posted(url: str, data: bytes) -> bytes:
    """Return the answer to a request; all of it has come within PATIENCE, or StorageError is raised."""
    if not is_address(url, "http", "https"):
        raise UsageError(f"{url!r} is no address of a time-stamping authority: write https://host/path")
    headers = {"Content-Type": "application/timestamp-query", "User-Agent": "archivebot"}
    try:
        answer = post(url, data, headers, PATIENCE, LONGEST)
    except OSError as error:
        raise StorageError(f"{url} does not answer: {error or type(error).__name__}") from error
    if answer.status != 200:
        raise StorageError(f"{url} answered {answer.status}: it is no time-stamping authority, or it is busy")
    return answer.body
