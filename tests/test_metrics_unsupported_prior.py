"""Unsupported priors: what compares, what is known of a study, and how `rexrank.score` hands it in."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.unsupported_prior import compares


def unsupported(predictions: list[str], references: list[Any], **options: Any) -> KeyScores:
    return compute("unsupported_prior", predictions, references, **options)["unsupported_prior"]


@pytest.mark.parametrize(
    "text",
    [
        "The nodule is stable.",
        "Unchanged cardiomegaly.",
        "No interval change.",
        "No significant interval change in the effusion.",
        "New left effusion.",
        "No new opacity.",
        "Improved aeration.",
        "Worsening edema.",
        "The pneumothorax has resolved.",
        "The effusion is no longer seen.",
        "Again seen is a granuloma.",
        "Compared to the prior study, the effusion is larger.",
        "Effusion increased since the previous examination.",
        "Heart size is mildly increased from the study.",
        "Increased in size from XXXX study.",
        "Similar to prior imaging.",
        "Previously seen opacity.",
        "The heart remains enlarged.",
        "Redemonstration of scoliosis.",
        "Considering the technique, stable heart.",
        "No significant change compared to prior study.",
        "No change from the previous exam.",
        "Without interval change since the prior examination.",
        "No new infiltrate compared to the previous chest x-ray.",
        "The effusion has not increased since the prior film.",
        "The opacity is not seen on the prior study.",
        "Effusion as before.",
        "A tube was placed in the interim.",
        "Worsening opacity, recommend CT.",
    ],
)
def test_what_compares(text: str) -> None:
    assert compares(text)


@pytest.mark.parametrize(
    "text",
    [
        "Degenerative changes of the spine.",
        "No acute bony changes.",
        "Prior granulomatous disease.",
        "Old rib fractures.",
        "Previous sternotomy.",
        "Increased lung markings.",
        "Status post remote surgery.",
        "No prior studies for comparison.",
        "No previous chest x-ray.",
        "Without the benefit of prior studies.",
        "Prior studies are not available.",
        "If clinical concern persists, recommend CT.",
        "Comparison films, if available, would be useful.",
        "There is no comparison available.",
        "Comparison with prior studies is recommended.",
        "If prior films are available, comparison would be helpful.",
        "Remainder of the lungs is clear.",
        "Chronic changes. Increased AP diameter.",
        "Comparison: Chest x-ray of last year. Findings: The lungs are clear.",
    ],
)
def test_what_does_not_compare(text: str) -> None:
    assert not compares(text)


def test_time_is_linear_in_the_length_of_a_sentence() -> None:
    assert not compares("no sign in the size of a 3 x prior larger " * 8_000)


def test_a_prior_is_known_by_the_option_or_by_a_reference_that_compares() -> None:
    predictions, references = ["Stable nodule."] * 3 + ["A nodule."], ["A nodule.", "Nodule, unchanged.", "Scar.", "."]
    plain = unsupported(predictions, references)
    assert plain.values[[0, 2, 3]].tolist() == [1, 1, 0]
    assert plain.reasons == {1: "prior_known"}
    assert plain.aggregate == pytest.approx(2 / 3)
    assert plain.signature == "unsupported_prior|conv:published|rules:1|prior:unknown|v:2"
    told = unsupported(predictions, references, prior=["yes", "no", None, "no"])
    assert told.reasons == {0: "prior_known", 1: "prior_known"}
    assert told.aggregate == 0.5
    assert "|prior:given|" in told.signature
    assert unsupported(predictions, references, prior=np.array(["no"] * 4)).aggregate == plain.aggregate


def test_a_blank_prediction_is_the_worst_and_identical_texts_the_best() -> None:
    for convention in ("published", "corrected"):
        blank = unsupported([""], ["Nodule."], convention=convention, prior=["yes"])
        assert blank.values.tolist() == [1]
    assert unsupported(["New nodule."], ["New nodule."], convention="corrected").values.tolist() == [0]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (["yes"], r"prior: got 1 items, and there are 2 texts"),
        (["yes", True], r"prior\[1\]: expected yes, no or None, got bool"),
        (["yes", "perhaps"], r"prior\[1\]: expected yes, no or None, got str"),
        ("yes", "prior: expected a list with yes, no or None for each study, got str"),
    ],
)
def test_what_cannot_be_read_is_refused(prior: Any, words: str) -> None:
    with pytest.raises(InvalidCall, match=words):
        unsupported(["A.", "B."], ["A.", "B."], prior=prior)


def test_score_takes_it_from_the_references(tmp_path: Path) -> None:
    texts = {"a": "Stable nodule.", "b": "Stable nodule.", "c": "Stable nodule."}
    contexts = {"a": "Comparison: Chest x-ray of May.", "b": "Indication: Cough. Comparison: None.", "c": None}
    references = {one: {"findings": "A nodule.", "context": context} for one, context in contexts.items()}
    card = rexrank.score(texts, references, protocol="plain", metrics="unsupported_prior", progress=False)
    assert card.per_study["unsupported_prior"].to_pylist() == [None, 1, 1]
    assert "|prior:given|" in card.signatures["unsupported_prior"]
    (tmp_path / "references.csv").write_text("study_id,findings,prior\na,A nodule.,no\nb,A nodule.,yes\nc,A nodule.,\n")
    table = str(tmp_path / "references.csv")
    card = rexrank.score(texts, table, protocol="plain", metrics="unsupported_prior", progress=False)
    assert card.per_study["unsupported_prior"].to_pylist() == [1, None, 1]
    plain = dict.fromkeys(texts, "A nodule.")
    card = rexrank.score(texts, plain, protocol="plain", metrics="unsupported_prior", progress=False)
    assert "|prior:unknown|" in card.signatures["unsupported_prior"]
    assert card.summary["unsupported_prior"] == 1


def test_on_real_predictions(shared_data: Path) -> None:
    import json

    folder = next((shared_data / "iu_xray/predictions/mrg_rl").glob("*/test_preds.json")).parent
    predictions, references = (
        {one: texts[0] for one, texts in json.loads((folder / name).read_text()).items()}
        for name in ("test_preds.json", "test_refs.json")
    )
    keys = ["unsupported_prior", "invented_device", "contradiction", "laterality"]
    ids = list(predictions)
    found = compute(keys, [predictions[one] for one in ids], [references[one] for one in ids])
    assert (found["unsupported_prior"].values == 1).sum() == 31
    assert found["unsupported_prior"].counts["n_undefined"] == 92
    assert (found["invented_device"].values == 1).sum() == 9
    assert (found["contradiction"].values == 1).sum() == 1
    assert found["laterality"].counts["n_undefined"] == 378
