"""Broken files: each fault has its code, its place and its sentence, and none shows a report."""

import json
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from rexrank.errors import RefusedInput
from rexrank.reports import Limits, Problem, read_predictions, read_references
from rexrank.reports.problems import Unlisted

SECRET = "Zebrafish"


def refused(source: object, **limits: int) -> list[Problem]:
    """The faults of a source that has to be refused."""
    with pytest.raises(RefusedInput) as caught:
        read_predictions(source, Limits(**limits))  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)
    assert all("\n" not in str(problem) for problem in caught.value.problems)
    return caught.value.problems


FILES = [
    ("duplicate.json", f'{{"a": "{SECRET}",\n"a": "y"}}', "duplicate_key", "line 2"),
    (
        "line.json",
        f'{{"a": "{SECRET}", "b": "x", "a": "y"}}',
        "duplicate_key",
        "line 1, record 3: duplicate study id, first in record 1; keep one",
    ),
    (
        "field.json",
        f'{{"a": {{"model_prediction": "{SECRET}", "model_prediction": ""}}}}',
        "duplicate_key",
        "occurs twice",
    ),
    ("list.json", f'["{SECRET}"]', "not_an_object", "record 1"),
    ("bare.json", f'"{SECRET}"', "not_an_object", "bare value"),
    ("number.json", '{"a": 3}', "wrong_type", "a number"),
    ("null.json", '{"a": null}', "wrong_type", "null"),
    ("nan.json", '{"a": NaN}', "wrong_type", "NaN"),
    ("object.json", f'{{"a": {{"text": "{SECRET}"}}}}', "wrong_columns", "model_prediction"),
    ("two.json", f'{{"a": ["{SECRET}", "y"]}}', "wrong_type", "a list of 2"),
    ("cut.json", f'{{"a": "x", "b": "{SECRET}', "bad_json", "line 1, column 17"),
    ("ends.json", f'{{"a": "{SECRET}",', "bad_json", "ends in the middle"),
    ("comma.json", f'{{"a": "{SECRET}"\n "b": "y"}}', "bad_json", "line 2, column 2"),
    ("trailing.json", f'{{"a": "{SECRET}"}}\n{{"b": "y"}}', "bad_json", "line 2, column 1"),
    ("escape.json", f'{{"a": "{SECRET} \\q"}}', "bad_json", "escape"),
    ("surrogate.json", '{"a": "\\ud800"}', "bad_encoding", "surrogate"),
    ("digits.json", '{"a": ' + "9" * 10_000 + "}", "wrong_type", "a number"),
    ("deep.json", '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}", "bad_json", "nested too deeply"),
    ("empty.json", "", "bad_json", "empty"),
    ("idless.json", f'[{{"prediction": "{SECRET}"}}]', "wrong_columns", 'no "study_id"'),
    ("numeric.json", f'[{{"study_id": 7, "prediction": "{SECRET}"}}]', "wrong_type", "study id, got a number"),
    ("lines.jsonl", f'{{"study_id": "a", "prediction": "{SECRET}"}}\n{{"study_id": \n', "bad_json", "line 2"),
    ("deep.jsonl", "[" * 200_000, "bad_json", "nested too deeply"),
    (
        "twice.csv",
        f"study_id,report\na,{SECRET}\nb,x\na,y\n",
        "duplicate_key",
        "line 4: duplicate study id, first on line 2",
    ),
    (
        "columns.csv",
        "image_id,report\na,x\n",
        "wrong_columns",
        'columns found: "image_id", "report"; wanted: "study_id"',
    ),
    ("case.csv", "Study_ID,report\na,x\n", "wrong_columns", "differs in case or spaces only"),
    ("headless.csv", f"a,{SECRET} and more.\nb,y\n", "wrong_columns", "not a plain name"),
    ("semicolon.csv", "study_id;report\na;x\n", "wrong_columns", "separator"),
    ("same.csv", "study_id,report,report\na,x,y\n", "duplicate_key", "occurs twice"),
    ("ragged.csv", f"study_id,report\na,x\nb,{SECRET}, y\n", "wrong_columns", "line 3 has 3 fields"),
    ("quote.csv", f'study_id,report\na,x\nb,"{SECRET}\n', "wrong_columns", "line 3: a double quote that opens here"),
    ("inner.csv", f'study_id,report\nb,"{SECRET}" x"\n', "wrong_columns", "write it twice"),
    ("endless.csv", 'study_id,report\nb,"' + "x" * 200_000, "wrong_columns", "longer than 131,072"),
    ("empty.csv", "", "wrong_columns", "empty"),
    ("noid.csv", "study_id,report\n,x\n", "wrong_type", "line 2: the study id is empty"),
    ("table.tsv", "study_id,report\na,x\n", "wrong_columns", "separator"),
    ("name.json.gz", SECRET, "wrong_columns", "unpack it first"),
    ("name.txt", SECRET, "wrong_columns", "known are .json"),
    ("broken.parquet", f"PAR1{SECRET}PAR1", "bad_encoding", "not a readable Parquet file"),
]


@pytest.mark.parametrize(("name", "content", "code", "words"), FILES, ids=[file[0] for file in FILES])
def test_broken_file(tmp_path: Path, name: str, content: str, code: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    (problem,) = refused(path)
    assert problem.code == code
    assert problem.file == name
    assert words in problem.message


def test_six_broken_files_have_six_messages(tmp_path: Path) -> None:
    names = {"duplicate.json", "list.json", "two.json", "cut.json", "nan.json", "null.json", "comma.json"}
    messages = set()
    for name, content, _, _ in FILES:
        if name in names:
            (tmp_path / name).write_text(content)
            messages.add(refused(tmp_path / name)[0].message)
    assert len(messages) == len(names)


def test_all_faults_of_a_file_are_named() -> None:
    problems = refused({"a": 1, "b": ["x", "y"], "c": "z" * 21, 7: "x", "d": "fine"}, report_characters=20)
    assert [(problem.code, problem.study_id) for problem in problems] == [
        ("wrong_type", None),
        ("wrong_type", "a"),
        ("wrong_type", "b"),
        ("text_too_long", "c"),
    ]


def test_faults_beyond_the_limit_are_counted() -> None:
    problems = refused({str(number): None for number in range(50)}, listed_problems=10)
    assert len(problems) == 11
    assert "40 more faults" in problems[-1].message
    mixed = refused({"a": None, "b": None, "": "x", "d": "\ud800"}, listed_problems=1)
    assert [problem.code for problem in mixed] == ["wrong_type", "wrong_type", "bad_encoding"]
    assert [problem.number for problem in mixed if isinstance(problem, Unlisted)] == [2, 1]


def test_one_study_without_a_prediction_in_rexrank_form() -> None:
    (problem,) = refused({"a": {"model_prediction": SECRET}, "b": {"report": SECRET}})
    assert (problem.code, problem.study_id, problem.field) == ("wrong_type", "b", "model_prediction")


def test_encoding_fault_has_its_offset_and_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    text = b"study_id,report\n" + b"a" * 2**20 + b",x\n"
    path.write_bytes(text + "b,gr\xf6ßer\n".encode("latin-1"))
    (problem,) = refused(path)
    assert problem.code == "bad_encoding"
    assert f"byte {len(text) + 4:,} (line 3)" in problem.message


def test_utf16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes("study_id,report\na,x\n".encode("utf-16"))
    assert "UTF-16" in refused(path)[0].message


def test_file_limits(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"a": "x" * 500}))
    assert refused(path, file_bytes=100)[0].code == "file_too_large"
    assert refused(path, entry_characters=100, report_characters=100)[0].code == "text_too_long"
    assert refused(path, unpacked_bytes=100)[0].code == "file_too_large"
    assert refused(tmp_path / "none.json")[0].code == "file_missing"
    assert refused(tmp_path)[0].code == "file_missing"


