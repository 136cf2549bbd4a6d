"""Every accepted form gives the same studies."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from rexrank.errors import RefusedInput
from rexrank.reports import read_predictions, read_references

TEXTS = {"001": 'Lungs clear, no "effusion".', "1e5": "Two\nlines, größer.", "patient1_study1": ""}
RECORDS = [{"study_id": study_id, "prediction": text} for study_id, text in TEXTS.items()]


def _delimited(delimiter: str) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, ["study_id", "prediction"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(RECORDS)
    return buffer.getvalue()


FILES = {
    "flat.json": json.dumps(TEXTS),
    "indented.json": json.dumps(TEXTS, indent=2),
    "lists.json": json.dumps({study_id: [text] for study_id, text in TEXTS.items()}),
    "rexrank.json": json.dumps(
        {
            study_id: {
                "report": "Findings: x",
                "section_findings": float("nan"),
                "model_prediction": text,
                "bleu": 0.99,
            }
            for study_id, text in TEXTS.items()
        }
    ),
    "records.json": json.dumps(RECORDS, ensure_ascii=False),
    "lines.jsonl": "\n".join(json.dumps(record) for record in RECORDS) + "\n\n",
    "table.csv": _delimited(","),
    "table.tsv": _delimited("\t"),
    "report.csv": _delimited(",").replace("prediction", "report"),
}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
@pytest.mark.parametrize("name", FILES)
def test_text_formats(tmp_path: Path, name: str, mark: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(mark + FILES[name].encode())
    predictions = read_predictions(path)
    assert predictions.texts == TEXTS
    assert list(predictions.texts) == list(TEXTS)
    assert predictions.source == name


@pytest.mark.parametrize(
    "kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), "string")]
)
def test_parquet(tmp_path: Path, kind: pyarrow.DataType) -> None:
    path = tmp_path / "table.parquet"
    columns = {
        "study_id": pyarrow.array(list(TEXTS), pyarrow.string()).cast(kind),
        "prediction": pyarrow.array(list(TEXTS.values()), pyarrow.string()).cast(kind),
        "score": pyarrow.array([0.1, 0.2, 0.3]),
    }
    parquet.write_table(pyarrow.table(columns), path)
    assert read_predictions(path).texts == TEXTS


def test_objects_and_lists() -> None:
    assert read_predictions(TEXTS).texts == TEXTS
    assert read_predictions(RECORDS).texts == TEXTS
    assert read_predictions(["a", "b"]).texts == {"0": "a", "1": "b"}


def test_json_larger_than_the_window(tmp_path: Path) -> None:
    texts = {f"s{number}": f"Text {number}. " * 400 for number in range(300)}
    path = tmp_path / "large.json"
    path.write_text(json.dumps(texts, indent=1) + " " * 600_000)
    assert path.stat().st_size > 1_500_000
    assert read_predictions(path).texts == texts


def test_sha256_is_of_bytes_for_files_and_of_content_for_objects(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"a": "x", "b": "y"}')
    first = read_predictions(path).sha256
    path.write_text('{"a": "x",  "b": "y"}')
    assert read_predictions(path).sha256 != first
    assert read_predictions({"a": "x", "b": "y"}).sha256 == read_predictions({"b": "y", "a": "x"}).sha256
    assert read_predictions({"a": "x"}).sha256 != read_predictions({"a": "y"}).sha256


@pytest.mark.parametrize(
    "absent", ["NaN", "null", '""', '"  "', '"nan"', '"None"', '"NULL"', '"None."', '"\\u200b"', None]
)
def test_absent_sections_never_become_words(tmp_path: Path, absent: str | None) -> None:
    field = "" if absent is None else f'"section_findings": {absent}, '
    path = tmp_path / "references.json"
    path.write_text(
        f'{{"a": {{{field}"section_impression": "Normal.", "report": "Findings: None. Impression: Normal."}}}}'
    )
    study = read_references(path).studies["a"]
    assert study.findings is None
    assert study.impression == "Normal."
    assert study.report == "Findings: None. Impression: Normal."


def test_absent_sections_in_tables(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("study_id,findings,impression\na,,Normal.\nb,nan,Normal.\nc,Clear.,\n")
    studies = read_references(tmp_path / "r.csv").studies
    assert [studies[study_id].findings for study_id in "abc"] == [None, None, "Clear."]
    table = pyarrow.table({"study_id": ["a", "b"], "findings": ["Clear.", None], "impression": [float("nan")] * 2})
    parquet.write_table(table, tmp_path / "r.parquet")
    studies = read_references(tmp_path / "r.parquet").studies
    assert [studies[study_id].findings for study_id in "ab"] == ["Clear.", None]
    assert studies["a"].impression is None


def test_report_alone_is_split_by_its_headers_or_is_the_track() -> None:
    records = [
        {"study_id": "a", "report": "FINDINGS: Clear. IMPRESSION: Normal."},
        {"study_id": "b", "report": "Lungs clear."},
    ]
    findings = read_references(records).studies
    assert (findings["a"].findings, findings["a"].impression) == ("Clear.", "Normal.")
    assert (findings["b"].findings, findings["b"].impression) == ("Lungs clear.", None)
    impression = read_references(records, track="impression").studies
    assert (impression["b"].findings, impression["b"].impression) == (None, "Lungs clear.")
    assert read_references(records, track="report").studies["a"].report == "FINDINGS: Clear. IMPRESSION: Normal."


def test_bare_texts_are_the_track_as_they_are() -> None:
    studies = read_references({"a": "FINDINGS: Clear.", "b": ["One.", "Two."], "c": None}).studies
    assert studies["a"].findings == "FINDINGS: Clear."
    assert (studies["b"].findings, studies["b"].alternatives) == ("One.", ("Two.",))
    assert studies["c"].findings is None


def test_the_word_nan_is_a_prediction() -> None:
    assert read_predictions({"a": "nan", "b": "None"}).texts == {"a": "nan", "b": "None"}


def test_references_are_not_taken_for_predictions() -> None:
    reference: dict[str, Any] = {"a": {"section_findings": "Clear.", "report": "Findings: Clear."}}
    with pytest.raises(RefusedInput, match="these are references"):
        read_predictions(reference)


def test_real_files(shared_data: Path) -> None:
    folder = shared_data / "iu_xray"
    predictions = read_predictions(folder / "predictions" / "moerad" / "preds.csv")
    references = read_references(folder / "ReXRank_IUXray_test.json")
    assert len(predictions) == len(references) == 590
    assert predictions.sha256.startswith("5a6215f2965e2637")
    assert references.sha256.startswith("4d30a534525e3d92")
    flat = read_references(folder / "predictions" / "moerad" / "gts.csv")
    assert all(flat.studies[one].findings == study.findings for one, study in references.studies.items())
