"""The human ceiling: what is compared with what, and what a model's number may be held against."""

import json
from pathlib import Path

import numpy as np
import pytest

import rexrank
from rexrank.cli import main
from rexrank.metrics import compute
from rexrank.statistics import interval
from rexrank.validity.ceiling import Ceiling, NoCeiling, ceiling

SECRET = "Axolotl"
FIRST = ["Small left effusion.", f"Lungs clear. {SECRET} sign.", "Mild pulmonary edema.", "The heart is enlarged."]
SECOND = ["Left pleural effusion, small.", "The lungs are clear.", "Pulmonary edema, mild.", "Cardiomegaly."]
THIRD = ["There is a small left effusion.", "Clear lungs.", "Some edema.", "Enlarged heart."]
REFERENCES = {f"s{place}": [FIRST[place % 4], SECOND[place % 4]] for place in range(12)}
WEAK = dict.fromkeys(REFERENCES, "Fracture of a rib.")
PLAIN = {"protocol": "plain", "resamples": 400}


def by_key(found: Ceiling) -> dict[str, object]:
    return {row.key: row for row in found.rows}


def test_each_reference_is_scored_against_the_others_of_its_study() -> None:
    three = {f"s{place}": [FIRST[place % 4], SECOND[place % 4], THIRD[place % 4]] for place in range(5)}
    found = ceiling(three, metrics=["bleu2", "coco_bleu1", "f1labels_micro_14"], **PLAIN)  # type: ignore[arg-type]
    flat = [
        (text, [*texts[:place], *texts[place + 1 :]]) for texts in three.values() for place, text in enumerate(texts)
    ]
    wanted = compute(
        ["bleu2", "coco_bleu1", "f1labels_micro_14"], [text for text, _ in flat], [texts for _, texts in flat]
    )
    for row in found.rows:
        # Every study has three rounds, so summing them over all studies gives the same quotients.
        assert row.human == pytest.approx(wanted[row.key].aggregate)
    values = wanted["bleu2"].values.reshape(5, 3)
    assert found.rows[0].readers == pytest.approx(values.mean(axis=0))
    assert found.rows[0].interval == interval(values.mean(axis=1), resamples=400)
    assert (found.n, found.references, found.rows[0].paired, found.has_model) == (5, {3: 5}, None, False)


def test_a_study_counts_once_however_many_references_it_has() -> None:
    mixed = {"a": [FIRST[0], SECOND[0]], "b": [FIRST[1], SECOND[1], THIRD[1]], "c": FIRST[2]}
    found = ceiling(mixed, metrics="bleu2", **PLAIN)  # type: ignore[arg-type]
    a = compute("bleu2", mixed["a"], [mixed["a"][1], mixed["a"][0]])["bleu2"].values
    b = compute("bleu2", mixed["b"], [[*mixed["b"][:at], *mixed["b"][at + 1 :]] for at in range(3)])["bleu2"].values
    assert found.rows[0].human == pytest.approx((a.mean() + b.mean()) / 2)
    assert (found.references, found.left_out, found.rows[0].readers) == ({2: 1, 3: 1}, 1, ())


def test_a_model_meets_the_same_references_as_a_radiologist() -> None:
    # A model that copies the first reference meets itself in half of the rounds, and the second one in the others.
    copies = {study_id: texts[0] for study_id, texts in REFERENCES.items()}
    found = ceiling(REFERENCES, copies, ["bleu2", "f1labels_micro_14"], **PLAIN)  # type: ignore[arg-type]
    each = compute("bleu2", list(copies.values()), [texts[1] for texts in REFERENCES.values()])["bleu2"].values
    row = found.rows[0]
    assert row.paired is not None
    own = compute("bleu2", list(copies.values()), list(copies.values()))["bleu2"].values
    assert row.paired.scores[0] == pytest.approx((own.mean() + each.mean()) / 2)
    assert row.paired.scores[1] == row.human
    assert row.verdict == "above"
    assert found.sentence is not None
    assert "writes like the average and not that it reads better" in found.sentence
    assert row.style is not None
    assert (row.style.lowest, row.style.highest) == (pytest.approx(each.mean()), pytest.approx(own.mean()))
    assert row.style.change == pytest.approx((own - each).mean())


def test_a_weak_model_stands_below() -> None:
    found = ceiling(REFERENCES, WEAK, ["bleu2", "rouge_l", "report_words"], **PLAIN)  # type: ignore[arg-type]
    # Of rouge_l the interval leaves 0 out, but a test of two scores does not find it.
    assert [(row.key, row.verdict) for row in found.rows] == [("bleu2", "below"), ("rouge_l", "unclear")]
    assert [row.p_holm is not None and row.p_holm <= 0.05 for row in found.rows] == [True, False]
    assert found.rows[0].style is not None
    assert found.rows[0].style.n == 12