def test_a_text_in_a_paths_place_is_not_repeated() -> None:
    problem = refused(f"{SECRET} in the left lung.")[0]
    assert "a name of" in str(problem)


@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.float64()])
def test_parquet_ids_are_never_cast(tmp_path: Path, kind: pyarrow.DataType) -> None:
    path = tmp_path / "p.parquet"
    parquet.write_table(pyarrow.table({"study_id": pyarrow.array([1, 2], kind), "report": ["x", "y"]}), path)
    (problem,) = refused(path)
    assert (problem.code, problem.field) == ("wrong_type", "study_id")
    assert "write it as text" in problem.message


def test_parquet_faults(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    parquet.write_table(pyarrow.table({"study_id": ["a"], "report": [None]}), path)
    assert refused(path)[0].message == "expected text, got null"
    parquet.write_table(pyarrow.table({"study_id": ["a"], "report": [["x"]], "findings": [["y"]]}), path)
    assert refused(path)[0].code == "wrong_type"
    parquet.write_table(
        pyarrow.table({"study_id": [f"s{n}" for n in range(5000)], "report": ["x" * 1000] * 5000}), path
    )
    assert refused(path, unpacked_bytes=10_000)[-1].code == "file_too_large"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert refused(path)[0].code == "bad_encoding"


def test_ids_that_cannot_be_shown_are_refused() -> None:
    problems = refused({"a\nb": "x", "c" * 201: "x", "d\u202e": "x"})
    assert [problem.study_id for problem in problems] == [None, None, None]


def test_references_name_their_faults() -> None:
    with pytest.raises(RefusedInput) as caught:
        read_references({"a": {"findings": 3}, "b": {"text": SECRET}, "c": {"findings": SECRET * 5000}, "d": 1.5})
    assert [problem.code for problem in caught.value.problems] == [
        "wrong_type",
        "wrong_type",
        "text_too_long",
        "wrong_type",
    ]
    assert SECRET not in str(caught.value)


def read_or_refuse(path: Path) -> dict[str, str] | None:
    """The texts of a file, or None where it is refused with at least one fault."""
    try:
        return dict(read_predictions(path).texts)
    except RefusedInput as refusal:
        if not refusal.problems:
            raise AssertionError("refused without a fault") from refusal
    return None


@given(st.binary(max_size=200), st.sampled_from(["json", "jsonl", "csv", "tsv", "parquet"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, ending: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(data)
    texts = read_or_refuse(path)
    assert texts is None or all(isinstance(text, str) for text in texts.values())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON_VALUES)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any_value.json"
    path.write_text(json.dumps(value))
    texts = read_or_refuse(path)
    assert texts is None or (isinstance(value, dict | list) and len(texts) == len(value))
