"""The human ceiling for people: in a terminal and in Markdown."""

from rexrank.comparison.words import p_number
from rexrank.layout import columns, ends, escaped, number, percent, pipes
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.validity.ceiling import Ceiling

_WORDS = {
    "below": "below it",
    "level": "no difference seen",
    "unclear": "unclear",
    "above": "above it",
    "untested": "–",
}
_STYLE = "change of the model's score with the reference alone"


def table(found: Ceiling) -> str:
    """For a terminal: the ceiling, the model's style, notes, and the sentence at the end."""
    blocks = [[head(found)]]
    if found.rows:
        blocks.append(columns(_cells(found)))
    if any(row.style for row in found.rows):
        blocks.append([_STYLE, *columns(_style_cells(found))])
    blocks += [notes(found), _absent(found), [found.sentence] if found.sentence else []]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def markdown(found: Ceiling) -> str:
    """As Markdown: the sentence, the tables, notes."""
    blocks = [escaped(found.sentence)] if found.sentence else []
    blocks.append(escaped(head(found)))
    if found.rows:
        blocks.append("\n".join(pipes(_cells(found))))
    if any(row.style for row in found.rows):
        blocks += [f"### {_STYLE}", "\n".join(pipes(_style_cells(found)))]
    blocks.append("\n".join(f"- {escaped(line.strip())}" for line in (*notes(found), *_absent(found))))
    return "\n\n".join(blocks) + "\n"


def head(found: Ceiling) -> str:
    """What was measured and how, in one line."""
    drawn = "patients" if found.unit == "patient" else "studies"
    return (
        f"human ceiling · {found.protocol} · track {found.track} · {found.convention} · {counted(found.n, 'study')} "
        f"with several references · {found.resamples:,} draws of {drawn}, seed {found.seed}"
    )


def notes(found: Ceiling) -> list[str]:
    """What took part, and what the columns mean."""
    numbers = ", ".join(
        f"{counted(studies, 'study')} with {number}" for number, studies in sorted(found.references.items())
    )
    lines = [f"references: {numbers}; each is left out once and scored against the others of its study"]
    if found.left_out:
        lines.append(f"{counted(found.left_out, 'study')} with fewer than two take no part")
    if found.repeated:
        lines.append(
            f"in {counted(found.repeated, 'study')} two references are the same text, which raises the ceiling"
        )
    lines.append(f"intervals: {percent(found.confidence)}")
    if found.has_model and found.rows:
        lines += [
            "difference: model minus radiologist, against the same references, so against as many",
            f"Holm p: corrected for the {counted(len(found.rows), 'score')} of this run",
        ]
    return lines


def _cells(found: Ceiling) -> list[list[str]]:
    readers = max((len(row.readers) for row in found.rows), default=0)
    heads = ["score", "", "radiologist", "interval", *(f"ref. {place}" for place in range(1, readers + 1))]
    cells = [[*heads, *(["model", "difference", "interval", "Holm p", "model is"] if found.has_model else [])]]
    for row in found.rows:
        form = f".{row.digits}f"
        line = [row.key, ARROWS[row.direction], number(row.human, form), ends(row.interval, form)]
        line += [number(one, form) for one in row.readers] or ["–"] * readers
        if found.has_model:
            one = row.paired
            line += [
                number(one.scores[0] if one else None, form),
                number(one.difference if one else None, f"+{form}"),
                ends(one.interval if one else None, f"+{form}"),
                p_number(row.p_holm),
                _WORDS[row.verdict],
            ]
        cells.append(line)
    return cells


def _style_cells(found: Ceiling) -> list[list[str]]:
    cells = [["score", "lowest", "highest", "change", "interval", "studies"]]
    for row in found.rows:
        if (one := row.style) is not None:
            form = f".{row.digits}f"
            numbers = [number(value, form) for value in (one.lowest, one.highest, one.change)]
            cells.append([row.key, *numbers, ends(one.interval, form), f"{one.n:,}"])
    return cells


def _absent(found: Ceiling) -> list[str]:
    lines = [f"  {listed(keys)}: {why}" for why, keys in by_reason(found.absent).items()]
    return ["not measured:", *lines] if lines else []
