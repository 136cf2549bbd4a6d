"""A page of HTML as PDF, printed by the Chromium of this machine; nothing is fetched."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rexrank.errors import RexrankError
from rexrank.files import write_atomically

# Under these names Debian, others and Google install it.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 120
_OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--no-pdf-header-footer",
    # Small machines and containers have little shared memory.
    "--disable-dev-shm-usage",
)


class NoBrowser(RexrankError):
    """There is no browser here that prints, or it failed."""


def print_pdf(html: str, target: Path) -> None:
    """Print a page.

    Args:
        html: The page, which needs nothing else.
        target: File to write.

    Raises:
        NoBrowser: There is no Chromium, or it printed nothing.
        OSError: The file cannot be written.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise NoBrowser(
            "a PDF needs Chromium or Chrome, and none is on the path; install one (Debian: chromium), or open the page "
            "in any browser and print it"
        )
    with tempfile.TemporaryDirectory(prefix="rexrank-print-") as folder:
        page, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(html, encoding="utf-8")
        # Its sandbox does not start as root; the page itself forbids scripts and requests.
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
        profile = f"--user-data-dir={Path(folder, 'profile')}"
        command = [browser, *_OPTIONS, *sandbox, profile, f"--print-to-pdf={printed}", page.as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise NoBrowser(f"{browser} did not print within {_SECONDS} s; open the page and print it") from None
        if not printed.is_file() or not printed.stat().st_size:
            raise NoBrowser(f"{browser} printed nothing; open the page in a browser and print it")
        write_atomically(target, printed.read_bytes())
