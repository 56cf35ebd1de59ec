"""``python -m archivebot.sample``: archive the sample site twice and show the changes."""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import shutil
import subprocess
import sys

from archivebot.sample.server import STATES, SampleSite

# Fixed, so that the addresses in the archive are the same in every run.
PORT = 8777

SETTINGS = {"SCRAPY_SETTINGS_MODULE": "archivebot.settings"}
NEXT = """
The front page was compared above. Try next (the site need not run for that):

  scrapy delta {url}events.html               one row of a table
  scrapy delta {url}news/reading-room.html    two sentences of a paragraph
  scrapy history {url}reading-groups.html     a page that moved
  scrapy history {url}summer-fete.html        a page that was taken down
  scrapy blocks {url}                         how the front page is cut
  scrapy replay {url} --output page.html      its exact bytes
  scrapy stats
  scrapy serve                                                 all of it in a browser, at http://127.0.0.1:8080/

To archive a site of your own: scrapy crawl site -a seeds=https://example.org/ -a pages=100
"""


def main() -> int:
    """Run the sample; return the exit code of the first command that failed."""
    options = _options()
    try:
        site = SampleSite(options.port, options.serve or STATES[0])
    except (OSError, OverflowError) as error:
        return _refused(options.port, error, options.serve)
    if options.serve:
        print(f"The sample site as it was {options.serve} is at {site.url} (Ctrl-C ends it)", flush=True)
        try:
            site.serve()
        except KeyboardInterrupt:
            return 0
    with site.running():
        return _show(site)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m archivebot.sample", description=__doc__)
    parser.add_argument(
        "--serve", choices=STATES, metavar="STATE", help="only serve the site: first or second"
    )
    parser.add_argument(
        "--port", type=int, default=os.environ.get("PORT") or PORT, help=f"$PORT, else {PORT}"
    )
    return parser.parse_args()


def _refused(port: int, error: OSError | OverflowError, state: str | None) -> int:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        serve = f"python -m archivebot.sample --serve {state} --port {port + 1}"
        free = serve if state else f"PORT={port + 1} make crawl"
        print(f"Port {port} is taken by another program. Choose a free one: {free}", file=sys.stderr)
    else:
        print(f"The sample site cannot be served on port {port}: {error}", file=sys.stderr)
    return 2


def _show(site: SampleSite) -> int:
    crawl = ["crawl", "site", "-a", f"seeds={site.url}", "-a", "requisites=yes"]
    steps = [
        (
            "# A small sample site is served on this machine. The archive meets it for the first time.",
            "first",
            crawl,
        ),
        ("# A week passes: some pages are edited, one is new, one has moved, one is gone.", "second", crawl),
        ("# Two visits of the front page.", "second", ["history", site.url]),
        ("# What changed on it, block by block.", "second", ["delta", site.url]),
    ]
    for remark, state, command in steps:
        site.state = state
        print(f"{remark}\n$ {shlex.join(['scrapy', *command])}", flush=True)
        code = _scrapy(command)
        if code:
            return code
        print(flush=True)
    print(NEXT.strip().format(url=site.url))
    if not shutil.which("scrapy"):
        activate = os.path.relpath(os.path.join(sys.prefix, "bin", "activate"))
        print(f"\nThe commands are not on the path of this shell yet: . {shlex.quote(activate)}")
    return 0


def _scrapy(command: list[str]) -> int:
    environment = SETTINGS | os.environ
    return subprocess.run([sys.executable, "-m", "scrapy", *command], env=environment, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
