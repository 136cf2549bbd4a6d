"""Published tables as text, as Markdown and as JSON."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rexrank.layout import escaped, pipes
from rexrank.published.record import PublishedRow, title
from rexrank.published.scores import printed_score
from rexrank.published.standings import NO_RANGE, Place, PublishedTable

MISSING = "—"
FLAGGED, TRAINED = "!", "*"
_TRAINED_SAID = "trained on the benchmark's training part, as the source marks it."
_ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
_WIDTH = 79
_HEADING, _NAME, _GAP = 10, 34, "  "


def heading(key: str) -> str:
    """Label of a score with the arrow that says which way is better."""
    score = printed_score(key)
    return f"{score.label} {_ARROWS[score.direction]}".rstrip()


def cell(row: PublishedRow, key: str) -> str:
    """A printed value with the table's decimals, or the sign for "not there"."""
    value = row.scores.get(key)
    return MISSING if value is None else f"{value:.{printed_score(key).digits}f}"


def described(table: PublishedTable) -> list[str]:
    """Sentences about a table: cases, ranking, source, what its snapshot says."""
    ranked = f"Ranked by {heading(table.deciding)}" if table.deciding else "Not ranked"
    return [
        f"Reported by {title(table.snapshot.board)}, not computed by rexrank: {table.cases}. {ranked}.",
        f"Source: {table.snapshot.source}, {table.snapshot.url}",
        table.snapshot.note,
        *([f"{TRAINED} {_TRAINED_SAID}"] if any(place.row.trained_on_benchmark for place in table.places) else []),
    ]


def told(row: PublishedRow) -> list[str]:
    """What the source says of a row beside its scores."""
    plain = [str(fact) for fact in (row.institution, row.venue, row.year) if fact]
    named = {
        "encoder": row.encoder,
        "decoder": row.decoder,
        "trained on the benchmark": "yes" if row.trained_on_benchmark else None,
        "tuned parameters": f"{row.tuned_millions:g} M" if row.tuned_millions else None,
        "minutes": row.minutes,
    }
    return [*plain, *(f"{name}: {value}" for name, value in named.items() if value)]


def text(tables: Sequence[PublishedTable]) -> str:
    """Tables for a terminal, each with its source before it and its flags after it."""
    return "\n\n\n".join([*map(_text, tables), filled(NO_RANGE)])


def _text(table: PublishedTable) -> str:
    head = [table.name, *map(filled, described(table))]
    rows = [[_rank(place), _short(place), *(cell(place.row, key) for key in table.columns)] for place in table.places]
    lines = aligned(["rank", "model", *map(heading, table.columns)], rows)
    return "\n\n".join("\n".join(block) for block in (head, lines, flag_lines(table.places)) if block)


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay columns out: long headings in several lines, the second column to the left, all others to the right."""
    wrapped = [textwrap.wrap(one, _HEADING, break_long_words=False) or [""] for one in headings]
    height = max(map(len, wrapped))
    above = [[""] * (height - len(one)) + one for one in wrapped]
    grid = [*zip(*above, strict=True), *rows]
    widths = [max(len(line[column]) for line in grid) for column in range(len(headings))]
    return [
        _GAP.join(
            part.ljust(width) if column == 1 else part.rjust(width)
            for column, (part, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in grid
    ]


def flag_lines(places: Sequence[Place]) -> list[str]:
    """What is flagged, a line or more for each flag, under a heading; nothing where nothing is."""
    lines = [
        filled(f"{FLAGGED} {place.row.model}: {flag.message}", first="  ", later="    ")
        for place in places
        for flag in place.flags
    ]
    return ["flagged:", *lines] if lines else []


def filled(said: str, first: str = "", later: str = "") -> str:
    """A sentence broken into lines of a terminal, names and addresses left whole."""
    return textwrap.fill(
        said, _WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


def _rank(place: Place) -> str:
    return MISSING if place.rank is None else str(place.rank)


def _short(place: Place) -> str:
    return f"{textwrap.shorten(place.row.model, _NAME, placeholder=' …')}{_marks(place)}"


def _marks(place: Place) -> str:
    return f"{TRAINED if place.row.trained_on_benchmark else ''}{f' {FLAGGED}' if place.flags else ''}"


def markdown(tables: Sequence[PublishedTable]) -> str:
    """Tables in Markdown, each with its source and its flags."""
    return "\n\n".join([*map(_markdown, tables), NO_RANGE])


def _markdown(table: PublishedTable) -> str:
    rows = [
        [_rank(place), f"{place.row.model}{_marks(place)}", *(cell(place.row, key) for key in table.columns)]
        for place in table.places
    ]
    flagged = [
        f"- {escaped(place.row.model)}: {escaped(flag.message)}" for place in table.places for flag in place.flags
    ]
    blocks = [
        [f"## {escaped(table.name)}"],
        [line.replace(f"{TRAINED} ", f"\\{TRAINED} ") for line in described(table)],
        pipes([["rank", "model", *map(heading, table.columns)], *rows], names=1),
        ["Flagged:", "", *flagged] if flagged else [],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def as_json(tables: Sequence[PublishedTable]) -> list[dict[str, Any]]:
    """Tables as JSON objects, values at printed precision, blank cells null."""
    return [
        {
            "reported_by": title(table.snapshot.board),
            "board": table.snapshot.board,
            "snapshot": table.snapshot.model_dump(exclude={"board"}),
            "benchmark": table.benchmark,
            "split": table.split,
            "track": table.track,
            "n": table.places[0].row.n if _one_number(table) else None,
            "cases": table.cases,
            "ranked_by": table.deciding,
            "rank_ranges": None,
            "why_no_rank_ranges": NO_RANGE,
            "columns": {key: printed_score(key).model_dump(exclude={"key"}) for key in table.columns},
            "rows": [_row_json(place) for place in table.places],
        }
        for table in tables
    ]


def _one_number(table: PublishedTable) -> bool:
    return len({place.row.n for place in table.places}) == 1


def _row_json(place: Place) -> Mapping[str, Any]:
    row = place.row.model_dump(exclude={"board", "snapshot", "benchmark", "split", "track", "notes", "n_said"})
    return {
        "rank": place.rank,
        **row,
        "flags": [{"kind": flag.kind, "message": flag.message} for flag in place.flags],
    }
