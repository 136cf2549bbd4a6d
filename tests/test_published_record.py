"""The published record holds what was printed: every value, from its source, under its names."""

import json
from pathlib import Path
from typing import Any

import pytest

from rexrank.metrics import score_keys
from rexrank.published.record import NEWEST, UnknownTable, declared_scores, rows, snapshots

BENCHMARKS = {
    "MIMIC-CXR": "mimic-cxr",
    "IU-Xray": "iu-xray",
    "IU X-ray": "iu-xray",
    "CheXpert Plus": "chexpert-plus",
    "ReXGradient": "rexgradient",
}
TRACKS = {"findings": "findings", "findings+impression": "report"}
DATES = ["2024-07", "2024-11-04", "2024-11-27", "2025-06-05", "2025-09-05", "2026", "2026-08-04"]


def printed(values: dict[str, float | None]) -> dict[str, float]:
    """The values that are there."""
    return {key: float(value) for key, value in values.items() if value is not None}


def published(folder: Path, name: str) -> Any:
    return json.loads((folder / f"published/{name}.json").read_text(encoding="utf-8"))


def test_all_rows_are_there() -> None:
    reports = [row for row in rows() if row.track != "vqa"]
    assert (len(reports), len(rows(track="vqa")), len(rows(board="cxpmrg"))) == (636, 25, 89)
    assert len(rows(board=None)) == 636 + 25 + 89


def test_every_value_of_rexrank_is_as_it_was_printed(shared_data: Path) -> None:
    ours = {
        (row.snapshot, row.benchmark, row.split, row.track, row.model_key): row for row in rows() if row.track != "vqa"
    }
    theirs = published(shared_data, "rexrank")["rows"]
    assert len(ours) == len(theirs)
    for one in theirs:
        place = (one["snapshot_date"], BENCHMARKS[one["dataset"]], one["split"], TRACKS[one["track"]])
        row = ours[*place, one["model_key"]]
        assert printed(row.scores) == printed(one["metrics"]), place
        assert set(row.scores) == set(one["published_columns"]), place
        assert row.trained_on_benchmark == one["trained_on_dataset"]
        assert (row.institution, row.year, row.url, row.file_order) == (
            one["institution"],
            one["year"],
            one["url"],
            one["file_order"],
        )


def test_every_value_of_rexvqa_is_as_it_was_printed(shared_data: Path) -> None:
    ours = {(row.snapshot, row.model): row for row in rows(track="vqa")}
    for one in published(shared_data, "rexrank")["rexvqa"]:
        row = ours[one["snapshot_date"], one["model"]]
        given = dict(one["metrics"])
        # Which of the two the site's "overall" is has changed in 2026.
        kind = "micro" if one["snapshot_date"].startswith("2026") else "macro"
        wanted = {f"vqa_accuracy_{kind}": given.pop("overall_accuracy")}
        assert row.scores == {**wanted, **{f"vqa_{name}": value for name, value in given.items()}}


def test_every_value_of_cxpmrg_is_as_it_was_printed(shared_data: Path) -> None:
    ours = rows(board="cxpmrg")
    theirs = published(shared_data, "cxpmrg")["rows"]
    assert len(ours) == len(theirs)
    for row, one in zip(ours, theirs, strict=True):
        assert row.model.startswith(one["model"])
        assert printed(row.scores) == printed(one["metrics"]), one["model"]
        assert row.benchmark == BENCHMARKS.get(one["dataset"], "mimic-rg4")
        assert (row.venue, row.kind, row.encoder, row.decoder) == (
            one["venue"],
            one["kind"],
            one["encoder"],
            one["decoder"],
        )
        assert (row.minutes, row.tuned_millions) == (one.get("time_min"), one.get("tuned_params_millions"))


def test_each_row_stands_once() -> None:
    places = [(row.table, row.model_key) for row in rows(board=None)]
    assert len(places) == len(set(places))


def test_snapshots_come_in_the_order_of_time() -> None:
    assert [state.name for state in snapshots()] == DATES
    assert [row.snapshot for row in rows()] == sorted((row.snapshot for row in rows()), key=DATES.index)
    assert {row.snapshot for row in rows(board="cxpmrg")} == {state.name for state in snapshots("cxpmrg")}


def test_newest_is_the_newest_complete_one_that_has_such_rows() -> None:
    assert {row.snapshot for row in rows("iu-xray", "findings", NEWEST)} == {"2026-08-04"}
    assert {row.snapshot for row in rows("iu-xray", "findings", "2026")} == set()
    assert len(rows("rexgradient", "findings", "2026")) == 1


def test_a_selection_holds_nothing_else() -> None:
    found = rows("mimic-cxr", "report", "2024-07")
    assert len(found) == 20
    assert {row.split for row in found} == {"test", "valid"}
    assert {(row.board, row.benchmark, row.track) for row in found} == {("rexrank", "mimic-cxr", "report")}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"benchmark": "iu_xray"}, 'no benchmark "iu_xray"; there are chexpert-plus, iu-xray'),
        ({"track": "impression"}, 'no track "impression"; there are findings, report, vqa'),
        ({"snapshot": "2023"}, 'no snapshot "2023"; there are 2024-07, 2024-11-04'),
        ({"board": "cheXbench"}, 'no board "cheXbench"; there are cxpmrg, rexrank'),
    ],
)
def test_what_is_not_there_is_said_with_what_is(asked: dict[str, str], said: str) -> None:
    with pytest.raises(UnknownTable, match=said):
        rows(**asked)


def test_every_row_has_a_source_and_every_address_is_safe() -> None:
    for row in rows(board=None):
        assert row.source
        assert all(url is None or url.startswith("https://") for url in (row.url, row.source_url))


def test_the_number_of_cases_is_there_or_said_not_to_be() -> None:
    for row in rows(board=None):
        assert (row.n is None) == row.n_said.startswith("not published"), row
    known = {(row.benchmark, row.split, row.track): row.n for row in rows()}
    assert known["iu-xray", "test", "findings"] == 590
    assert known["mimic-cxr", "test", "findings"] == 2347
    assert known["chexpert-plus", "valid", "findings"] is None
    assert known["rexgradient", "private", "findings"] is None


def test_blank_cells_are_none_and_absent_columns_are_absent() -> None:
    newest = {row.model: row for row in rows("iu-xray", "report", NEWEST)}
    assert newest["GPT4V"].scores["crimson"] is None
    assert "inv_fineradscore" not in newest["GPT4V"].scores
    assert all("coco_bleu1" not in row.scores for row in rows(board="cxpmrg", snapshot="table-1"))


def test_scores_that_rexrank_has_are_named_as_it_names_them() -> None:
    keys = {key for row in rows(board=None) for key in row.scores}
    assert keys == (keys & set(score_keys())) | set(declared_scores())
    assert not set(declared_scores()) & set(score_keys())
