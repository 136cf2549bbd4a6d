"""Rows, columns and order of the leaderboard, apart from any page."""

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from space_fixtures import COMMIT, HASH, HOST, board_row, queue_request, request_id, result_id, score_row

from rexrank.board.host import Host
from rexrank.board.requests import Submitter
from space.about import about_html
from space.chart import Mark, interval_chart
from space.data import BoardData
from space.leaderboard import CsvFiles, heading_html, lead_html, opened_detail
from space.rules import label, load, rules, with_inverses
from space.selection import Wish, arrange_page
from space.table import Column, arranged, counted, laid_out, search, to_csv

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


def test_what_is_over_the_floor_stands_beside_the_score_that_ranks() -> None:
    rows = (
        board_row(1, "Ant", 2, bleu2=0.2, rouge_l=0.3, over_floor=-0.1),
        board_row(2, "Bee", 1, bleu2=0.4, rouge_l=0.1, over_floor=0.1),
        board_row(3, "Floor", 3, bleu2=0.3, rouge_l=0.1, is_baseline=True),
    )
    page = arrange_page(BoardData(leaderboard=rows, host=HOST), Wish(sort="over_floor"))
    shown = laid_out(page.rows, page.columns, page.plain, "over_floor", provisional=False)
    assert shown.keys[:5] == ["rank", "model_name", "bleu2", "over_floor", "rouge_l"]
    assert shown.value["headers"][2:4] == ["BLEU-2 ↑", "Over the floor"]
    assert _names(page.rows) == ["Bee", "Ant", "Floor"]
    assert 'data-column="3"' in heading_html(page)
    chosen = arrange_page(BoardData(leaderboard=rows, host=HOST), Wish(chosen=("n_empty", "over_floor", "rouge_l")))
    shown = laid_out(chosen.rows, chosen.columns, chosen.plain, "rank", provisional=False)
    assert shown.keys == ["rank", "model_name", "bleu2", "over_floor", "rouge_l", "n_empty"]


def test_models_and_baselines_are_counted_apart() -> None:
    floor = board_row(3, "Floor", 3, bleu2=0.3, is_baseline=True)
    assert counted(ROWS[:1]) == "1 model"
    assert counted([*ROWS[:2], floor]) == "2 models and 1 blind baseline"
    assert counted([floor], [*ROWS[:2], floor, floor]) == "0 of 2 models and 1 of 2 blind baselines"
    assert counted([]) == "No models"
    page = arrange_page(BoardData(leaderboard=(*ROWS, floor), host=HOST), Wish(text="zebra"))
    assert "0 of 5 models and 0 of 1 blind baseline" in heading_html(page)


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
    assert [column.key for column in how.columns] == ["bleu2"]
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
    page = arrange_page(data, Wish(chosen=("n_empty",)))
    assert [column.key for column in page.columns] == ["bleu2"]
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
    text = opened_detail(arrange_page(data, Wish(model=result_id(1))), data, "rexrank")
    assert "2 of 4 by BLEU-2, provisional" in text.replace("&#45;", "-")
    assert "bleu2|conv:published|prep:findings&#45;ref|v:1" in text.replace("&#124;", "|").replace("&#95;", "_")
    assert "not available: no module computes &lt;it&gt; yet" in text
    assert "9.800" not in text
    assert "nan" not in text.lower().replace("findings", "")
    assert "Click on a row" in opened_detail(arrange_page(data, Wish()), data, "rexrank")


