"""Rows, columns and order of the leaderboard, apart from any page."""

import csv
import io
from typing import Any

import pytest
from space_fixtures import HOST, board_row, result_id, score_row

from rexrank.board.host import Host
from space.chart import Mark, interval_chart
from space.data import BoardData
from space.leaderboard import CsvFiles, heading_html, opened_detail
from space.rules import rules, with_inverses
from space.selection import Wish, arrange_page
from space.table import Column, arranged, laid_out, search, to_csv

BLEU = Column("bleu2", "BLEU", "higher")
ROWS = [
    board_row(1, "Ant", 2, bleu2=0.25),
    board_row(2, "Bee", 1, bleu2=9.8),
    board_row(3, "Cat", None, bleu2=None),
    board_row(4, "Dog", 3, bleu2=0.0),
    board_row(5, "Eel", 4, bleu2=-0.1),
]


def _names(rows: list[Any]) -> list[str]:
    return [row["model_name"] for row in rows]


def test_missing_scores_come_last_in_both_directions_and_zero_is_a_number() -> None:
    assert _names(arranged(ROWS, "bleu2", [BLEU])) == ["Bee", "Ant", "Dog", "Eel", "Cat"]
    assert _names(arranged(ROWS, "bleu2", [BLEU], best_first=False)) == ["Eel", "Dog", "Ant", "Bee", "Cat"]


def test_a_lower_is_better_score_has_its_lowest_value_on_top() -> None:
    assert _names(arranged(ROWS, "bleu2", [Column("bleu2", "X", "lower")]))[0] == "Eel"


def test_ranks_names_and_times_sort_in_their_own_way() -> None:
    assert _names(arranged(ROWS, "rank", [BLEU])) == ["Bee", "Ant", "Dog", "Eel", "Cat"]
    assert _names(arranged(ROWS, "rank", [BLEU], best_first=False))[-1] == "Cat"
    assert _names(arranged(ROWS, "model_name", [BLEU], best_first=False)) == ["Eel", "Dog", "Cat", "Bee", "Ant"]
    assert _names(arranged(ROWS[:2], "submitted_at", [BLEU])) == ["Bee", "Ant"]
    rows = [board_row(1, "Zoo", 1, organization=None), board_row(2, "Yak", 2, organization="beta")]
    assert _names(arranged(rows, "organization", [BLEU])) == ["Yak", "Zoo"]


def test_equal_scores_stand_by_time_of_submission() -> None:
    rows = [board_row(9, "Later", 1, bleu2=0.3), board_row(2, "Earlier", 1, bleu2=0.3)]
    assert _names(arranged(rows, "bleu2", [BLEU])) == ["Earlier", "Later"]
    assert _names(arranged(rows, "bleu2", [BLEU], best_first=False)) == ["Earlier", "Later"]


def test_search_wants_every_word_in_any_case() -> None:
    rows = [board_row(1, "Acme CXR", organization="Hospital North"), board_row(2, "Other")]
    assert _names(search(rows, "cxr NORTH")) == ["Acme CXR"]
    assert search(rows, "cxr south") == []
    assert len(search(rows, "  ")) == 2


def test_the_table_keeps_numbers_and_formats_beside_them() -> None:
    shown = laid_out(ROWS, [BLEU], ["n_studies", "organization"], "bleu2", provisional=True)
    assert shown.value["headers"] == ["Rank (provisional)", "Model", "BLEU ↑", "Studies", "Organisation"]
    assert shown.value["data"][3][:3] == [3, "Dog", 0.0]
    assert shown.value["data"][2][2] is None
    texts = shown.value["metadata"]["display_value"]
    assert texts[2][2] == "—"
    assert texts[3][2].startswith("<strong>0.000</strong>")
    assert "-0.010 – 0.010" in texts[3][2]
    assert [bool(style) for style in shown.value["metadata"]["styling"][0]] == [False, False, True, False, False]
    assert shown.result_ids == [result_id(number) for number in range(1, 6)]
    assert len(shown.kinds) == len(shown.widths) == len(shown.keys) == 5


def test_hostile_names_are_harmless_in_value_and_text() -> None:
    row = board_row(1, '<b>*A*</b>"', 1, bleu2=0.1, organization="<img src=x onerror=alert(1)>", is_baseline=True)
    shown = laid_out([row], [BLEU], ["organization"], "rank", provisional=False)
    for cell in (*shown.value["data"][0], *shown.value["metadata"]["display_value"][0]):
        assert "<b>" not in str(cell)
        assert "<img" not in str(cell)
    assert "baseline" in shown.value["metadata"]["display_value"][0][1]


def test_csv_keeps_full_precision_and_no_formula() -> None:
    rows = [board_row(1, "=cmd", 1, bleu2=-0.123456789012345), board_row(2, "Bee", None, bleu2=None)]
    text = to_csv(rows, [BLEU])
    assert all(part.startswith('"') for part in text.splitlines()[1].split(",")[:3])
    read = list(csv.DictReader(io.StringIO(text)))
    assert read[0]["model_name"] == "'=cmd"
    assert float(read[0]["bleu2"]) == -0.123456789012345
    assert read[1]["bleu2"] == read[1]["rank"] == ""


def test_a_host_without_the_first_ranking_key_ranks_provisionally() -> None:
    how = rules("rexrank@2025-09-05", HOST, ROWS)
    assert how.provisional
    assert how.deciding is not None
    assert how.deciding.key == "bleu2" == how.columns[0].key
    assert how.wanted == "RadCliQ-v1"
    assert "GREEN" in how.absent
    assert {column.key for column in how.columns} == set(HOST.metrics)
    assert "Provisional ranking" in heading_html(arrange_page(BoardData(leaderboard=tuple(ROWS), host=HOST), Wish()))


