"""Whether a model's reports depend on its images: scores with the right image, another study's, and none.

A model that ignores its image scores the same whichever it is given. So the same studies are reported three times,
with the right image, with that of another study (shuffled), and with a blank one; the paired difference of a score says
what the image is worth to it. A report that is written from text alone gives exactly 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from rexrank.comparison.compare import Comparison, Comparisons, Settings, compare
from rexrank.comparison.words import p_text
from rexrank.metrics import InvalidCall
from rexrank.scoring.progress import Progress
from rexrank.scoring.table import counted
from rexrank.statistics.paired import holm
from rexrank.statistics.power import ALPHA

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

Condition = Literal["shuffled", "blank"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
RIGHT = "right"
Verdict = Literal["no sign", "unclear", "looks", "reversed", "differs", "untested"]
_IMAGES = {"shuffled": "another study's image", "blank": "a blank image"}


@dataclass(frozen=True)
class Row:
    """One score with the right image against the same with another or none.

    Attributes:
        condition: ``shuffled`` or ``blank``.
        comparison: Differences of right minus the condition; p is corrected for every row of the result.
    """

    condition: Condition
    comparison: Comparison

    @property
    def key(self) -> str:
        """Score key."""
        return self.comparison.key

    @property
    def verdict(self) -> Verdict:
        """What interval and corrected test say.

        ``no sign`` that the image matters where the interval holds 0; ``unclear`` where it does not, but one of so many
        scores may well do so by chance (corrected p above 5 %); else the model ``looks`` at the image, or scores are
        worse with the right one (``reversed``), or neither way is better (``differs``). ``untested`` without interval.
        """
        paired = self.comparison.paired
        if paired.difference is None or paired.interval is None:
            return "untested"
        low, high = paired.interval
        if low <= 0 <= high:
            return "no sign"
        if self.comparison.p_holm is None or self.comparison.p_holm > ALPHA:
            return "unclear"
        if self.comparison.direction == "none":
            return "differs"
        return "looks" if (low > 0) == (self.comparison.direction == "higher") else "reversed"


@dataclass(frozen=True)
class Reliance:
    """What its images are worth to a model.

    Attributes:
        rows: For each condition the scores, the one to quote first.
        shared: What all cards have in common: protocol, track, convention, text preparation.
        n: Studies.
        unit: ``study`` or ``patient``, which were drawn as a whole.
        same_texts: Condition to the share of studies with the same report as with the right image, 0 to 1; only where
            the texts are known.
        absent: Score key to the reason why it is not compared.
        settings: How scores were compared.
    """

    rows: tuple[Row, ...]
    shared: Mapping[str, str]
    n: int
    unit: Literal["study", "patient"]
    same_texts: Mapping[str, float] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)

    def of(self, condition: str) -> list[Row]:
        """The rows of one condition."""
        return [row for row in self.rows if row.condition == condition]

    @property
    def sentences(self) -> list[str]:
        """One for each condition, about the score to quote."""
        return [_sentence(rows[0]) for one in CONDITIONS if (rows := self.of(one))]

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        chosen = self.settings
        return {
            "sentences": self.sentences,
            **self.shared,
            "n": self.n,
            "unit": self.unit,
            "test": chosen.test,
            "confidence": chosen.confidence,
            "resamples": chosen.resamples,
            "seed": chosen.seed,
            "correction": {"method": "holm", "family": "all rows"},
            "same_texts": dict(self.same_texts),
            "reliance": [
                {
                    "condition": row.condition,
                    "score": row.key,
                    "better": row.comparison.direction,
                    "verdict": row.verdict,
                    "right": row.comparison.paired.scores[0],
                    "other": row.comparison.paired.scores[1],
                    "difference": row.comparison.paired.difference,
                    "interval": _list(row.comparison.paired.interval),
                    "p": row.comparison.paired.p,
                    "p_holm": row.comparison.p_holm,
                    "family": row.comparison.family,
                    "n": row.comparison.paired.n,
                    "n_left_out": row.comparison.paired.left_out,
                    "detectable": row.comparison.detectable,
                }
                for row in self.rows
            ],
            "not_compared": dict(self.absent),
        }


def reliance(
    right: "ScoreCard",
    shuffled: "ScoreCard | None" = None,
    blank: "ScoreCard | None" = None,
    keys: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    same_texts: Mapping[str, float] | None = None,
    progress: bool | Progress = False,
) -> Reliance:
    """Compare a model's scores with the right images to those with others.

    Args:
        right: Score card of its reports with the right images.
        shuffled: Of its reports with images of other studies.
        blank: Of its reports with blank images.
        keys: Score keys or names of metrics, the one to quote first; None for every score that judges quality, the
            protocol's ranking keys first.
        settings: How to compare, as in `rexrank.comparison`.
        same_texts: From `same_share`, by condition.
        progress: As in `rexrank.score`.

    Raises:
        CardsDiffer: Cards that may not be compared, with every reason.
        InvalidCall: Neither shuffled nor blank images, or an unknown key.
        InvalidStatistics: Wrong test, number of resamples, seed or confidence.
    """
    others = {name: card for name, card in zip(CONDITIONS, (shuffled, blank), strict=True) if card is not None}
    if not others:
        raise InvalidCall("reliance: give the reports with shuffled images, with blank ones, or both")
    chosen = settings or Settings()
    found: dict[Condition, Comparisons] = {
        name: compare({name: card, RIGHT: right}, name, keys, chosen, progress) for name, card in others.items()
    }
    rows = [Row(name, one) for name, comparisons in found.items() for one in comparisons.rows]
    first = next(iter(found.values()))
    absent = dict(right.unavailable) if keys is None else {}
    absent |= {key: why for one in found.values() for key, why in one.absent[RIGHT].items()}
    return Reliance(
        rows=tuple(_corrected(rows)),
        shared=first.shared,
        n=first.n,
        unit=first.unit,
        same_texts=dict(same_texts or {}),
        absent=absent if rows or absent else dict.fromkeys(right.summary, "no value of it is better"),
        settings=chosen,
    )


def same_share(right: Mapping[str, str], other: Mapping[str, str]) -> float:
    """Share of studies whose report is, character for character, the same.

    Args:
        right: Study id to report with the right image; at least one.
        other: The same studies with another image.

    Raises:
        InvalidCall: No studies, or not the same ones.
    """
    if not right or right.keys() != other.keys():
        raise InvalidCall("reliance: the files must have the same studies, at least one")
    return sum(text == other[study_id] for study_id, text in right.items()) / len(right)


def _corrected(rows: Sequence[Row]) -> list[Row]:
    """Rows whose p is corrected for all of them."""
    tested = [place for place, row in enumerate(rows) if row.comparison.paired.p is not None]
    values = holm(row.comparison.paired.p for row in rows if row.comparison.paired.p is not None)
    found = list(rows)
    for place, value in zip(tested, values, strict=True):
        found[place] = replace(
            rows[place], comparison=replace(rows[place].comparison, p_holm=value, family=len(tested))
        )
    return found


def _sentence(row: Row) -> str:
    one, form = row.comparison.paired, f".{row.comparison.digits}f"
    against, lead = f"with {_IMAGES[row.condition]}", f"{row.key} over {counted(one.n, 'study')}"
    if row.verdict == "untested" or one.difference is None or one.interval is None:
        return f"{lead}: the right image cannot be compared {against}."
    ends = f"{one.difference:+{form}}, interval {one.interval[0]:+{form}} to {one.interval[1]:+{form}}"
    if row.verdict == "no sign":
        seen = row.comparison.detectable
        missed = f"; a true difference below {seen:{form}} would often stay unseen" if seen else ""
        alike = "is exactly that" if one.interval == (0.0, 0.0) else "cannot be told from that"
        return f"No sign that the model looks at the image: {lead} {alike} {against} ({ends}{missed})."
    if row.verdict == "unclear":
        p = f"p {p_text(row.comparison.p_holm)}, corrected for {counted(row.comparison.family, 'test')}"
        return f"Unclear whether the model looks at the image: {lead} differs from that {against} ({ends}), but {p}."
    if row.verdict == "looks":
        return f"The model looks at the image: {lead} is better than {against} ({ends})."
    if row.verdict == "differs":
        return f"The reports depend on the image: {lead} differs from that {against} ({ends})."
    return f"{lead} is worse with the right image than {against} ({ends}); check that the files are not mixed up."


def _list(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)
