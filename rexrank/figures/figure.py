"""A finished picture: as SVG inside a page, or as a file."""

import hashlib
import io
import os
import re
import textwrap
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rexrank.errors import RexrankError, shown
from rexrank.files import user_path, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ENDINGS = (".svg", ".png", ".pdf")
_PNG_DPI = 200
# Pages set these variables, so that a picture follows a dark page; the value behind each holds elsewhere.
THEME = {
    "#14262b": "--rx-ink",
    "#4e626a": "--rx-quiet",
    "#d7e0e3": "--rx-line",
    "#0f766e": "--rx-accent",
    "#7b8b92": "--rx-base",
}
# How wide a picture of 400 units may grow on a large screen, in CSS pixels.
_WIDEST = 600
# As many as stand beside each other on 400 points.
_TITLE_LETTERS = 60
# Settings of matplotlib are those of the whole process.
_DRAWING = threading.RLock()


class InvalidFigure(RexrankError, ValueError):
    """Values that cannot be drawn, or a file that no picture can be written to."""


class MissingPlots(RexrankError, ImportError):
    """Pictures need matplotlib, and it is not installed."""


@dataclass(frozen=True, eq=False)
class Figure:
    """One picture.

    Attributes:
        drawing: The picture of matplotlib, one unit a point.
        title: What it shows; the name that a screen reader gives it.
        description: Its content in words, for those who cannot see it.
    """

    drawing: "Drawing"
    title: str
    description: str

    def svg(self) -> str:
        """The picture as an element for a page of HTML.

        It scales with its container, follows the page's ``--rx-…`` colours, keeps text as text, and holds no script
        and no reference to anything outside. The same picture gives the same text.
        """
        return _as_element(self._rendered("svg").decode(), self.title, self.description)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file whose ending (``.svg``, ``.png`` or ``.pdf``) says its form, with the title above the picture.

        Raises:
            InvalidFigure: Another ending.
            OSError: The file cannot be written.
        """
        target = user_path(path)
        ending = target.suffix.lower()
        if ending not in ENDINGS:
            raise InvalidFigure(f"{shown(target.name)} is no picture's name; end it with .svg, .png or .pdf")
        write_atomically(target, self._rendered(ending[1:], titled=True))

    def _rendered(self, form: str, titled: bool = False) -> bytes:
        """The picture in a form of matplotlib's, without dates; pages put a title of their own above it."""
        no_date: dict[str, dict[str, Any]] = {
            "svg": {"Date": None, "Creator": "rexrank", "Title": self.title, "Description": self.description},
            "png": {"Software": None, "Title": _latin(self.title)},
            "pdf": {"CreationDate": None, "Creator": "rexrank", "Producer": None, "Title": self.title},
        }
        buffer = io.BytesIO()
        with settings():
            look: dict[str, Any] = {"transparent": True} if form == "svg" else {"facecolor": "white", "dpi": _PNG_DPI}
            if titled:
                words = f"{textwrap.fill(self.title, _TITLE_LETTERS)}\n"
                heading = self.drawing.text(0, 1, words, va="bottom", color="#14262b", fontsize=11, parse_math=False)
                look |= {"bbox_inches": "tight", "pad_inches": 0.1}
            self.drawing.savefig(buffer, format=form, metadata=no_date[form], **look)
            if titled:
                heading.remove()
        return buffer.getvalue()


@contextmanager
def settings() -> Iterator[None]:
    """Settings under which pictures are drawn and written, one at a time.

    Raises:
        MissingPlots: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise MissingPlots("pictures need matplotlib; install it with: pip install 'rexrank[plots]'") from None
    ours = {
        **matplotlib.rcParamsDefault,
        "svg.fonttype": "none",
        "svg.hashsalt": "rexrank",
        "pdf.fonttype": 42,
        "font.family": "sans-serif",
    }
    # Choosing a back end would close the caller's figures.
    ours.pop("backend", None)
    with _DRAWING, matplotlib.rc_context(ours), warnings.catch_warnings():
        # A name in a script that the font lacks: a page draws it with a font of its own.
        warnings.filterwarnings("ignore", message="Glyph ")
        yield


def _latin(text: str) -> str:
    """The text in the only characters that a PNG's title may have."""
    return text.encode("latin-1", "replace").decode("latin-1")


def _as_element(document: str, title: str, description: str) -> str:
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', document)
    inner = re.search(r"<svg[^>]*>(.*)</svg>", document, re.DOTALL)
    if size is None or inner is None:
        raise InvalidFigure(f"{shown(title)}: matplotlib wrote no SVG that can stand in a page")
    body = re.sub(r"<metadata>.*?</metadata>", "", inner[1], flags=re.DOTALL)
    # The rule for "*" would reach the whole page.
    body = re.sub(r"<style[^>]*>.*?</style>|<!--.*?-->|<title>.*?</title>", "", body, flags=re.DOTALL)
    name = f"rx{hashlib.sha256((title + body).encode()).hexdigest()[:10]}"
    body = _with_own_ids(body, name)
    for colour, variable in THEME.items():
        body = re.sub(rf"(?<=: ){colour}\b", f"var({variable}, {colour})", body)
    body = re.sub(r"font-family: [^;\"]+", "font-family: inherit", body)
    body = re.sub(r"font: ([^;\"']*?px) [^;\"]+", r"font-size: \1; font-family: inherit", body)
    body = re.sub(r">\s+<", "><", body).strip()
    width = float(size[1])
    return (
        f'<svg class="rx-figure" role="img" aria-labelledby="{name}-title {name}-text" '
        f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {size[1]} {size[2]}" style="display: block; width: 100%; max-width: '
        f'{_WIDEST * width / 400:.0f}px; height: auto" '
        f'stroke-linejoin="round" font-family="ui-sans-serif, system-ui, \'DejaVu Sans\', sans-serif">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-text">{escape(description)}</desc>'
        f"{body}</svg>"
    )


def _with_own_ids(body: str, name: str) -> str:
    """Drop the ids that nothing refers to, and give the others names that no other picture of a page has."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", body)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
