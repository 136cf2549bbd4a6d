"""Ids of predictions and references held against each other."""

from pathlib import Path

import pytest

import rexrank
from rexrank.reports import read_pair

REFERENCES = {study_id: {"section_findings": "Clear.", "section_impression": ""} for study_id in ("a", "b", "c", "d")}


def named(problems: list[rexrank.Problem]) -> list[tuple[str, str | None]]:
    """Code and study of each fault."""
    return [(problem.code, problem.study_id) for problem in problems]


def test_nothing_to_say_about_whole_predictions() -> None:
    assert rexrank.validate(dict.fromkeys(REFERENCES, "Clear."), REFERENCES) == []


def test_missing_extra_and_duplicate_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("study_id,report\na,x\nb,x\na,y\ne,x\nc,z\n")
    problems = rexrank.validate(path, REFERENCES)
    assert named(problems) == [("duplicate_key", "a"), ("missing_ids", "d"), ("extra_ids", "e")]
    assert {problem.file for problem in problems} == {"p.csv"}
    assert "1 of 4 studies missing" in problems[1].message


def test_two_letters_before_one_number_are_no_near_miss() -> None:
    problems = rexrank.validate({"p1": "x"}, {"s1": "y"})
    assert named(problems) == [("missing_ids", "s1"), ("extra_ids", "p1")]
    assert not any("differs only" in problem.message for problem in problems)
    # A nearer one is named where there is one.
    problems = rexrank.validate({"S1": "x", "1": "x"}, {"s1": "y", "2": "y"})
    assert '"S1", which differs only in case' in problems[1].message


def test_faults_of_texts_and_ids_come_together() -> None:
    problems = rexrank.validate({"a": None, "b": "x", "c": "x"}, {**REFERENCES, "e": {"findings": 1}})
    assert named(problems) == [("wrong_type", "a"), ("wrong_type", "e"), ("missing_ids", "d")]


def test_an_unread_part_makes_nothing_missing(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"a": "x", "z": "y", "b": ')
    assert named(rexrank.validate(path, REFERENCES)) == [("bad_json", None), ("extra_ids", "z")]
    assert named(rexrank.validate({"a": "x"}, tmp_path / "none.json")) == [("file_missing", None)]


@pytest.mark.parametrize(
    ("predicted", "referred", "difference"),
    [
        ("s1 ", "s1", "spaces at its ends"),
        ("S1", "s1", "case"),
        ("s 1", "s1", "spaces"),
        ("1", "001", "leading zeros"),
        ("1e5", "100000", "how it is written"),
        ("study_01", "study_1", "how it is written"),
        ("s50000001", "50000001", "the letter before the number"),
        ("7", "S07", "the letter before the number"),
    ],
)
def test_near_misses_stay_different_and_are_named(predicted: str, referred: str, difference: str) -> None:
    problems = rexrank.validate({predicted: "x"}, {referred: "y"})
    assert named(problems) == [("missing_ids", referred), ("extra_ids", predicted)]
    assert f'"{predicted}", which differs only in {difference}' in problems[0].message
    assert f'"{referred}", which differs only in {difference}' in problems[1].message


def test_ids_with_a_common_beginning_are_no_near_misses() -> None:
    problems = rexrank.validate({"patient1_study1": "x"}, {"patient2_study1": "y"})
    assert all("differs" not in problem.message for problem in problems)


def test_studies_outside_the_track_need_no_prediction_and_forbid_none() -> None:
    references = {**REFERENCES, "e": {"section_findings": None, "section_impression": "Normal."}}
    whole = dict.fromkeys(REFERENCES, "x")
    assert rexrank.validate(whole, references) == []
    assert rexrank.validate({**whole, "e": "x"}, references) == []
    assert named(rexrank.validate({**whole, "e": "x"}, references, track="impression")) == []
    assert named(rexrank.validate(whole, references, track="impression")) == [("missing_ids", "e")]


def test_a_track_without_studies_is_refused() -> None:
    (problem,) = rexrank.validate(dict.fromkeys(REFERENCES, "x"), REFERENCES, track="impression")
    assert "none of its 4 studies has a text for the track impression" in problem.message


def test_lists_are_joined_by_position_only_with_lists() -> None:
    assert rexrank.validate(["x", "y"], ["x", ["y", "z"]]) == []
    assert named(rexrank.validate(["x"], ["x", "y"])) == [("missing_ids", None)]
    assert named(rexrank.validate(["x", "y", "z"], ["x", "y"])) == [("extra_ids", None)]
    assert named(rexrank.validate(["x", "y"], {"0": "x", "1": "y"})) == [("wrong_type", None)]


def test_real_predictions_fit(shared_data: Path) -> None:
    folder = shared_data / "iu_xray"
    predictions, references = read_pair(folder / "predictions/moerad/preds.csv", folder / "ReXRank_IUXray_test.json")
    assert list(predictions.texts) == list(references.studies)
    (system,) = (folder / "predictions/mrg_rl").glob("qwen*")
    assert rexrank.validate(system / "test_preds.json", system / "test_refs.json") == []


def test_a_file_for_other_studies_is_said_first_and_once() -> None:
    wanted = {f"CXR{number}": "Clear." for number in range(3)}
    problems = rexrank.validate({"case-1": "Clear.", "case-2": "Normal."}, wanted)
    assert [problem.study_id for problem in problems[:1]] == [None]
    assert "none of its 2 study ids is among the 3 wanted" in problems[0].message
    assert len(problems) == 1 + 3 + 2
    one_fits = rexrank.validate({"CXR0": "Clear.", "case-2": "Normal."}, wanted)
    assert all(problem.study_id for problem in one_fits)
