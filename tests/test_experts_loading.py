"""Judgements in the forms in which they are published, read from invented look-alikes."""

import json
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from judged_sets import (
    GOOD,
    POOR,
    REFERENCE,
    annotation,
    radeval,
    radeval_row,
    radevalx,
    radpref,
    radpref_said,
    rexval,
    table_rows,
    write_csv,
    write_json,
)

from rexrank.experts import load
from rexrank.experts.judgements import mean_of_some

NAN = float("nan")


def same(found: np.ndarray, expected: list) -> bool:
    return np.array_equal(found, np.array(expected, dtype=float), equal_nan=True)


def test_radpref(tmp_path: Path) -> None:
    folder = radpref(tmp_path / "set", [[(5, 1), (4, 3)], [(4, 2), (4, 2)], [(3, 3), (5, 1)]])
    found = load(folder)
    assert (found.kind, found.source, found.raters) == ("radpref", "set", ["reader-1", "reader-2", "reader-3"])
    assert [(one.study_id, one.name) for one in found.candidates] == [
        ("0", "C1"),
        ("0", "C2"),
        ("1", "C1"),
        ("1", "C2"),
    ]
    assert (found.candidates[1].text, found.candidates[1].reference) == (POOR, REFERENCE)
    name, rating = found.opinion()
    assert name == "rating"
    assert same(rating.values, [[5, 4, 3], [1, 2, 3], [4, 4, 5], [3, 2, 1]])
    assert rating.mean_quality.tolist() == pytest.approx([4.0, 2.0, 13 / 3, 2.0])


def test_the_folder_of_the_caller_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(radpref(tmp_path / "set", [[(5, 1)]]))
    assert load(".").source == "set"


def test_errors_of_radpref_are_weighed_as_in_crimson(tmp_path: Path) -> None:
    folder = radpref(tmp_path, [[(5, 1)]])
    levels = ("urgent", "actionable_not_urgent", "Not Actionable Not Urgent", "benign_expected", "unheard", None)
    said = {"0": {"C1": radpref_said(5), "C2": radpref_said(1, *levels)}}
    write_json(folder / "user_1.json", {"user_id": 1, "annotations": said})
    found = load(folder)
    assert same(found.opinions["errors"].values, [[0], [6]])
    assert same(found.opinions["errors_weighted"].values, [[0], [1 + 0.5 + 0.25 + 0 + 0.25 + 0.25]])
    assert found.opinions["errors"].direction == "lower"
    assert found.opinions["errors"].mean_quality.tolist() == [0, -6]
    assert found.notes == ["1 errors have no level of significance; errors_weighted counts each 0.25"]


def test_radpref_without_lists_of_errors_has_no_number_of_errors(tmp_path: Path) -> None:
    folder = radpref(tmp_path, [[(5, 1)]])
    said = {"0": {"C1": {"rating": 5}, "C2": radpref_said(1)}}
    write_json(folder / "user_1.json", {"user_id": "one", "annotations": said})
    assert same(load(folder).opinions["errors"].values, [[NAN], [0]])


def test_raters_of_radpref_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = radpref(tmp_path, [[(5, 1)]] * 11)
    assert load(folder).raters == [f"reader-{number}" for number in range(1, 12)]


@pytest.mark.parametrize(
    ("ids", "numbers", "told"),
    [
        (("s1", "s2", "s3"), (0, 1, 2), "from 0 on"),
        (("s1", "s2", "s3"), (1, 2, 3), "from 1 on"),
        (("70", "80", "90"), (90, 80, 70), "as study_id"),
    ],
)
def test_rexval(tmp_path: Path, ids: tuple, numbers: tuple, told: str) -> None:
    found = load(rexval(tmp_path, ids, numbers))
    assert found.kind == "rexval"
    assert [(one.study_id, one.name) for one in found.candidates][:5] == [
        *((ids[0], name) for name in ("radgraph", "bertscore", "s_emb", "bleu")),
        (ids[1], "radgraph"),
    ]
    assert found.raters == ["rater_0", "rater_1"]
    # Two categories, to each of which the second rater adds one.
    assert same(found.opinions["errors"].values[:4], [[2, 4], [4, 6], [6, 8], [0, 2]])
    assert same(found.opinions["errors_significant"].values[:4], [[2, 4], [4, 6], [6, 8], [0, 2]])
    assert not found.opinions["errors_insignificant"].values.any()
    assert told in found.notes[0]


def test_rexval_with_the_index_of_pandas(tmp_path: Path) -> None:
    folder = rexval(tmp_path)
    path = folder / "50_samples_gt_and_candidates.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f",{lines[0]}", *(f"{number},{line}" for number, line in enumerate(lines[1:]))]))
    assert len(load(folder).candidates) == 12


def test_radevalx(tmp_path: Path) -> None:
    found = load(radevalx(tmp_path))
    assert found.kind == "radevalx"
    assert same(found.opinions["errors"].values, [[1], [2], [3]])
    assert same(found.opinions["errors_significant"].values, [[0], [1], [2]])
    assert list(found.scores) == ["bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1", "radcliq"]
    assert found.scores["radcliq"].tolist() == [0, 1, 2]  # of five rows those that are judged
    assert found.notes == []


def test_blank_cells_of_radevalx_are_missing_and_never_zero(tmp_path: Path) -> None:
    found = load(radevalx(tmp_path, blank=True))
    assert same(found.opinions["errors"].values, [[NAN], [2], [3]])
    assert found.notes == [
        "2 cells are blank, and the set does not say what that means, so 1 of 3 candidates have no number of errors; "
        "--blank-cells zero reads them as 0"
    ]
    as_zero = load(radevalx(tmp_path, blank=True), blank_cells="zero")
    assert same(as_zero.opinions["errors"].values, [[1], [2], [3]])
    assert as_zero.notes == ["2 blank cells were read as 0, as you asked"]


