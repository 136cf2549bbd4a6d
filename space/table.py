"""What the leaderboard shows: which rows, which columns, in which order; no page and no Hub here."""

import csv
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from rexrank.board import ranking
from space.formatting import MISSING, escape, interval, is_missing, moment, number, rank_range, spreadsheet_text

Row = Mapping[str, Any]
Kind = Literal["str", "number", "bool", "date", "markdown", "html"]
BY_RANK = "rank"
ABOVE = "over_floor"
PLAIN_COLUMNS = {
    ABOVE: "Over the floor",
    "n_studies": "Studies",
    "n_empty": "Empty",
    "organization": "Organisation",
    "submitted_at": "Submitted",
}
DEFAULT_PLAIN_COLUMNS = (ABOVE, "n_studies", "n_empty")
TEXT_COLUMNS = ("model_name", "organization")
_LOWER_FIRST = (BY_RANK, "n_empty")
_ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
_ACCENT = "background: var(--rx-sorted)"
_KINDS: Mapping[str, Kind] = {"n_studies": "number", "n_empty": "number", "submitted_at": "str"}
_SCORE_WIDTH = "138px"
_WIDTHS = {
    BY_RANK: "100px",
    "model_name": "264px",
    "n_studies": "92px",
    "n_empty": "92px",
    "organization": "170px",
    "submitted_at": "170px",
}


@dataclass(frozen=True)
class Column:
    """A score as a column.

    Attributes:
        key: Score key.
        label: Name for readers, without the arrow.
        direction: Whether the higher or the lower value is the better one, or neither.
        digits: Decimals shown.
        description: One sentence with the formula in words.
        inverse_of: Score key of which one over the mean is shown, or None. Such a column sorts by that score.
    """

    key: str
    label: str
    direction: ranking.Direction
    digits: int = 3
    description: str = ""
    inverse_of: str | None = None

    @property
    def heading(self) -> str:
        """Label with the arrow that says which way is better, where one is."""
        return f"{self.label} {_ARROWS[self.direction]}".rstrip()


@dataclass(frozen=True)
class Shown:
    """The table as the page puts it up.

    Attributes:
        value: Gradio's table: numbers as numbers, and beside them the text and style of each cell.
        kinds: Gradio's datatype of each column.
        widths: Width of each column.
        keys: What each column sorts by.
        result_ids: Id of each row, top to bottom.
    """

    value: dict[str, Any]
    kinds: list[Kind]
    widths: list[str | int]
    keys: list[str]
    result_ids: list[str]


def search(rows: Iterable[Row], text: str) -> list[Row]:
    """Keep rows whose model, organisation or owner holds every word of ``text``, in any case."""
    words = text.casefold().split()
    return [row for row in rows if all(word in _searchable(row) for word in words)]


def _searchable(row: Row) -> str:
    names = (row.get("model_name"), row.get("organization"), row.get("owner"))
    return " ".join(name for name in names if name).casefold()


def arranged(rows: Iterable[Row], key: str, columns: Sequence[Column], best_first: bool = True) -> list[Row]:
    """Sort rows by a column with the rule that also ranks them (`rexrank.board.ranking.order`).

    Args:
        rows: Rows of the leaderboard table.
        key: A score key, ``rank``, ``model_name`` or one of `PLAIN_COLUMNS`.
        columns: The score columns, which know their direction.
        best_first: Best on top; for names, A on top; for times, the latest.

    Returns:
        A new list. Incomplete rows follow complete ones and missing values come last, in both directions.
    """
    rows = list(rows)
    if key in TEXT_COLUMNS:
        return _by_text(rows, key, best_first)
    column = next((column for column in columns if column.key == key), None)
    direction = column.direction if column else "lower" if key in _LOWER_FIRST else "higher"
    if column and column.inverse_of:
        # Where the mean is not positive the inverse says nothing, so the score itself decides.
        key, direction = column.inverse_of, "lower" if direction == "higher" else "higher"
    standings = [
        ranking.Standing(
            group=None,
            value=_as_number(row.get(key)),
            complete=bool(row.get("complete")),
            stale=bool(row.get("stale")),
            submitted_at=_submitted(row),
            name=str(row.get("model_name")),
        )
        for row in rows
    ]
    return [rows[position] for position in ranking.order(standings, direction, best_first)]


