"""Scored answers as people read them in a terminal."""

import textwrap

from rexrank.layout import columns, plain
from rexrank.scoring.questions import Answered, Rate
from rexrank.scoring.table import counted

_WIDTH = 79


def table(found: Answered) -> str:
    """Accuracy, categories, negations, letters, and what should not be overlooked."""
    card = found.card
    head = f"{counted(card.n, 'question')} · answers read as {card.convention}"
    units = card.interval.get("units")
    drawn = counted(card.n, "question") if units is None else counted(units, card.interval["unit"])
    how = f"intervals: {card.interval['method']}, {counted(card.interval['resamples'], 'resample')} of {drawn}"
    blocks = [[head], _accuracy(found), [how], _negations(found), _letters(found), _absent(found), _flags(found)]
    signatures = ["signatures:", *(f"  {one}" for one in card.signatures.values())]
    return "\n\n".join("\n".join(lines) for lines in [*blocks, signatures] if lines)


def _accuracy(found: Answered) -> list[str]:
    card = found.card
    rows = [("accuracy", "value", "95% interval", "n", "unread")]
    unread = round((found.unread.value or 0.0) * found.unread.n)
    for key, name in (("vqa_accuracy_micro", "all questions"), ("vqa_accuracy_macro", "mean of categories")):
        if key in card.summary:
            rate = Rate(card.summary[key], card.intervals.get(key), card.n)
            rows.append((name, *_number(rate), f"{card.n:,}", f"{unread:,}"))
    for one in found.categories:
        rows.append((f"  {plain(one.name)}", *_number(one.accuracy), f"{one.accuracy.n:,}", f"{one.n_unparsed:,}"))
    if found.chance is not None:
        rows.append(("by guessing", f"{found.chance:.4f}", "", "", ""))
    return columns(rows)


def _negations(found: Answered) -> list[str]:
    cases = (
        ("opposite chosen where offered", found.reversed_options),
        ("same answer to its negation", found.unmoved_pairs),
    )
    rows = [
        (name, *_number(rate), f"{rate.n:,}", f"{rate.left_out:,}")
        for name, rate in cases
        if rate is not None and (rate.n or rate.left_out)
    ]
    return columns([("negation", "rate", "95% interval", "n", "unread"), *rows]) if rows else []


def _letters(found: Answered) -> list[str]:
    if not found.letters or found.bias is None:
        return []
    rows = [("letter", "chosen", "right", "difference, 95%", "p (Holm)")]
    for one in found.letters:
        ends = "–" if one.interval is None else f"{one.interval[0]:+.3f} … {one.interval[1]:+.3f}"
        p = "–" if one.p is None else f"{one.p:.4f}"
        rows.append((one.letter, f"{one.chosen:.3f}", f"{one.right:.3f}", ends, p))
    value, ends = _number(found.bias)
    return [*columns(rows), f"distance between chosen and right letters: {value} ({ends}), n {found.bias.n:,}"]


def _absent(found: Answered) -> list[str]:
    reasons = list(dict.fromkeys(found.card.unavailable.values()))
    return ["not computed:", *(f"  {reason}" for reason in reasons)] if reasons else []


def _flags(found: Answered) -> list[str]:
    return [part for flag in found.flags for part in textwrap.wrap(f"flag: {flag}", _WIDTH, subsequent_indent="  ")]


def _number(rate: Rate) -> tuple[str, str]:
    value = "–" if rate.value is None else f"{rate.value:.4f}"
    return value, "–" if rate.interval is None else f"{rate.interval[0]:.3f} … {rate.interval[1]:.3f}"
