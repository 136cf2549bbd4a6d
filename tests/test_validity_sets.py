"""What is judged on: texts, what is known of each study, and the training split."""

import json
from pathlib import Path
from typing import Any

import pytest

from rexrank.benchmarks import BenchmarkError
from rexrank.reports import read_references
from rexrank.validity.sets import open_set

RECORDS: list[dict[str, Any]] = [
    {
        "study_id": "a",
        "findings": "Clear lungs.",
        "context": "Indication: Cough. Comparison: None.",
        "view": ["Frontal", "Lateral"],
        "sex": "F",
        "age": 61.0,
        "labels_normal": 1,
        "labels_edema": 0,
    },
    {
        "study_id": "b",
        "findings": "Small effusion.",
        "comparison": "Film of last week.",
        "site": "nan",
        "sex": None,
    },
    {"study_id": "c", "findings": "Edema.", "context": "Indication: Fever."},
]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
def test_every_form_of_file_keeps_what_it_says_of_a_study(tmp_path: Path, ending: str) -> None:
    path = _written(tmp_path / f"references{ending}")
    found = open_set(references=path)
    assert found.name == path.name
    first, second, third = (found.attributes[one] for one in "abc")
    assert first["labels_normal"].startswith("1")
    assert (first["sex"], first["prior"]) == ("F", "no")
    assert first["age"].startswith("61")
    assert second == {"prior": "yes"}
    assert "prior" not in third


def _written(path: Path) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(RECORDS), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS), encoding="utf-8")
    else:
        import pandas

        table = pandas.DataFrame([{**one, "view": str(one.get("view", ""))} for one in RECORDS])
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    return path


def test_none_to_compare_with_is_an_answer_and_nan_is_none() -> None:
    records = [
        {"study_id": name, "findings": "Clear lungs.", "comparison": said}
        for name, said in (("a", "None"), ("b", "nan"), ("c", None))
    ]
    known = open_set(references=records).attributes
    assert known == {"a": {"prior": "no"}, "b": {}, "c": {}}


def test_several_views_are_joined() -> None:
    study = read_references(RECORDS).studies["a"]
    assert study.attributes["view"] == "Frontal, Lateral"


def test_iu_xray_comes_with_its_training_split() -> None:
    found = open_set("iu-xray")
    assert (len(found.studies), len(found.training), found.public) == (590, 2069, True)
    assert {one.get("prior") for one in found.attributes.values()} == {"yes", "no"}


def test_nobody_said_that_files_of_ones_own_are_public() -> None:
    # Else `rexrank floor` would store, and push, training reports of a private set.
    assert not open_set(references=RECORDS).public
    assert not open_set("iu-xray", references=RECORDS).public


@pytest.mark.parametrize("benchmark", ["iu-xry", "/nowhere", None])
def test_what_is_no_benchmark_is_refused_with_the_way_out(benchmark: str | None) -> None:
    with pytest.raises(BenchmarkError, match=r"references"):
        open_set(benchmark)
