"""A sample site for trying the archive: a town library's pages in two states."""
