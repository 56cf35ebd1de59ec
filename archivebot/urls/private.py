"""Private addresses: hosts to which a public page should not link, including this machine."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

# The last 32 bits of these are an IPv4 address, https://www.rfc-editor.org/rfc/rfc6052#section-2.1
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))

# Translated within a network, wherever the IPv4 address is, https://www.rfc-editor.org/rfc/rfc8215
_TRANSLATED_HERE = IPv6Network("64:ff9b:1::/48")


def is_private(host: str) -> bool:
    """Return whether a host is an address that is not on the public Internet, or always this machine.

    That is loopback, link-local, private, unique-local, shared (CGNAT), multicast, unspecified and reserved,
    also if an IPv6 address contains such an IPv4 address. A name is private if it resolves to a private
    address; of names only ``localhost`` is recognised here.

    >>> [is_private(host) for host in ("127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "localhost")]
    [True, True, True, True]
    >>> is_private("93.184.216.34"), is_private("2606:2800:220:1::1"), is_private("example.com")
    (False, False, False)
    """
    try:
        return not _is_public(ip_address(host.partition("%")[0]))
    except ValueError:
        return _is_localhost(host)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is always this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.8.0.1", "::1", "127.example.org")]
    [True, True, True, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return _is_localhost(host)


def _is_localhost(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if any(address in network for network in _TRANSLATED):
            carried = IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return _is_public(carried)
        if address.is_site_local or address in _TRANSLATED_HERE:
            return False
    return address.is_global and not address.is_multicast
