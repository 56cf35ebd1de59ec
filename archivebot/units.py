"""Sizes and numbers of things in readable units."""


def size(count: int) -> str:
    """Return a number of bytes in readable units.

    >>> size(0), size(999), size(1500), size(2_340_000)
    ('0 B', '999 B', '1.5 kB', '2.3 MB')
    """
    power = min((len(str(count)) - 1) // 3, 4)
    return f"{count / 1000**power:.1f} {'kMGT'[power - 1]}B" if power else f"{count} B"


def amount(count: int, noun: str) -> str:
    """Return a number of things, with their noun in the singular or the plural.

    >>> amount(0, "page"), amount(1, "page"), amount(300, "page")
    ('0 pages', '1 page', '300 pages')
    """
    return f"{count} {noun}{'s' if count != 1 else ''}"