class _Links(HTMLParser):
    """Addresses of a piece of HTML, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_details_name_the_submitter_and_lead_to_the_files_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example.org")
    request = queue_request(1, "Ant", "FINISHED", submitter=Submitter(name="ann", via="web"))
    data = BoardData(leaderboard=tuple(ROWS), host=HOST, requests=(request,), revisions={"results": COMMIT})
    shown = _Links(opened_detail(arrange_page(data, Wish(model=result_id(1))), data, "lab"))
    results = f"https://hub.example.org/datasets/lab/results/resolve/{COMMIT}"
    assert shown.addresses == [
        f"https://hub.example.org/datasets/acme/predictions/tree/{COMMIT}",
        f"{results}/results/acme/{request_id(1)}.{HASH[:12]}.json",
        f"{results}/per_study/{result_id(1)}.parquet",
    ]
    assert "by ann for acme" in shown.words
    closed = HOST.model_copy(
        update={"benchmarks": {"iu-xray": HOST.benchmarks["iu-xray"].model_copy(update={"public": False})}}
    )
    hidden = BoardData(leaderboard=tuple(ROWS), host=closed)
    shown = _Links(opened_detail(arrange_page(hidden, Wish(model=result_id(1))), hidden, "lab"))
    assert not any("per_study" in address for address in shown.addresses)
    assert "by acme" in shown.words


def test_a_column_without_any_number_is_shown_only_where_the_protocol_asks_for_it() -> None:
    rows = (
        board_row(1, "Ant", 1, bleu2=0.3, rouge_l=0.2),
        board_row(2, "Bee", 2, bleu2=0.2),
        board_row(3, "Cow", 1, bleu2=0.2, protocol="plain", protocol_version="1"),
    )
    data = BoardData(leaderboard=rows, host=HOST)
    page = arrange_page(data, Wish(protocol="rexrank@2025-09-05"))
    assert [column.key for column in page.columns] == ["bleu2", "rouge_l"]
    assert page.usual == ("bleu2", "rouge_l", "n_studies", "n_empty")
    assert "coco_bleu1" not in to_csv(page.group, page.rules.columns)
    found = arrange_page(data, Wish(protocol="rexrank@2025-09-05", text="bee"))
    assert [column.key for column in found.columns] == ["bleu2"]
    plain = arrange_page(data, Wish(protocol="plain@1"))
    assert [column.key for column in plain.columns] == ["bleu2", "coco_bleu1", "coco_bleu4", "rouge_l"]


def test_of_another_metric_the_first_score_is_shown_and_the_others_wait_to_be_chosen() -> None:
    rows = (board_row(1, "Ant", 1, bleu2=0.3, rouge_l=0.2, coco_bleu4=0.1),)
    data = BoardData(leaderboard=rows, host=HOST)
    asked = Wish(protocol="rexrank@2025-09-05")
    assert [column.key for column in arrange_page(data, asked).columns] == ["bleu2", "rouge_l"]
    every = ("bleu2", "coco_bleu4", "rouge_l")
    assert [column.key for column in arrange_page(data, replace(asked, chosen=every)).columns] == list(every)


def test_a_number_that_judges_nothing_has_no_arrow_and_the_largest_first() -> None:
    words = Column("report_words", "Report words", "none")
    assert words.heading == "Report words"
    rows = [board_row(1, "Ant", 1, report_words=10.0), board_row(2, "Bee", 2, report_words=30.0)]
    assert _names(arranged(rows, "report_words", (words,))) == ["Bee", "Ant"]
    assert "is better" not in interval_chart([Mark("Ant", 10.0), Mark("Bee", 30.0)], words.heading, "none")


@pytest.mark.parametrize("key", ["bleu2", "rouge_l", "coco_bleu4", "rouge_l_f1"])
def test_a_score_has_one_name_under_every_protocol(key: str) -> None:
    names = {label(key, load(protocol)) for protocol in ("rexrank@2025-09-05", "rexrank@2026-08", "plain@1", "")}
    assert len(names) == 1


def test_the_lead_says_what_this_host_computes_and_where_the_numbers_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example.org")
    lead = _Links(lead_html(BoardData(host=HOST), "lab"))
    assert "This host computes BLEU-2, ROUGE-L (COCO), 2 more scores of the same kinds." in lead.words
    assert "absent, never 0" in lead.words
    assert lead.addresses[:2] == ["https://hub.example.org/datasets/lab/results", "./about#cite"]
    assert "This host computes" not in lead_html(BoardData(), "lab")


def test_a_link_to_a_model_opens_its_table_and_its_details() -> None:
    impression = board_row(7, "Fox", 1, section="impression", bleu2=0.2)
    data = BoardData(leaderboard=(*ROWS, impression), host=HOST)
    page = arrange_page(data, Wish(model=result_id(7)))
    assert (page.wish.track, page.opened, page.notes) == ("impression", page.rows[0], [])
    elsewhere = arrange_page(data, Wish(track="findings", model=result_id(7)))
    assert elsewhere.opened is None
    assert elsewhere.notes == ["Fox is not in this table; it stands under iu-xray, impression, rexrank@2025-09-05."]
    assert elsewhere.wish.model == ""


def test_a_link_may_name_the_model() -> None:
    impression = board_row(7, "Fox", 1, section="impression", bleu2=0.2)
    findings = board_row(8, "Fox", 1, bleu2=0.3)
    data = BoardData(leaderboard=(*ROWS, findings, impression), host=HOST)
    for name, track, number in (("Fox", "", 8), (" fox", "impression", 7), ("FOX", "findings", 8)):
        page = arrange_page(data, Wish(track=track, model=name))
        assert page.wish.model == result_id(number)
        assert page.notes == []


def test_a_link_to_a_replaced_result_shows_the_later_one_and_says_so() -> None:
    old, new = queue_request(1, "Ant", "FINISHED"), queue_request(9, "Ant", "FINISHED")
    other = queue_request(2, "Bee", "FINISHED", visibility="private")
    data = BoardData(leaderboard=(board_row(9, "Ant", 1, bleu2=0.3),), host=HOST, requests=(old, other, new))
    page = arrange_page(data, Wish(model=result_id(1)))
    assert page.opened is not None
    assert page.opened["result_id"] == page.wish.model == result_id(9)
    assert page.notes == ["The linked result of Ant was replaced; the later one is shown."]
    for absent in (result_id(2), "<b>no id</b>"):
        page = arrange_page(data, Wish(model=absent))
        assert page.opened is None
        assert page.notes == [
            "The linked model is not on this board: its result was taken back, or the link is not complete."
        ]
        assert "<b>" not in heading_html(page)


def test_a_link_to_what_this_board_does_not_have_says_so() -> None:
    data = BoardData(leaderboard=tuple(ROWS), host=HOST)
    assert arrange_page(data, Wish(benchmark="<b>mimic", track="findings")).notes == [
        "This board has no benchmark “<b>mimic”; iu-xray is shown."
    ]
    page = arrange_page(data, Wish(track="x" * 50, protocol="house@7", sort="radcliq_v1"))
    assert page.notes == [
        f"iu-xray has no track “{'x' * 40}…”; findings is shown.",
        "This board has no protocol “house@7”; rexrank@2025-09-05 is shown.",
        "There is no column “radcliq_v1” to sort by; the rows stand by their rank.",
    ]
    assert "&lt;b&gt;mimic" in heading_html(arrange_page(data, Wish(benchmark="<b>mimic")))
    assert arrange_page(data, Wish(protocol="rexrank")).notes == []


def test_the_link_to_a_view_names_all_that_is_chosen() -> None:
    data = BoardData(leaderboard=tuple(ROWS), host=HOST)
    plain = _Links(heading_html(arrange_page(data, Wish()))).addresses[0]
    assert plain == "?benchmark=iu-xray&track=findings&protocol=rexrank%402025-09-05&metric=rank"
    wish = Wish(sort="bleu2", best_first=False, text="a", chosen=("organization",), model=result_id(1))
    full = _Links(heading_html(arrange_page(data, wish))).addresses[0]
    assert full.endswith(f"&metric=bleu2&order=worst&search=a&model={result_id(1)}&columns=organization")


def test_a_search_without_hits_says_so_and_closes_the_details() -> None:
    data = BoardData(leaderboard=tuple(ROWS), host=HOST)
    page = arrange_page(data, Wish(text="<zebra>", model=result_id(1)))
    assert page.wish.model == ""
    assert opened_detail(page, data, "rexrank") == ""
    assert "No model matches “&lt;zebra&gt;”" in heading_html(page)


def test_an_empty_track_invites_to_submit() -> None:
    data = BoardData(leaderboard=tuple(ROWS), host=HOST)
    heading = _Links(heading_html(arrange_page(data, Wish(track="impression"))))
    assert "No model yet — be the first" in heading.words
    assert "./submit?benchmark=iu-xray&track=impression&protocol=rexrank%402025-09-05" in heading.addresses


def test_baselines_are_explained_where_there_are_any() -> None:
    assert "sees no image" not in heading_html(arrange_page(BoardData(leaderboard=tuple(ROWS), host=HOST), Wish()))
    rows = (*ROWS, board_row(6, "Floor", 5, bleu2=0.2, is_baseline=True))
    assert "sees no image" in heading_html(arrange_page(BoardData(leaderboard=rows, host=HOST), Wish()))


def test_about_lists_a_protocols_own_scores_only() -> None:
    text = about_html(BoardData(leaderboard=tuple(ROWS), host=HOST), "lab").replace("&#95;", "_")
    first, _, second = text.partition("Protocol plain")
    assert "<code>bleu2</code>" in first
    assert "The protocol calls it BLEU." in first.replace("&#46;", ".")
    assert "coco_bleu1" not in first
    assert "coco_bleu1" in second
    assert 'id="cite"' in text


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
