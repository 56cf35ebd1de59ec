"""What a page says as hypertext: its links with what stands around them, its title, its main text."""

from archivebot.hypertext.reader import Hypertext, read, read_page
from archivebot.hypertext.references import resolve

__all__ = ["Hypertext", "read", "read_page", "resolve"]
