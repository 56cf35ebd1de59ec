"""What a page says as hypertext: its links with what stands around them, its title, its main text."""

from archivebot.hypertext.reader import Hypertext, parse, read
from archivebot.hypertext.references import resolve

__all__ = ["Hypertext", "parse", "read", "resolve"]
