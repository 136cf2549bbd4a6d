"""The page "Reported": every table of the record, marked as reported, apart from the board's own rows."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from space_fixtures import HOST, board_row

from rexrank.hub import connect
from rexrank.published.record import PublishedRow, rows
from rexrank.published.standings import PublishedTable, tables
from space import reported
from space.data import BoardData, BoardStore, LocalCopy, Repos
from space.reported import Choice, across_html, heading_html, history_html, offers, own_html, tables_html

ALL = [
    Choice(row.board, row.benchmark, row.track or reported.NO_TRACK, row.snapshot)
    for row in {row.table: row for row in rows(board=None)}.values()
]


def board(*found: dict[str, Any]) -> BoardData:
    return BoardData(leaderboard=found, host=HOST)


def invented(**fields: Any) -> PublishedTable:
    plain: dict[str, Any] = {
        "board": "rexrank",
        "snapshot": "2026-08-04",
        "benchmark": "iu-xray",
        "split": "test",
        "track": "findings",
        "model": "Ant",
        "scores": {"inv_radcliq_v1": 1.0},
        "source": "invented",
        "n_said": "studies",
    }
    (table,) = tables([PublishedRow(**{**plain, **fields})])
    return table


def test_every_table_of_the_record_can_be_chosen_and_is_laid_out() -> None:
    for choice in ALL:
        shown = offers(choice)
        assert replace(shown.choice, model="") == choice
        assert not shown.notes
        html = tables_html(shown)
        number = sum(
            (row.board, row.benchmark, row.track or reported.NO_TRACK, row.snapshot)
            == (choice.board, choice.benchmark, choice.track, choice.snapshot)
            for row in rows(board=None)
        )
        assert html.count('<th scope="row">') == html.count(">reported</span>") == number


def test_the_first_look_is_iu_xray_findings_of_the_newest_snapshot() -> None:
    assert offers(Choice()).choice == Choice("rexrank", "iu-xray", "findings", "2026-08-04", "")
    assert offers(Choice(board="cxpmrg")).choice.snapshot == "table-3"


def test_an_address_that_names_nothing_falls_back_and_says_so() -> None:
    shown = offers(Choice("<b>x", "", "", "2019", "nobody"))
    assert shown.choice == Choice("rexrank", "iu-xray", "findings", "2026-08-04", "")
    html = heading_html(shown)
    assert html.count("rx-note") == 3
    assert "<b>" not in html
    assert "2026&#45;08&#45;04 is shown" in html


def test_no_rank_has_a_range_and_the_page_says_why() -> None:
    shown = offers(Choice())
    assert "no scores of single studies were published" in heading_html(shown)
    ranks = re.findall(r'data-label="Rank">([^<]*)<', tables_html(shown))
    assert ranks[:3] == ["1", "2", "3"]
    assert all(rank.isdigit() for rank in ranks)


def test_rows_carry_source_and_flags() -> None:
    html = tables_html(offers(Choice("rexrank", "iu-xray", "report", "2026-08-04")))
    assert html.count("does not follow from the printed means") == 5
    assert html.count('href="https://github.com/rajpurkarlab/ReXrank/tree/1602a4c"') == 10
    later = tables_html(offers(Choice("cxpmrg", "chexpert-plus", "findings", "later")))
    assert "source: DRRG Table 2" in later


def test_all_links_are_https_or_the_boards_own() -> None:
    for choice in ALL:
        shown = offers(choice)
        html = heading_html(shown) + tables_html(shown) + own_html(board(), shown) + across_html(shown)
        assert all(address.startswith(("https://", "./")) for address in re.findall(r'href="([^"]*)"', html))


def test_names_are_harmless() -> None:
    html = reported._table(invented(model="<img src=x>", institution="*b* <i>", url="https://a.org/?x=%22"))
    assert "<img" not in html
    assert "<i>" not in html
    assert "*b*" not in html
    with pytest.raises(ValueError, match="url"):
        invented(url="javascript:alert(1)")


def test_own_rows_stand_apart_and_only_those_of_the_same_rules() -> None:
    rows = (
        board_row(1, "Ant", 1, bleu2=0.25),
        board_row(2, "Constant report", 2, bleu2=0.1, is_baseline=True),
        board_row(3, "Other track", 1, section="impression", bleu2=0.2),
        board_row(4, "Other rules", 1, protocol="plain", protocol_version="1", bleu2=0.2),
    )
    shown = offers(Choice())
    html = own_html(board(*rows), shown)
    assert re.findall(r'rx-name">([^<]*)<', html) == ["Ant", "Constant report"]
    assert ">baseline</span>" in html
    assert "0.250" in html
    assert "not ranked with them" in html
    assert "reported</span>" not in html
    assert "no result of its own" in own_html(board(), shown)


def test_an_own_inverse_is_one_over_the_mean() -> None:
    row = {**board_row(1, "Ant", 1, bleu2=0.25), "radcliq_v1": 0.5}
    assert "2.000" in own_html(board(row), offers(Choice()))
    negative = {**board_row(1, "Ant", 1, bleu2=0.25), "radcliq_v1": -0.5}
    assert "-2.000" not in own_html(board(negative), offers(Choice()))


def test_a_model_has_a_history() -> None:
    assert "Choose a model" in history_html(offers(Choice()))
    html = history_html(offers(Choice(model="UniRG-CXR")))
    assert html.count('<th scope="row">') == 16
    assert "4&#46;804" in html


def test_ranks_of_all_benchmarks_stand_side_by_side_without_a_mean() -> None:
    html = across_html(offers(Choice()))
    assert html.count('<th scope="row">') == 31
    assert "No mean of ranks is given" in html
    assert "share too few models" in across_html(offers(Choice(board="cxpmrg")))


def test_another_track_shows_its_newest_snapshot(tmp_path: Path) -> None:
    store = BoardStore(Repos(connect("http://127.0.0.1:9"), "owner"), LocalCopy(tmp_path, "hub", "owner"))
    with gr.Blocks() as page:
        reported.build(page, store)
    events = {event.fn.__name__: event.fn for event in page.fns.values() if event.fn}
    assert set(events) == {"opened", "changed", "other_table"}
    kept = events["changed"]("rexrank", "iu-xray", "findings", "2024-11-27", None)
    newest = events["other_table"]("rexrank", "iu-xray", "report", "2024-11-27", None)
    assert (kept[3].value, newest[3].value) == ("2024-11-27", "2026-08-04")
    assert (newest[1].value, newest[2].value) == ("iu-xray", "report")
    assert "2026&#45;08&#45;04, iu&#45;xray, report" in newest[6]
