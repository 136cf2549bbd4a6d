"""Our ranking gives the orders that were published, and claims no more about them than is known."""

from dataclasses import fields

import pytest

from rexrank.published.record import NEWEST, PublishedRow, rows
from rexrank.published.standings import NO_RANGE, Place, across, history, model_names, tables

# The site's overview of 2026-08, as printed: by ReXGradient, findings. MedVersa and MedGemma are tied at 1.008.
OVERVIEW = """
Deepwise-RG, UniRG-CXR, CARE-X, zzy-RGv2-2b, CheXOne-R1, zzy-RGv1-8b, MoERad-IU, MedVersa, MedGemma, MAIRA-2,
MedGemma 1.5 4B, CX-Mind, VLCI-IU, RGRG, DD-LLaVA-X, Libra, RaDialog, CXRMate-ED, Cvt2distilgpt2-MIMIC,
Cvt2distilgpt2-IU, CheXpertPlus-CheX-MIMIC, CXRMate-RRG24, CheXpertPlus-CheX, CheXpertPlus-MIMIC, RadFM, BiomedGPT-IU,
MoERad-MIMIC, VLCI-MIMIC, CheXagent, GPT4V, LLM-CXR
"""
# The order of answers to questions, 2026-08.
ANSWERS = """
CARE-X, CheXOne-R1, MedGemma-4B-it, Eagle2-9B, Qwen2.5VL-7B-Instruct, Qwen2VL-7B-Instruct, Janus-Pro-7B,
Phi35-Vision-Instruct, LLaVA-1.5-7B
"""


def names(text: str) -> list[str]:
    return " ".join(text.split()).split(", ")


def one_table(benchmark: str, track: str = "findings", snapshot: str = NEWEST) -> list[Place]:
    (table,) = tables(rows(benchmark, track, snapshot))
    return list(table.places)


def printed(name: str, **scores: float | None) -> PublishedRow:
    return PublishedRow(
        board="rexrank",
        snapshot="2026-08-04",
        benchmark="iu-xray",
        split="test",
        track="findings",
        model=name,
        scores=scores,
        source="invented",
        n_said="studies",
    )


def test_the_published_overview_comes_out_ties_apart() -> None:
    found = {place.row.model: place.rank for place in one_table("rexgradient")}
    wanted = {name: position for position, name in enumerate(names(OVERVIEW), start=1)}
    assert found.pop("MedGemma") == found.pop("MedVersa") == wanted.pop("MedVersa") == 8
    assert wanted.pop("MedGemma") == 9
    assert found == wanted


def test_the_published_order_of_answers_comes_out() -> None:
    assert [place.row.model for place in one_table("rexvqa", "vqa")] == names(ANSWERS)


@pytest.mark.parametrize("benchmark", ["rexgradient", "mimic-cxr", "iu-xray", "chexpert-plus"])
@pytest.mark.parametrize("track", ["findings", "report"])
def test_every_table_of_the_newest_snapshot_stands_as_the_site_sorts_it(benchmark: str, track: str) -> None:
    # The site sorts the printed cells in the browser, best first, and numbers the lines.
    site = sorted(rows(benchmark, track, NEWEST), key=lambda row: row.scores["inv_radcliq_v1"] or 0.0, reverse=True)
    found = {place.row.model: place.rank for place in one_table(benchmark, track)}
    assert len(found) == (31 if track == "findings" else 9)
    for position, row in enumerate(site, start=1):
        rank = found[row.model]
        assert rank is not None
        tied = site[rank - 1].scores["inv_radcliq_v1"] == row.scores["inv_radcliq_v1"]
        assert rank == position or tied, row.model


def test_ranks_of_models_that_were_trained_on_one_set_fall_apart() -> None:
    # rexrank.md, section 11.3; in the order IU-Xray, ReXGradient, MIMIC-CXR, CheXpert Plus.
    benchmarks = ("iu-xray", "rexgradient", "mimic-cxr", "chexpert-plus")
    found = {model: [places[name].rank for name in benchmarks] for model, places in across().items()}
    assert len(found) == 31
    assert found["MoERad-IU"] == [4, 7, 26, 24]
    assert found["VLCI-IU"] == [10, 13, 28, 29]
    assert {name: sum(filter(None, found[name])) / 4 for name in ("UniRG-CXR", "Deepwise-RG", "zzy-RGv2-2b")} == {
        "UniRG-CXR": 1.75,
        "Deepwise-RG": 2.0,
        "zzy-RGv2-2b": 2.5,
    }


