"""Marks: where the attribute of a changed block goes, in markup as it is found."""

from __future__ import annotations

import time

import pytest

from archivebot.replay.marks import Mark, marked


def of(body: bytes, piece: bytes, change: str = "added") -> Mark:
    start = body.index(piece)
    return Mark(start, start + len(piece), change)


@pytest.mark.parametrize(
    ("body", "piece", "expected"),
    [
        (b"<p>a<p>b", b"<p>b", b"<p>a<p@>b"),
        (b"<ul><li>a<li>b</ul>", b"<li>a<li>b", b"<ul><li@>a<li+>b</ul>"),
        (b"<div><p>a</p></div>", b"<div><p>a</p></div>", b"<div@><p>a</p></div>"),
        (b"<tr><td>a<td>b</tr>", b"<td>a", b"<tr><td>a<td>b</tr>"),  # no such elements without a table
        (b"<table><tr><td>a<td>b</table>", b"<td>b", b"<table><tr><td>a<td@>b</table>"),
        (b"<p>\xc3\xa9</p><P CLASS=x>b</P>", b"<P CLASS=x>b</P>", b"<p>\xc3\xa9</p><P@ CLASS=x>b</P>"),
        (b"a\r\n<hr>b", b"b", b"a\r\n<hr><mark@>b</mark>"),
        (b"<p>a</p>\r\n<p>b</p>", b"<p>b</p>", b"<p>a</p>\r\n<p@>b</p>"),
        (b"<p>a</p><!-- c -->", b"<!-- c -->", b"<p>a</p><!-- c -->"),
        (b"<svg><g/></svg><p>b", b"<p>b", b"<svg><g/></svg><p@>b"),
        (b"<p a='<p>'>b</p>", b"<p a='<p>'>b</p>", b"<p@ a='<p>'>b</p>"),
    ],
)
def test_the_outermost_elements_of_a_block_are_marked(body: bytes, piece: bytes, expected: bytes) -> None:
    plain = b' data-archivebot-change="added"'
    expected = expected.replace(b"@", plain + b' id="archivebot-1"').replace(b"+", plain)
    assert marked(body, [of(body, piece)]) == expected


def test_each_block_has_a_number_and_a_page_without_changes_stays_as_it_is() -> None:
    body = b"<p>a<p>b<p>c"
    found = marked(body, [of(body, b"<p>a", "removed"), of(body, b"<p>c", "moved")])
    assert b'<p data-archivebot-change="removed" id="archivebot-1">a<p>b' in found
    assert b'<p data-archivebot-change="moved" id="archivebot-2">c' in found
    assert marked(body, []) == body


def test_many_templates_without_an_end_are_read_once() -> None:
    body = b"<p>a</p>" + b"<template " * 40_000
    begun = time.process_time()
    assert len(marked(body, [of(body, b"<p>a</p>")])) > len(body)
    assert time.process_time() - begun < 10  # read to the end from each start it would take minutes
