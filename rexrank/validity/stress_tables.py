"""The stress suite's result for people: tables in a terminal or in Markdown, and a picture."""

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, TypeVar

from rexrank.layout import NOTHING, columns, escaped, number, pipes
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.validity.stress import COIN, CONFIDENCE, SEEN, Estimate, Stress, Stressed
from rexrank.validity.stress_texts import ALL, ERRORS, JOINED, KINDS, ONE, TRUNCATED

if TYPE_CHECKING:
    from rexrank.figures import Figure

_WIDTH = 79
_SIGHTS = {"yes": "sees", "barely": "barely", "no": "blind", "unsure": "unsure", None: ""}
_MOST_DRAWN = 16
_HARMFUL = [name for name, kind in KINDS.items() if kind == "harmful"]
_HARMLESS = [name for name, kind in KINDS.items() if kind == "harmless"]
_FURTHER = (
    (ERRORS, "1"),
    (ERRORS, "2"),
    (ERRORS, "3"),
    (TRUNCATED, "75%"),
    (TRUNCATED, "50%"),
    (TRUNCATED, "25%"),
    JOINED,
)
Rows = list[list[str]]
Item = TypeVar("Item")


def table(found: Stress) -> str:
    """The result for a terminal, at most 79 columns wide where names of scores allow."""
    blocks = [[head(found)], ["edits", *columns(_applied(found))]]
    if found.scores:
        for title, cells in (("scores", _summary(found)), *_by_edit(found)):
            blocks += [[title if first else f"{title}, continued", *columns(part)] for first, part in _parts(cells)]
        blocks += [_notes(), [part for line in blind(found) for part in wrap(line, _WIDTH, subsequent_indent="  ")]]
    blocks.append(_absent(found))
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def markdown(found: Stress) -> str:
    """The result as Markdown."""
    blocks = [escaped(head(found)), "### Edits", "\n".join(pipes(_applied(found)))]
    if found.scores:
        blocks += [
            "### Scores",
            "\n".join(pipes(_summary(found))),
            "\n".join(f"- {escaped(line)}" for line in _notes()),
        ]
        for title, cells in _by_edit(found):
            blocks += [f"### {title[0].upper()}{title[1:]}", "\n".join(pipes(cells))]
        blocks.append("\n".join(f"- {escaped(line)}" for line in blind(found)))
    if absent := _absent(found):
        blocks.append("\n".join(f"- {escaped(line.strip())}" for line in absent[1:]))
    return "\n\n".join(blocks) + "\n"


def picture(found: Stress) -> "Figure":
    """Edits by scores: blue is good, white is nothing, orange is bad.

    A harmful edit's cell is twice its discrimination less one: 1 where the score always tells it from a harmless edit,
    0 where it guesses. A harmless edit's cell is the share lost of the way to another report's score, with a minus.
    At most 16 scores are drawn.

    Raises:
        InvalidFigure: No score has a value.
        MissingPlots: matplotlib is not installed.
    """
    from rexrank.figures import heatmap

    scores = list(found.scores.values())[:_MOST_DRAWN]
    rows = [[_told(one.by_edit[name].value) for one in scores] for name in _HARMFUL]
    rows += [[_lost(one, name) for one in scores] for name in _HARMLESS]
    title = (
        "Stress suite. Harmful edits: told from harmless ones of like size (1 always, 0 as a coin). "
        "Harmless edits: loss, as share of that of another report"
    )
    return heatmap(
        [name.replace("_", " ") for name in (*_HARMFUL, *_HARMLESS)], rows, title, [one.key for one in scores]
    )


def _told(share: float | None) -> float | None:
    return None if share is None else 2 * share - 1


def _lost(one: Stressed, name: str) -> float | None:
    cell = one.cell(name, ALL)
    return None if cell is None or cell.kept.value is None else max(-1.0, min(1.0, cell.kept.value - 1))


def head(found: Stress) -> str:
    """What was edited and how, in one line."""
    reports = counted(found.n, "report")
    return (
        f"stress suite · {reports}: {found.source} · {found.convention} · seed {found.seed} · {found.resamples:,} draws"
    )