def test_the_test_split_counts_where_a_benchmark_has_two() -> None:
    places = across("report", "2024-07")["MedVersa"]
    assert {name: place.row.split for name, place in places.items()} == {
        "mimic-cxr": "test",
        "iu-xray": "test",
        "chexpert-plus": "valid",
    }


def test_equal_values_share_a_rank_and_blank_ones_have_none() -> None:
    rows = [
        printed("blank", inv_radcliq_v1=None),
        printed("low", inv_radcliq_v1=0.5),
        printed("tied", inv_radcliq_v1=1.0),
        printed("other", inv_radcliq_v1=1.0),
        printed("high", inv_radcliq_v1=2.0),
    ]
    (table,) = tables(rows)
    assert [(place.row.model, place.rank) for place in table.places] == [
        ("high", 1),
        ("other", 2),
        ("tied", 2),
        ("low", 4),
        ("blank", None),
    ]


def test_raw_radcliq_ranks_the_lowest_first() -> None:
    (table,) = tables(rows("iu-xray", "findings", "2024-11-04"))
    values = [place.row.scores["radcliq_v1"] for place in table.places]
    assert table.deciding == "radcliq_v1"
    assert values == sorted(value for value in values if value is not None)
    assert table.places[0].rank == 1


def test_each_snapshot_is_ranked_by_its_own_rule() -> None:
    deciding = {table.snapshot.name: table.deciding for table in tables(rows("iu-xray", "findings"))}
    assert deciding == {
        "2024-11-04": "radcliq_v1",
        "2024-11-27": "inv_radcliq_v1",
        "2025-06-05": "inv_fineradscore",
        "2025-09-05": "inv_radcliq_v1",
        "2026-08-04": "inv_radcliq_v1",
    }
    assert {table.deciding for table in tables(rows(track="vqa", snapshot="2025-09-05"))} == {"vqa_accuracy_macro"}


def test_tables_of_one_paper_are_ranked_apart() -> None:
    found = tables(rows("chexpert-plus", board="cxpmrg"))
    assert [table.snapshot.name for table in found] == ["table-1", "table-2", "sibling-nlg", "later"]
    assert [table.places[0].row.model for table in found[:2]] == ["MambaXray-VL-L", "Vicuna-V1.5 6.7B"]
    assert all(table.places[0].rank == 1 for table in found)


def test_a_model_is_followed_over_all_spellings() -> None:
    found = history("chexpertplus-mimic")
    assert {place.row.model for _, place in found} == {
        "CheXpertPlus-mimic",
        "CheXpertPlus_MIMIC",
        "CheXpertPlus-MIMIC",
    }
    unirg = [(table.snapshot.name, place.row.scores["inv_radcliq_v1"]) for table, place in history("UniRG-CXR")]
    assert ("2025-09-05", 1.977) in unirg
    assert ("2026-08-04", 4.804) in unirg
    assert history("nobody") == []


def test_the_newest_spelling_names_a_model() -> None:
    assert model_names(rows("iu-xray"))["chexpertplus-mimic"] == "CheXpertPlus-MIMIC"


def test_a_place_has_no_room_for_a_range() -> None:
    assert {field.name for field in fields(Place)} == {"row", "rank", "flags"}
    assert "no scores of single studies were published" in NO_RANGE


def test_the_number_of_cases_is_said() -> None:
    (iu,), (chexpert,) = (tables(rows(name, "findings", NEWEST)) for name in ("iu-xray", "chexpert-plus"))
    assert iu.cases == "590 studies"
    assert chexpert.cases == "n not published: 62 of the 200 studies have findings"
    (later,) = tables(rows("chexpert-plus", snapshot="later", board="cxpmrg"))
    assert later.cases == "n not published"
