"""An audit as one page of HTML: plain words first, then the numbers and pictures behind them.

The page fetches nothing, runs no script and prints. It holds no text of a report, and ids of studies only where the
caller says that they may be shown. A section that fails leaves a sentence in its place.
"""

from collections.abc import Callable
from functools import partial

from rexrank import __version__
from rexrank.analysis.blocks import Section, safely
from rexrank.analysis.page import page
from rexrank.scoring.table import counted
from rexrank.validity import audit_numbers, audit_remarks
from rexrank.validity.audit import Audit
from rexrank.validity.audit_answers import ABNORMAL_QUESTION, FLOOR_QUESTION, NEGATION_QUESTION, TEXTS_QUESTION

_SECTIONS: tuple[tuple[str, Callable[[Audit], Section]], ...] = (
    (FLOOR_QUESTION, audit_numbers.floors),
    (ABNORMAL_QUESTION, audit_numbers.abnormal),
    (TEXTS_QUESTION, audit_remarks.texts_written),
    (NEGATION_QUESTION, audit_remarks.sights),
    ("Flags", audit_remarks.flagged),
    ("All scores", audit_numbers.scores),
    ("Groups of studies", audit_numbers.groups),
    ("Audits of single errors", audit_remarks.audits),
    ("Studies that score lowest", audit_remarks.lowest),
    ("Not computed, and why", audit_remarks.not_computed),
    ("How the numbers came about", audit_remarks.origins),
)


def audit_page(found: Audit) -> str:
    """The page.

    Args:
        found: The audit.

    Returns:
        HTML that needs nothing else.
    """
    card = found.card
    sections = [safely(title, partial(build, found)) for title, build in _SECTIONS]
    lead = (
        f"What its scores mean on {found.evaluation_set.name}: {card.track} of {counted(card.n, 'study')}, protocol "
        f"{card.protocol}@{card.protocol_version}, {card.convention}. A blind floor is made of training reports alone, "
        "without an image. Scores compare texts; a high one is no proof that a report is safe."
    )
    closing = f"Made by rexrank {__version__}. It holds no text of any report."
    return page(f"Audit of {found.name}", lead, sections, closing)
