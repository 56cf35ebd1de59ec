"""The private names of Twisted's parser of answers: its states, and the error that it raises."""

from twisted.web._newclient import HEADER, STATUS, ParseError

__all__ = ["HEADER", "STATUS", "ParseError"]
