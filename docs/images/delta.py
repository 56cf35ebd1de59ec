"""``make picture``: draw the delta of the front page of the sample site into docs/images/delta.png."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from archivebot.vision.render import BROWSERS

PICTURE = Path(__file__).with_suffix(".png")
WIDTH, HEIGHT = 1100, 720


def main() -> None:
    """Draw the picture."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "ARCHIVE_URI": f"sqlite:///{folder}/archive.db",
            "SCRAPY_SETTINGS_MODULE": "archivebot.settings",
        }
        made = [sys.executable, "-m", "archivebot.sample", "--port=8777"]
        subprocess.run(made, env=environment, check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, "-m", "scrapy", "serve", "--port", "0"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            draw(server.stdout.readline().strip())
            server.terminate()


def draw(archive: str) -> None:
    """Draw the delta that an archive shows."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(f"{archive}delta?{urlencode({'url': 'http://127.0.0.1:8777/'})}", wait_until="networkidle")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
