"""Requests to other servers than those of the crawled pages: webhooks, mail, time stamps."""

from __future__ import annotations

from archivebot.net.deadline import connected, tls_context
from archivebot.net.post import Answer, is_address, post

__all__ = ["Answer", "connected", "is_address", "post", "tls_context"]
