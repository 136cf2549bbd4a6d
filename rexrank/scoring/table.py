"""A score card as people read it in a terminal: scores with intervals, what is absent and why, signatures."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rexrank.layout import percent
from rexrank.metrics import metric_of, score_keys
from rexrank.scoring import diversity
from rexrank.scoring.scope import ANY, named

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

ARROWS = {"higher": "↑", "lower": "↓", "none": " "}
WAY_OUT = "computed from your own features in Python: docs/features.md"
_SHOWN_SIGNATURES = 12
_SHOWN_KEYS = 3
_DIGITS = 4
_WIDTH = 79
# From this share on answers that cannot be read say more about the form of the answers than about the model.
MOST_UNREAD = 0.01


def table(card: "ScoreCard", signatures: bool = False) -> str:
    """The card for people.

    Args:
        card: The card.
        signatures: Whether all signatures are shown; else only those of a card with few scores are.
    """
    preparation = card.text_preparation["name"] or "texts as they are"
    head = (
        f"{card.protocol}@{card.protocol_version} · track {card.track} · {card.convention} · {preparation} · "
        f"{counted(card.n, 'study')}{_scope(card)}"
    )
    left_out = [f"left out: {counted(count, 'study')} with {reason}" for reason, count in card.left_out.items()]
    blocks = [[head], _scores(card), left_out, diversity.lines(card.diversity), _absent(card), _weights(card)]
    blocks.append(_signatures(card, signatures))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it is not 1."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(keys: Sequence[str]) -> str:
    """Score keys in one line: the first ones and the number of the others."""
    more = len(keys) - _SHOWN_KEYS
    return ", ".join(keys[:_SHOWN_KEYS]) + (f" and {more} more" if more > 0 else "")


def by_reason(unavailable: Mapping[str, str]) -> dict[str, list[str]]:
    """Keys that lack the same thing, by the reason without the name that each begins with."""
    grouped: dict[str, list[str]] = {}
    for key, why in unavailable.items():
        metric = metric_of(key).name if key in score_keys() else key
        reason = why.removeprefix(f"{key} ").removeprefix(f"{metric} ").removeprefix(f"{metric}: ")
        grouped.setdefault(reason, []).append(key)
    return grouped


def _scores(card: "ScoreCard") -> list[str]:
    if not card.summary:
        return []
    rows = [("score", "", "value", f"{percent(card.interval['confidence'])} interval", "n")]
    rows += [_row(card, key, value) for key, value in card.summary.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        f"{row[0]:<{widths[0]}} {row[1]:<1}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]:>{widths[4]}}"
        for row in rows
    ]
    return [*lines, *_footnote(card), *_unread(card), *_intervals(card), *_doubt(card)]


def _row(card: "ScoreCard", key: str, value: float) -> tuple[str, str, str, str, str]:
    known = score_keys().get(key)  # a card of another version may have others
    # One decimal more than on pages: a terminal has room, and 0.2627 and 0.2631 are different runs.
    digits = known.digits + 1 if known else _DIGITS
    low_high = card.intervals.get(key)
    ends = "–" if low_high is None else f"{low_high[0]:.{digits}f} … {low_high[1]:.{digits}f}"
    counts = card.counts.get(key, {})
    defined = counts.get("n", card.n) - counts.get("n_undefined", 0)
    return key, ARROWS[known.direction] if known else " ", f"{value:.{digits}f}", ends, f"{defined:,}"


def _footnote(card: "ScoreCard") -> list[str]:
    """Which F1 is 0 only because there was nothing to find."""
    keys = [key for key, value in card.summary.items() if value == 0 and card.counts.get(key, {}).get("n_support") == 0]
    line = f"0 because no reference has the label: {', '.join(keys)}"
    return textwrap.wrap(line, _WIDTH, subsequent_indent="  ") if keys else []


def _unread(card: "ScoreCard") -> list[str]:
    """How many answers to questions could not be read, which makes each of them wrong."""
    counts = [card.counts[key] for key in card.summary if key in score_keys() and metric_of(key).task == "vqa"]
    if not counts or not (unread := counts[0].get("n_unparsed", 0)):
        return []
    share = unread / counts[0]["n"]
    mark = "warning: " if share > MOST_UNREAD else ""
    return [f"{mark}{counted(unread, 'answer')} of {counts[0]['n']:,} ({share:.1%}) cannot be read and count as wrong"]


def _scope(card: "ScoreCard") -> str:
    said = card.scope.get("modality"), named(card.scope.get("language", ANY))
    return "".join(f" · {one}" for one in said if one not in (None, ANY))


def _doubt(card: "ScoreCard") -> list[str]:
    """Why the language may be another than was said."""
    if "warning" not in card.scope:
        return []
    return textwrap.wrap(f"warning: {card.scope['warning']}", _WIDTH, subsequent_indent="  ")


def _intervals(card: "ScoreCard") -> list[str]:
    """What the intervals draw, how many draws they do without, and why they may be too narrow."""
    units = card.interval.get("units", card.n)
    drawn = counted(units, card.interval.get("unit", "study"))
    if not card.intervals:
        return [f"no intervals: there is nothing to draw from {drawn}"] if units < 2 else []
    lines = [f"intervals: {card.interval['method']}, {counted(card.interval['resamples'], 'resample')} of {drawn}"]
    undefined = {key: card.counts.get(key, {}).get("n_undefined_draws", 0) for key in card.intervals}
    lost = ", ".join(f"{key} {count:,}" for key, count in undefined.items() if count)
    if lost:
        lines.append(f"resamples without a score, left out: {lost}")
    flat = [key for key, (low, high) in card.intervals.items() if low == high]
    if flat:
        lines.append(f"no width, as every resample scores alike, which is no certainty: {listed(flat)}")
    if "warning" in card.interval:
        lines.append(f"warning: {card.interval['warning']}")
    return [part for line in lines for part in textwrap.wrap(line, _WIDTH, subsequent_indent="  ")]


def _absent(card: "ScoreCard") -> list[str]:
    lines = [f"  {listed(keys)}: {why}" for why, keys in by_reason(card.unavailable).items()]
    if any(key in score_keys() and score_keys()[key].needs for key in card.unavailable):
        lines.append(f"  What needs an encoder or a judge is {WAY_OUT}")
    return ["not computed:", *lines] if lines else []


def _weights(card: "ScoreCard") -> list[str]:
    """Whether the encoders loaded the published files."""
    by_status: dict[str, list[str]] = {}
    for name, known in card.weights.items():
        by_status.setdefault(known.get("status", ""), []).append(name)
    lines = [
        line
        for status, names in by_status.items()
        for line in textwrap.wrap(
            f"  {status}: {', '.join(names)}", _WIDTH, subsequent_indent="    ", break_on_hyphens=False
        )
    ]
    return ["weights:", *lines] if lines else []


def _signatures(card: "ScoreCard", everyone: bool) -> list[str]:
    lines = [f"  {signature}" for signature in card.signatures.values()]
    if len(lines) > _SHOWN_SIGNATURES and not everyone:
        return [f"signatures: {len(lines)}; --signatures prints them, --out DIR and --json keep them"]
    return ["signatures:", *lines] if lines else []