def blind(found: Stress) -> list[str]:
    """One sentence a score: which errors it does not see."""
    lines = []
    for key, one in found.scores.items():
        unseen = [name.replace("_", " ") for name in one.unseen]
        whole = len(unseen) == len(one.by_edit)
        said = (
            "sees none of the errors"
            if whole
            else f"does not see: {', '.join(unseen)}"
            if unseen
            else "sees every error"
        )
        lines.append(f"{key} {said}")
    return lines


def _applied(found: Stress) -> Rows:
    rows = [["edit", "kind", "reports", "words, one place", "words, everywhere"]]
    for name, (n, one, every) in found.applied.items():
        rows.append([name, KINDS[name], f"{n:,}", f"{one:.1f}", f"{every:.1f}"])
    return rows


def _summary(found: Stress) -> Rows:
    rows = [["score", "discrimination", "robustness", "3 errors", "cut", "joined"]]
    for key, one in found.scores.items():
        shares = (one.discrimination, one.robustness, one.monotonicity)
        ends = (one.truncation, one.concatenation)
        rows.append(
            [f"{key} {ARROWS[one.direction]}", *map(_with_ends, shares), *(_number(each.value) for each in ends)]
        )
    return rows


def _notes() -> list[str]:
    return [
        f"discrimination: harmful edits below harmless ones of their size ({COIN} is a coin)",
        "robustness: of the way up from another report's score kept if harmless",
        "3 errors, cut: reports that fall with each of three errors, or of three cuts",
        "joined: reports that fall with another behind, yet above the other",
        f"in brackets: {CONFIDENCE:.0%} intervals, reports drawn",
    ]


def _by_edit(found: Stress) -> list[tuple[str, Rows]]:
    """Tables with a row an edit and a column a score."""
    known = [name for name in found.applied if name in _HARMFUL]
    whole = [*((name, "") for name in found.applied), *_FURTHER]
    return [
        (
            f"discrimination by edit: sees above {SEEN}, blind up to {COIN}",
            _rows(
                found,
                known,
                str,
                lambda one, name: f"{_number(one.by_edit[name].value)} {_SIGHTS[one.sees(name)]}".strip(),
            ),
        ),
        (
            "kept of the way up from another report: one place / everywhere",
            _rows(found, whole, lambda name: " ".join(name).strip(), lambda one, name: _kept(one, *name)),
        ),
    ]


def _rows(
    found: Stress, items: Sequence[Item], named: Callable[[Item], str], said: Callable[[Stressed, Item], str]
) -> Rows:
    return [
        ["edit", *found.scores],
        *([named(item), *(said(one, item) for one in found.scores.values())] for item in items),
    ]


def _kept(one: Stressed, edit: str, dose: str) -> str:
    cells = [one.cell(edit, each) for each in ((ONE, ALL) if edit in KINDS else (dose,))]
    return " / ".join(NOTHING if cell is None else _number(cell.kept.value) for cell in cells)


def _absent(found: Stress) -> list[str]:
    lines = [f"  {listed(keys)}: {why}" for why, keys in by_reason(found.unavailable).items()]
    return ["not stressed:", *lines] if lines else []


def _number(value: float | None) -> str:
    return number(value, ".2f")


def _with_ends(one: Estimate) -> str:
    ends = "" if one.interval is None else f" ({one.interval[0]:.2f}…{one.interval[1]:.2f})"
    return f"{_number(one.value)}{ends}"


def _parts(cells: Rows) -> list[tuple[bool, Rows]]:
    """Columns of a wide table in parts that fit a terminal, each with the first column; and whether it is the first."""
    widths = [max(len(row[column]) for row in cells) + 2 for column in range(len(cells[0]))]
    parts: list[list[int]] = [[]]
    room = _WIDTH - widths[0]
    for column, width in enumerate(widths[1:], start=1):
        if parts[-1] and width > room:
            parts.append([])
            room = _WIDTH - widths[0]
        parts[-1].append(column)
        room -= width
    return [
        (position == 0, [[row[0], *(row[column] for column in part)] for row in cells])
        for position, part in enumerate(parts)
    ]
