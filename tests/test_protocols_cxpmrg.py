"""The protocol of CXPMRG-Bench: its cleaning, its scores, what it fixes, and the published numbers of one system."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rexrank
from rexrank.benchmarks import openi
from rexrank.protocols import load, prepare
from rexrank.protocols.loader import _families
from rexrank.protocols.texts import OPTIONS, clean, first_words, is_clean, treat
from rexrank.reports import Study
from rexrank.scoring.plan import plan

RECIPES = ["iu", "iu_literal_hyphen", "mimic_r2gen", "mimic_r2gengpt"]
MRG_RL = "iu_xray/predictions/mrg_rl/qwen_dino_sft_rag_top20_number_cw1_lr5e5_infer_beam1"
PUBLISHED = {
    "coco_bleu1": "Bleu_1",
    "coco_bleu2": "Bleu_2",
    "coco_bleu3": "Bleu_3",
    "coco_bleu4": "Bleu_4",
    "rouge_l": "ROUGE_L",
    "cider": "CIDEr",
}
PREDICTIONS = {"a": "Heart size: normal. No effusion.", "b": "Possible pneumonia."}
REFERENCES = {"a": "1. Heart size: normal.\n2. No effusion.", "b": "Pneumonia."}
RULE_EFFICACY = ["f1labels_ce_precision", "f1labels_ce_recall", "f1labels_ce_f1"]


def scored(**call: Any) -> rexrank.ScoreCard:
    return rexrank.score(PREDICTIONS, REFERENCES, **{"progress": False, "download": False, **call})


def test_each_data_set_has_its_cleaning_and_all_else_is_the_same() -> None:
    plus, iu = load("cxpmrg"), load("cxpmrg-iu")
    for convention in ("published", "corrected"):
        assert str(plus.option(convention)) == "none+mimic_r2gengpt"  # type: ignore[arg-type]
        assert str(iu.option(convention)) == "none+iu"  # type: ignore[arg-type]
    same = iu.model_copy(update={name: getattr(plus, name) for name in ("name", "description", "text_preparation")})
    assert same == plus
    assert [column.label for column in plus.columns][:7] == [
        *(f"BLEU-{n}" for n in range(1, 5)),
        "ROUGE-L",
        "METEOR",
        "CIDEr",
    ]
    assert plus.ranking == ("coco_bleu4", "cider")
    assert set(plus.tracks) == {"findings", "impression", "report"}


def test_a_variant_changes_only_what_it_names() -> None:
    versions = _families()
    assert versions["cxpmrg-iu"]["1"].text_preparation.options == versions["cxpmrg"]["1"].text_preparation.options


def test_both_sides_are_cleaned_and_the_signature_says_so() -> None:
    prepared = prepare(load("cxpmrg"), "findings", {n: Study(n, text) for n, text in REFERENCES.items()}, PREDICTIONS)
    assert prepared.predictions[0] == prepared.references[0][0] == "heart size : normal . no effusion ."
    assert prepared.name == "mimic_r2gengpt.2"
    card = scored(protocol="cxpmrg-iu", metrics=["coco_bleu4"])
    assert card.signatures["coco_bleu4"] == "coco_bleu4|conv:published|tok:split|impl:coco|agg:corpus|prep:iu.2|v:1"


def test_without_weights_all_but_chexberts_scores_are_there(tmp_path: Path) -> None:
    # METEOR's Java program takes its time to start, and has its own tests.
    metrics = [key for key in load("cxpmrg").metrics if key != "meteor"]
    card = scored(protocol="cxpmrg", weights=str(tmp_path), metrics=metrics)
    assert set(card.unavailable) == {"ce_precision", "ce_recall", "ce_f1"}
    assert all("chexbert" in reason.lower() for reason in card.unavailable.values())
    assert [*card.summary] == [key for key in metrics if key not in card.unavailable]


def test_what_the_protocol_fixes_stands_in_signatures_and_gives_way_to_the_caller() -> None:
    keys = ["f1labels_micro_14", *RULE_EFFICACY]
    assert all("uncertain:negative" in one for one in scored(protocol="cxpmrg", metrics=keys).signatures.values())
    assert "uncertain:positive" in scored(protocol="plain", metrics=keys).signatures["f1labels_micro_14"]
    for name in ("uncertain", "f1labels.uncertain"):
        card = scored(protocol="cxpmrg", metrics=keys, options={name: "positive"})
        assert all("uncertain:positive" in one for one in card.signatures.values())
        assert card.summary["f1labels_ce_recall"] > 0


def test_options_that_no_metric_asked_for_takes_are_left_out() -> None:
    rules = load("cxpmrg")
    assert plan(["coco_bleu4"], rules).options == {}
    assert plan(["f1labels"], rules, {"zero_division": 1}).options == {
        "f1labels.uncertain": "negative",
        "zero_division": 1,
    }
    assert set(plan(None, rules).options) == {"f1labels.uncertain", "f1chexbert.uncertain"}


@given(st.text(alphabet="aB12. :\n_-<,\"/'x", max_size=40), st.sampled_from(RECIPES))
def test_a_clean_text_is_known_and_stays(text: str, recipe: str) -> None:
    once = clean(text, recipe)
    assert is_clean(once, recipe)
    assert treat(once, [OPTIONS[recipe]]) == once


@pytest.mark.parametrize(
    "text", ["Clear .", "clear.", "clear", "clear . no, edema .", "a . . b . c", 'say "no" .', "", "(clear) ."]
)
def test_other_texts_are_cleaned(text: str) -> None:
    for recipe in RECIPES:
        assert not is_clean(text, recipe)
    assert treat("a\nb .", [OPTIONS["mimic_r2gen"]]) == "a b  ."
    assert treat("views: 35 .", [OPTIONS["mimic_r2gengpt"]]) == "views : 35  ."


def test_references_are_cut_only_where_it_is_asked_for() -> None:
    long = " ".join(f"w{n}" for n in range(120))
    studies = {"a": Study("a", long), "b": Study("b", "short text")}
    predictions = {"a": long, "b": long}
    whole = prepare(load("cxpmrg"), "findings", studies, predictions)
    assert (len(whole.references[0][0].split()), whole.truncated) == (121, None)
    cut = prepare(load("cxpmrg"), "findings", studies, predictions, option="mimic_r2gengpt+truncate-100")
    assert cut.references == [(" ".join(long.split()[:100]),), ("short text .",)]
    assert (cut.predictions, cut.truncated) == (whole.predictions, 1)
    assert cut.name == "mimic_r2gengpt.2+truncate-100.1"
    card = rexrank.score(
        predictions,
        {"a": long, "b": "x"},
        protocol="plain",
        text_preparation="truncate-60",
        metrics="bleu2",
        progress=False,
    )
    assert card.text_preparation["n_truncated"] == 1


@given(st.text(alphabet="ab \n\t", max_size=60), st.integers(1, 9))
def test_first_words_are_a_beginning_of_the_text(text: str, number: int) -> None:
    kept = first_words(text, number)
    assert text.startswith(kept)
    assert kept.split() == text.split()[:number]
    assert len(text.split()) > number or kept == text


@pytest.mark.parametrize("raw", [False, True])
def test_the_published_numbers_of_one_system(shared_data: Path, raw: bool) -> None:
    """From its own cleaned references, and from the reports that these are of."""
    folder = shared_data / MRG_RL
    published = json.loads((folder / "test_metrics.json").read_text(encoding="utf-8"))
    references: Any = folder / "test_refs.json"
    if raw:
        numbers = json.loads(references.read_text(encoding="utf-8"))
        reports = openi.read_reports(openi.archive_path())
        references = {
            number: {"findings": reports[int(number)].findings, "impression": reports[int(number)].impression}
            for number in numbers
        }
    card = rexrank.score(
        folder / "test_preds.json",
        references,
        protocol="cxpmrg-iu",
        track="report",
        metrics=list(PUBLISHED),
        text_preparation="iu_literal_hyphen",
        progress=False,
    )
    assert card.n == 382
    assert card.summary == pytest.approx({key: published[name] for key, name in PUBLISHED.items()}, rel=0, abs=2e-16)
    # The recipe matters: by the data set's own one hyphens stay, and < = > go.
    other = rexrank.score(
        folder / "test_preds.json",
        references,
        protocol="cxpmrg-iu",
        track="report",
        metrics=["coco_bleu4"],
        progress=False,
    )
    assert other.summary["coco_bleu4"] != card.summary["coco_bleu4"]
