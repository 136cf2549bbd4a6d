"""What a report of analyses is made of; how it looks is `rexrank.analysis.page`'s."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rexrank.errors import RexrankError
from rexrank.figures import Figure

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Paragraph:
    """Plain words.

    Attributes:
        text: One or a few sentences.
        quiet: Whether they are a remark.
    """

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of each names the row.

    Attributes:
        head: Headings.
        rows: Cells as they are to be read.
        caption: What stands above it.
        is_text: Whether cells are words, which stand to the left; numbers stand to the right.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    is_text: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when the page is made; where that fails, a sentence takes its place.

    Attributes:
        draw: Draws it.
        see: One sentence that says what there is to see.
    """

    draw: Callable[[], Figure]
    see: str


@dataclass(frozen=True)
class Folded:
    """What is read only by those who ask for it."""

    title: str
    blocks: "tuple[Block, ...]"


Block = Paragraph | Points | Table | Picture | Folded


@dataclass(frozen=True)
class Section:
    """A heading and what stands beneath it.

    Attributes:
        title: The heading.
        blocks: Its content.
        told: Sentences for the summary on top of the report.
        level: 2 for a part of the report, 3 for a section of a part.
    """

    title: str
    blocks: tuple[Block, ...]
    told: tuple[str, ...] = field(default=())
    level: int = 3


def safely(title: str, build: Callable[[], Section]) -> Section:
    """A section, or in its place the sentence that says why there is none: one that fails costs no other."""
    try:
        return build()
    except RexrankError as error:
        return Section(title, (Paragraph(f"Not computed: {error}."),))
    except Exception as error:
        # Only the type: another library's message may quote what it was given.
        _log.warning("the analysis %s failed with %s", title, type(error).__name__)
        why = f"it failed with {type(error).__name__}; please report this with the version of rexrank"
        return Section(title, (Paragraph(f"Not computed: {why}."),))


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in words: ``a, b and c``, of many the first ones and the number of the others."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
