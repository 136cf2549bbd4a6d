"""Which reports the stress suite edits: invented ones, those of a file, or those of a benchmark."""

import os

from rexrank.metrics.inputs import InvalidCall
from rexrank.reports.reading import Source
from rexrank.reports.studies import Study, is_blank
from rexrank.terms import Track
from rexrank.validity.edits.edit import Chance
from rexrank.validity.invented import reports
from rexrank.validity.sets import open_set

MOST_INVENTED = 5000


def chosen(
    benchmark: str | os.PathLike[str] | None = None,
    references: Source | None = None,
    track: Track = "findings",
    number: int = 200,
    seed: int = 0,
) -> tuple[list[str], str]:
    """Reports, and what they are in words.

    Args:
        benchmark: As `rexrank.validity.sets.open_set` takes it.
        references: A file of references instead. Without both, invented reports.
        track: Which text of a study is edited.
        number: Of reports at most, at least 2; drawn without replacement where there are more.
        seed: Of the draw.

    Raises:
        InvalidCall: A number out of range.
        RexrankError: The benchmark or the file cannot be read.
    """
    if number < 2 or (number > MOST_INVENTED and benchmark is None and references is None):
        raise InvalidCall(f"n: expected a number of reports from 2 to {MOST_INVENTED:,}, got {number}")
    if benchmark is None and references is None:
        return reports(number, seed), "invented"
    opened = open_set(benchmark, references, track=track)
    texts = [text for study in opened.studies.values() if (text := _text(study, track)) and not is_blank(text)]
    drawn = Chance("reports", seed).shuffled(texts)[:number]
    return drawn, f"{track} of {opened.name}"


def _text(study: Study, track: Track) -> str | None:
    """The text of a track as it stands; a report's sections one after the other where there is no whole."""
    if track != "report":
        return study.findings if track == "findings" else study.impression
    return study.report or " ".join(part for part in (study.findings, study.impression) if part)
