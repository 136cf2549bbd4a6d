"""Ranks of all benchmarks side by side: each with its range, and a mean only as the host weighs it."""

from html.parser import HTMLParser
from typing import Any

from space_fixtures import HOST, board_row

from rexrank.board.host import Host
from space.across import across_html, arrange
from space.data import BoardData
from space.detail import detail_html
from space.rules import rules
from space.table import laid_out, rank_cell

BENCHMARKS = dict.fromkeys(("iu-xray", "mimic-cxr"), HOST.benchmarks["iu-xray"])


class Cells(HTMLParser):
    """Texts of the cells of the first table, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open = False
        self.feed(page.partition("</table>")[0])

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1] += data


def ranked(number: int, model: str, benchmark: str, rank: int | None, *ends: int, **values: Any) -> dict[str, Any]:
    low, high = ends or (None, None)
    known = {"dataset": benchmark, "rank_lo": low, "rank_hi": high, "bleu2": 0.5 - 0.1 * number}
    return board_row(number, model, rank, **known, **values)


ROWS = (
    ranked(1, "Zebra", "iu-xray", 1, 1, 2, p_first=0.8, rank_tau=0.6, rouge_l=0.2),
    ranked(2, "Ant", "iu-xray", 2, 1, 2, p_first=0.2, rank_tau=0.6, rouge_l=0.4),
    ranked(3, "Zebra", "mimic-cxr", 3, 2, 3),
    ranked(4, "Ant", "mimic-cxr", 1, 1, 1),
    ranked(5, "Fox", "mimic-cxr", 2, 2, 3),
    ranked(6, "Gnu", "mimic-cxr", None),
)


def page(rows: Any = ROWS, **host: Any) -> str:
    data = BoardData(leaderboard=tuple(rows), host=HOST.model_copy(update={"benchmarks": BENCHMARKS, **host}))
    return across_html(data, arrange(data))


def table(text: str) -> list[list[str]]:
    """Rows of the table of ranks, the owner below the name left out."""
    return [[cell.removesuffix("acme") for cell in row] for row in Cells(text).rows]


def test_ranks_stand_side_by_side_with_their_ranges_and_without_a_mean() -> None:
    text = page()
    assert table(text) == [
        ["Model", "iu-xray2 ranked", "mimic-cxr3 ranked"],
        ["Ant", "2 (1–2)", "1 (1)"],
        ["Fox", "—", "2 (2–3)"],
        ["Gnu", "—", "no rank"],
        ["Zebra", "1 (1–2)", "3 (2–3)"],
    ]
    assert "No mean over benchmarks is shown" in text
    assert "Mean rank" not in text


def test_a_mean_is_the_one_that_the_host_weighs() -> None:
    text = page(weights={"iu-xray": 1.0, "mimic-cxr": 3.0})
    assert [row[:2] for row in table(text)] == [
        ["Model", "Mean rank"],
        ["Ant", "1.2 (1.0–1.2)"],
        ["Zebra", "2.5 (1.8–2.8)"],
        ["Fox", "—"],
        ["Gnu", "—"],
    ]
    assert "iu&#45;xray 25 %, mimic&#45;cxr 75 %" in text


def test_a_mean_of_ranks_without_ranges_has_none() -> None:
    rows = [*ROWS[:3], {**ROWS[3], "rank_lo": None, "rank_hi": None}]
    assert table(page(rows, weights={"iu-xray": 1.0, "mimic-cxr": 1.0}))[1][:2] == ["Ant", "1.5 no range"]


def test_weights_for_a_benchmark_without_models_give_no_mean() -> None:
    text = page(ROWS[:2], weights={"iu-xray": 1.0, "rexgradient": 1.0})
    assert "there are no models here on rexgradient" in text
    assert "Mean rank" not in text


def test_the_page_says_that_four_sets_are_two_kinds() -> None:
    for text in (page(), page(weights={"iu-xray": 1.0})):
        assert "a plain mean over the four counts each kind twice" in text


def test_one_benchmark_alone_puts_models_in_its_order() -> None:
    rows = [row for row in ROWS if row["dataset"] == "mimic-cxr"]
    assert [row[0] for row in table(page(rows))] == ["Model", "Ant", "Fox", "Zebra", "Gnu"]


def test_steadiness_is_told_where_it_is_known() -> None:
    steady = page().partition("How steady each order is")[2]
    assert 'data-label="τ, other studies">0.60<' in steady
    assert 'data-label="Same first, other studies">80 %<' in steady
    assert steady.count(">—<") >= 4, "nothing is known of mimic-cxr"


def test_one_protocol_and_track_is_shown_at_a_time() -> None:
    other = ranked(7, "Owl", "iu-xray", 1, section="impression", protocol="plain", protocol_version="1")
    data = BoardData(leaderboard=(*ROWS, other), host=HOST)
    assert arrange(data).protocol == "rexrank@2025-09-05"
    assert [len(group) for group in arrange(data).groups.values()] == [2, 4]
    view = arrange(data, "plain@1", "findings")
    assert (view.protocol, view.track, list(view.groups)) == ("plain@1", "impression", ["iu-xray"])


def test_an_empty_board_says_so_and_names_are_harmless() -> None:
    assert "No model yet" in across_html(BoardData(), arrange(BoardData()))
    hostile = ranked(1, "<img src=x>", "iu-xray", 1, organization="<b>")
    assert "<img" not in page([hostile])
    assert "<b>" not in page([hostile])


def test_a_rank_is_never_shown_without_its_range_or_a_word() -> None:
    assert rank_cell({"rank": 2, "rank_lo": 1, "rank_hi": 4}) == "2 <small>(1–4)</small>"
    assert rank_cell({"rank": 2, "rank_note": 'a "why"'}) == '2 <small title="a &quot;why&quot;">no range</small>'
    assert rank_cell({"rank": None, "rank_note": None}) == "—"
    shown = laid_out(ROWS, [], [], "rank", provisional=False)
    assert shown.kinds[0] == "html"
    assert shown.value["metadata"]["display_value"][0][0] == "1 <small>(1–2)</small>"
    assert [row[0] for row in shown.value["data"]] == [1, 2, 3, 1, 2, None]


def test_the_details_say_what_is_known_of_a_rank() -> None:
    def said(**fields: Any) -> str:
        row = {**ROWS[0], **fields}
        return detail_html(row, BoardData(host=HOST), rules("rexrank@2025-09-05", HOST, [row]), 7, "rexrank")

    assert "1 of 7" in said()
    assert "comparison with the other models leaves 1–2 open (95 %), first in 80 % of the resamples" in said()
    assert "first in more than 99 % of" in said(p_first=0.999)
    assert "first in less than 1 % of" in said(p_first=0.001)
    assert "no range: nothing is kept" in said(rank_lo=None, rank_hi=None, rank_note="nothing is kept")
    wider = said(p_first=None, rank_note="1 row may stand on either side")
    assert "leaves 1–2 open (95 %); 1 row may stand on either side" in wider


def test_a_host_of_before_weighs_nothing() -> None:
    assert Host().weights == {}
