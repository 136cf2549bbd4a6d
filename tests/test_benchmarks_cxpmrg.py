"""Splits of the kind of CXPMRG-Bench, made of invented tables and examined, and every fault of an annotation file."""

import csv
import json
import stat
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rexrank
from rexrank.benchmarks import cxpmrg_benchmark
from rexrank.benchmarks.cxpmrg import PUBLISHED, split
from rexrank.benchmarks.cxpmrg_annotation import Annotation, Item, leakage, place_of, read_annotation
from rexrank.cli import main
from rexrank.errors import RefusedInput

SECRET = "Cockatoo"
COLUMNS = ["path_to_image", "section_findings", "section_impression", "deid_patient_id", "split"]


def path_of(patient: int, study: int = 1, view: int = 1) -> str:
    return f"train/patient{patient:05d}/study{study}/view{view}_frontal.jpg"


def table(path: Path, rows: list[tuple[str, str]], patient: str = "") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([image, findings, "Normal chest.", patient, "train"] for image, findings in rows)
    return path


def small(path: Path, patients: int = 40) -> Path:
    """Patients with one to three images of one study, and rows that no split takes."""
    rows = [
        (path_of(patient, 1, view), f"Finding number {patient}.")
        for patient in range(patients)
        for view in range(1, 2 + patient % 3)
    ]
    return table(
        path, [*rows, (path_of(900), ""), (path_of(901), "Clear."), (path_of(902), "nan"), (path_of(903), " a ")]
    )


def annotation(path: Path, **splits: Any) -> Path:
    path.write_text(json.dumps(splits, ensure_ascii=False), encoding="utf-8")
    return path


def item(item_id: Any, report: Any = "Lungs are clear.", *images: str, **more: Any) -> dict[str, Any]:
    return {"id": item_id, "report": report, "image_path": list(images), **more}


def faults(call: Callable[[], object]) -> list[tuple[str, str | None, str | None]]:
    with pytest.raises(RefusedInput) as caught:
        call()
    assert SECRET not in "".join(map(str, caught.value.problems))
    return [(problem.code, problem.study_id, problem.field) for problem in caught.value.problems]


def test_images_are_divided_by_the_rule_and_the_seed_alone(tmp_path: Path) -> None:
    source = small(tmp_path / "df.csv")
    division = split(source)
    splits = division.annotation.splits
    n = sum(len(items) for items in splits.values())
    assert (n, division.rows, division.left_out) == (79, 83, 4)
    assert {name: len(items) for name, items in splits.items()} == {"train": 55, "val": 7, "test": 17}
    lines = source.read_text().splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert split(turned).annotation.splits == splits
    assert split(source, seed=1).annotation.splits != splits
    first = splits["train"][0]
    assert (first.item_id, first.image_path) == (first.image_path[0], (first.item_id,))
    assert (first.study, first.patient) == place_of(first.item_id)


def test_patients_stay_on_one_side_in_nearly_the_same_proportions(tmp_path: Path) -> None:
    division = split(small(tmp_path / "df.csv"), by="patient")
    found = leakage(division.annotation)
    assert [(overlap.studies, overlap.patients) for overlap in found.overlaps] == [(0, 0)] * 3
    assert found.copied == 0
    sizes = [count.items for count in found.counts.values()]
    assert sum(sizes) == 79
    # No end of a part is off by more than half of the images of one patient, of whom nobody has more than three.
    assert abs(sizes[0] - 0.7 * 79) <= 1.5
    assert abs(sizes[0] + sizes[1] - 0.8 * 79) <= 1.5


def test_neither_is_called_the_split_of_the_paper(tmp_path: Path) -> None:
    source = small(tmp_path / "df.csv")
    for by in ("image", "patient"):
        division = split(source, by=by)  # type: ignore[arg-type]
        assert division.annotation.name == f"chexpert-plus-{by}-split-seed0"
        assert "not the split of CXPMRG-Bench" in division.notes[0]
        assert "40,463 / 5,780 / 11,562 in CXPMRG-Bench" in division.notes[1]


