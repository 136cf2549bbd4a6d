"""What images are worth to a model, for people: in a terminal and in Markdown."""

from rexrank.comparison.words import p_number
from rexrank.layout import columns, ends, escaped, number, percent, pipes
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.validity.reliance import CONDITIONS, Reliance

_WORDS = {
    "no sign": "no sign of it",
    "unclear": "unclear",
    "looks": "looks at it",
    "reversed": "worse with it",
    "differs": "depends on it",
    "untested": "not tested",
}


def table(found: Reliance) -> str:
    """For a terminal: one table a condition, notes, and the sentences at the end."""
    blocks = [[head(found)]]
    for name in CONDITIONS:
        if found.of(name):
            blocks.append([f"right image against {name}", *columns(_cells(found, name))])
    blocks += [notes(found), _absent(found), found.sentences]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def markdown(found: Reliance) -> str:
    """As Markdown: the sentences, one table a condition, notes."""
    blocks = [*map(escaped, found.sentences), escaped(head(found))]
    for name in CONDITIONS:
        if found.of(name):
            blocks += [f"### right image against {name}", "\n".join(pipes(_cells(found, name)))]
    blocks.append("\n".join(f"- {escaped(line.strip())}" for line in (*notes(found), *_absent(found))))
    return "\n\n".join(blocks) + "\n"


def head(found: Reliance) -> str:
    """What was compared and how, in one line."""
    shared, chosen = found.shared, found.settings
    drawn = "patients" if found.unit == "patient" else "studies"
    return (
        f"{shared['protocol']} · track {shared['track']} · {shared['convention']} · {shared['text_preparation']} · "
        f"{counted(found.n, 'study')} · {chosen.resamples:,} draws of {drawn}, seed {chosen.seed}"
    )


def notes(found: Reliance) -> list[str]:
    """What the columns mean, and how many reports are word for word the same."""
    lines = [
        f"same report as with the right image: {share:.1%} of studies with a {name} image"
        for name, share in found.same_texts.items()
    ]
    if not found.rows:
        return lines
    family = max(row.comparison.family for row in found.rows)
    return [
        *lines,
        "difference: with the right image minus with the other; 0 where the image does not matter",
        f"Holm p: corrected for the {counted(family, 'test')} of this run",
        f"image: no sign where the {percent(found.settings.confidence)} interval holds 0, unclear where Holm p is > 5%",
    ]


def _cells(found: Reliance, name: str) -> list[list[str]]:
    cells = [["score", "", "right", name, "difference", "interval", "Holm p", "image"]]
    for row in found.of(name):
        one, form = row.comparison.paired, f".{row.comparison.digits}f"
        numbers = [number(one.scores[0], form), number(one.scores[1], form), number(one.difference, f"+{form}")]
        numbers += [ends(one.interval, f"+{form}"), p_number(row.comparison.p_holm), _WORDS[row.verdict]]
        cells.append([row.key, ARROWS[row.comparison.direction], *numbers])
    return cells


def _absent(found: Reliance) -> list[str]:
    lines = [f"  {listed(keys)}: {why}" for why, keys in by_reason(found.absent).items()]
    return ["not compared:", *lines] if lines else []
