"""The score card's files: whole or absent, and of one run."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import rexrank
from rexrank.scoring import UnreadableCard

REFERENCES = {"a": "Lungs clear.", "b": "Quokka-shaped mass.", "c": "Normal."}


@pytest.fixture(scope="module")
def card() -> rexrank.ScoreCard:
    """A card of three invented studies."""
    return rexrank.score({"a": "Lungs clear.", "b": "Quokka.", "c": ""}, REFERENCES, protocol="plain", progress=False)


def test_saved_and_loaded_cards_are_equal(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    card.save(tmp_path / "new" / "card")
    assert sorted(path.name for path in (tmp_path / "new" / "card").iterdir()) == [
        "card.json",
        "per_study.parquet",
        "statistics.parquet",
    ]
    assert rexrank.ScoreCard.load(tmp_path / "new" / "card") == card


def test_a_process_that_only_reads_a_card_ends_well(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    program = [
        sys.executable,
        "-c",
        "import rexrank, sys; rexrank.ScoreCard.load(sys.argv[1])",
        str(card.save(tmp_path)),
    ]
    ended = [subprocess.run(program, capture_output=True, timeout=60).returncode for _ in range(6)]
    assert ended == [0] * 6


def test_printed_a_card_is_the_table_and_in_lists_it_is_short(card: rexrank.ScoreCard) -> None:
    assert str(card).splitlines()[0] == "plain@2 · track findings · published · texts as they are · 3 studies"
    assert "bleu2" in str(card)
    assert repr(card) == "<ScoreCard plain@2, track findings, published: 3 studies, 15 scores, 0 unavailable>"


def test_a_card_of_another_version_can_be_printed(card: rexrank.ScoreCard) -> None:
    later = replace(card, summary={"bleu9": 0.5}, unavailable={"judge9": "judge9 needs a judge"})
    assert "bleu9    0.5000" in str(later)
    assert "  judge9: needs a judge" in str(later)


def test_a_reason_names_its_score_once(card: rexrank.ScoreCard) -> None:
    failed = replace(card, unavailable={"cider": "cider: the program ended", "coco_bleu1": "bleu failed with KeyError"})
    assert "  cider: the program ended\n  coco_bleu1: failed with KeyError" in str(failed)


def test_an_f1_that_could_only_be_0_is_explained() -> None:
    texts = {"a": "Cardiomegaly.", "b": "Heart size is normal."}
    keys = ["f1labels_cardiomegaly", "f1labels_fracture"]
    card = rexrank.score(texts, texts, protocol="plain", metrics=keys, progress=False)
    assert card.summary == {"f1labels_cardiomegaly": 1.0, "f1labels_fracture": 0.0}
    assert "\n0 because no reference has the label: f1labels_fracture\n" in str(card)


def test_the_list_of_labels_that_nobody_has_is_broken_into_lines() -> None:
    texts = {"a": "The lungs are clear.", "b": "Clear lungs."}
    printed = str(rexrank.score(texts, texts, protocol="plain", metrics=["f1labels"], progress=False))
    start = printed.index("0 because no reference has the label: ")
    assert max(map(len, printed[start:].partition("intervals:")[0].splitlines())) <= 79


def test_card_file_is_strict_json_without_text(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    card.save(tmp_path)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    content = json.loads((tmp_path / "card.json").read_text(), parse_constant=refuse)
    assert content["schema_version"] == 1
    assert content["per_study"]["rows"] == 3
    assert len(content["inputs"]["predictions"]["sha256"]) == 64
    for path in tmp_path.iterdir():
        assert b"Quokka" not in path.read_bytes()


def test_per_study_columns(card: rexrank.ScoreCard) -> None:
    schema = card.per_study.schema
    assert schema.names == ["study_id", *card.summary]
    assert {str(schema.field(key).type) for key in card.summary} == {"double"}


def test_a_card_with_the_table_of_another_run_is_refused(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    card.save(tmp_path)
    other = rexrank.score({"a": "x"}, {"a": "y"}, protocol="plain", progress=False)
    other.save(tmp_path / "other")
    (tmp_path / "other" / "per_study.parquet").replace(tmp_path / "per_study.parquet")
    with pytest.raises(UnreadableCard, match="is not the table of"):
        rexrank.ScoreCard.load(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 99}'])
def test_a_folder_without_a_whole_card_is_refused(card: rexrank.ScoreCard, tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableCard):
        rexrank.ScoreCard.load(tmp_path)
    card.save(tmp_path)
    (tmp_path / "card.json").write_text(content)
    with pytest.raises(UnreadableCard):
        rexrank.ScoreCard.load(tmp_path)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (("inputs", "references"), "inputs.references.source"),
        (("inputs", "predictions", "sha256"), "inputs.predictions.sha256"),
        (("interval", "confidence"), "interval.confidence"),
        (("text_preparation", "option"), "text_preparation.option"),
        (("signatures", "bleu2"), "signatures.bleu2"),
    ],
)
def test_a_card_that_lacks_what_is_inside_of_a_field_is_refused(
    card: rexrank.ScoreCard, tmp_path: Path, path: tuple[str, ...], named: str
) -> None:
    card.save(tmp_path)
    content = json.loads((tmp_path / "card.json").read_text())
    inside = content
    for step in path[:-1]:
        inside = inside[step]
    del inside[path[-1]]
    (tmp_path / "card.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableCard, match=f'lacks fields of a score card, such as "{named}"; score again'):
        rexrank.ScoreCard.load(tmp_path)


def test_a_card_of_one_patient_says_why_it_has_no_interval() -> None:
    references = {"a": "Heart normal.", "b": "No effusion."}
    groups = dict.fromkeys(references, "p")
    made = rexrank.score(references, references, metrics=["bleu2"], progress=False, groups=groups)
    assert "no intervals: there is nothing to draw from 1 patient" in str(made)


def test_a_card_that_lacks_a_field_is_refused(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    card.save(tmp_path)
    content = json.loads((tmp_path / "card.json").read_text())
    del content["signatures"]
    (tmp_path / "card.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableCard, match="lacks fields"):
        rexrank.ScoreCard.load(tmp_path)