def test_a_column_of_patients_stands_before_the_path(tmp_path: Path) -> None:
    source = table(tmp_path / "df.csv", [(path_of(n), "Lungs are clear.") for n in range(12)], patient="p7")
    found = leakage(split(source).annotation)
    assert [count.patients for count in found.counts.values()] == [1, 1, 1]
    assert [overlap.patients for overlap in found.overlaps] == [1, 1, 1]
    assert (found.copied, found.copied_share) == (3, 1.0)


def test_a_row_without_patient_id_goes_with_its_folder(tmp_path: Path) -> None:
    source = tmp_path / "df.csv"
    lines = [f"{path_of(n // 4, n % 4)},Lungs are clear.,,{f'p{n // 4}' if n % 2 else ''},train" for n in range(80)]
    source.write_text("\n".join([",".join(COLUMNS), *lines, f"{path_of(99)},Lungs are clear.,,,train"]))
    splits = split(source, by="patient").annotation.splits
    sides = [{place_of(one.item_id)[1] for one in items} for items in splits.values()]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 21
    assert {one.patient for items in splits.values() for one in items} >= {"p0", "p19", "patient00099"}


def test_studies_of_two_patients_may_have_one_id(tmp_path: Path) -> None:
    def own(name: str, patient: str | None) -> dict[str, Any]:
        return item(name, "x", study_id="study1", **({"subject_id": patient} if patient else {}))

    file = annotation(
        tmp_path / "a.json", train=[own("a", "p1"), own("b", "p2")], val=[own("c", "p2")], test=[own("d", None)]
    )
    found = leakage(read_annotation(file))
    assert found.counts["train"].studies == 2
    # Where a patient is not told, the study may be the same.
    assert [(one.studies, one.patients) for one in found.overlaps] == [(1, 1), (1, None), (1, None)]
    file = annotation(tmp_path / "b.json", train=[own("a", "p1")], val=[own("c", "p2")], test=[own("d", "p3")])
    assert [(one.studies, one.patients) for one in leakage(read_annotation(file)).overlaps] == [(0, 0)] * 3


def test_faults_of_a_table_are_named(tmp_path: Path) -> None:
    few = table(tmp_path / "few.csv", [(path_of(1), "Lungs clear.")])
    assert faults(lambda: split(few)) == [("missing_ids", None, "section_findings")]
    twice = table(tmp_path / "twice.csv", [(path_of(1), f"{SECRET} seen.")] * 2)
    assert faults(lambda: split(twice)) == [("duplicate_key", path_of(1), None)]
    lost = table(tmp_path / "lost.csv", [(f"image{n}.png", f"{SECRET} seen.") for n in range(12)])
    assert faults(lambda: split(lost, by="patient"))[0] == ("wrong_type", "image0.png", "path_to_image")
    assert len(split(lost).annotation.splits["train"]) == 8
    other = tmp_path / "other.csv"
    other.write_text("path_to_image,section_impression\na,b\n")
    assert faults(lambda: split(other))[0][0] == "wrong_columns"


@pytest.mark.slow
def test_the_published_sizes_in_little_time_and_memory(tmp_path: Path) -> None:
    rows = [
        (path_of(patient, 1, view), f"Image of patient {patient} shows clear lungs and a normal heart. " * 4)
        for patient in range(28_903)
        for view in (1, 2)
    ][:57_805]
    source = table(tmp_path / "df.csv", [*rows, *((path_of(n, 9), "") for n in range(60_000))])
    began = time.perf_counter()
    divided = split(source).annotation
    found = leakage(divided)
    assert time.perf_counter() - began < 20
    assert {name: count.items for name, count in found.counts.items()} == PUBLISHED
    assert 0.5 < found.copied_share < 0.8
    tracemalloc.start()
    by_patient = split(source, by="patient").annotation
    assert tracemalloc.get_traced_memory()[1] < 300 * 2**20
    tracemalloc.stop()
    assert {name: abs(len(items) - PUBLISHED[name]) <= 2 for name, items in by_patient.splits.items()} == dict.fromkeys(
        PUBLISHED, True
    )
    copy = tmp_path / "annotation.json"
    copy.write_bytes(divided.to_bytes())
    assert read_annotation(copy).splits == divided.splits


