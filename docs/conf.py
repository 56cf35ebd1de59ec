"""How Sphinx builds the documents as a site: see `make docs`."""

from archivebot import __version__

project = "archivebot"
author = "the authors of archivebot"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["images/*.py"]
html_theme = "furo"
html_title = f"archivebot {release}"
html_extra_path = ["capture.schema.json"]

# Anchors of headings, as GitHub makes them.
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
suppress_warnings = ["misc.highlighting_failure"]  # Pygments knows neither CSV nor crontab
