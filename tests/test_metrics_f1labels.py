"""F1 of rule labels: what the labels of texts come to under both conventions and the policy."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rexrank.metrics.f1labels
from rexrank import score
from rexrank.labels import NAMES, RULE_VERSION, label
from rexrank.metrics import InvalidCall, compute, metrics, score_keys
from rexrank.metrics.f1 import AVERAGES, clinical_efficacy, f1, per_label
from rexrank.statistics.bootstrap import corpus_interval

EFFICACY = ["f1labels_ce_precision", "f1labels_ce_recall", "f1labels_ce_f1"]
KEYS = [key.key for key in metrics()["f1labels"].keys if key.key not in EFFICACY]
CLASSES = KEYS[-14:]
PREDICTIONS = ["Mild pulmonary edema.", "Small left pleural effusion.", "Pulmonary edema."]
REFERENCES = ["Pulmonary edema.", "Pleural effusion and atelectasis.", "The lungs are clear. No effusion."]
RUSSIAN = "Лёгкие без очаговых теней."


def scored(predictions: list[str], references: list[str], convention: Any, **options: Any) -> dict[str, Any]:
    return compute(KEYS, predictions, references, convention, **options)


def test_the_keys_of_the_design() -> None:
    assert {f"f1labels_{average}_{number}" for average in AVERAGES for number in (14, 5)} | {
        f"f1labels_{name.lower().replace(' ', '_')}" for name in NAMES
    } == set(KEYS)
    for key in KEYS:
        entry = score_keys()[key]
        assert (entry.kind, entry.direction, entry.blank, entry.needs) == ("corpus", "higher", "formula", ())


@pytest.mark.parametrize("convention", ["published", "corrected"])
@pytest.mark.parametrize("uncertain", ["positive", "negative", "ignore"])
def test_scores_are_those_of_the_labels(convention: Any, uncertain: Any) -> None:
    found = scored(PREDICTIONS, REFERENCES, convention, uncertain=uncertain)
    labels = label(PREDICTIONS), label(REFERENCES)
    for average in AVERAGES:
        for number in (14, 5):
            expected = f1(*labels, average, convention, uncertain, labels=number)
            assert found[f"f1labels_{average}_{number}"].aggregate == pytest.approx(expected)
    for key, row in zip(CLASSES, per_label(*labels, convention, uncertain), strict=True):
        assert found[key].aggregate == (None if row.f1 is None else pytest.approx(row.f1)), key
        counts = found[key].counts
        assert (counts["n_support"], counts["n_predicted"]) == (row.support, row.predicted)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_clinical_efficacy_is_that_of_the_labels(convention: Any) -> None:
    predictions, references = [*PREDICTIONS, "Possible pneumonia."], [*REFERENCES, "Pneumonia."]
    found = compute(EFFICACY, predictions, references, convention)
    expected = clinical_efficacy(label(predictions), label(references), convention)
    assert [found[key].aggregate for key in EFFICACY] == pytest.approx(list(expected))
    for key in EFFICACY:
        assert "labels:14|avg:macro|uncertain:negative" in found[key].signature
        assert (score_keys()[key].kind, score_keys()[key].needs) == ("corpus", ())
    # Taken for present, the possible pneumonia is found.
    unsure = compute("f1labels_ce_recall", predictions, references, convention, uncertain="positive")
    assert unsure["f1labels_ce_recall"].aggregate > found["f1labels_ce_recall"].aggregate


def test_the_tabled_values_from_texts() -> None:
    for convention, macro in (("published", 0.119048), ("corrected", 0.416667)):
        found = scored(PREDICTIONS, REFERENCES, convention)
        averaged = [found[f"f1labels_{average}_14"].aggregate for average in ("micro", "macro", "weighted", "samples")]
        assert averaged == pytest.approx([0.571429, macro, 0.416667, 0.555556], abs=5e-7)
        assert found["f1labels_macro_14"].counts["n_labels"] == (14 if convention == "published" else 4)
        assert found["f1labels_macro_supported_14"].counts["n_labels"] == 4
        assert found["f1labels_macro_5"].values.tolist() == pytest.approx([1, 2 / 3, 0])


def test_signatures_name_what_the_number_depends_on() -> None:
    found = scored(PREDICTIONS, REFERENCES, "published", uncertain="ignore", zero_division=1)
    assert found["f1labels_macro_5"].signature == (
        "f1labels_macro_5|conv:published|labels:5|avg:macro|uncertain:ignore|blank:negative|zero:1"
        f"|rules:{RULE_VERSION}|v:1"
    )
    assert "|labels:pleural_effusion|uncertain:positive|blank:negative|zero:null|" in (
        scored(PREDICTIONS, REFERENCES, "corrected")["f1labels_pleural_effusion"].signature
    )


def test_what_a_blank_a_silent_and_a_foreign_report_are_worth() -> None:
    predictions = ["", "Mild edema.", "Nothing to say.", RUSSIAN, RUSSIAN + " Edema.", "Clear.", "Mild edema."]
    references = ["Edema.", "", "Edema.", "Edema.", "Edema.", RUSSIAN, "Mild  edema."]
    found = scored(predictions, references, "corrected")["f1labels_micro_14"]
    assert np.array_equal(found.values, [0, math.nan, 0, 0, 0, math.nan, 1], equal_nan=True)
    assert found.reasons == {1: "empty_reference", 5: "unsupported_language"}
    # The seventh alone is right; the other four references that count are missed, and nothing false is said
    # except where the third is called normal.
    said = label(["Nothing to say."]).astype(bool).sum()
    assert found.aggregate == pytest.approx(2 / (2 + 4 + said))
    computed = scored(predictions, references, "corrected", on_unsupported_language="compute")["f1labels_micro_14"]
    assert computed.values[4] == 1
    published = scored(predictions, references, "published")["f1labels_micro_14"]
    assert not np.isnan(published.values).any()
    assert published.values[4] == 1


def test_a_study_without_a_positive_label_has_no_value_in_corrected() -> None:
    found = scored(["No effusion."], ["No effusion is seen."], "corrected")["f1labels_edema"]
    assert (found.aggregate, found.reasons) == (None, {0: "no_positive_label"})
    assert scored(["No effusion."], ["No effusion is seen."], "published")["f1labels_edema"].values.tolist() == [0]
    card = score(["Clear."], ["Lungs are clear."], "plain", metrics=["f1labels_edema"], convention="corrected")
    assert card.unavailable["f1labels_edema"].endswith("(no_positive_label)")


def test_each_distinct_text_is_labelled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(texts: list[str]) -> np.ndarray:
        read.extend(texts)
        return label(texts)

    monkeypatch.setattr(rexrank.metrics.f1labels, "label", counting)
    scored([*PREDICTIONS, *REFERENCES], [*REFERENCES, *REFERENCES], "corrected")
    assert sorted(read) == sorted({*PREDICTIONS, *REFERENCES})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"uncertain": "blank"}, "uncertain: expected one of positive, negative, ignore"),
        ({"uncertain": 3}, "uncertain: expected one of"),
        ({"zero_division": 0.5, "convention": "published"}, "zero_division: expected 0 or 1, got 0.5"),
        ({"zero_division": 1}, "zero_division: the convention corrected leaves out"),
    ],
)
def test_calls_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"references": REFERENCES, "convention": "corrected", **options}
    with pytest.raises(InvalidCall, match=message) as caught:
        compute(KEYS, PREDICTIONS, **call)
    assert "edema" not in str(caught.value)


phrases = st.lists(
    st.sampled_from(["Edema.", "No edema.", "Possible effusion.", "Pneumonia?", "Rib fracture.", "", "Hm.", RUSSIAN]),
    max_size=3,
).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(phrases, phrases), min_size=1, max_size=6), st.randoms())
def test_order_neighbours_and_statistics(studies: list[tuple[str, str]], random: Any) -> None:
    order = random.sample(range(len(studies)), len(studies))
    for convention in ("published", "corrected"):
        together, shuffled = (
            scored([one for one, _ in each], [other for _, other in each], convention)
            for each in (studies, [studies[position] for position in order])
        )
        for key in KEYS:
            values = together[key].values
            assert np.array_equal(shuffled[key].values, values[order], equal_nan=True)
            assert shuffled[key].aggregate == pytest.approx(together[key].aggregate)
            assert set(together[key].reasons) == set(np.flatnonzero(np.isnan(values)).tolist())
            kept = ~np.isnan(together[key].statistics).any(axis=1)
            assert np.array_equal(kept, ~np.isnan(values))


def test_intervals_come_from_the_same_formula() -> None:
    found = scored(PREDICTIONS * 40, REFERENCES * 40, "corrected")
    for average in AVERAGES:
        scores = found[f"f1labels_{average}_14"]
        low, high = corpus_interval(scores.statistics, scores.formula, resamples=400)
        assert low < scores.aggregate < high
