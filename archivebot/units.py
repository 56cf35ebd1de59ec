"""Sizes in readable units."""


def size(count: int) -> str:
    """Return a number of bytes in readable units.

    >>> size(0), size(999), size(1500), size(2_340_000)
    ('0 B', '999 B', '1.5 kB', '2.3 MB')
    """
    power = min((len(str(count)) - 1) // 3, 4)
    return f"{count / 1000**power:.1f} {'kMGT'[power - 1]}B" if power else f"{count} B"