def test_an_annotation_file_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = Annotation(
        "a.json",
        {
            "train": (Item("1", 'Said "clear"\nhere: é', ("a.png", "b.png"), "s1", "p1"),),
            "val": (Item("2", "", ("c.png",)),),
            "test": (Item("3", "x", ()),),
        },
    )
    (tmp_path / "a.json").write_bytes(made.to_bytes())
    assert read_annotation(tmp_path / "a.json") == made


def test_studies_and_patients_are_told_by_fields_folders_or_several_images(tmp_path: Path) -> None:
    mimic = "p10/p10000032/s50414267/a.jpg"
    file = annotation(
        tmp_path / "a.json",
        train=[item(1, "x", mimic), item("b", "x", mimic, study_id=7, subject_id=9.0)],
        val=[item("c", "x", "c/0.png", "c/1.png")],
        test=[item("d", "x", "d.png")],
    )
    read = read_annotation(file)
    assert [(one.item_id, one.study, one.patient) for items in read.splits.values() for one in items] == [
        ("1", "p10000032_s50414267", "p10000032"),
        ("b", "7", "9"),
        ("c", "c", None),
        ("d", None, None),
    ]
    found = leakage(read)
    assert [(count.studies, count.patients) for count in found.counts.values()] == [(2, 2), (1, None), (None, None)]
    assert [overlap.studies for overlap in found.overlaps] == [0, None, None]
    lines = found.table()
    for words in (
        "not told",
        "do not tell their study: 1;",
        "do not tell their patient: 2;",
        "1 of 1 test texts (100.0%)",
    ):
        assert words in lines


def test_what_splits_share_is_counted(tmp_path: Path) -> None:
    one, two = path_of(1, 1, 1), path_of(1, 1, 2)
    file = annotation(
        tmp_path / "a.json",
        train=[item("a", "Same text.", one), item("b", "Other text.", path_of(2))],
        val=[item("c", "Other text.", path_of(2, 2))],
        test=[item("a", "Same text.", two), item("e", "New text.", path_of(3)), item("f", "same text.", two)],
    )
    found = leakage(read_annotation(file), tmp_path)
    by_pair = {
        overlap.splits: (overlap.items, overlap.images, overlap.studies, overlap.patients) for overlap in found.overlaps
    }
    assert by_pair == {("train", "val"): (0, 0, 0, 1), ("train", "test"): (1, 0, 1, 1), ("val", "test"): (0, 0, 0, 0)}
    assert (found.copied, found.copied_share) == (1, 1 / 3)
    assert (found.missing_images, found.first_missing) == (5, (one, path_of(2), path_of(2, 2), two, path_of(3)))
    (tmp_path / one).parent.mkdir(parents=True)
    (tmp_path / one).touch()
    assert leakage(read_annotation(file), tmp_path).missing_images == 4
    assert faults(lambda: leakage(read_annotation(file), tmp_path / "none")) == [("file_missing", None, None)]
    assert found.to_json()["overlaps"][1]["splits"] == ("train", "test")