def test_of_a_score_where_low_is_good_below_is_the_higher_number() -> None:
    references = {f"s{place}": ["Lungs clear.", "The lungs are clear."] for place in range(10)}
    devices = dict.fromkeys(references, "A pacemaker is in place.")
    devices["s0"] = "Lungs clear."
    (row,) = ceiling(references, devices, "invented_device", **PLAIN).rows  # type: ignore[arg-type]
    assert row.paired is not None
    assert (row.human, row.paired.difference, row.direction, row.verdict) == (0.0, 0.9, "lower", "below")


def test_patients_are_drawn_as_a_whole() -> None:
    records = [
        {"study_id": study_id, "findings": texts, "patient_id": f"p{place // 2}"}
        for place, (study_id, texts) in enumerate(REFERENCES.items())
    ]
    by_patient = ceiling(records, metrics="bleu2", **PLAIN)  # type: ignore[arg-type]
    by_study = ceiling(REFERENCES, metrics="bleu2", **PLAIN)  # type: ignore[arg-type]
    assert (by_patient.unit, by_study.unit) == ("patient", "study")
    assert by_patient.rows[0].human == by_study.rows[0].human
    assert by_patient.rows[0].interval != by_study.rows[0].interval
    one_each = [{**record, "findings": record["findings"][0]} for record in records]
    with pytest.raises(NoCeiling, match="none of the 12 studies has two references of the track findings"):
        ceiling(one_each, metrics="bleu2", **PLAIN)  # type: ignore[arg-type]


def test_blank_references_are_none_and_copies_are_counted() -> None:
    copied = {"a": [FIRST[0], f" {FIRST[0]} "], "b": [FIRST[1], SECOND[1]], "c": [FIRST[2], "  "]}
    found = ceiling(copied, metrics="bleu2", **PLAIN)  # type: ignore[arg-type]
    assert (found.n, found.left_out, found.repeated) == (2, 1, 1)


def test_a_score_of_a_whole_set_and_one_without_value_have_none() -> None:
    found = ceiling(REFERENCES, metrics=["bleu2", "green", "report_distinct"], **PLAIN)  # type: ignore[arg-type]
    assert [row.key for row in found.rows] == ["bleu2"]
    assert "green" in found.absent
    without = ceiling(REFERENCES, metrics=["measurements"], **PLAIN)  # type: ignore[arg-type]
    assert without.absent == {"measurements": "measurements has no value in any comparison"}


def test_the_command_prints_and_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("refs.json").write_text(json.dumps(REFERENCES), encoding="utf-8")
    Path("one.json").write_text(json.dumps({"s0": FIRST[0]}), encoding="utf-8")
    Path("weak.json").write_text(json.dumps(WEAK), encoding="utf-8")
    common = ["--protocol", "plain", "--metrics", "bleu2,f1labels_micro_14", "--resamples", "400"]
    asked = ["ceiling", "--references", "refs.json", "--predictions", "weak.json", *common]
    assert main(asked) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "below it" in printed.out
    assert "12 studies with 2; each is left out once" in printed.out
    assert SECRET not in printed.out
    assert main([*asked, "--json", "--several", "mean"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in told["ceiling"]] == ["bleu2", "f1labels_micro_14"]
    assert told["ceiling"][0]["verdict"] == "below"
    assert main([*asked, "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("One radiologist's report has bleu2")
    assert main(["ceiling", "--references", "one.json", *common]) == 1
    assert "has two references" in capsys.readouterr().err
    assert main([*asked, "--track", "lungs"]) == 2
    assert main([*asked, "--several", "worst"]) == 2
    assert main([*asked, "--metrics", "nothing"]) == 2
    assert main(["ceiling", "--references", "refs.json", "--metrics", "green", "--quiet"]) == 3


def test_help_is_narrow_and_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ceiling", "--help"])
    printed = capsys.readouterr().out
    assert "rexrank ceiling --references refs.json --predictions mine.csv --json" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_scores_are_not_those_of_a_card_with_all_references() -> None:
    card = rexrank.score(WEAK, REFERENCES, "plain", metrics=["rouge_l"], progress=False)
    (row,) = ceiling(REFERENCES, WEAK, "rouge_l", **PLAIN).rows  # type: ignore[arg-type]
    assert row.paired is not None
    assert row.paired.scores[0] is not None
    assert row.paired.scores[0] <= card.summary["rouge_l"]
    assert np.isfinite(row.paired.scores[0])