def _by_text(rows: Sequence[Row], key: str, a_first: bool) -> list[Row]:
    steady = sorted(rows, key=_submitted)
    present = sorted(
        (row for row in steady if row.get(key)), key=lambda row: str(row[key]).casefold(), reverse=not a_first
    )
    return present + [row for row in steady if not row.get(key)]


def _as_number(value: object) -> float | None:
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, (int, float)) and not is_missing(value) else None


def _submitted(row: Row) -> datetime:
    time = row.get("submitted_at")
    return time if isinstance(time, datetime) else datetime.max.replace(tzinfo=UTC)


def counted(rows: Sequence[Row], among: Sequence[Row] | None = None) -> str:
    """Say how many rows are models, and how many only reference points.

    Args:
        rows: Rows of the leaderboard table.
        among: All rows of which these are some; None where these are all.
    """
    said = []
    for word, is_baseline in (("model", False), ("blind baseline", True)):
        shown, whole = (
            sum(bool(row.get("is_baseline")) is is_baseline for row in some) for some in (rows, among or rows)
        )
        if whole:
            part = "" if among is None else f"{shown} of "
            said.append(f"{part}{whole} {word}{'' if whole == 1 else 's'}")
    return " and ".join(said) or "No models"


def column_keys(columns: Sequence[Column], plain: Sequence[str]) -> list[str]:
    """What each column of the table sorts by, left to right.

    Rank, model, the deciding score with how far it is over the floor, then the other chosen columns.
    """
    scores = [column.key for column in columns]
    above = [ABOVE] if ABOVE in plain else []
    return [BY_RANK, "model_name", *scores[:1], *above, *scores[1:], *(key for key in plain if key != ABOVE)]


def laid_out(
    rows: Sequence[Row], columns: Sequence[Column], plain: Sequence[str], sorted_by: str, provisional: bool
) -> Shown:
    """Lay rows out, in the columns of `column_keys`.

    Args:
        rows: Rows in their order.
        columns: Chosen score columns, the deciding one first.
        plain: Chosen keys of `PLAIN_COLUMNS`.
        sorted_by: Key of the column to tint.
        provisional: Whether the ranks are, because the host does not compute the protocol's first ranking key.
    """
    keys = column_keys(columns, plain)
    headings = {BY_RANK: "Rank (provisional)" if provisional else "Rank", "model_name": "Model", **PLAIN_COLUMNS}
    headings |= {column.key: column.heading for column in columns}
    tint = [_ACCENT if key == sorted_by else "" for key in keys]
    value = {
        "headers": [headings[key] for key in keys],
        "data": [[_raw(row, key) for key in keys] for row in rows],
        "metadata": {
            "display_value": [[_cell(row, key, columns) for key in keys] for row in rows],
            "styling": [tint for _ in rows],
        },
    }
    widths: list[str | int] = [_WIDTHS.get(key, _SCORE_WIDTH) for key in keys]
    return Shown(
        value, [_KINDS.get(key, "html") for key in keys], widths, keys, [str(row["result_id"]) for row in rows]
    )


def _raw(row: Row, key: str) -> str | float | int | None:
    value = row.get(key)
    if key in TEXT_COLUMNS:
        # Shown as HTML, so the raw value must be harmless as HTML too.
        return html.escape(str(value or ""))
    if isinstance(value, datetime):
        return moment(value)
    return None if is_missing(value) else value


def _cell(row: Row, key: str, columns: Sequence[Column]) -> str:
    value = row.get(key)
    if key == "model_name":
        return _model_cell(row)
    if key == BY_RANK:
        return rank_cell(row)
    column = next((column for column in columns if column.key == key), None)
    if column is not None:
        return _score_cell(row, column)
    if key == "submitted_at":
        return moment(value)
    if key == ABOVE:
        return _above_cell(row)
    if key == "organization":
        return escape(value) if value else MISSING
    return MISSING if is_missing(value) else str(value)