def test_names_of_splits_count_without_blanks_and_a_nameless_one_is_the_test(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = annotation(tmp_path / "a.json", **{" train": [item(1)], "val ": [item(2)], "    ": [item(3)]})
    assert list(read_annotation(path).splits) == ["train", "val", "test"]
    assert caplog.messages == ['a.json: a split without a name is taken for "test"']


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"train": [item(1)], "test": [item(2)]}, "wrong_columns"),
        ({"train": [item(1)], "val": [], "test": [item(2)]}, "missing_ids"),
        ({"train": [item(1)], "val": [item(2)], "test": [item(3)], " ": [item(4)]}, "duplicate_key"),
        ({"train": [item(1)], "dev": [item(2)], "test": [item(3)]}, "wrong_columns"),
        ({"train": [item(1)], "val": "x", "test": [item(3)]}, "bad_json"),
        ({"train": [item(1), item(1, SECRET)], "val": [item(2)], "test": [item(3)]}, "duplicate_key"),
        ({"train": [item(None)], "val": [item(2)], "test": [item(3)]}, "wrong_type"),
        ({"train": [item("")], "val": [item(2)], "test": [item(3)]}, "wrong_type"),
        ({"train": [item(1, [SECRET])], "val": [item(2)], "test": [item(3)]}, "wrong_type"),
        ({"train": [item(1) | {"image_path": [1]}], "val": [item(2)], "test": [item(3)]}, "wrong_type"),
        ({"train": [{"report": SECRET}], "val": [item(2)], "test": [item(3)]}, "wrong_columns"),
        ({"train": [{"id": "1"}], "val": [item(2)], "test": [item(3)]}, "wrong_type"),
        ({"train": [item(1), SECRET], "val": [item(2)], "test": [item(3)]}, "not_an_object"),
        ({"1": "Lungs are clear."}, "wrong_columns"),
        ([item(1)], "wrong_columns"),
    ],
)
def test_faults_of_an_annotation_file_are_named(tmp_path: Path, content: Any, code: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    assert [found for found, _, _ in faults(lambda: read_annotation(path))] == [code]


def test_the_test_split_is_scored_as_references_and_as_predictions(tmp_path: Path) -> None:
    train = [item(n, f"Text {n} of the training split. " * 2_000) for n in range(300)]
    tests = [item(n, f"Lungs are clear, number {n}.", path_of(n % 3), subject_id=n % 3) for n in range(9)]
    references = annotation(tmp_path / "annotation.json", train=train, val=[item("v")], test=tests)
    predictions = annotation(tmp_path / "predictions.json", test=[item(n, "Lungs are clear.") for n in range(9)])
    card = rexrank.score(predictions, references, protocol="cxpmrg", metrics=["coco_bleu4"], progress=False)
    assert card.n == 9
    assert (card.interval["unit"], card.interval["units"]) == ("patient", 3)
    flat = tmp_path / "test_result.json"
    flat.write_text(json.dumps({str(n): ["Lungs are clear."] for n in range(9)}))
    again = rexrank.score(flat, references, protocol="cxpmrg", metrics=["coco_bleu4"], progress=False)
    assert again.summary == card.summary


def test_faults_of_an_annotation_file_that_is_scored(tmp_path: Path) -> None:
    flat = {"1": "Lungs are clear."}
    twice = annotation(tmp_path / "a.json", train=[item(1)], val=[], test=[item(1), item(1)])
    assert faults(lambda: rexrank.score(flat, twice, progress=False)) == [("duplicate_key", "1", None)]
    without = annotation(tmp_path / "b.json", train=[item(1)], val=[item(2)])
    assert ("wrong_columns", None, "test") in faults(lambda: rexrank.score(flat, without, progress=False))
    missing = annotation(tmp_path / "c.json", train=[], val=[], test=[item(1), item("2")])
    assert faults(lambda: rexrank.score(flat, missing, progress=False)) == [("missing_ids", "2", None)]


def test_a_study_may_be_called_like_a_split() -> None:
    card = rexrank.score({"train": "Clear."}, {"train": "Clear."}, protocol="plain", metrics=["bleu2"], progress=False)
    assert card.n == 1


def test_such_a_study_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "texts.json"
    path.write_text('{"test": ["Lungs are clear."], "train": "Clear."}')
    card = rexrank.score(path, path, protocol="plain", metrics=["bleu2"], progress=False)
    assert card.n == 2


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small(tmp_path / "df.csv")
    assert main(["benchmark", "split", "--source", "df.csv", "--by", "patient"]) == 0
    printed = capsys.readouterr()
    out = tmp_path / "chexpert-plus-patient-split-seed0.json"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "4 of 83 rows have no findings of two words." in printed.out
    assert "not the split of CXPMRG-Bench" in printed.err
    assert "Finding number" not in printed.out + printed.err
    assert main(["benchmark", "leakage", out.name, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(count["items"] for count in found["splits"].values()) == 79
    assert [overlap["patients"] for overlap in found["overlaps"]] == [0, 0, 0]
    assert (
        main(["benchmark", "split", "--source", "df.csv", "--seed", "3", "--out", "s.json", "--json", "--quiet"]) == 0
    )
    printed = capsys.readouterr()
    assert (json.loads(printed.out)["left_out"], printed.err) == (4, "")
    assert main(["benchmark", "leakage", "df.csv"]) == 1
    assert "an annotation file" in capsys.readouterr().err
    assert main(["benchmark", "leakage", "none.json"]) == 1


def test_a_benchmark_is_built_of_the_test_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = [item("t1", "Lungs are clear.", path_of(7)), item("t2", " ", path_of(8)), item("t3", "Mild edema.")]
    source = annotation(tmp_path / "a.json", train=[item(1)], val=[item(2)], test=tests)
    built = cxpmrg_benchmark.load(source, "chexpert-plus", "my-split")
    assert [(one.study_id, one.findings, one.patient_id) for one in built.studies] == [
        ("t1", "Lungs are clear.", "patient00007"),
        ("t3", "Mild edema.", None),
    ]
    assert (built.tracks["findings"], built.references) == (2, "private")
    assert built.notes == ("left out, with neither findings nor impression: 1",)
    words = ["benchmark", "build", "annotation", "--source", str(source), "--quiet", "--out", str(tmp_path / "built")]
    assert main([*words, "--of", "mimic-cxr", "--name", "mimic-r2gen"]) == 0
    assert "findings 2" in capsys.readouterr().out
    predictions = {"t1": "Lungs are clear.", "t3": "Edema."}
    card = rexrank.score(predictions, tmp_path / "built", protocol="cxpmrg", metrics=["rouge_l"], progress=False)
    assert card.n == 2
    assert main([*words, "--of", "padchest", "--name", "x"]) == 2
    assert main([*words, "--of", "mimic-cxr", "--name", "mimic-cxr"]) == 2
    assert "no data set's name" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["split", "leakage"])
def test_help_shows_examples(action: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["benchmark", action, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith(f"  rexrank benchmark {action} ") for line in lines)


def test_iu_xray_in_r2gens_split_shares_no_study(shared_data: Path, tmp_path: Path) -> None:
    """The real split, with invented texts: one item a study, two images each."""
    ids = json.loads((shared_data / "iu_xray/split_r2gen.json").read_text())
    parts = {
        name: [item(one, f"Report of {one}.", f"{one}/0.png", f"{one}/1.png") for one in ids[name]]
        for name in ("train", "val", "test")
    }
    found = leakage(read_annotation(annotation(tmp_path / "a.json", **parts)))
    assert [(count.items, count.studies) for count in found.counts.values()] == [(2069, 2069), (296, 296), (590, 590)]
    assert [overlap.studies for overlap in found.overlaps] == [0, 0, 0]


@pytest.mark.parametrize("patients", [1, 2])
def test_a_patient_with_too_many_images_leaves_none_for_another_split(tmp_path: Path, patients: int) -> None:
    rows = [(path_of(study % patients, study), f"Finding number {study}.") for study in range(30)]
    with pytest.raises(RefusedInput, match=r'no image is left for "(val|test)"; divide by image'):
        split(table(tmp_path / "df.csv", rows), by="patient")


def test_names_of_images_move_no_terminal(tmp_path: Path) -> None:
    items = {name: [item(name, "Lungs are clear.", f"{name}\x1b[2J.png")] for name in ("train", "val", "test")}
    found = leakage(read_annotation(annotation(tmp_path / "a.json", **items)), tmp_path)
    assert "train?[2J.png" in found.table()
    assert "\x1b" not in found.table()


def test_a_split_is_not_written_over_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = small(tmp_path / "df.csv")
    before = source.read_bytes()
    assert (
        main(["benchmark", "split", "--source", str(source), "--out", str(tmp_path / "." / "df.csv"), "--quiet"]) == 1
    )
    assert "is the table itself, which would be lost" in capsys.readouterr().err
    assert source.read_bytes() == before
