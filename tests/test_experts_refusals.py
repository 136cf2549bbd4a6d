"""What is refused, by name and without a word of a report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_sets import (
    FAIR,
    GOOD,
    POOR,
    REFERENCE,
    radeval_row,
    radevalx,
    radpref,
    radpref_said,
    radpref_study,
    rexval,
    rexval_counts,
    table_rows,
    write_csv,
    write_json,
)

from rexrank.experts import Candidate, UnreadableJudgements, load
from rexrank.experts.scores import given_scores, read_scores

COUNTS = "6_valid_raters_per_rater_error_categories.csv"
SIGNIFICANT = "RadEval_clinically_significant_errors.csv"


def refusal(path: Path, *words: str, **options: Any) -> str:
    with pytest.raises(UnreadableJudgements) as refused:
        load(path, **options)
    message = str(refused.value)
    for word in words:
        assert word in message
    for text in (GOOD, FAIR, POOR, REFERENCE):
        assert text not in message
    return message


def changed_user(folder: Path, change: Callable[[dict], object]) -> Path:
    path = folder / "user_1.json"
    user = json.loads(path.read_text())
    change(user)
    write_json(path, user)
    return folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda user: user["annotations"].pop("1"), ['"reader-1" has no judgement', '"C1" of study "1"', "and 0"]),
        (lambda user: user["annotations"]["0"].pop("C2"), ['candidate "C2" of study "0"', "--allow-missing"]),
        (lambda user: user["annotations"]["0"]["C1"].update(rating=6), ['study "0", C1, rating', "from 1 to 5, got 6"]),
        (lambda user: user["annotations"]["0"]["C1"].update(rating="high"), ["rating: expected a number from 1 to 5"]),
        (lambda user: user["annotations"]["0"]["C1"].update(mood=1), ["fields", '"mood"']),
        (lambda user: user["annotations"].update(ghost={}), ['study "ghost" is not in preference_data.json']),
        (
            lambda user: user["annotations"]["0"]["C1"].update(finding_errors=[1]),
            ["finding_errors: expected an object"],
        ),
        (lambda user: user.update(user_id="reader-2"), ['another file is of "reader-2" too']),
        (lambda user: user.pop("annotations"), ["user_1.json has no annotations"]),
    ],
)
def test_radpref(tmp_path: Path, change: Callable[[dict], object], words: list[str]) -> None:
    folder = changed_user(radpref(tmp_path, [[(5, 1), (4, 2)], [(5, 1), (4, 2)]]), change)
    refusal(folder, *(word for word in words if word != "and 0"))


def test_radpref_files(tmp_path: Path) -> None:
    folder = radpref(tmp_path, [[(5, 1)]])
    write_json(folder / "preference_data.json", [radpref_study("0"), radpref_study(0)])
    refusal(folder, 'has study "0" twice')
    write_json(folder / "preference_data.json", [radpref_study("0") | {"extra": 1}])
    refusal(folder, '"extra"')
    write_json(folder / "preference_data.json", [radpref_study("0") | {"C1_report": None}])
    refusal(folder, "C1_report: expected a text, got None")
    (folder / "preference_data.json").write_text('[{"id": 1,}]')
    refusal(folder, "preference_data.json: line 1, column 11 is not valid JSON")
    (folder / "preference_data.json").write_text('[{"id": 1, "id": 2}]')
    refusal(folder, 'has "id" twice')
    radpref(tmp_path / "other", [[(5, 1)]])
    (tmp_path / "other/user_1.json").unlink()
    refusal(tmp_path / "other", "has no user_1.json")


def test_a_rating_that_is_left_blank_is_missing(tmp_path: Path) -> None:
    folder = radpref(tmp_path, [[(5, 1)]])
    changed_user(folder, lambda user: user["annotations"]["0"].update(C1=radpref_said(None)))
    refusal(folder, '"reader-1" has no judgement of candidate "C1" of study "0"')
    assert np.isnan(load(folder, allow_missing=True).opinions["rating"].values[0, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidate_type": "rouge"}, ['candidate_type "rouge" is none of radgraph']),
        ({"num_errors": "-1"}, ["line 2, num_errors: expected a number from 0"]),
        ({"num_errors": "1.5"}, ["line 2, num_errors: expected a whole number"]),
        ({"num_errors": ""}, ['"rater_0" has no judgement of candidate "radgraph" of study "s1"']),
        ({"clinically_significant": "perhaps"}, ["clinically_significant: expected True or False"]),
        ({"study_number": 77}, ["study_number names neither ids"]),
        ({"rater_index": 1}, ["has counted category", "line 3"]),
    ],
)
def test_rexval(tmp_path: Path, change: dict[str, object], words: list[str]) -> None:
    folder = rexval(tmp_path)
    rows = rexval_counts((0, 1, 2))
    rows[0] |= change
    write_csv(folder / COUNTS, rows)
    refusal(folder, *words)


def test_counts_that_rexval_lacks(tmp_path: Path) -> None:
    folder = rexval(tmp_path)
    rows = rexval_counts((0, 1, 2))
    write_csv(folder / COUNTS, rows[:-1])
    refusal(folder, '"rater_1" has no judgement of candidate "bleu" of study "s3"')
    values = load(folder, allow_missing=True).opinions["errors"].values
    assert np.isnan(values).sum() == 1  # not what is left of the sum
    write_csv(folder / COUNTS, [row | {"mood": 1} for row in rows])
    refusal(folder, f'{COUNTS} has columns that its form does not know: "mood"')
    write_csv(folder / COUNTS, [{name: row[name] for name in row if name != "rater_index"} for row in rows])
    refusal(folder, f"{COUNTS} has no column rater_index")
    (folder / COUNTS).unlink()
    refusal(folder, f"{COUNTS} is not in")


def test_radevalx(tmp_path: Path) -> None:
    folder = radevalx(tmp_path)
    path = folder / SIGNIFICANT
    before = path.read_text()
    path.write_text(before + before.splitlines()[-1] + "\n")
    refusal(folder, 'line 5: report "r2" is there twice')
    path.write_text("\n".join(before.splitlines()[:-1]))
    refusal(folder, 'have different reports, such as "r2"')
    path.write_text(before.replace(",8\n", ",8,9\n", 1))
    refusal(folder, '"9"')
    path.write_text(before.replace("r0,", "r0,extra,", 1))
    refusal(folder, "line 2 has 12 fields and the header 11")
    path.write_text(before)
    (folder / "metrcis_scores_m2tr.csv").write_text(
        "report_id,id,bleu4,bleu_2,bertscore,CheXbert,radgraph_f1,radcliq\nr0,0,1,1,1,1,1,1\n"
    )
    refusal(folder, 'metrcis_scores_m2tr.csv has no report "r1"')


def test_radeval(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    write_csv(path, [radeval_row("a"), radeval_row("a")])
    refusal(path, "line 21 repeats line 2", kind="radeval")
    write_csv(path, [radeval_row("a", **{f"annotation{number}": "fine" for number in "123"})])
    refusal(path, "no annotation can be read", kind="radeval")
    write_csv(path, [radeval_row("a") | {"mood": 1}])
    refusal(path, '"mood"', kind="radeval")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rater": "bo"}, ['line 3: "bo" has judged candidate "1" of study "s0" before']),
        ({"reference": "Another."}, ['line 3: candidate "1" of study "s0" has another text, reference or patient']),
        ({"rater": ""}, ["line 2, rater: expected an id, got an empty text"]),
        ({"rating": ""}, ['"ann" has no judgement of candidate "1" of study "s0"']),
        ({"rating": "4 of 5 points"}, ["line 2, rating: expected a number, got a text of 13 characters"]),
        ({"rating": "inf"}, ["line 2, rating: expected a number"]),
    ],
)
def test_a_table(tmp_path: Path, change: dict[str, object], words: list[str]) -> None:
    rows = table_rows()
    rows[0] |= change
    refusal(write_csv(tmp_path / "judged.csv", rows), *words)


def test_a_table_without_a_row_lacks_no_column(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("study_id,rater,rating\n")
    assert "rating" not in refusal(path, "judged.csv has no row; put one a rater and candidate below the header")


def test_columns_of_a_table(tmp_path: Path) -> None:
    rows = table_rows()
    path = tmp_path / "judged.csv"
    refusal(write_csv(path, [row | {"green": 1} for row in rows]), '"green"')
    refusal(write_csv(path, [{"study_id": 1, "rater": 1, "candidate": "x"}]), "has no column rating or errors")
    refusal(write_csv(path, [{"study_id": 1, "rating": 1}]), "has no column rater")
    refusal(write_csv(path, rows), "has no column green", given=["green"])
    scored = [row | {"green": number} for number, row in enumerate(rows)]
    refusal(write_csv(path, scored), "line 3: ", "has another green", given=["green"])
    path.write_text("study_id,rater,rating,rating\na,b,1,2\n")
    refusal(path, 'has the column "rating" twice')
    path.write_bytes("study_id,rater,rating\nä,b,1\n".encode("latin-1"))
    refusal(path, "is not UTF-8")


def test_sets_that_are_not_there(tmp_path: Path) -> None:
    refusal(tmp_path / "nowhere", "is not there")
    refusal(tmp_path, "has none of preference_data.json")
    refusal(tmp_path, "is a folder; name the file", kind="table")
    refusal(tmp_path, "no kind is called", kind="radiant")
    refusal(radpref(tmp_path / "r", [[(5, 1)]]), "only a table has columns of scores", given=["green"])


CANDIDATES = [Candidate(study, name) for study in "ab" for name in ("x", "y")]


def test_scores_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("study_id,candidate,mine,green\na,x,1,\na,y,2,.5\nb,x,3,.25\nz,x,9,9\n")
    columns, notes = read_scores(path, CANDIDATES)
    assert np.array_equal(columns["mine"], [1, 2, 3, np.nan], equal_nan=True)
    assert np.array_equal(columns["green"], [np.nan, 0.5, 0.25, np.nan], equal_nan=True)
    assert notes == [
        "scores.csv lacks 1 of 4 candidates, whose scores are undefined",
        "1 rows of scores.csv are of no candidate that was judged",
    ]
    write_json(tmp_path / "scores.json", [{"study_id": "a", "candidate": "x", "mine": 1}])
    assert read_scores(tmp_path / "scores.json", CANDIDATES)[0]["mine"][0] == 1


def test_scores_of_a_card_need_no_name_of_a_candidate(tmp_path: Path) -> None:
    import rexrank

    rexrank.score({"a": GOOD, "b": POOR}, {"a": REFERENCE, "b": REFERENCE}, "plain", metrics=["bleu2"]).save(tmp_path)
    columns, notes = read_scores(tmp_path / "per_study.parquet", [Candidate("b", "M"), Candidate("a", "M")])
    assert columns["bleu2"][0] < columns["bleu2"][1]
    assert notes == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("study_id,mine\na,1\n", "has no column candidate"),
        ("study_id,candidate,mine\na,x,1\na,x,2\n", '"x" of study "a" is there twice'),
        ("study_id,candidate,mine\na,x,good\n", "line 2, mine: expected a number"),
        ("study_id,candidate\na,x\n", "has no column of scores"),
        ("study_id,candidate,mine\nq,x,1\n", "has none of the candidates"),
        ("candidate,mine\nx,1\n", "has no column study_id"),
    ],
)
def test_scores_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(UnreadableJudgements, match=words):
        read_scores(path, CANDIDATES)


def test_a_file_beside_the_caller_is_named_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UnreadableJudgements, match=r'none\.csv is not in "here"'):
        read_scores(Path("none.csv"), CANDIDATES)


def test_directions_of_given_scores() -> None:
    with pytest.raises(UnreadableJudgements, match=r'no scores are called "mine"; there are none'):
        given_scores({}, ["mine"])
    columns = {name: np.zeros(2) for name in ("radcliq", "radcliq_v1", "bertscore", "mine", "other")}
    scores, notes = given_scores(columns, ["mine"])
    assert [one.direction for one in scores.values()] == ["lower", "lower", "higher", "lower", "higher"]
    assert notes == ["higher was taken for better in other; --lower names those where it is not"]
    with pytest.raises(UnreadableJudgements, match='no scores are called "ghost"'):
        given_scores(columns, ["ghost"])
