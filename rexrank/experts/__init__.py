"""Radiologists' judgements of reports, read from their owners' files, and how well metrics agree with them.

Names are fetched on first use, so importing this package does not import numpy.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "KINDS": "rexrank.experts.loading",
    "Candidate": "rexrank.experts.judgements",
    "Judgements": "rexrank.experts.judgements",
    "Opinion": "rexrank.experts.judgements",
    "UnreadableJudgements": "rexrank.experts.judgements",
    "agree": "rexrank.experts.agreement",
    "load": "rexrank.experts.loading",
}

__all__ = ["KINDS", "Candidate", "Judgements", "Opinion", "UnreadableJudgements", "agree", "load"]

if TYPE_CHECKING:
    from rexrank.experts.agreement import agree
    from rexrank.experts.judgements import Candidate, Judgements, Opinion, UnreadableJudgements
    from rexrank.experts.loading import KINDS, load

__getattr__ = names_of(__name__, _HOMES)
