"""What images are worth to a model: paired differences between right, shuffled and blank images."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import rexrank
from rexrank.comparison import CardsDiffer, Settings
from rexrank.metrics import InvalidCall
from rexrank.validity.reliance import reliance, same_share
from rexrank.validity.reliance_tables import markdown, table

FEW = Settings(resamples=500)
TEXTS = [
    "Lungs are clear.",
    "Small left effusion.",
    "The heart is enlarged.",
    "No edema. No effusion.",
    "Old rib fracture.",
]
REFERENCES = {f"s{place}": TEXTS[place % 5] for place in range(60)}


def card(predictions: Mapping[str, str], metrics: tuple[str, ...] = ("bleu2", "coco_bleu1")) -> rexrank.ScoreCard:
    return rexrank.score(predictions, REFERENCES, "plain", metrics=list(metrics), progress=False)


def turned(texts: Mapping[str, str], steps: int = 1) -> dict[str, str]:
    """Every study gets the report of another one, as a model that saw that study's image would write it."""
    values = list(texts.values())
    return dict(zip(texts, values[steps:] + values[:steps], strict=True))


def test_a_text_only_constant_gives_exactly_zero_and_the_words_say_so() -> None:
    constant = card(dict.fromkeys(REFERENCES, "Lungs are clear."))
    found = reliance(constant, constant, constant, settings=FEW, same_texts={"shuffled": 1.0, "blank": 1.0})
    assert {row.condition for row in found.rows} == {"shuffled", "blank"}
    for row in found.rows:
        paired = row.comparison.paired
        assert (paired.difference, paired.interval, paired.p) == (0.0, (0.0, 0.0), 1.0)
        assert row.verdict == "no sign"
    assert len(found.sentences) == 2
    assert all(one.startswith("No sign that the model looks at the image: bleu2") for one in found.sentences)
    assert "is exactly that with a blank image" in found.sentences[1]
    assert "100.0% of studies" in table(found)


def test_a_model_that_reads_its_image_loses_with_another_one() -> None:
    right = card(REFERENCES)
    found = reliance(right, card(turned(REFERENCES)), card(dict.fromkeys(REFERENCES, TEXTS[0])), settings=FEW)
    assert {row.verdict for row in found.rows} == {"looks"}
    shuffled = found.of("shuffled")[0].comparison.paired
    assert shuffled.difference == pytest.approx(right.summary["bleu2"] - (shuffled.scores[1] or 0))
    assert found.sentences[0].startswith("The model looks at the image: bleu2 over 60 studies is better than")


def test_no_sign_is_said_where_the_interval_holds_zero() -> None:
    """Reports without any bond to the study: with the right image or another, chance alone decides."""
    random = np.random.default_rng(3)
    first, second = ({one: TEXTS[random.integers(5)] for one in REFERENCES} for _ in range(2))
    row = reliance(card(first), card(second), settings=FEW).rows[0]
    low, high = row.comparison.paired.interval or (1, 1)
    assert low < 0 < high
    assert row.verdict == "no sign"


def test_mixed_up_files_are_named() -> None:
    found = reliance(card(turned(REFERENCES)), card(REFERENCES), settings=FEW)
    assert found.rows[0].verdict == "reversed"
    assert "check that the files are not mixed up" in found.sentences[0]


def test_p_is_corrected_for_every_row() -> None:
    found = reliance(card(REFERENCES), card(turned(REFERENCES)), card(turned(REFERENCES, 2)), settings=FEW)
    assert {row.comparison.family for row in found.rows} == {4}
    assert all((row.comparison.p_holm or 0) > (row.comparison.paired.p or 1) for row in found.rows)


def test_one_of_many_scores_that_differs_by_chance_is_called_unclear() -> None:
    found = reliance(card(REFERENCES), card({**REFERENCES, **dict.fromkeys(["s1", "s2", "s3", "s4", "s6"], "No.")}))
    row = found.rows[0]
    low, high = row.comparison.paired.interval or (0, 0)
    assert 0 < low < high
    assert (row.comparison.paired.p or 1) <= (row.comparison.p_holm or 0)
    assert row.verdict == "unclear"
    assert found.sentences[0].startswith("Unclear whether the model looks at the image: bleu2 over 60 studies differs")
    assert "corrected for 2 tests" in found.sentences[0]


def test_json_and_markdown_have_every_row() -> None:
    found = reliance(card(REFERENCES), None, card(turned(REFERENCES)), settings=FEW)
    written = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [one["condition"] for one in written["reliance"]] == ["blank", "blank"]
    assert written["reliance"][0]["verdict"] == "looks"
    assert written["sentences"] == found.sentences
    assert "### right image against blank" in markdown(found)
    assert "shuffled" not in markdown(found)


def test_what_could_not_be_computed_has_its_reason() -> None:
    both = rexrank.score(REFERENCES, REFERENCES, "plain", metrics=["bleu2", "green"], progress=False)
    assert "judge" in reliance(both, both).absent["green"]
    assert "green" in table(reliance(both, both))
    none = rexrank.score(REFERENCES, REFERENCES, "plain", metrics=["report_words"], progress=False)
    assert reliance(none, none).absent == {"report_words": "no value of it is better"}


def test_what_cannot_be_compared_is_refused() -> None:
    right = card(REFERENCES)
    with pytest.raises(InvalidCall, match="shuffled images"):
        reliance(right)
    fewer = dict(list(REFERENCES.items())[:10])
    other = rexrank.score(fewer, fewer, "plain", metrics=["bleu2"], progress=False)
    with pytest.raises(CardsDiffer, match="other references"):
        reliance(right, other)
    with pytest.raises(InvalidCall, match="same studies"):
        same_share(REFERENCES, fewer)


def test_same_reports_are_counted() -> None:
    assert same_share({"a": "x", "b": "y"}, {"a": "x", "b": "z"}) == 0.5


def test_bleu2_shows_no_sign_that_moerad_looks_at_its_images(shared_data: Path) -> None:
    """Its reports, dealt to other studies at random, keep their BLEU-2: one typical text fits as well as the next."""
    folder = shared_data / "iu_xray/predictions/moerad"
    with (folder / "preds.csv").open(newline="") as file:
        texts = {row["study_id"]: row["report"] for row in csv.DictReader(file)}
    with (folder / "gts.csv").open(newline="") as file:
        references = {row["study_id"]: row["report"] for row in csv.DictReader(file)}
    shuffled = dict(zip(texts, np.random.default_rng(0).permutation(list(texts.values())).tolist(), strict=True))
    right, other = (
        rexrank.score(one, references, "plain", metrics=["bleu2"], progress=False) for one in (texts, shuffled)
    )
    row = reliance(right, other, settings=FEW).rows[0]
    assert right.summary["bleu2"] == pytest.approx(0.270432, abs=1e-6)
    assert other.summary["bleu2"] == pytest.approx(0.269357, abs=1e-6)
    assert row.verdict == "no sign"
    assert same_share(texts, shuffled) == pytest.approx(0.261, abs=5e-4)
