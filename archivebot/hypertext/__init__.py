"""The hypertext of a page: its links with the text around them, its title, its topic text."""

from archivebot.hypertext.reader import Hypertext, read, read_page
from archivebot.hypertext.references import resolve

__all__ = ["Hypertext", "read", "read_page", "resolve"]