def rank_cell(row: Row) -> str:
    """A rank with the ranks that the studies leave open, ``2 (1–4)``; where there is none, a word that says so."""
    if is_missing(row.get(BY_RANK)):
        return MISSING
    spread = rank_range(row.get("rank_lo"), row.get("rank_hi"))
    note = f' title="{escape(row["rank_note"])}"' if row.get("rank_note") else ""
    return f"{row[BY_RANK]} <small{note}>{f'({spread})' if spread else 'no range'}</small>"


def _model_cell(row: Row) -> str:
    name = f'<span class="rx-name">{escape(row.get("model_name"))}</span>'
    below = row.get("organization") or row.get("owner")
    return f"{name}{chips(row, ('is_baseline', 'stale'))}<br><small>{escape(below)}</small>"


def chips(row: Row, fields: Iterable[str]) -> str:
    """A sign for each of these fields that is so: ``is_baseline`` says "baseline"."""
    marks = (field.removeprefix("is_") for field in fields if row.get(field))
    return "".join(f' <span class="rx-chip">{mark}</span>' for mark in marks)


def _score_cell(row: Row, column: Column) -> str:
    value = row.get(column.key)
    if is_missing(value):
        return MISSING
    spread = interval(row.get(f"{column.key}_lo"), row.get(f"{column.key}_hi"), column.digits)
    below = f"<br><small>{spread}</small>" if spread else ""
    return f"<strong>{number(value, column.digits)}</strong>{below}"


def _above_cell(row: Row) -> str:
    """How much better the row is than its floor, positive where it is, with the interval and the floor's name."""
    value, name = row.get(ABOVE), escape(row.get("floor"))
    if is_missing(value):
        return MISSING
    ends = [row.get(f"{ABOVE}_{end}") for end in ("lo", "hi")]
    below = "" if any(map(is_missing, ends)) else f"<br><small>{' to '.join(map(_signed, ends))}</small>"
    return f'<span title="better than {name} by">{_signed(value)}</span>{below}'


def _signed(value: Any) -> str:
    return f"{value:+.3f}".replace("-", "−")


def to_csv(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """Write rows as CSV with full precision; text cells cannot be taken for formulas.

    Args:
        rows: Rows in their order.
        columns: Every score column of the track, also those not chosen on the page.
    """
    texts = ("model_name", "owner", "organization", "repo_id", "revision", "protocol", "protocol_version", "convention")
    counts = ("n_studies", "n_empty", "coverage", "is_baseline", "complete", "stale")
    scores = [name for column in columns for name in (column.key, f"{column.key}_lo", f"{column.key}_hi")]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    ranges = ("rank_lo", "rank_hi", "p_first")
    above = (ABOVE, f"{ABOVE}_lo", f"{ABOVE}_hi")
    ranked = (BY_RANK, *ranges, "rank_note", "floor", *above)
    writer.writerow([*ranked, *texts, *scores, *counts, "submitted_at", "result_id"])
    for row in rows:
        numbers = ["" if is_missing(row.get(name)) else repr(row[name]) for name in scores]
        ranks = ["" if is_missing(row.get(name)) else row[name] for name in (BY_RANK, *ranges)]
        submitted = row.get("submitted_at")
        writer.writerow(
            [
                *ranks,
                spreadsheet_text(row.get("rank_note")),
                spreadsheet_text(row.get("floor")),
                *("" if is_missing(row.get(name)) else row[name] for name in above),
                *(spreadsheet_text(row.get(name)) for name in texts),
                *numbers,
                *(row.get(name, "") for name in counts),
                submitted.isoformat() if isinstance(submitted, datetime) else "",
                spreadsheet_text(row["result_id"]),
            ]
        )
    return out.getvalue()
