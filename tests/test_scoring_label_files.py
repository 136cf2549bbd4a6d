"""Labels from files in the place of CheXbert's: the scores of R2Gen's clinical efficacy, and each fault by its name."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import rexrank
from rexrank.cli import main
from rexrank.errors import RefusedInput
from rexrank.labels import NAMES

STUDIES = ["a", "b", "c", "d"]
TEXTS = {study: f"Report of {study}." for study in STUDIES}
PREDICTED = {
    "a": {"Edema": "1.0"},
    "b": {"Edema": "-1", "Fracture": "1"},
    "c": {"No Finding": "1"},
    "d": {"Edema": "1"},
}
REFERRED = {"a": {"Edema": "1"}, "b": {"Edema": "1", "Fracture": "1"}, "c": {}, "d": {"Edema": "0", "Pneumonia": "nan"}}
EFFICACY = ["ce_precision", "ce_recall", "ce_f1"]


def table(path: Path, rows: Mapping[str, Mapping[str, str]], names: tuple[str, ...] = NAMES) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["study_id", "Report Impression", *names])
        writer.writeheader()
        writer.writerows({"study_id": study, "Report Impression": "said", **row} for study, row in rows.items())
    return path


def files(folder: Path) -> tuple[Path, Path]:
    turned = dict(reversed(REFERRED.items()))
    return table(folder / "predicted.csv", PREDICTED), table(folder / "referred.csv", {**turned, "more": {}})


def scored(labels: Any, **call: Any) -> rexrank.ScoreCard:
    return rexrank.score(
        TEXTS, TEXTS, labels=labels, **{"protocol": "cxpmrg", "progress": False, "download": False, **call}
    )


def present(rows: Mapping[str, Mapping[str, str]]) -> list[list[int]]:
    return [[int(float(rows[study].get(name, "0")) == 1) for name in NAMES] for study in STUDIES]


def macro(predicted: list[list[int]], referred: list[list[int]]) -> list[float]:
    """Precision, recall and F1, means over the labels; 0/0 is 0."""
    sums = [0.0, 0.0, 0.0]
    for one, other in zip(zip(*predicted, strict=True), zip(*referred, strict=True), strict=True):
        both = sum(a * b for a, b in zip(one, other, strict=True))
        for at, (above, below) in enumerate([(both, sum(one)), (both, sum(other)), (2 * both, sum(one) + sum(other))]):
            sums[at] += above / below if below else 0
    return [total / len(NAMES) for total in sums]


def faults(call: Callable[[], object]) -> list[tuple[str, str | None, str | None, str | None]]:
    with pytest.raises(RefusedInput) as caught:
        call()
    return [(problem.code, problem.file, problem.study_id, problem.field) for problem in caught.value.problems]


def test_clinical_efficacy_is_that_of_r2gens_script(tmp_path: Path) -> None:
    card = scored(files(tmp_path), metrics=EFFICACY, track="findings")
    assert [card.summary[key] for key in EFFICACY] == pytest.approx(macro(present(PREDICTED), present(REFERRED)))
    assert not card.unavailable
    assert card.summary["ce_f1"] <= (card.summary["ce_precision"] + card.summary["ce_recall"]) / 2
    assert "enc:label-files" in card.signatures["ce_f1"]
    assert "uncertain:negative" in card.signatures["ce_f1"]
    assert card.inputs["labels_of_predictions"]["source"] == "predicted.csv"
    assert card.weights == {}


def test_all_normal_labels_that_are_right(tmp_path: Path) -> None:
    path = table(tmp_path / "normal.csv", {study: {"No Finding": "1"} for study in STUDIES})
    published, corrected = (
        scored((path, path), metrics=["ce_f1"], convention=one) for one in ("published", "corrected")
    )
    assert (published.summary["ce_f1"], corrected.summary["ce_f1"]) == (pytest.approx(1 / 14), 1.0)
    assert corrected.counts["ce_f1"]["n_labels"] == 1


def test_what_needs_other_features_stays_unavailable(tmp_path: Path) -> None:
    card = scored(files(tmp_path), metrics=["f1chexbert_micro_14", "sembscore"], weights=str(tmp_path))
    assert list(card.summary) == ["f1chexbert_micro_14"]
    assert list(card.unavailable) == ["sembscore"]


def test_signatures_differ_where_references_have_other_labels(tmp_path: Path) -> None:
    predicted, referred = files(tmp_path)
    one, other, again = (
        scored(pair, metrics=["ce_f1"]).signatures["ce_f1"]
        for pair in ((predicted, referred), (predicted, predicted), (referred, referred))
    )
    assert one == again != other


def test_labels_may_be_objects(tmp_path: Path) -> None:
    whole = [
        {study: {name: float(row.get(name, "nan")) for name in NAMES} for study, row in rows.items()}
        for rows in (PREDICTED, REFERRED)
    ]
    assert scored(tuple(whole), metrics=EFFICACY).summary == scored(files(tmp_path), metrics=EFFICACY).summary


def test_faults_are_named(tmp_path: Path) -> None:
    predicted, referred = files(tmp_path)
    lacking = table(tmp_path / "lacking.csv", {study: PREDICTED[study] for study in "abc"})
    assert faults(lambda: scored((lacking, referred), metrics=EFFICACY)) == [("missing_ids", "lacking.csv", "d", None)]
    odd = table(tmp_path / "odd.csv", {**REFERRED, "b": {"Edema": "yes", "Fracture": "2"}})
    assert faults(lambda: scored((predicted, odd), metrics=EFFICACY)) == [
        ("wrong_type", "odd.csv", "b", "Edema"),
        ("wrong_type", "odd.csv", "b", "Fracture"),
    ]
    narrow = table(tmp_path / "narrow.csv", {"a": {}}, NAMES[:5])
    assert ("wrong_columns", "narrow.csv", "a", None) in faults(lambda: scored((narrow, referred), metrics=EFFICACY))
    twice = tmp_path / "twice.csv"
    twice.write_text(f"{predicted.read_text()}a{',' * 15}\n")
    assert faults(lambda: scored((twice, referred), metrics=EFFICACY)) == [("duplicate_key", "twice.csv", "a", None)]
    both = faults(lambda: scored((tmp_path / "none.csv", tmp_path / "no.csv"), metrics=EFFICACY))
    assert [(code, file) for code, file, _, _ in both] == [("file_missing", "none.csv"), ("file_missing", "no.csv")]


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(TEXTS))
    words = ["score", str(texts), "--references", str(texts), "--protocol", "cxpmrg", "--metrics", "ce_f1", "--quiet"]
    assert main([*words, "--json", "--labels", *map(str, files(tmp_path))]) == 0
    assert json.loads(capsys.readouterr().out)["summary"].keys() == {"ce_f1"}
    assert main([*words, "--labels", str(texts), str(texts)]) == 1
    assert "lacks labels" in capsys.readouterr().err
