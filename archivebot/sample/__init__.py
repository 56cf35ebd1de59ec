"""A sample site, brought along to try the archive on: a town library's pages in two states."""
