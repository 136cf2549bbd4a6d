"""Checks of printed values fire where these cannot be true, and nowhere else."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexrank.published.checks import flags, follows_formula
from rexrank.published.record import PublishedRow, rows

# rexrank.md, section 12: the rows of findings + impression that mix two runs, by what their means give.
RECOMPUTED = {
    ("rexgradient", "chexpertplus-mimic"): "0.802",
    ("rexgradient", "chexpertplus-chex"): "0.756",
    ("rexgradient", "chexpertplus-chex-mimic"): "0.851",
    ("rexgradient", "gpt4v"): "0.659",
    ("mimic-cxr", "radfm"): "0.623",
    ("iu-xray", "chexpertplus-mimic"): "1.130",
    ("iu-xray", "chexpertplus-chex"): "1.010",
    ("iu-xray", "chexpertplus-chex-mimic"): "1.281",
    ("iu-xray", "medversa"): "1.442",
    ("iu-xray", "radfm"): "1.227",
    ("chexpert-plus", "chexpertplus-mimic"): "0.483",
    ("chexpert-plus", "radfm"): "0.444",
}


def row(name: str = "A", split: str = "test", **scores: float | None) -> PublishedRow:
    return PublishedRow(
        board="cxpmrg",
        snapshot="table-1",
        benchmark="iu-xray",
        split=split,
        track="findings",
        model=name,
        scores=scores,
        source="invented",
        n_said="studies",
    )


def kinds(*given: PublishedRow) -> list[list[str]]:
    return [[flag.kind for flag in found] for found in flags(given)]


def of(snapshot: str, model: str, benchmark: str, board: str = "cxpmrg") -> list[str]:
    """Kinds of the flags of one row of the record."""
    table = rows(benchmark, snapshot=snapshot, board=board)
    return [flag.kind for one, found in zip(table, flags(table), strict=True) if one.model == model for flag in found]


def test_the_formula_agrees_with_the_record_on_all_rows(shared_data: Path) -> None:
    theirs = json.loads((shared_data / "published/rexrank.json").read_text(encoding="utf-8"))["rows"]
    wanted = {
        (
            one["snapshot_date"],
            one["dataset"].lower().replace(" ", "-"),
            one["split"],
            one["track"],
            one["model_key"],
        ): one["consistent_with_radcliq_formula"]
        for one in theirs
    }
    found = {
        (
            one.snapshot,
            one.benchmark,
            one.split,
            "findings+impression" if one.track == "report" else "findings",
            one.model_key,
        ): follows_formula(one)
        for one in rows()
        if one.track != "vqa"
    }
    assert len(wanted) == 636
    assert found == wanted


def test_the_rows_that_mix_two_runs_are_flagged_with_what_their_means_give() -> None:
    found = {}
    for one, flagged in zip(rows(), flags(rows()), strict=True):
        for flag in flagged:
            if flag.kind == "radcliq":
                assert one.track == "report"
                assert one.snapshot >= "2024-11-27"
                found.setdefault((one.benchmark, one.model_key), set()).add(flag.message.rpartition(" ")[2])
    assert found == {place: {value} for place, value in RECOMPUTED.items()}


def test_radcliq_v0_follows_from_its_means_wherever_it_was_printed() -> None:
    found = [follows_formula(one, "radcliq_v0") for one in rows()]
    assert found.count(True) == 138
    assert False not in found


@pytest.mark.parametrize(("shift", "follows"), [(0.0, True), (0.02, False), (-0.02, False)])
def test_an_inverse_that_is_off_is_found(shift: float, follows: bool) -> None:
    # At means of 0 RadCliQ-v1 is 2.450143 and its inverse .408.
    found = row(radgraph_combined=0.0, bertscore=0.0, sembscore=0.0, bleu2=0.0, inv_radcliq_v1=0.408 + shift)
    assert follows_formula(found) is follows
    assert (kinds(found) == [[]]) is follows


def test_without_a_component_nothing_is_claimed() -> None:
    assert follows_formula(row(radgraph_combined=0.1, bertscore=0.1, sembscore=0.1, inv_radcliq_v1=9.0)) is None
    assert follows_formula(row(radgraph_combined=0.1, bertscore=None, sembscore=0.1, bleu2=0.1, radcliq_v1=9)) is None
    assert follows_formula(row(radgraph_combined=0.1, bertscore=0.1, sembscore=0.1, bleu2=0.1)) is None


def test_an_f1_above_the_mean_of_precision_and_recall_is_impossible() -> None:
    above, below = (
        row("A", ce_precision=0.2, ce_recall=0.4, ce_f1=0.302),
        row("B", ce_precision=0.2, ce_recall=0.4, ce_f1=0.301),
    )
    assert kinds(above, below) == [["impossible_f1"], []]
    (larger,) = flags([row(ce_precision=0.258, ce_recall=0.265, ce_f1=0.281)])[0]
    assert "above the larger of both, 0.265" in larger.message


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=1, max_size=14))
def test_no_average_over_classes_is_called_impossible(classes: list[tuple[float, float]]) -> None:
    precision, recall = np.array(classes).T
    f1 = 2 * precision * recall / (precision + recall)
    means = [round(float(values.mean()), 3) for values in (precision, recall, f1)]
    found = row(**dict(zip(("ce_precision", "ce_recall", "ce_f1"), means, strict=True)))
    assert "impossible_f1" not in kinds(found)[0]


def test_the_harmonic_mean_of_averages_is_noticed() -> None:
    assert kinds(row(ce_precision=0.309, ce_recall=0.27, ce_f1=0.288)) == [["harmonic_f1"]]
    assert kinds(row(ce_precision=0.309, ce_recall=0.27, ce_f1=0.280)) == [[]]


def test_rows_that_look_copied_name_each_other() -> None:
    values = {"coco_bleu4": 0.1, "rouge_l": 0.265, "meteor": 0.146, "cider": 0.121, "ce_recall": 0.247}
    first, last = row("A", **values, ce_precision=0.314), row("B", **values, ce_precision=0.315)
    found = flags([first, row("C", **{**values, "cider": 0.2}), last])
    assert [[flag.kind for flag in one] for one in found] == [["equal_rows"], [], ["equal_rows"]]
    assert "5 of 6 values equal those of B" in found[0][0].message
    assert "values equal those of A" in found[2][0].message
    assert kinds(first, row("B", split="valid", **values)) == [[], []]
    assert kinds(row("A", rouge_l=0.1, meteor=0.1), row("B", rouge_l=0.1, meteor=0.1)) == [[], []]


def test_swapped_columns_are_noticed_where_the_other_rows_are_the_other_way_round() -> None:
    usual = [row(name, rouge_l=0.3, meteor=0.2) for name in "AB"]
    assert kinds(*usual, row("C", rouge_l=0.2, meteor=0.3)) == [[], [], ["rouge_below_meteor"]]
    assert kinds(row("A", rouge_l=0.2, meteor=0.3)) == [[]]


def test_an_accuracy_that_its_categories_do_not_give_is_found() -> None:
    categories = {
        "vqa_differential_diagnosis": 0.5,
        "vqa_geometric_information_assessment": 0.6,
        "vqa_location_and_distribution_assessment": 0.7,
        "vqa_negation_assessment": 0.8,
        "vqa_presence_assessment": 0.9,
    }
    assert kinds(row(vqa_accuracy_macro=0.7, **categories)) == [[]]
    assert kinds(row(vqa_accuracy_macro=0.7005, **categories)) == [["vqa_overall"]]
    assert kinds(row(vqa_accuracy_micro=0.95, **categories)) == [["vqa_overall"]]
    assert kinds(row(vqa_accuracy_micro=0.55, **categories)) == [[]]


def test_the_tables_of_answers_pass() -> None:
    assert not any(flags(rows(track="vqa")))


# cxpmrg.md, section 6.4.
@pytest.mark.parametrize(
    ("snapshot", "model", "benchmark", "kind"),
    [
        ("table-1", "PromptMRG", "chexpert-plus", "impossible_f1"),
        ("table-1", "XProNet", "chexpert-plus", "equal_rows"),
        ("table-1", "R2GenCSR", "chexpert-plus", "equal_rows"),
        ("table-1", "R2GenGPT", "chexpert-plus", "noted"),
        ("table-2", "Llama-2 6.7B", "chexpert-plus", "noted"),
        ("table-1", "M2KT", "chexpert-plus", "noted"),
        ("table-1", "MSAT", "chexpert-plus", "noted"),
        ("table-1", "Token-Mixer", "chexpert-plus", "harmonic_f1"),
        ("sibling-nlg", "Token-Mixer", "chexpert-plus", "bleu_ratio"),
        ("sibling-nlg", "PromptMRG", "chexpert-plus", "bleu_ratio"),
        ("table-3", "PromptMRG", "iu-xray", "rouge_below_meteor"),
        ("table-3", "MambaXray-VL-Large", "iu-xray", "noted"),
        ("table-2", "Orca-2 6.7B", "chexpert-plus", "noted"),
        ("table-1", "MambaXray-VL-B", "chexpert-plus", "noted"),
        ("table-1", "MambaXray-VL-L", "chexpert-plus", "noted"),
        ("sibling-ce", "MambaXray-VL-Large", "mimic-cxr", "impossible_f1"),
        ("sibling-ce", "AM-MRG", "mimic-cxr", "impossible_f1"),
    ],
)
def test_every_known_oddity_of_cxpmrg_comes_out(snapshot: str, model: str, benchmark: str, kind: str) -> None:
    assert kind in of(snapshot, model, benchmark)


def test_computed_flags_of_cxpmrg_are_these_and_no_others() -> None:
    found = [flag.kind for one in flags(rows(board="cxpmrg")) for flag in one if flag.kind != "noted"]
    assert sorted(found) == sorted(
        ["equal_rows"] * 4 + ["impossible_f1"] * 3 + ["harmonic_f1"] * 3 + ["bleu_ratio"] * 3 + ["rouge_below_meteor"]
    )


def test_rows_with_a_known_oddity_are_flagged(shared_data: Path) -> None:
    ours = rows(board="cxpmrg")
    theirs = json.loads((shared_data / "published/cxpmrg.json").read_text(encoding="utf-8"))["rows"]
    for one, found, known in zip(ours, flags(ours), theirs, strict=True):
        assert bool(found) == bool(known["anomalies"]), one.model


def test_outliers_of_rexrank_are_noted() -> None:
    assert "noted" in of("2026-08-04", "MAIRA-2", "iu-xray", "rexrank")
    assert "noted" in of("2026-08-04", "VLCI-MIMIC", "iu-xray", "rexrank")
    assert "noted" in of("2026-08-04", "MedGemma 1.5 4B", "rexgradient", "rexrank")
