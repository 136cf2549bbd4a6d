"""Names, directions and decimals of the printed scores."""

from functools import cache

from pydantic import BaseModel, ConfigDict

from rexrank.metrics import registry
from rexrank.published.record import declared_scores
from rexrank.terms import Direction

DIGITS = 3
_VQA, _VQA_DIGITS = "vqa_", 4


class PrintedScore(BaseModel):
    """A column of the published tables.

    Attributes:
        key: Score key.
        label: Name for readers: rexrank's own where it computes the score.
        direction: Which values are better.
        digits: Decimals with which the tables print it.
    """

    model_config = ConfigDict(frozen=True)

    key: str
    label: str
    direction: Direction
    digits: int


@cache
def printed_score(key: str) -> PrintedScore:
    """What is known of a score of `PublishedRow.scores`.

    Raises:
        KeyError: No published table has it.
    """
    digits = _VQA_DIGITS if key.startswith(_VQA) else DIGITS
    own = registry.score_keys().get(key)
    if own:
        return PrintedScore(key=key, label=own.label, direction=own.direction, digits=digits)
    return PrintedScore.model_validate({"key": key, "digits": digits, **declared_scores()[key]})