def test_a_host_with_the_first_ranking_key_ranks_by_its_raw_value_and_shows_the_inverse() -> None:
    host = Host(protocols=["rexrank@2025-09-05"], metrics=["bleu2", "radcliq_v1"])
    raw = [1.5, 0.2, -0.8]
    rows = [
        board_row(place, name, place, radcliq_v1=value)
        for place, (name, value) in enumerate(zip("abc", raw, strict=True), 1)
    ]
    how = rules("rexrank@2025-09-05", host, rows)
    assert not how.provisional
    assert how.deciding is not None
    assert (how.deciding.key, how.deciding.heading) == ("radcliq_v1", "RadCliQ-v1 ↓")
    shown = [with_inverses(row, how.columns) for row in rows]
    assert [row["inv_radcliq_v1"] for row in shown] == [1 / 1.5, 5.0, None]
    assert _names(arranged(shown, "radcliq_v1", how.columns)) == ["c", "b", "a"]
    assert _names(arranged(shown, "inv_radcliq_v1", how.columns)) == ["c", "b", "a"]


def test_the_interval_of_an_inverse_changes_ends() -> None:
    how = rules("rexrank@2025-09-05", Host(protocols=[], metrics=["radcliq_v1"]), [])
    row = with_inverses({"radcliq_v1": 0.5, "radcliq_v1_lo": 0.4, "radcliq_v1_hi": 0.8}, how.columns)
    assert (row["inv_radcliq_v1_lo"], row["inv_radcliq_v1_hi"]) == (1 / 0.8, 1 / 0.4)


def test_rows_of_an_unknown_protocol_are_shown_unranked() -> None:
    how = rules("house@7", None, ROWS)
    assert how.deciding is None
    assert [column.key for column in how.columns] == ["bleu2"]


def test_the_page_opens_where_there_are_rows_and_follows_the_wish() -> None:
    impression = board_row(7, "Fox", 1, section="impression", bleu2=0.2)
    data = BoardData(leaderboard=(impression, *ROWS), host=HOST)
    assert arrange_page(BoardData(leaderboard=(impression,), host=HOST), Wish()).wish.track == "impression"
    page = arrange_page(data, Wish(track="impression", sort="bleu2", best_first=False))
    assert _names(page.rows) == ["Fox"]
    assert page.wish.sort == "bleu2"
    assert page.tracks == ["findings", "impression"]
    fallen_back = arrange_page(data, Wish(benchmark="<x>", track="<y>", protocol="<z>", sort="<s>", model="<m>"))
    assert (fallen_back.wish.benchmark, fallen_back.wish.track, fallen_back.wish.sort) == (
        "iu-xray",
        "findings",
        "rank",
    )


def test_the_deciding_column_cannot_be_left_out() -> None:
    data = BoardData(leaderboard=tuple(ROWS), host=HOST)
    page = arrange_page(data, Wish(chosen=("rouge_l", "n_empty")))
    assert [column.key for column in page.columns] == ["bleu2", "rouge_l"]
    assert page.plain == ["n_empty"]


def test_an_empty_board_is_a_page_too() -> None:
    page = arrange_page(BoardData(), Wish())
    assert (page.rows, page.columns, page.benchmarks) == ([], [], [])
    assert CsvFiles().write(page) is None


def test_details_say_what_is_missing_and_why() -> None:
    scores = (
        score_row(1, "Ant", "bleu2", 0.25),
        score_row(1, "Ant", "radgraph_combined", None, reason="no module computes <it> yet"),
        score_row(2, "Bee", "bleu2", 9.8),
    )
    data = BoardData(leaderboard=tuple(ROWS), scores=scores, host=HOST)
    text = opened_detail(arrange_page(data, Wish(model=result_id(1))), data)
    assert "2 of 4 by BLEU, provisional" in text
    assert "bleu2|conv:published|prep:findings&#45;ref|v:1" in text.replace("&#124;", "|").replace("&#95;", "_")
    assert "not available: no module computes &lt;it&gt; yet" in text
    assert "9.800" not in text
    assert "nan" not in text.lower().replace("findings", "")
    assert "Click on a row" in opened_detail(arrange_page(data, Wish()), data)


def test_the_chart_puts_marks_where_their_values_are() -> None:
    chart = interval_chart([Mark("A <b>", 0.2, 0.1, 0.3), Mark("B", 0.3)], "BLEU ↑", "higher")
    assert "left:50.000%" in chart
    assert "A &lt;b&gt;" in chart
    assert "further right is better" in chart
    assert "further left is better" in interval_chart([Mark("A", 1.0)], "RadCliQ-v1 ↓", "lower")


@pytest.mark.parametrize("marks", [[], [Mark("A", float("nan"))], [Mark("A", float("inf"))]])
def test_a_chart_that_cannot_be_drawn_is_a_sentence(marks: list[Mark]) -> None:
    assert interval_chart(marks, "BLEU", "higher").startswith("<p")


@pytest.mark.parametrize("values", [[0.0], [5.0], [-3.0, 1e-9], [0.123, 0.124], [1e6, 2e6]])
def test_the_axis_encloses_every_value(values: list[float]) -> None:
    chart = interval_chart([Mark("A", value) for value in values], "X", "higher")
    places = [float(part.split("%")[0]) for part in chart.split("left:")[1:]]
    assert places
    assert all(0 <= place <= 100 for place in places)


def test_the_same_content_is_the_same_file() -> None:
    files = CsvFiles()
    page = arrange_page(BoardData(leaderboard=tuple(ROWS), host=HOST), Wish())
    first = files.write(page)
    assert first is not None
    assert first == files.write(arrange_page(BoardData(leaderboard=tuple(ROWS), host=HOST), Wish(text="bee")))
    assert first.endswith("rexrank-iu-xray-findings.csv")