def test_radevalx_without_scores(tmp_path: Path) -> None:
    assert load(radevalx(tmp_path, scores=False)).scores == {}


def test_radeval(tmp_path: Path) -> None:
    found = load(radeval(tmp_path / "reader_study_final_with_annotationsv3.csv"))
    assert found.kind == "radeval"
    assert len(found.candidates) == 12
    assert [one.group for one in found.candidates[::3]] == ["p10000001", "p10000001", "patient00007", "x/d"]
    assert len({one.study_id for one in found.candidates}) == 4
    assert found.opinion()[0] == "errors_significant"
    assert same(found.opinions["errors_significant"].values[:3], [[0], [1], [3]])
    assert same(found.opinions["errors"].values[:3], [[1], [1], [4]])


@pytest.mark.parametrize(
    "unreadable",
    [
        "",
        annotation([1], [0, 0]),
        annotation([1, "two"], [0, 0]),
        annotation([1, ""], [0, 0]),
        "Clinically significant errors:\n1. x: 1\n1. x: 0\n2. y: 0",
        "1. x: 1\n2. y: 0",
    ],
)
def test_annotations_that_cannot_be_read_are_undefined(tmp_path: Path, unreadable: str) -> None:
    rows = [radeval_row("a"), radeval_row("b", annotation1=unreadable)]
    found = load(write_csv(tmp_path / "set.csv", rows), "radeval")
    assert same(found.opinions["errors_significant"].values[[0, 3]], [[0], [NAN]])
    assert found.notes[0] == "1 of 6 annotations lack counts that can be read"


@pytest.mark.parametrize(
    "written",
    [
        "CLINICALLY SIGNIFICANT ERRORS\n1) x = 1\n2) y = 2\nInsignificant errors\n1) x = 0\n2) y = 0",
        "**Significant:**\n1. 1\n2. 2.\n\n**Non-significant:**\n1. 0\n2. 0",
        "Clinically Significant Errors:\r\n1: x: 1\r\n2: y, grade 3: 2\r\nInsignificant errors:\r\n1: 0\r\n2: 0",
    ],
)
def test_annotations_in_other_words(tmp_path: Path, written: str) -> None:
    found = load(write_csv(tmp_path / "set.csv", [radeval_row("a", annotation1=written)]), "radeval")
    assert found.opinions["errors_significant"].values[0, 0] == 3
    assert found.opinions["errors"].values[0, 0] == 3


def test_two_readers_of_one_row_of_radeval_are_two_raters(tmp_path: Path) -> None:
    rows = [radeval_row("a", "A"), radeval_row("a", "B"), radeval_row("b", "B")]
    found = load(write_csv(tmp_path / "set.csv", rows), "radeval")
    assert len(found.candidates) == 6
    assert same(found.opinions["errors_significant"].values[[0, 3]], [[0, 0], [NAN, 0]])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json"])
def test_a_table(tmp_path: Path, ending: str) -> None:
    rows = table_rows()
    path = tmp_path / f"judged{ending}"
    if ending == ".json":
        write_json(path, rows)
    else:
        write_csv(path, rows)
    if ending == ".tsv":
        path.write_text(path.read_text().replace(",", "\t"))
    found = load(path)
    assert (found.kind, found.raters) == ("table", ["ann", "bo"])
    assert [(one.study_id, one.name) for one in found.candidates][:3] == [("s0", "1"), ("s0", "2"), ("s1", "1")]
    assert same(found.opinion()[1].values[:3], [[4, 3], [3, 2], [5, 4]])


def test_a_table_with_ids_patients_scores_and_no_text(tmp_path: Path) -> None:
    rows = [
        {
            "study_id": study,
            "candidate_id": name,
            "patient_id": "p",
            "rater": rater,
            "errors": count,
            "errors_significant": 0,
            "green": count / 10,
        }
        for study in "ab"
        for name, count in (("x", 1), ("y", 2))
        for rater in (1, 2)
    ]
    found = load(write_csv(tmp_path / "judged.csv", rows), given=["green"])
    assert [one.name for one in found.candidates] == ["x", "y", "x", "y"]
    assert {one.group for one in found.candidates} == {"p"}
    assert found.scores["green"].tolist() == [0.1, 0.2, 0.1, 0.2]
    assert list(found.opinions) == ["errors", "errors_significant"]


def test_raters_may_lack_candidates_where_that_is_accepted(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "judged.csv", table_rows()[:-1])
    opinion = load(path, allow_missing=True).opinion()[1]
    assert np.isnan(opinion.values).sum() == 1
    assert opinion.mean_quality[-1] == opinion.values[-1, 0]


def test_means_of_what_is_there() -> None:
    assert same(mean_of_some(np.array([[1, NAN], [NAN, NAN], [1, 2]])), [1, NAN, 1.5])


def test_nothing_of_a_report_is_shown(tmp_path: Path) -> None:
    found = load(radpref(tmp_path, [[(5, 1)]]))
    for shown in (repr(found), repr(found.candidates), repr(found.candidates[0])):
        assert GOOD not in shown
        assert REFERENCE not in shown
    assert json.dumps(found.notes) == "[]"


def test_a_large_table_takes_no_longer_a_row(tmp_path: Path) -> None:
    def seconds(studies: int) -> float:
        rows = [
            {"study_id": study, "rater": "r", "rating": 1, "candidate": f"{study} {name}", "reference": "x"}
            for study in range(studies)
            for name in "ab"
        ]
        path = write_csv(tmp_path / f"{studies}.csv", rows)
        started = process_time()
        load(path)
        return process_time() - started

    assert seconds(8_000) < 24 * min(seconds(1_000), seconds(1_000))
