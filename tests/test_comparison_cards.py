"""Cards are compared on the same studies, or not at all."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank.comparison import CardsDiffer, aligned
from rexrank.errors import WrongType
from rexrank.metrics import InvalidCall

TEXTS = [
    "The heart is enlarged. Small left pleural effusion.",
    "Lungs are clear. No pneumothorax.",
    "Mild pulmonary edema. Heart size is normal.",
    "Right lower lobe pneumonia, new since the prior study.",
    "No acute process.",
    "Left basilar atelectasis. No effusion.",
]
REFERENCES = {f"s{number}": {"findings": text, "impression": text[:9]} for number, text in enumerate(TEXTS)}
METRICS = ["bleu2", "coco_bleu2", "f1labels_macro_14", "report_statistics"]


def _card(references: dict[str, Any] | None = None, metrics: Any = METRICS, **keywords: Any) -> rexrank.ScoreCard:
    known = REFERENCES if references is None else references
    predictions = {one: TEXTS[(int(one[1:]) + 1) % 6] for one in known}
    return rexrank.score(
        predictions, known, keywords.pop("protocol", "plain"), metrics=metrics, progress=False, **keywords
    )


@pytest.fixture(scope="module")
def card() -> rexrank.ScoreCard:
    return _card()


def test_studies_in_another_order_are_brought_together(card: rexrank.ScoreCard) -> None:
    order = np.array([4, 2, 0, 5, 1, 3])
    other = replace(card, per_study=card.per_study.take(order), statistics=card.statistics.take(order))  # type: ignore[union-attr]
    both = aligned([card, other])
    assert both.study_ids == tuple(REFERENCES)
    assert {"bleu2", "coco_bleu2", "f1labels_macro_14"} <= both.samples.keys()
    for key, (left, right) in both.samples.items():
        np.testing.assert_array_equal(left.statistics, right.statistics)
        assert left.score == pytest.approx(card.summary[key])
        np.testing.assert_array_equal(*both.values[key])


def test_scores_of_the_whole_set_and_of_one_card_alone_are_absent(card: rexrank.ScoreCard) -> None:
    both = aligned([card, _card(metrics=["bleu2", "report_statistics"])], names=["old", "new"])
    assert list(both.samples) == ["bleu2", "report_words", "reference_words"]
    assert both.absent["report_distinct"] == "only the whole set of reports has such a score, so no study can be drawn"
    assert both.absent["coco_bleu2"] == "new lacks it: it was not asked for when the card was made"


def test_why_a_card_lacks_a_score_is_said(card: rexrank.ScoreCard) -> None:
    other = _card(metrics=["bleu2", "green"])
    why = aligned([card, other], ["bleu2", "green"], ["old", "new"]).absent["green"]
    assert why.startswith("old lacks it")
    assert "judge" in aligned([other, other], ["green"]).absent["green"]


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"references": {**REFERENCES, "s0": {"findings": "Clear."}}}, "was scored against other references than old"),
        (
            {"protocol": "rexrank"},
            "new has the protocol rexrank@2026-08 and old plain@2; score new again with --protocol",
        ),
        (
            {"track": "impression"},
            "new has the track impression and old findings; score new again with --track findings",
        ),
        ({"convention": "corrected"}, "new has the convention corrected and old published"),
        ({"text_preparation": "lower"}, "new has the text preparation none+lower and old none"),
    ],
)
def test_cards_that_differ_are_refused_with_the_way_out(
    card: rexrank.ScoreCard, keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(CardsDiffer) as caught:
        aligned([card, _card(**keywords)], names=["old", "new"])
    assert any(words in reason for reason in caught.value.reasons), caught.value.reasons
    assert str(caught.value) == "\n".join(caught.value.reasons)


def test_another_signature_is_refused_where_the_score_was_asked_for(card: rexrank.ScoreCard) -> None:
    other = _card(options={"f1labels.uncertain": "negative"})
    with pytest.raises(CardsDiffer, match=r'f1labels_macro_14 of new and old .*"uncertain:negative"'):
        aligned([card, other], ["bleu2", "f1labels_macro_14"], ["old", "new"])
    both = aligned([card, other], names=["old", "new"])
    assert "bleu2" in both.samples
    assert "different ways" in both.absent["f1labels_macro_14"]


def test_a_card_without_its_studies_is_refused(card: rexrank.ScoreCard) -> None:
    fewer = replace(card, per_study=card.per_study.slice(0, 4))
    with pytest.raises(CardsDiffer, match=r'2 studies are in only one of card 1 and card 2 \("s4", "s5"\)'):
        aligned([card, fewer])


def test_patients_that_one_card_knows_hold_for_both(card: rexrank.ScoreCard) -> None:
    knowing = replace(card, groups=[0, 0, 1, 1, 2, 2])
    assert aligned([card, knowing]).groups == aligned([knowing, card]).groups == [0, 0, 1, 1, 2, 2]
    assert aligned([card, card]).groups is None
    # The same patients under other numbers.
    assert aligned([knowing, replace(card, groups=[7, 7, 5, 5, 0, 0])]).groups == [0, 0, 1, 1, 2, 2]
    with pytest.raises(CardsDiffer, match="card 2 and card 1 say differently which studies are of one patient"):
        aligned([knowing, replace(card, groups=[0, 1, 1, 2, 2, 2])])


def test_patients_follow_the_order_of_studies(card: rexrank.ScoreCard) -> None:
    order = np.array([5, 4, 3, 2, 1, 0])
    turned = replace(card, per_study=card.per_study.take(order), statistics=None, groups=[0, 0, 1, 1, 2, 2])
    assert aligned([card, turned], ["bleu2"]).groups == [0, 0, 1, 1, 2, 2]
    with pytest.raises(CardsDiffer, match="of one patient"):
        aligned([turned, replace(card, groups=[0, 0, 1, 1, 1, 2])], ["bleu2"])


def test_a_score_that_cannot_be_resampled_any_more_is_absent_or_refused(card: rexrank.ScoreCard) -> None:
    old = replace(card, statistics=None)
    assert "no statistics" in aligned([card, old]).absent["coco_bleu2"]
    with pytest.raises(rexrank.RexrankError, match="no statistics of coco_bleu2"):
        aligned([card, old], ["coco_bleu2"])
    older = replace(card, signatures={**card.signatures, "bleu2": card.signatures["bleu2"].replace("v:", "v:0")})
    with pytest.raises(InvalidCall, match="score again"):
        aligned([older, older], ["bleu2"])


def test_a_score_of_a_newer_version_is_absent(card: rexrank.ScoreCard) -> None:
    newer = replace(card, summary={**card.summary, "ultra": 0.5})
    assert aligned([newer, newer]).absent["ultra"] == "this version of rexrank does not know it"


def test_one_card_is_enough_and_none_is_not(card: rexrank.ScoreCard) -> None:
    assert aligned([card], ["bleu2"]).samples["bleu2"][0].score == pytest.approx(card.summary["bleu2"])
    with pytest.raises(WrongType, match="at least one"):
        aligned([])
