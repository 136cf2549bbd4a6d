"""RadCliQ against published scores, published cases and the table of the specification."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, compute, metrics, radcliq, score_keys
from rexrank.metrics.documentation import scores_table
from rexrank.metrics.radcliq import v0, v1
from rexrank.statistics import corpus_interval
from rexrank.terms import CONVENTIONS, Convention

RAW = ["radcliq_v0", "radcliq_v1"]
KEYS = [*RAW, "inv_radcliq_v1"]
PERFECT = {"radcliq_v0": -0.24213342294409346, "radcliq_v1": -1.4406902828047017}
FLOOR = {"radcliq_v0": 5.516160804054495, "radcliq_v1": 2.4501430833271307}
COLUMNS = ["radgraph_combined", "bertscore", "semb_score", "bleu_score"]


def components(*rows: tuple[float | None, float | None, float | None]) -> dict[str, list[float | None]]:
    names = ("radgraph_combined", "bertscore", "sembscore")
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


@pytest.mark.parametrize(
    ("row", "first", "second"),
    [
        ((1, 1, 1, 1), -0.242133, -1.440690),
        ((0.75, 0.9, 0.95, 0.6), 0.264200, -0.914563),
        ((0.8, 0.7, 0.9, 0.4), 0.737595, -0.596916),
        ((0.2, 0.35, 0.6, 0.1), 3.092285, 1.026441),
        ((0, 0, 0.4, 0), 4.766812, 2.052234),
        ((0, 0, 0, 0), 5.516161, 2.450143),
        ((0, -5.550157, 0, 0), 22.221190, 11.612594),
        ((0, -5.550157, 1, 0), 22.221190 - 1.873372, 11.612594 - 0.994772),
    ],
)
def test_the_tabled_values(row: tuple[float, ...], first: float, second: float) -> None:
    columns = [[value] for value in row]
    assert v0(*columns) == pytest.approx([first], abs=1.5e-6)
    assert v1(*columns) == pytest.approx([second], abs=1.5e-6)


def test_the_constants_are_those_of_the_published_models(shared_data: Path) -> None:
    stored = json.loads((shared_data / "expected" / "radcliq.json").read_text(encoding="utf-8"))
    assert stored["columns_in_order"] == COLUMNS
    for name, model in (("RadCliQ-v0", radcliq._V0), ("RadCliQ-v1", radcliq._V1)):
        expected = stored[name]
        assert list(model.means) == expected["scaler"]["mean"]
        assert list(model.scales) == expected["scaler"]["scale"]
        assert (list(model.coefficients), model.intercept) == (expected["coef"], expected["intercept"])
        assert (model.perfect, model.floor) == (expected["perfect_match"], expected["all_zero"])
        drawn = np.random.default_rng(0).uniform(-1, 1, size=(4, 100))
        affine = np.array(expected["affine"]["w"]) @ drawn + expected["affine"]["b"]
        assert model.predict(list(drawn)) == pytest.approx(affine, abs=1e-13)


def test_the_published_cases(shared_data: Path) -> None:
    cases = json.loads((shared_data / "expected" / "cases.json").read_text(encoding="utf-8"))["cases"]
    subscores = [case["expected"] for case in cases if case["metric"] == "radcliq_from_subscores"]
    assert len(subscores) == 3
    for expected in subscores:
        assert expected["columns"] == COLUMNS
        columns = [[value] for value in expected["x"]]
        assert v0(*columns) == pytest.approx([expected["RadCliQ-v0"]], abs=1e-14)
        assert v1(*columns) == pytest.approx([expected["RadCliQ-v1"]], abs=1e-14)
    (wrong,) = [case["expected"] for case in cases if case["metric"].startswith("radcliq_v1 (WRONG")]
    with_lost_bertscore = v1([1], [-5.55015684], [1], [1])[0]
    assert with_lost_bertscore == pytest.approx(wrong["radeval_2_2_published"], abs=1e-6)
    assert PERFECT["radcliq_v1"] == wrong["correct_value"]


@pytest.fixture(scope="module")
def moerad(shared_data: Path) -> Mapping[str, Any]:
    """Texts, stored components and stored scores of 590 studies."""
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    scores = pd.read_csv(folder / "report_scores.csv")
    return {
        "scores": scores,
        "predictions": pd.read_csv(folder / "preds.csv", keep_default_na=False)["report"].tolist(),
        "references": pd.read_csv(folder / "gts.csv", keep_default_na=False)["report"].tolist(),
        "features": {
            "radgraph_combined": scores["radgraph_combined"],
            "bertscore": scores["bertscore"].to_numpy(),
            "sembscore": scores["semb_score"].tolist(),
        },
    }


def test_all_stored_scores_of_moerad(moerad: Mapping[str, Any]) -> None:
    scores = moerad["scores"]
    columns = [scores[name] for name in COLUMNS]
    assert len(scores) == 590
    for function, name in ((v0, "RadCliQ-v0"), (v1, "RadCliQ-v1")):
        assert np.abs(function(*columns) - scores[name].to_numpy()).max() < 1e-7
    found = compute(KEYS, moerad["predictions"], moerad["references"], features=moerad["features"])
    for key, name in (("radcliq_v0", "RadCliQ-v0"), ("radcliq_v1", "RadCliQ-v1")):
        assert np.abs(found[key].values - scores[name].to_numpy()).max() < 1e-7
        assert found[key].aggregate == found[key].values.mean()
    assert found["radcliq_v0"].aggregate == pytest.approx(2.347207, abs=1e-6)
    assert found["radcliq_v1"].aggregate == pytest.approx(0.500006, abs=1e-6)
    assert found["inv_radcliq_v1"].aggregate == pytest.approx(1.999977, abs=1e-6)
    assert (found["radcliq_v1"].values <= 0).sum() == 87


def test_moerad_in_corrected(moerad: Mapping[str, Any]) -> None:
    predictions = ["", *moerad["predictions"][1:]]
    predictions[1] = moerad["references"][1]
    found = compute(RAW, predictions, moerad["references"], "corrected", features=moerad["features"])
    published = compute(RAW, predictions, moerad["references"], features=moerad["features"])
    for key in RAW:
        assert found[key].values[:2].tolist() == [FLOOR[key], PERFECT[key]]
        identical = found[key].counts["n_identical"]
        assert identical >= 1
        assert (found[key].values == PERFECT[key]).sum() == identical
    # v1 gives BLEU no weight, so the conventions agree on all others: nothing is clamped.
    same = found["radcliq_v1"].values != PERFECT["radcliq_v1"]
    same[0] = False
    difference = found["radcliq_v1"].values - published["radcliq_v1"].values
    assert np.abs(difference[same]).max() < 1e-10


def test_components_are_not_clamped_in_corrected() -> None:
    features = components((0.2, -0.5, -0.1), (0.2, 0.0, 0.0))
    scores = compute(RAW, ["Mild edema"] * 2, ["Clear lungs"] * 2, "corrected", features=features)
    for key, function in (("radcliq_v0", v0), ("radcliq_v1", v1)):
        assert scores[key].values == pytest.approx(function([0.2, 0.2], [-0.5, 0], [-0.1, 0], [0, 0]), abs=1e-12)
        assert scores[key].values[0] > scores[key].values[1]
        assert "n_clamped" not in scores[key].counts


def test_blank_and_identical_reports() -> None:
    texts = ["", "Mild  edema.", "Mild edema.", ""], ["Mild edema.", "Mild edema.", " ", ""]
    features = components((0, -5.550157, 0.4), (0.5, 1, 1), (0, -5.550157, 0.4), (0, -5.550157, 1))
    published = compute(KEYS, *texts, features=features)
    assert published["radcliq_v1"].values[[0, 2]] == pytest.approx([11.612594 - 0.4 * 0.994772] * 2, abs=1.5e-6)
    assert published["radcliq_v1"].counts["n_undefined"] == 0
    corrected = compute(KEYS, *texts, "corrected", features=features)
    for key in RAW:
        assert corrected[key].values[:2].tolist() == [FLOOR[key], PERFECT[key]]
        assert corrected[key].reasons == {2: "empty_reference", 3: "both_empty"}
        assert corrected[key].counts["n_identical"] == 1
        assert corrected[key].aggregate == pytest.approx((FLOOR[key] + PERFECT[key]) / 2)
        asked = compute(key, *texts, features=features, on_empty_prediction="worst")[key]
        assert asked.values[0] == FLOOR[key]
    mean = (FLOOR["radcliq_v1"] + PERFECT["radcliq_v1"]) / 2
    assert corrected["inv_radcliq_v1"].aggregate == pytest.approx(1 / mean)


def test_the_inverse_is_undefined_where_the_mean_is_not_positive() -> None:
    texts = ["Clear lungs.", "No edema."], ["Clear lungs now.", "No edema now."]
    good = compute(KEYS, *texts, features=components((0.9, 0.9, 0.9), (0.9, 0.8, 0.9)))
    assert good["radcliq_v1"].aggregate < 0
    assert good["inv_radcliq_v1"].aggregate is None
    # Its best study alone would have no inverse; the mean of both has.
    mixed = compute(KEYS, *texts, features=components((0.9, 0.9, 0.9), (0.0, 0.0, 0.1)))
    assert mixed["radcliq_v1"].values[0] < 0 < mixed["radcliq_v1"].aggregate
    inverse = mixed["inv_radcliq_v1"]
    assert inverse.aggregate == pytest.approx(1 / mixed["radcliq_v1"].aggregate)
    assert np.isnan(inverse.values).all()
    assert set(inverse.reasons.values()) == {"only_together"}
    entry = score_keys()["inv_radcliq_v1"]
    assert (entry.direction, entry.range("published")) == ("higher", (0, None))


def test_the_inverse_has_an_interval(moerad: Mapping[str, Any]) -> None:
    found = compute("inv_radcliq_v1", moerad["predictions"], moerad["references"], features=moerad["features"])
    inverse = found["inv_radcliq_v1"]
    assert inverse.statistics is not None
    assert inverse.formula is not None
    limits = corpus_interval(inverse.statistics, inverse.formula, resamples=200)
    assert limits is not None
    assert inverse.aggregate is not None
    assert limits[0] < inverse.aggregate < limits[1]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_study_without_a_component_has_no_score(convention: Convention) -> None:
    features = components((0.5, 0.5, 0.5), (None, 0.5, 0.5), (0.5, float("nan"), 0.5), (0.5, 0.5, None))
    texts = [f"Report {number}." for number in range(4)]
    for scores in compute(RAW, texts, ["Reference."] * 4, convention, features=features).values():
        assert scores.reasons == dict.fromkeys((1, 2, 3), "undefined_component")
        assert scores.aggregate == scores.values[0]
    lost = compute("inv_radcliq_v1", texts, ["Reference."] * 4, convention, features=features)["inv_radcliq_v1"]
    assert lost.counts["n_undefined"] == 3


def test_ranges_and_directions() -> None:
    for key in RAW:
        entry = score_keys()[key]
        assert entry.direction == "lower"
        assert entry.range("published") == (None, None)
        lowest, highest = entry.range("corrected")
        assert highest is None
        assert lowest is not None
        for convention in CONVENTIONS:
            assert (entry.best(convention), entry.worst(convention)) == (PERFECT[key], FLOOR[key])
        function = v0 if key == "radcliq_v0" else v1
        assert function([1], [1], [1], [0])[0] == lowest <= PERFECT[key]


unit = st.floats(0, 0.9)


@settings(deadline=None)
@given(st.lists(st.tuples(unit, st.floats(-6, 0.9), st.floats(-1, 0.9), unit), min_size=1, max_size=8))
def test_better_components_never_predict_more_errors(rows: list[tuple[float, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    base = {"radcliq_v0": v0(*columns), "radcliq_v1": v1(*columns)}
    for key, values in base.items():
        lowest = score_keys()[key].range("corrected")[0]
        assert lowest is not None
        assert (values >= lowest - 1e-12).all()
    for index in range(3):
        better = [*columns[:index], [value + 0.1 for value in columns[index]], *columns[index + 1 :]]
        assert (v0(*better) < base["radcliq_v0"]).all()
        assert (v1(*better) < base["radcliq_v1"]).all()
    more_overlap = [*columns[:3], [value + 0.1 for value in columns[3]]]
    assert (v0(*more_overlap) > base["radcliq_v0"]).all()
    assert v1(*more_overlap) == pytest.approx(base["radcliq_v1"], abs=1e-11)
    alone = [v1(*[[value] for value in row])[0] for row in rows]
    assert alone == base["radcliq_v1"].tolist()


def test_array_likes() -> None:
    values = [0.1, 0.5, float("nan")]
    expected = v1(values, values, values, values)
    assert np.isnan(expected).tolist() == [False, False, True]
    masked = np.ma.MaskedArray([0.1, 0.5, 7.0], mask=[False, False, True])
    for same in (
        tuple(values),
        np.array(values, dtype=np.float64),
        pd.Series(values, index=[7, 8, 9]),
        pa.array([0.1, 0.5, None]),
        [0.1, 0.5, None],
        masked,
    ):
        np.testing.assert_array_equal(v1(same, values, values, values), expected)  # type: ignore[arg-type]
    assert v0([], [], [], []).tolist() == []
    assert v0([1], [True], np.array([1]), [1.0]) == pytest.approx([PERFECT["radcliq_v0"]], abs=1e-14)


@pytest.mark.parametrize(
    ("position", "wrong", "message"),
    [
        (0, [0.1], "bertscore has 2 values, and radgraph_combined has 1; give one a study"),
        (1, [0.1], "bertscore has 1 values, and radgraph_combined has 2; give one a study"),
        (1, 0.5, "bertscore: expected a list of numbers with one a study, got 0 dimensions"),
        (2, [[0.1], [0.2]], "sembscore: expected a list of numbers with one a study, got 2 dimensions"),
        (3, ["0.1", "0.2"], "bleu2: expected a list of numbers with one a study"),
        (3, ["secret", None], "bleu2: expected a list of numbers with one a study"),
        (3, [[0.1], [0.2, 0.3]], "bleu2: expected a list of numbers with one a study"),
        (3, [1j, 2j], "bleu2: expected a list of numbers with one a study"),
        (0, {"a": 1}, "radgraph_combined: expected a list of numbers with one a study"),
        (0, None, "radgraph_combined: expected a list of numbers with one a study"),
        (0, [0.1, float("inf")], r"radgraph_combined\[1\]: the value is infinite"),
    ],
)
def test_wrong_components_are_named(position: int, wrong: Any, message: str) -> None:
    columns: list[Any] = [[0.1, 0.2]] * 4
    columns[position] = wrong
    for function in (v0, v1):
        with pytest.raises(InvalidCall, match=message) as caught:
            function(*columns)
        assert "secret" not in str(caught.value)


def test_wrong_features_are_named() -> None:
    features: dict[str, Sequence[Any]] = {**components((0.1, 0.2, 0.3)), "sembscore": ["secret"]}
    with pytest.raises(InvalidCall, match=r"features\['sembscore'\]: expected a list of numbers") as caught:
        compute("radcliq_v1", ["A."], ["B."], features=features)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_order_and_neighbours_do_not_matter(convention: Convention, moerad: Mapping[str, Any]) -> None:
    order = np.random.default_rng(1).permutation(590)
    whole = compute(RAW, moerad["predictions"], moerad["references"], convention, features=moerad["features"])

    def chosen(positions: Sequence[int]) -> dict[str, Any]:
        features = {name: np.asarray(values)[positions] for name, values in moerad["features"].items()}
        predictions, references = ([moerad[side][at] for at in positions] for side in ("predictions", "references"))
        scored = compute(RAW, predictions, references, convention, features=features)
        return {key: scores.values for key, scores in scored.items()}

    mixed, alone = chosen(order.tolist()), chosen([17])
    for key in RAW:
        np.testing.assert_array_equal(mixed[key], whole[key].values[order])
        np.testing.assert_array_equal(alone[key], whole[key].values[17:18])


def test_the_signature_names_every_component() -> None:
    features = components((0.1, 0.2, 0.3))
    published = compute("radcliq_v1", ["A."], ["B."], features=features)["radcliq_v1"].signature
    assert published == (
        "radcliq_v1|conv:published|rg:v1-combined-0.1.18|bertscore:distilroberta-base-l5-rescaled|sembscore:chexbert-cls|"
        "bleu:rexrank|w:unverified|v:1"
    )
    corrected = compute("radcliq_v1", ["A."], ["B."], "corrected", features=features)["radcliq_v1"].signature
    assert "|rg:v1-combined-fold|" in corrected
    assert "|bleu:unicode|" in corrected


PERCENT = {
    "radgraph_combined": ([0.5, 54.0], "from 0 to 1, got 54"),
    "bertscore": ([0.5, 43.0], "at most 1, got 43"),
    "sembscore": ([0.5, 61.5], "from -1 to 1, got 61.5"),
}


@pytest.mark.parametrize("name", PERCENT)
def test_percentages_are_refused(name: str) -> None:
    values, said = PERCENT[name]
    good: dict[str, list[float]] = {one: [0.5, 0.5] for one in PERCENT}
    for key in ("radcliq_v0", "radcliq_v1", "inv_radcliq_v1"):
        with pytest.raises(InvalidCall) as caught:
            compute(key, ["A.", "B."], ["C.", "D."], features={**good, name: values})
        assert str(caught.value) == (
            f"features['{name}'][1]: expected a number {said} (1 affected); did you give percent?"
        )
    columns = [{**good, name: values}[one] for one in PERCENT]
    for function in (v0, v1):
        with pytest.raises(InvalidCall, match=rf"\A{name}\[1\]: expected a number {said}"):
            function(*columns, [0.5, 0.5])
        with pytest.raises(InvalidCall, match=r"\Ableu2\[0\]: expected a number from 0 to 1, got 46 \(2 affected\)"):
            function([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [46, 46])


def test_rounding_and_low_scores_of_bertscore_are_no_percentages() -> None:
    most, least = 1 + 5e-7, -5e-7
    assert np.isfinite(v1([most, least], [most, -12.1], [most, -1 - 5e-7], [most, least])).all()
    for below in ([-0.01], [0.5], [0.5]), ([0.5], [0.5], [-1.01]):
        with pytest.raises(InvalidCall, match="did you give percent"):
            v1(*below, [0.5])


def test_what_blank_reports_get_is_turned_round_where_the_score_is() -> None:
    blanks = [""] * 3
    features = {"radgraph_combined": [0.0] * 3, "bertscore": [-5.55] * 3, "sembscore": [0.2] * 3}
    found = compute("inv_radcliq_v1", blanks, ["Edema."] * 3, "corrected", features=features)["inv_radcliq_v1"]
    assert found.aggregate is not None
    assert f"| {found.aggregate:g} |" in scores_table(metrics()["radcliq"]).splitlines()[-1]
    assert scores_table(metrics()["fineradscore"]).splitlines()[-1].endswith("| 0.25 |")
