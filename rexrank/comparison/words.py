"""One plain sentence that a reader can quote, and numbers as it writes them."""

from collections import Counter
from typing import TYPE_CHECKING

from rexrank.layout import percent
from rexrank.scoring.table import counted

if TYPE_CHECKING:
    from rexrank.comparison.compare import Comparison, Comparisons

_NOTHING = "no score could be compared"
_WORDS = {
    "better": "is better than",
    "worse": "is worse than",
    "higher": "is higher than",
    "lower": "is lower than",
}
_OTHERS = {
    "better": "better in",
    "worse": "worse in",
    "higher": "higher in",
    "lower": "lower in",
    "undecided": "not told apart in",
    "untested": "not tested in",
}
# Below this a p value is a matter of the number of draws; more digits would say nothing.
_SMALL_P = 0.0001


def sentence(comparisons: "Comparisons") -> str:
    """What the corrected tests say of the score to quote, and of one system's others in a few words.

    For instance "In bleu2 over 590 studies, moerad is better than normal by 0.052 (95% interval 0.043 to 0.061,
    p = 0.0001)."
    """
    key = comparisons.quoted
    if key is None:
        return f"{_NOTHING.capitalize()}."
    rows = [row for row in comparisons.rows if row.key == key]
    corrected = rows[0].family > 1
    clauses = [_clause(row, comparisons, corrected) for row in rows]
    without = set(comparisons.systems) - {row.system for row in rows}
    clauses += [f"{system} is not compared in it" for system in comparisons.systems if system in without]
    number = {row.paired.n for row in rows}
    over = f" over {counted(max(number), 'study')}" if len(number) == 1 else ""
    text = f"In {key}{over}, {'; '.join(clauses)}"
    if corrected:
        text += f"; p is corrected for {counted(rows[0].family, 'test')} (Holm)"
    others = [row for row in comparisons.rows if row.key != key]
    if len(comparisons.systems) == 1 and others:
        found = Counter[str](row.verdict for row in others)
        parts = [f"{words} {found[verdict]}" for verdict, words in _OTHERS.items() if found[verdict]]
        text += f"; of the {counted(len(others), 'other score')} it is {', '.join(parts)}"
    return f"{text}."


def _clause(row: "Comparison", comparisons: "Comparisons", corrected: bool) -> str:
    one, digits, names = row.paired, row.digits, (row.system, comparisons.baseline)
    if row.verdict == "untested" or one.difference is None:
        return f"{names[0]} cannot be compared with {names[1]}, as {untested(row)}"
    p = f"p {p_text(row.p_holm if corrected else one.p)}"
    if row.verdict == "undecided":
        ends = _ends(one.interval, comparisons, f"+.{digits}f")
        seen = (
            f"; a true difference below {row.detectable:.{digits}f} would often stay unseen" if row.detectable else ""
        )
        return f"{names[0]} cannot be told from {names[1]} (difference {one.difference:+.{digits}f}, {ends}, {p}{seen})"
    sign = 1 if one.difference > 0 else -1
    away = None if one.interval is None else (sign * one.interval[0], sign * one.interval[1])
    ends = _ends(away, comparisons, f".{digits}f")
    return f"{names[0]} {_WORDS[row.verdict]} {names[1]} by {_size(abs(one.difference), digits)} ({ends}, {p})"


def _size(difference: float, digits: int) -> str:
    """A difference that a test has found is never printed as 0."""
    least = 10.0**-digits
    return f"less than {least:.{digits}f}" if difference < least / 2 else f"{difference:.{digits}f}"


def _ends(interval: tuple[float, float] | None, comparisons: "Comparisons", form: str) -> str:
    if interval is None:
        return "no interval"
    low, high = sorted(interval)
    return f"{percent(comparisons.settings.confidence)} interval {low:{form}} to {high:{form}}"


def untested(row: "Comparison") -> str:
    """Why a row has no test."""
    one = row.paired
    if one.n == 0:
        return "no study has a value of both"
    if one.difference is None:
        return "the score is undefined on the studies that have a value of both"
    return "fewer than two studies or patients have a value of both"


def p_text(p: float | None) -> str:
    """A p value as a sentence has it: ``= 0.034``, ``< 0.0001``."""
    if p is None:
        return "unknown"
    return "< 0.0001" if p < _SMALL_P / 2 else f"= {p_number(p)}"


def p_number(p: float | None) -> str:
    """A p value as a table has it."""
    if p is None:
        return "–"
    if p < _SMALL_P / 2:
        return "<0.0001"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
