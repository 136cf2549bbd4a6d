"""How various texts are: counts, self-BLEU against a slow sibling, flags, and what a card keeps and prints."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

import rexrank
from rexrank.benchmarks import iu_xray
from rexrank.scoring.diversity import diversity, flags, lines, self_bleu
from rexrank.scoring.table import table

TEXTS = [
    "The lungs are clear.",
    "The heart is large and the lungs are clear.",
    "No edema. No effusion. No edema.",
    "Small left effusion.",
]


def slow_self_bleu(texts: list[str]) -> float:
    """By the definition, text by text: counts clipped at the largest of any other text."""
    words = [text.lower().replace(".", "").split() for text in texts]
    total = 0.0
    for place, own in enumerate(words):
        others = words[:place] + words[place + 1 :]
        logarithm = 0.0
        orders = range(1, min(4, len(own)) + 1)
        for order in orders:
            counts = Counter(zip(*(own[start:] for start in range(order)), strict=False))
            found = sum(
                min(
                    number,
                    max(Counter(zip(*(o[start:] for start in range(order)), strict=False))[gram] for o in others),
                )
                for gram, number in counts.items()
            )
            logarithm += math.log((found or 0.1) / (len(own) - order + 1)) / len(orders)
        closest = min((len(other) for other in others), key=lambda length: (abs(length - len(own)), length))
        total += math.exp(min(0.0, 1 - closest / len(own)) + logarithm)
    return total / len(texts)


def test_self_bleu_is_that_of_its_definition() -> None:
    found, number = self_bleu(TEXTS)
    assert number == 4
    assert found == pytest.approx(slow_self_bleu(TEXTS), abs=1e-12)


def test_self_bleu_of_equal_texts_is_1_and_of_one_text_is_undefined() -> None:
    assert self_bleu([TEXTS[1]] * 3) == (pytest.approx(1.0), 3)
    assert self_bleu(["Clear.", "Clear."]) == (pytest.approx(1.0), 2)
    assert self_bleu([TEXTS[1]]) == (None, 1)
    assert self_bleu(["", "  ", TEXTS[1]]) == (None, 1)


def test_self_bleu_of_many_texts_is_that_of_a_seeded_sample() -> None:
    many = [f"{text} Number {number}." for number in range(50) for text in TEXTS]
    assert self_bleu(many, most=20) == self_bleu(many, most=20)
    assert self_bleu(many, most=20, seed=1) != self_bleu(many, most=20)
    assert self_bleu(many, most=20)[1] == 20


def test_texts_are_counted_in_one_form() -> None:
    predictions = ["Findings: Lungs clear.", "Lungs  clear.", "lungs clear.", "Heart large."]
    found = diversity(
        predictions, [["Lungs clear."], ["Other", "Lungs clear."], ["No edema."], ["x"]], ["Lungs clear."]
    )
    assert (found.predictions.distinct, found.predictions.most_frequent, found.predictions.in_training) == (3, 2, 2)
    assert (found.references.distinct, found.references.in_training, found.training_texts) == (4, 1, 1)
    assert diversity(predictions, [["x"]] * 4).predictions.in_training is None


@pytest.mark.parametrize(
    ("distinct", "top", "number"),
    [(10, 20, 0), (9, 20, 1), (10, 21, 1), (9, 21, 2)],
)
def test_flags_stand_below_a_tenth_of_distinct_texts_and_above_a_fifth_of_one(
    distinct: int, top: int, number: int
) -> None:
    texts = [f"text {place}" for place in range(distinct)]
    predictions = ["text 0"] * top + [texts[1 + place % (distinct - 1)] for place in range(100 - top)]
    assert len(set(predictions)) == distinct
    assert len(diversity(predictions, [["a"]] * 100).flags) == number


def test_few_studies_are_not_flagged() -> None:
    assert diversity(["a"] * 9, [["a"]] * 9).flags == ()
    assert len(diversity(["a"] * 11, [["a"]] * 11).flags) == 2
    assert flags({}) == ()
    assert lines({}) == []


def test_a_card_keeps_counts_and_no_text(tmp_path: Path) -> None:
    ids = [f"s{number}" for number in range(12)]
    card = rexrank.score(
        dict.fromkeys(ids, "Axolotl lungs."),
        dict.fromkeys(ids, "Clear."),
        metrics=["bleu2"],
        progress=False,
        training=["Axolotl lungs."],
    )
    assert card.diversity["predictions"]["in_training"] == 12
    assert card.diversity["references"]["in_training"] == 0
    card.save(tmp_path / "card")
    assert "xolotl" not in (tmp_path / "card/card.json").read_text()
    assert rexrank.ScoreCard.load(tmp_path / "card").diversity == card.diversity
    assert "flag: only 1 distinct text among 12 predictions" in table(card)
    assert "word for word in training: 12 predictions (100.0%), 0 references (0.0%)" in table(card)


def test_cards_of_before_have_no_diversity(tmp_path: Path) -> None:
    rexrank.score({"a": "x"}, {"a": "x"}, metrics=["bleu2"], progress=False).save(tmp_path)
    content = json.loads((tmp_path / "card.json").read_text())
    del content["diversity"]
    (tmp_path / "card.json").write_text(json.dumps(content))
    card = rexrank.ScoreCard.load(tmp_path)
    assert card.diversity == {}
    assert "distinct" not in table(card)


def test_test_findings_of_iu_xray_stand_in_training() -> None:
    findings = [study.findings or "" for study in iu_xray.load().studies]
    found = diversity(findings, [[text] for text in findings], [study.findings or "" for study in iu_xray.training()])
    assert found.references.in_training == 274
    assert found.references.in_training_share == pytest.approx(0.464, abs=5e-4)
    assert found.flags == ()


def test_public_outputs_of_few_texts(shared_data: Path) -> None:
    reports = shared_data / "iu_xray/predictions"
    references = shared_data / "iu_xray/ReXRank_IUXray_test.json"
    moerad = rexrank.score(reports / "moerad/preds.csv", references, metrics=["bleu2"], progress=False)
    assert (moerad.diversity["predictions"]["distinct"], moerad.n) == (25, 590)
    assert len(flags(moerad.diversity)) == 2
    (folder,) = (reports / "mrg_rl").glob("qwen*")
    mrg_rl = rexrank.score(
        folder / "test_preds.json", folder / "test_refs.json", "plain", metrics=["bleu2"], progress=False
    )
    assert (mrg_rl.diversity["predictions"]["distinct"], mrg_rl.n) == (210, 382)
    assert flags(mrg_rl.diversity) == ()
