"""Benchmarks of their owners' files: invented look-alikes of every published form, and each fault by its name."""

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from localhub_fixtures import HubServer

import rexrank
from rexrank.benchmarks import (
    Benchmark,
    BenchmarkError,
    chexpert_plus,
    mimic_cxr,
    push,
    push_floor,
    repository,
    rexgradient,
    rrg24,
)
from rexrank.benchmarks.floors import Floor
from rexrank.benchmarks.owned import LIMITS
from rexrank.cli import main
from rexrank.errors import RefusedInput
from rexrank.hub import connect
from rexrank.reports import read_references

SECRET = "Cockatoo"


def write(path: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def table_of(path: Path, rows: list[Mapping[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    data = repository.files(benchmark)["data/test.parquet"]
    rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(data)).to_pylist()
    return rows


def rexrank_record(**changes: object) -> dict[str, object]:
    """One record in ReXrank's form, as MIMIC-CXR stands there."""
    return {
        "image_path": ["/p10/p10000001/s50000001/a.jpg", "/p10/p10000001/s50000001/b.jpg"],
        "key_image_path": "/p10/p10000001/s50000001/b.jpg",
        "frontal_lateral": ["postero-anterior", "nan"],
        "section_findings": "\n Lungs are\n clear.",
        "section_impression": "Normal ___.",
        "report": "Findings: \n Lungs are\n clear. Impression: Normal ___.",
        "context": "Age:50-60.Gender:M.Indication: Cough. Comparison: None.",
        "split": "test",
        "subject_id": "10000001",
        **changes,
    }


def refusal(build: Callable[[], object]) -> list[tuple[str, str | None, str | None, str | None]]:
    """Code, file, study and field of every fault; no message shows a text."""
    with pytest.raises(RefusedInput) as caught:
        build()
    assert SECRET not in "".join(map(str, caught.value.problems))
    return [(fault.code, fault.file, fault.study_id, fault.field) for fault in caught.value.problems]


def test_mimic_cxr_in_rexranks_form(tmp_path: Path) -> None:
    absent = {"section_impression": float("nan"), "report": "Findings: Edema. Impression: None."}
    records = {
        "50000001": rexrank_record(),
        "50000002": rexrank_record(section_findings="Edema.", key_image_path=None, **absent),
        "50000003": rexrank_record(split="train"),
        "50000004": rexrank_record(section_findings=None, section_impression="nan", report=None),
    }
    benchmark = mimic_cxr.load(write(tmp_path / "m.json", records))
    assert dict(benchmark.tracks) == {"findings": 2, "impression": 1, "report": 2}
    first, second = rows_of(benchmark)
    assert first == {
        "study_id": "50000001",
        "findings": "\n Lungs are\n clear.",
        "impression": "Normal ___.",
        "context": "Age:50-60.Gender:M.Indication: Cough. Comparison: None.",
        "image_path": records["50000001"]["image_path"],
        "key_image_path": "/p10/p10000001/s50000001/b.jpg",
        "report": None,
        "patient_id": "10000001",
        "view": ["postero-anterior", "nan"],
    }
    # ReXrank compares the word None where the impression is absent; the published convention needs it word for word.
    assert (second["impression"], second["report"]) == (None, "Findings: Edema. Impression: None.")
    assert second["key_image_path"] == second["image_path"][0]
    assert benchmark.notes == (
        "left out, with neither findings nor impression: 1",
        "findings: 2 here, 2,347 in ReXrank's file, which holds the test studies with findings",
        "impression: 1 here, 1,624 in ReXrank's file, which holds the test studies with findings",
        "patients: 1 here, 289 in ReXrank's file, which holds the test studies with findings",
    )


def mimic_files(folder: Path, sections: list[Mapping[str, str]], images: list[tuple[str, str, str, str]]) -> list[Path]:
    names = ("dicom_id", "study_id", "subject_id", "split")
    rows = [dict(zip(names, image, strict=True)) for image in images]
    return [table_of(folder / "mimic_cxr_sectioned.csv", sections), table_of(folder / "split.csv", rows)]


def section_row(study: str, findings: str = "", impression: str = "") -> dict[str, str]:
    columns = {"study": study, "impression": impression, "findings": findings}
    return {**columns, "last_paragraph": "", "comparison": "None."}


def test_mimic_cxr_from_sections_and_split(tmp_path: Path) -> None:
    sections = [
        section_row("s50000002", "Clear.\nLungs."),
        section_row("s50000001", "Edema.", "Wet."),
        section_row("s7", "x"),
    ]
    images = [
        ("d1", "50000001", "10000009", "test"),
        ("d2", "50000002", "10000009", "test"),
        ("d3", "50000001", "10000009", "test"),
        ("d4", "7", "10000010", "train"),
    ]
    benchmark = mimic_cxr.load(*mimic_files(tmp_path, sections, images))
    first, second = rows_of(benchmark)
    assert (first["study_id"], first["findings"], first["impression"]) == ("50000001", "Edema.", "Wet.")
    assert first["image_path"] == ["/p10/p10000009/s50000001/d1.jpg", "/p10/p10000009/s50000001/d3.jpg"]
    assert (second["study_id"], second["findings"], second["patient_id"]) == ("50000002", "Clear.\nLungs.", "10000009")
    assert second["key_image_path"] == "/p10/p10000009/s50000002/d2.jpg"
    assert "report" not in benchmark.columns


def test_mimic_cxr_faults_of_both_files(tmp_path: Path) -> None:
    sections = [section_row("s1", SECRET), section_row("s1", SECRET), section_row("s3", SECRET * 3000)]
    images = [("d1", "1", "10", "test"), ("d2", "2", "10", "test"), ("d3", "3", "", "test"), ("d4", "", "10", "test")]
    files = mimic_files(tmp_path, sections, images)
    assert set(refusal(lambda: mimic_cxr.load(*files))) == {
        ("duplicate_key", "mimic_cxr_sectioned.csv", "s1", None),
        ("missing_ids", "mimic_cxr_sectioned.csv", "2", None),
        ("wrong_type", "split.csv", "3", "subject_id"),
        ("wrong_type", "split.csv", "d4", "study_id"),
    }
    with pytest.raises(BenchmarkError, match="--splits"):
        mimic_cxr.load(files[0])
    assert refusal(lambda: mimic_cxr.load(files[0], tmp_path / "none.csv"))[-1][:2] == ("file_missing", "none.csv")


def test_mimic_cxr_a_study_of_two_patients_is_refused(tmp_path: Path) -> None:
    images = [("d1", "1", "10", "test"), ("d2", "1", "11", "test")]
    files = mimic_files(tmp_path, [section_row("s1", SECRET)], images)
    assert refusal(lambda: mimic_cxr.load(*files)) == [("wrong_type", "split.csv", "1", "subject_id")]


def plus_row(path: str, findings: str = "", impression: str = "", **changes: str) -> dict[str, str]:
    return {
        "path_to_image": path,
        "path_to_dcm": path.replace(".jpg", ".dcm"),
        "frontal_lateral": "Lateral" if "lateral" in path else "Frontal",
        "ap_pa": "PA",
        "deid_patient_id": path.split("/")[1],
        "report": f"NARRATIVE: {findings} {impression}",
        "section_clinical_history": "",
        "section_history": "Cough.",
        "section_comparison": "",
        "section_findings": findings,
        "section_impression": impression,
        "age": "70.0",
        "sex": "Female",
        "split": path.split("/")[0],
        **changes,
    }


def test_chexpert_plus_from_its_table(tmp_path: Path) -> None:
    rows = [
        plus_row("valid/patient2/study1/view1_frontal.jpg", "Clear.", "Normal."),
        plus_row("train/patient1/study1/view1_frontal.jpg", "Not of the split."),
        plus_row("valid/patient1/study1/view1_frontal.jpg", "", "Edema,\n\nnew."),
        plus_row("valid/patient2/study1/view2_lateral.jpg", "Clear.", "Normal."),
    ]
    benchmark = chexpert_plus.load(table_of(tmp_path / "df_chexpert_plus.csv", rows))
    assert benchmark.split == "valid"
    assert dict(benchmark.tracks) == {"findings": 1, "impression": 2, "report": 2}
    first, second = rows_of(benchmark)
    assert first == {
        "study_id": "patient2_study1",
        "findings": "Clear.",
        "impression": "Normal.",
        "context": "Indication: Cough. Comparison: None",
        "image_path": ["valid/patient2/study1/view1_frontal.jpg", "valid/patient2/study1/view2_lateral.jpg"],
        "key_image_path": "valid/patient2/study1/view1_frontal.jpg",
        "patient_id": "patient2",
        "view": ["Frontal", "Lateral"],
        "sex": "Female",
        "age": "70.0",
    }
    assert (second["study_id"], second["findings"], second["impression"]) == ("patient1_study1", None, "Edema,\n\nnew.")
    assert "findings: 1 here, 62 in ReXrank's file" in benchmark.notes


def test_chexpert_plus_in_rexranks_form(tmp_path: Path) -> None:
    record = {
        "image_path": ["valid/p/s/view1_frontal.png"],
        "key_image_path": "valid/p/s/view1_frontal.png",
        "frontal_lateral": ["Frontal"],
        "ap_pa": ["PA"],
        "context": "Age:70.0.Gender:F.Indication:nanComparison: None.",
        "section_findings": float("nan"),
        "section_impression": "Normal chest.",
        "report": "Findings: None. Impression: Normal chest.",
        "age": 70.0,
    }
    (row,) = rows_of(chexpert_plus.load(write(tmp_path / "c.json", {"patient1_study1": record})))
    assert (row["findings"], row["impression"]) == (None, "Normal chest.")
    assert row["report"] == "Findings: None. Impression: Normal chest."
    assert (row["patient_id"], row["age"]) == ("patient1", "70")


def test_chexpert_plus_faults(tmp_path: Path) -> None:
    rows = [
        plus_row("valid/patient1/study1/view1.jpg", SECRET),
        plus_row("valid/patient1/study1/view2.jpg", SECRET + "s"),
        plus_row("valid/patient3.jpg", SECRET, deid_patient_id="patient3", split="valid"),
        plus_row("valid/patient4/study1/view1.jpg", SECRET * 3000),
    ]
    file = table_of(tmp_path / "df.csv", rows)
    assert set(refusal(lambda: chexpert_plus.load(file))) == {
        ("wrong_type", "df.csv", "valid/patient3.jpg", "path_to_image"),
        ("duplicate_key", "df.csv", "patient1_study1", "section_findings"),
        ("text_too_long", "df.csv", "patient4_study1", "section_findings"),
    }


def gradient_record(**changes: object) -> dict[str, object]:
    return {
        "PatientID": "GRDN1",
        "PatientSex": "M",
        "PatientAge": "057Y",
        "StudyDate": 20200101,
        "Indication": "Cough.",
        "Comparison": "None.",
        "Findings": "Clear.",
        "Impression": "Normal.",
        "ImagePath": ["../deid_png/GRDN1/a.png", "../deid_png/GRDN1/b.png"],
        "ImageViewPosition": ["PA", None],
        **changes,
    }


def test_rexgradient_from_its_metadata(tmp_path: Path) -> None:
    records = {"pGRDN1_a1": gradient_record(), "pGRDN2_a1": gradient_record(PatientID="GRDN2", Impression="")}
    benchmark = rexgradient.load(write(tmp_path / "test_metadata_view_position.json", records))
    assert rows_of(benchmark)[0] == {
        "study_id": "pGRDN1_a1",
        "findings": "Clear.",
        "impression": "Normal.",
        "context": "Indication: Cough. Comparison: None.",
        "image_path": ["deid_png/GRDN1/a.png", "deid_png/GRDN1/b.png"],
        "key_image_path": "deid_png/GRDN1/a.png",
        "patient_id": "GRDN1",
        "view": ["PA", ""],
        "sex": "M",
        "age": "057Y",
    }
    assert dict(benchmark.tracks) == {"findings": 2, "impression": 1, "report": 2}
    assert any(note.startswith("report: 2 here, 10,000 in the public test split") for note in benchmark.notes)
    listed = [{"id": study_id, **record} for study_id, record in records.items()]
    assert rexgradient.load(write(tmp_path / "list.json", listed)).studies == benchmark.studies


@pytest.mark.parametrize(
    ("indication", "comparison", "context"),
    [
        ("Cough.", " none ", "Indication: Cough. Comparison: none"),
        ("", "Prior film.", "Comparison: Prior film."),
        ("None.", "", "Indication: None. Comparison: None"),
        (" Cough.\n", None, "Indication: Cough. Comparison: None"),
        ("", None, ""),
        ("nan", "null", ""),
    ],
)
def test_a_context_has_the_words_of_the_file_and_no_blanks_around_them(
    indication: str, comparison: str | None, context: str, tmp_path: Path
) -> None:
    record = gradient_record(Indication=indication, Comparison=comparison)
    (study,) = rexgradient.load(write(tmp_path / "test_metadata.json", {"pGRDN1_a1": record})).studies
    assert study.context == context


@pytest.mark.parametrize(
    ("build", "study_id", "other"),
    [
        (rexgradient.load, "s5000000{}", "mimic-cxr"),
        (rexgradient.load, "CXR{}_IM-1405", "iu-xray"),
        (mimic_cxr.load, "patient{}_study1", "chexpert-plus"),
        (chexpert_plus.load, "5000000{}", "mimic-cxr"),
    ],
)
def test_a_file_of_another_data_set_never_gets_this_ones_licence(
    build: Callable[[Path], Benchmark], study_id: str, other: str, tmp_path: Path
) -> None:
    records = {study_id.format(number): rexrank_record() for number in range(3)}
    file = write(tmp_path / "r.json", records)
    with pytest.raises(RefusedInput, match=f"most of its study ids are those of {other}") as caught:
        build(file)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("spoil", ["encoding", "gzip", "gzip-ending", "columns", "other-studies", "absent"])
def test_after_a_fault_of_a_whole_file_no_study_is_called_missing(spoil: str, tmp_path: Path) -> None:
    images = [(f"d{number}", f"5000000{number}", "10", "test") for number in range(5)]
    sections, splits = mimic_files(tmp_path, [section_row(f"s5000000{number}", SECRET) for number in range(5)], images)
    if spoil == "encoding":
        sections.write_bytes(sections.read_bytes() + b"\xff")
    elif spoil == "gzip":
        sections.write_bytes(gzip.compress(sections.read_bytes()))
    elif spoil == "gzip-ending":
        sections = sections.rename(tmp_path / "mimic_cxr_sectioned.csv.gz")
    elif spoil == "columns":
        table_of(sections, [{"path": "x", "text": SECRET}])
    elif spoil == "other-studies":
        table_of(sections, [section_row("s7", SECRET), section_row("s8", SECRET)])
    else:
        sections.unlink()
    with pytest.raises(RefusedInput) as caught:
        mimic_cxr.load(sections, splits)
    (only,) = caught.value.problems
    assert only.study_id is None
    assert SECRET not in str(only)
    assert ("unpack it first" in only.message) == spoil.startswith("gzip")


def test_a_file_without_a_section_builds_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = [("d1", "50000001", "10", "test")]
    row = section_row("s50000001", SECRET)
    row["impr"] = row.pop("impression")
    sections, splits = mimic_files(tmp_path, [row], images)
    words = ["--source", str(sections), "--splits", str(splits), "--out", str(tmp_path / "out"), "--quiet"]
    assert main(["benchmark", "build", "mimic-cxr", *words]) == 0
    printed = capsys.readouterr()
    assert printed.err == (
        "warning: mimic_cxr_sectioned.csv has no column or field impression (impression), so no study has its "
        "impression\n"
    )
    assert printed.out == (
        "mimic-cxr studies: findings 1, report 1; licence: physionet-credentialed-health-data-license-1.5.0; "
        f"written to {tmp_path / 'out'}\n"
    )


def test_the_printed_number_of_faults_is_the_whole_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = LIMITS.listed_problems + 268
    images = [(f"d{number}", str(number), "10", "test") for number in range(count + 1)]
    sections, splits = mimic_files(tmp_path, [section_row("s0", SECRET)], images)
    words = ["--source", str(sections), "--splits", str(splits), "--out", str(tmp_path / "out")]
    assert main(["benchmark", "build", "mimic-cxr", *words]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "refused: missing_ids: and 1,248 more of this kind"


def test_files_of_no_benchmark_are_not_written_over(
    owned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "notes"
    out.mkdir()
    readme = write(out / "README.md", "My notes.")
    words = ["benchmark", "build", "mimic-cxr", "--source", str(owned), "--out", str(out)]
    assert main(words) == 1
    assert "already holds README.md; give another folder with --out" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["README.md"]
    assert readme.read_text() == "My notes."
    readme.unlink()
    assert main(words) == 0
    (out / "benchmark.yaml").unlink()  # as a build leaves it that was interrupted
    (out / "README.md").unlink()
    assert main(words) == 0


def test_a_folder_of_another_benchmark_is_not_written_over(
    owned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["benchmark", "build", "mimic-cxr", "--source", str(owned), "--out", str(out)]
    assert main(words) == 0
    assert main(words) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    lines = write(tmp_path / "f.txt", "Clear.\n")
    other = ["benchmark", "build", "rrg24", "--findings", str(lines), "--out", str(out)]
    capsys.readouterr()
    assert main(other) == 1
    assert 'already holds the benchmark "mimic-cxr"; give another folder with --out' in capsys.readouterr().err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (out / "benchmark.yaml").write_text("- [")
    assert main(other) == 1
    assert "names no benchmark" in capsys.readouterr().err


def test_wrong_usage_is_said_with_the_right_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sections = table_of(tmp_path / "mimic_cxr_sectioned.csv", [section_row("s50000001", SECRET)])
    assert main(["benchmark", "build", "mimic-cxr", "--source", str(sections)]) == 2
    assert "--splits" in capsys.readouterr().err
    assert main(["benchmark", "build", "mimic-cxr", "--source", str(tmp_path / "nope.csv")]) == 1
    assert capsys.readouterr().err == "refused: file_missing: nope.csv: there is no such file\n"
    assert main(["benchmark", "build", "rrg24"]) == 2
    assert "--findings" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["benchmark", "build", "iu-xray", "--source", "x"])
    assert caught.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("usage: rexrank benchmark build iu-xray [-h] [--out DIR]")
    assert "unrecognized arguments: --source x" in printed


def test_faults_of_records_name_study_and_field(tmp_path: Path) -> None:
    records = {
        "a": rexrank_record(section_findings=7),
        "b": rexrank_record(image_path=[3, SECRET]),
        "c": rexrank_record(key_image_path="other.jpg"),
        "d": SECRET,
        "e": rexrank_record(subject_id=[SECRET]),
        "f": rexrank_record(section_impression=SECRET * 3000),
    }
    file = write(tmp_path / "m.json", records)
    assert set(refusal(lambda: mimic_cxr.load(file))) == {
        ("wrong_type", "m.json", "a", "section_findings"),
        ("wrong_type", "m.json", "b", "image_path"),
        ("wrong_type", "m.json", "b", "key_image_path"),
        ("wrong_type", "m.json", "c", "key_image_path"),
        ("not_an_object", "m.json", "d", None),
        ("wrong_type", "m.json", "e", "subject_id"),
        ("text_too_long", "m.json", "f", "section_impression"),
    }
    doubled = write(tmp_path / "twice.json", '{"a": {"section_findings": "x", "section_findings": "y"}}')
    assert refusal(lambda: rexgradient.load(doubled)) == [("duplicate_key", "twice.json", "a", "section_findings")]
    cut = write(tmp_path / "cut.json", json.dumps({"a": rexrank_record()})[:-40])
    assert refusal(lambda: rexgradient.load(cut))[0][:2] == ("bad_json", "cut.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        # The nearest float, as which numbers of JSON are read, is another patient.
        ("subject_id", 2**53 + 1),
        ("subject_id", True),
        ("subject_id", 1.5),
        ("image_path", ["\ud800.png"]),
        ("image_path", "x" * 30_000),
        ("frontal_lateral", ["\ud800"]),
    ],
)
def test_ids_and_names_that_cannot_stay_as_written_are_refused(field: str, value: object, tmp_path: Path) -> None:
    file = write(tmp_path / "m.json", {"a": rexrank_record(key_image_path=None, **{field: value})})
    assert {fault[2:] for fault in refusal(lambda: mimic_cxr.load(file))} == {("a", field)}


@pytest.mark.parametrize("split", [["train"], 1, "train "])
def test_a_record_of_another_split_is_left_out_however_that_is_written(split: object, tmp_path: Path) -> None:
    records = {"a": rexrank_record(split=split), "b": rexrank_record(split=None), "c": rexrank_record(split=" test")}
    benchmark = mimic_cxr.load(write(tmp_path / "m.json", records))
    assert [study.study_id for study in benchmark.studies] == ["b", "c"]


def test_whole_numbers_of_a_parquet_file_are_ids(tmp_path: Path) -> None:
    table = pa.table({"study_id": ["a"], "findings": ["Clear."], "subject_id": [2**53 + 1]})
    pq.write_table(table, tmp_path / "m.parquet")
    (study,) = mimic_cxr.load(tmp_path / "m.parquet").studies
    assert study.patient_id == "9007199254740993"


@pytest.mark.parametrize("content", ["{}", '{"a": {"section_findings": "nan"}}', '{"a": {"section_findings": null}}'])
def test_a_file_without_any_text_is_refused(content: str, tmp_path: Path) -> None:
    file = write(tmp_path / "none.json", content)
    assert refusal(lambda: mimic_cxr.load(file)) == [("missing_ids", "none.json", None, None)]


def test_a_table_of_other_columns_says_what_is_wanted(tmp_path: Path) -> None:
    file = table_of(tmp_path / "other.csv", [{"path": "x", "text": SECRET}])
    with pytest.raises(
        RefusedInput, match='wanted: "path_to_image" and one of "section_findings", "section_impression"'
    ):
        chexpert_plus.load(file)
    with pytest.raises(RefusedInput, match='wanted: "study_id" or "id" and one of "Findings"'):
        rexgradient.load(file)


def test_rrg24_blank_lines_keep_their_place(tmp_path: Path) -> None:
    # U+2028 and a form feed are no ends of lines here; the last line break ends the fourth line.
    findings = write(tmp_path / "f.txt", "Clear.\r\n\nLarge\u2028heart.\x0c\n \n")
    impression = write(tmp_path / "i.txt", "\nNormal.\n\n\n")
    benchmark = rrg24.load(findings, impression)
    kept = [(study.study_id, study.findings, study.impression) for study in benchmark.studies]
    assert kept == [("1", "Clear.", None), ("2", None, "Normal."), ("3", "Large\u2028heart.\x0c", None)]
    assert benchmark.notes == ("left out, with neither findings nor impression: 1",)
    assert rows_of(benchmark)[0] == {
        "study_id": "1",
        "findings": "Clear.",
        "impression": None,
        "context": "",
        "image_path": [],
        "key_image_path": None,
    }
    alone = rrg24.load(impression=impression, name="rrg24-impression")
    assert (alone.name, dict(alone.tracks)) == ("rrg24-impression", {"impression": 1, "report": 1})
    named = rrg24.load(findings, ids=write(tmp_path / "ids.txt", "x-1\nx-2\nx-3\nx-4"))
    assert [study.study_id for study in named.studies] == ["x-1", "x-3"]


def test_rrg24_faults(tmp_path: Path) -> None:
    four, three = write(tmp_path / "f.txt", "a\nb\nc\nd\n"), write(tmp_path / "i.txt", "a\nb\nc\n")
    assert refusal(lambda: rrg24.load(four, three)) == [("missing_ids", "i.txt", None, "impression")]
    ids = write(tmp_path / "ids.txt", "a\nb\na\n\n")
    assert refusal(lambda: rrg24.load(four, ids=ids)) == [
        ("duplicate_key", "ids.txt", "a", None),
        ("wrong_type", "ids.txt", None, "study_id"),
    ]
    assert refusal(lambda: rrg24.load(four, ids=write(tmp_path / "few.txt", "a\nb"))) == [
        ("missing_ids", "f.txt", None, "findings")
    ]
    assert refusal(lambda: rrg24.load(tmp_path / "none.txt"))[0][:2] == ("file_missing", "none.txt")
    long = write(tmp_path / "long.txt", "a\n" + SECRET * 3000)
    assert refusal(lambda: rrg24.load(long)) == [("text_too_long", "long.txt", "2", "findings")]
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    assert refusal(lambda: rrg24.load(tmp_path / "latin.txt"))[0][:2] == ("bad_encoding", "latin.txt")
    os.mkfifo(tmp_path / "pipe")
    assert refusal(lambda: rrg24.load(tmp_path / "pipe")) == [("file_missing", "pipe", None, None)]
    endless = write(tmp_path / "endless.txt", "\n" * (LIMITS.studies + 1))
    assert refusal(lambda: rrg24.load(endless)) == [("file_too_large", "endless.txt", None, None)]
    with pytest.raises(BenchmarkError, match="--findings, --impression"):
        rrg24.load()
    with pytest.raises(BenchmarkError, match=r'cannot be named "\.\./x"'):
        rrg24.load(four, name="../x")


def test_rrg24_reports_in_the_place_of_ids_are_counted_and_not_shown(tmp_path: Path) -> None:
    reports = write(tmp_path / "f.txt", f"{SECRET} is seen here.\n" * 1200)
    with pytest.raises(RefusedInput) as caught:
        rrg24.load(reports, ids=reports)
    assert SECRET not in str(caught.value)
    assert "an id of 4 words" in str(caught.value.problems[0])
    assert str(caught.value.problems[-1]).startswith("f.txt: 199 more faults of this file")


@pytest.fixture
def owned(tmp_path: Path) -> Path:
    return write(tmp_path / "owned.json", {"50000001": rexrank_record(), "50000002": rexrank_record()})


def test_the_repo_is_described_as_private(owned: Path) -> None:
    files = repository.files(mimic_cxr.load(owned))
    described = yaml.safe_load(files["benchmark.yaml"])
    assert (described["references"], described["redistribution"], described["licence"]) == ("private", False, "other")
    front = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    assert front["license_link"].startswith("https://physionet.org/")
    assert "Chen et al." not in files["README.md"].decode()


def test_what_was_built_can_be_scored(owned: Path, tmp_path: Path) -> None:
    assert main(["benchmark", "build", "mimic-cxr", "--source", str(owned), "--out", str(tmp_path / "out")]) == 0
    data = tmp_path / "out/data/test.parquet"
    assert data.stat().st_mode & 0o077 == 0
    references = read_references(data, "report")
    assert references.studies["50000001"].findings == "\n Lungs are\n clear."
    texts = dict.fromkeys(references.studies, "Lungs are clear.")
    assert rexrank.score(texts, data, metrics="bleu2", progress=False).n == 2
    # The folder that was written is enough to say.
    assert rexrank.score(texts, tmp_path / "out", metrics="bleu2", progress=False).n == 2
    (tmp_path / "out/benchmark.yaml").unlink()
    with pytest.raises(RefusedInput, match="it is a folder; name a file in it"):
        read_references(tmp_path / "out")


def test_a_private_benchmark_goes_to_a_private_repo(hub_server: HubServer, owned: Path) -> None:
    benchmark = mimic_cxr.load(owned)
    hub = connect(hub_server.url, hub_server.user("owner"))
    commit = push(hub, benchmark, "owner/mimic-cxr")
    assert hub.is_private("owner/mimic-cxr")
    assert push(hub, benchmark, "owner/mimic-cxr") == commit
    floor = Floor("Floor - x", "floor-x", "findings", {"50000001": "Clear."}, "Made up.")
    push_floor(hub, floor, benchmark, "owner/floor-x")
    assert hub.is_private("owner/floor-x")
    hub.ensure_repo("owner/open")
    for refused in (
        lambda: push(hub, benchmark, "owner/open"),
        lambda: push_floor(hub, floor, benchmark, "owner/open"),
    ):
        with pytest.raises(BenchmarkError, match=r"owner/open can be read by everybody.*make the repo private"):
            refused()
    elsewhere = connect("https://hub.invalid", "hf_none")
    with pytest.raises(BenchmarkError, match=r"physionet-credentialed.*never passed on.*--confirm-licence"):
        push(elsewhere, benchmark, "owner/mimic-cxr")


def test_commands(
    hub_server: HubServer,
    owned: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    monkeypatch.setenv("HF_TOKEN", hub_server.user("owner-cli"))
    out = ["--out", str(tmp_path / "out")]
    assert main(["benchmark", "build", "mimic-cxr", "--source", str(owned), *out]) == 0
    printed = capsys.readouterr()
    assert "mimic-cxr studies: findings 2, impression 2, report 2; licence: " in printed.out
    assert "note: findings: 2 here, 2,347 in ReXrank's file" in printed.err
    assert main(["benchmark", "push", "mimic-cxr", "--source", str(owned), "--repo", "owner-cli/m", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    lines = write(tmp_path / "f.txt", "Clear.\n")
    other = str(tmp_path / "lines")
    assert main(["benchmark", "build", "rrg24", "--findings", str(lines), "--out", other]) == 0
    assert main(["benchmark", "build", "rexgradient", "--source", str(tmp_path / "no.json"), *out]) == 1
    assert "file_missing: no.json" in capsys.readouterr().err
    for words in (["build", "mimic-cxr"], ["build", "nothing"], ["push"]):
        with pytest.raises(SystemExit) as caught:
            main(["benchmark", *words])
        assert caught.value.code == 2
