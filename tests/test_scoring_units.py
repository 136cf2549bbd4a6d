"""Patients are drawn as a whole where they are known, and a card can be resampled after it was saved."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import rexrank
from rexrank.reports.studies import References, Study
from rexrank.scoring.card import UnreadableCard
from rexrank.scoring.units import units
from rexrank.statistics.sample import Sample

TEXTS = [
    "The heart is enlarged. Small left pleural effusion.",
    "Lungs are clear. No pneumothorax.",
    "Mild pulmonary edema. Heart size is normal.",
    "Right lower lobe pneumonia, new since the prior study.",
    "No acute process.",
    "Left basilar atelectasis. No effusion.",
]


def _references(**further: Any) -> dict[str, dict[str, Any]]:
    return {
        f"s{number}": {"findings": text, **{name: values[number] for name, values in further.items()}}
        for number, text in enumerate(TEXTS)
    }


def _predictions() -> dict[str, str]:
    return {f"s{number}": text for number, text in enumerate([*TEXTS[1:], ""])}


def _score(references: dict[str, Any], **keywords: Any) -> rexrank.ScoreCard:
    metrics = ["bleu2", "coco_bleu2", "f1labels_macro_14", "f1labels_samples_14", "f1labels_edema", "report_statistics"]
    return rexrank.score(_predictions(), references, "plain", metrics=metrics, progress=False, **keywords)


@pytest.mark.parametrize("field", ["patient_id", "subject_id", "deid_patient_id"])
@pytest.mark.parametrize("patients", [["a", "a", "b", "b", "c", "c"], [10, 10, 11, 11, 12, 12]])
def test_known_patients_are_drawn_as_a_whole(field: str, patients: list[Any]) -> None:
    card = _score(_references(**{field: patients}))
    assert card.groups == [0, 0, 1, 1, 2, 2]
    assert (card.interval["unit"], card.interval["units"]) == ("patient", 3)
    values = card.per_study["bleu2"].to_numpy()
    assert card.intervals["bleu2"] == rexrank.statistics.interval(values, groups=patients)
    assert card.intervals["bleu2"] != rexrank.statistics.interval(values)


def test_single_studies_are_drawn_where_that_is_asked_for() -> None:
    card = _score(_references(patient_id=["a", "a", "b", "b", "c", "c"]), groups="study")
    assert card.groups is None
    assert card.interval["unit"] == "study"


def test_patients_can_be_given() -> None:
    card = _score(_references(), groups={f"s{number}": number // 3 for number in range(6)})
    assert card.groups == [0, 0, 0, 1, 1, 1]


def test_patients_that_are_given_for_some_studies_only_are_refused() -> None:
    with pytest.raises(rexrank.RefusedInput, match="no patient") as refused:
        _score(_references(), groups={"s0": "a"})
    assert len(refused.value.problems) == 5


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA, pandas.NaT, "", " ", "nan"])
def test_patients_that_a_table_lacks_are_not_one_patient(missing: Any) -> None:
    given = {f"s{number}": missing if number < 2 else number for number in range(6)}
    with pytest.raises(rexrank.RefusedInput, match="no patient") as refused:
        _score(_references(), groups=given)
    assert len(refused.value.problems) == 2
    assert _score(_references(patient_id=["nan", "nan", *"abcd"])).interval["unit"] == "study"


def test_patients_are_names_or_numbers() -> None:
    with pytest.raises(rexrank.RefusedInput, match='study "s0": expected the name or number of its patient'):
        _score(_references(), groups={f"s{number}": [number] for number in range(6)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "patients", "words"),
    [
        (["patient1_study1", "patient1_study2"], [None, None], "no patient_id"),
        (["train/patient1/study1/view1.jpg", "train/patient1/study2/view1.jpg"], [None, None], "no patient_id"),
        (["files/p10/p10000032/s50123456", "files/p10/p10000032/s51234567"], [None, None], "no patient_id"),
        (["10000032_50123456", "10000032_51234567"], [None, None], "no patient_id"),
        (["50123456", "51234567"], [None, None], "MIMIC-CXR"),
        (["S50123456", "S51234567"], [None, None], "MIMIC-CXR"),
        (["files/p10/p10000032/s50123456", "files/p10/p10000033/s51234567"], [None, None], None),
        (["a", "b"], ["p", None], "only 1 of 2"),
        (["patient1_study1", "patient2_study1"], [None, None], None),
        (["CXR1_IM-0001", "CXR2_IM-0002"], [None, None], None),
    ],
)
def test_patients_that_may_repeat_unknown_are_warned_of(
    ids: list[str], patients: list[str | None], words: str | None
) -> None:
    studies = {one: Study(one, "Clear.", patient_id=patient) for one, patient in zip(ids, patients, strict=True)}
    warning = units(ids, References(studies)).warning
    assert warning is None if words is None else warning is not None and words in warning


def test_no_patient_id_reaches_a_card(tmp_path: Path) -> None:
    card = _score(_references(patient_id=[f"secret-patient-{number % 2}" for number in range(6)]))
    card.save(tmp_path)
    assert not any(b"secret-patient" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_saved_card_gives_the_same_samples(tmp_path: Path) -> None:
    card = _score(_references(patient_id=[1, 1, 2, 2, 3, 3]))
    read = rexrank.ScoreCard.load(card.save(tmp_path))
    assert read.groups == card.groups
    seen = 0
    for key, value in card.summary.items():
        sample = read.sample(key)
        if sample is None:
            continue
        seen += 1
        assert sample.score == pytest.approx(value, abs=1e-12), key
        assert len(sample) == card.n
        original = card.sample(key)
        assert original is not None
        np.testing.assert_array_equal(sample.statistics, original.statistics)
    assert seen > 5


def test_every_corpus_score_finds_its_formula_again() -> None:
    """A new metric with statistics has to say how they make a score."""
    card = rexrank.score(_predictions(), _references(), "plain", metrics="all", progress=False, download=False)
    for key in card.summary:
        sample = card.sample(key)
        assert sample is None or sample.score == pytest.approx(card.summary[key], abs=1e-12), key


def test_a_corpus_score_that_no_study_has_is_undefined(tmp_path: Path) -> None:
    blank = dict.fromkeys(_references(), "")
    options = {"on_empty_prediction": "undefined"}
    card = rexrank.score(blank, _references(), "plain", metrics=["coco_bleu2"], options=options, progress=False)
    for one in (card, rexrank.ScoreCard.load(card.save(tmp_path))):
        sample = one.sample("coco_bleu2")
        assert sample is not None
        assert (len(sample), sample.score) == (6, None)


def test_a_card_with_another_table_of_statistics_is_refused(tmp_path: Path) -> None:
    folder = _score(_references()).save(tmp_path)
    (folder / "statistics.parquet").write_bytes((folder / "per_study.parquet").read_bytes())
    with pytest.raises(UnreadableCard, match="statistics"):
        rexrank.ScoreCard.load(folder)


def test_a_score_of_another_version_of_its_metric_is_refused() -> None:
    card = _score(_references())
    card.signatures["coco_bleu2"] = card.signatures["coco_bleu2"].replace("v:1", "v:0")
    with pytest.raises(rexrank.RexrankError, match="score again"):
        card.sample("coco_bleu2")


def test_an_undefined_study_stays_undefined() -> None:
    sample = Sample.of_values([1.0, np.nan, 3.0])
    assert sample.score == 2.0
    assert sample.defined.tolist() == [True, False, True]
    assert Sample.of_values([np.nan]).score is None
