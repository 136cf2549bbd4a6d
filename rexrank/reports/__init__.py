"""Studies, sections, file formats and their validation."""

from rexrank.reports.problems import Problem
from rexrank.reports.reading import read_predictions, read_references
from rexrank.reports.sections import Sections, read_sections
from rexrank.reports.sources import choose_file
from rexrank.reports.studies import Limits, Predictions, References, Study
from rexrank.reports.validation import read_pair, validate
from rexrank.terms import TRACKS, Track

__all__ = [
    "TRACKS",
    "Limits",
    "Predictions",
    "Problem",
    "References",
    "Sections",
    "Study",
    "Track",
    "choose_file",
    "read_pair",
    "read_predictions",
    "read_references",
    "read_sections",
    "validate",
]
