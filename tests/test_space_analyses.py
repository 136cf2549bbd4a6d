"""The page "Analyses": the board's own results and the published tables, escaped, and never a broken page."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright
from space_fixtures import HOST, board_row, publish, result_id, running_board, tables

from rexrank.analysis import published
from rexrank.board.host import Host, HostBenchmark
from rexrank.board.results import per_study_path
from rexrank.board.tables import PER_STUDY, checked, to_parquet
from rexrank.hub import connect
from rexrank.localhub import accounts, running
from space import analyses
from space.across import arrange
from space.analyses import OWN, RECORD, page_html, sections_html, studies_html
from space.data import BoardData, BoardStore, LocalCopy, Repos

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = "Zed <b>CXR</b> ${x} {{y}} `z`"
MODELS = ("Ant", "Bee", "Cat", "Dog", HOSTILE)
WIDE = Host(
    protocols=HOST.protocols,
    metrics=HOST.metrics,
    benchmarks={
        **HOST.benchmarks,
        "mimic-cxr": HostBenchmark(tracks={"findings": 2347}, revision="0" * 40, licence="restricted", public=False),
    },
)
STUDIES = [f"s{number:02d}" for number in range(40)]


def board() -> BoardData:
    """Five models and a floor on two benchmarks, which order them in opposite ways."""
    rows = []
    for position, model in enumerate(MODELS):
        scores = {"bleu2": 0.1 * position + 0.1, "rouge_l": 0.5 - 0.1 * position}
        rows.append(board_row(position, model, 5 - position, **scores))
        turned = {"bleu2": 0.9 - 0.1 * position, "rouge_l": 0.3}
        rows.append(board_row(10 + position, model, position + 1, dataset="mimic-cxr", **turned))
    rows.append(board_row(20, "Floor", 6, bleu2=0.01, rouge_l=0.01, is_baseline=True))
    return BoardData(leaderboard=tuple(rows), host=WIDE)


def test_every_analysis_of_the_boards_own_results_is_there() -> None:
    found = page_html(board(), OWN)
    heads = re.findall(r"<h3>(.*?)</h3>", found)
    assert heads == [
        "In short",
        "Scores on iu-xray",
        "Do the scores agree? · iu-xray",
        "Scores on mimic-cxr",
        "Do the scores agree? · mimic-cxr",
        "From benchmark to benchmark",
    ]
    assert found.count("<svg") == 6
    assert "No picture" not in found.split("mimic-cxr</h3>")[0]


def test_baselines_are_not_counted_as_models() -> None:
    assert "BLEU-2 of 5 models and 1 blind baseline, best on top" in page_html(board(), OWN)
    one = BoardData(leaderboard=(board_row(0, "Ant", 1, bleu2=0.1),), host=WIDE)
    assert "BLEU-2 of 1 model, best on top" in page_html(one, OWN)


def test_two_scores_of_opposite_order_are_shown_as_such() -> None:
    found = page_html(board(), OWN)
    # BLEU-2 rises from model to model and ROUGE-L falls, the floor left out.
    assert "BLEU-2: ROUGE-L (COCO) −1.00" in found
    assert "least alike are iu-xray and mimic-cxr (−1.00; 1: the same)" in found
    assert "says little about another" in found


def test_a_rank_among_shared_models_says_where_its_range_stands() -> None:
    lone = board_row(21, "Lone", 7, bleu2=0.05, rouge_l=0.05)
    found = page_html(replace(board(), leaderboard=(*board().leaderboard, lone)), OWN)
    assert "stand on the page “Across benchmarks”" in found
    assert "Not on every benchmark, so not here: Lone." in found


def test_baselines_hold_no_order_together() -> None:
    rows = [
        board_row(10 * place + number, f"Floor{number}", 6 + number, dataset=dataset, bleu2=0.001 * number, **floor)
        for place, dataset in enumerate(("iu-xray", "mimic-cxr"), start=3)
        for number in range(3)
        for floor in ({"rouge_l": 0.01, "is_baseline": True},)
    ]
    found = page_html(replace(board(), leaderboard=(*board().leaderboard, *rows)), OWN)
    assert "least alike are iu-xray and mimic-cxr (−1.00; 1: the same)" in found
    assert "Floor" not in found.split("<h3>From benchmark to benchmark</h3>")[1]


def test_both_tracks_of_a_benchmark_are_set_against_each_other() -> None:
    rows = [
        board_row(number, f"m{number}", number, section=section, bleu2=0.1 * number + shift)
        for section, shift in (("findings", 0.0), ("report", 0.05))
        for number in range(1, 6)
    ]
    found = page_html(BoardData(leaderboard=tuple(rows), host=HOST), OWN).split("<h3>Findings or whole report</h3>")[1]
    assert '<th scope="row">iu-xray</th><td>5</td><td>0.300</td><td>0.350</td>' in found
    assert "iu-xray: BLEU-2 1.00" in found


def test_names_are_text_whatever_they_hold() -> None:
    found = page_html(board(), OWN)
    assert "<b>CXR" not in found
    for sign in "${}`":
        assert sign not in found
    assert HOSTILE in html.unescape(html.unescape(found))


def test_two_owners_may_have_models_of_one_name() -> None:
    rows = [board_row(number, "Ant", 1, bleu2=0.1 * number, owner=f"o{number}") for number in (1, 2, 3, 4)]
    found = page_html(BoardData(leaderboard=tuple(rows), host=HOST), OWN)
    assert "Ant (o1)" in found
    assert "Ant (o4)" in found


def test_a_board_without_results_says_so_and_shows_the_published_tables() -> None:
    assert "No model yet" in page_html(BoardData(host=HOST), OWN)
    assert page_html(BoardData(host=HOST), RECORD).count("<svg") == 4


def test_the_published_tables_have_their_analyses() -> None:
    found = page_html(board(), RECORD)
    assert "GREEN (0.37) and CRIMSON (0.38) on iu-xray" in found
    assert "MoERad-IU shifts most, between places 4 and 26" in found
    assert "no interval" in found


def test_an_analysis_that_fails_leaves_a_sentence() -> None:
    # A table of a benchmark that cannot be read: the others stand.
    broken = [dict(row) for row in board().leaderboard]
    for row in broken:
        if row["dataset"] == "mimic-cxr":
            row["bleu2"] = "not a number"
    found = sections_html(analyses.own_sections(arrange(BoardData(leaderboard=tuple(broken), host=WIDE))))
    assert "Not computed: it failed with TypeError" in found
    assert found.count("<svg") >= 2
    assert "not a number" not in found


def long_rows(number: int, values: dict[str, Sequence[float | None]]) -> bytes:
    rows: list[dict[str, Any]] = [
        {
            "schema_version": 1,
            "result_id": result_id(number),
            "study_id": study,
            "metric": key,
            "value": value,
            "flags": [],
        }
        for key, column in values.items()
        for study, value in zip(STUDIES, column, strict=True)
    ]
    return to_parquet(checked(rows, PER_STUDY))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardStore]:
    """A board beside a Hub with values of single studies of two results; of the third there are none."""
    generator = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("hub")
    with running(root) as server:
        accounts.add_user(server.root, "owner")
        hub = connect(server.url, accounts.create_token(server.root, "owner", "write"))
        bleu = generator.uniform(size=(2, len(STUDIES)))
        files = {
            per_study_path(result_id(number)): long_rows(
                number, {"bleu2": [None, *bleu[number][1:]], "rouge_l": (bleu[number] + 0.1).tolist()}
            )
            for number in (0, 1)
        }
        rows = [board_row(number, MODELS[number], number + 1, bleu2=0.1 * number, rouge_l=0.2) for number in range(3)]
        publish(hub, "owner", results={**tables(rows), "host.json": WIDE.to_bytes(), **files})
        found = BoardStore(Repos(hub, "owner"), LocalCopy(tmp_path_factory.mktemp("copy"), server.url, "owner"))
        found.refresh()
        yield found


def test_single_studies_are_shown_of_the_results_that_have_them(store: BoardStore) -> None:
    found = studies_html(store, "", "", "iu-xray")
    assert "The best results whose values are public (2), on the 40 studies that all have" in found
    assert "Ant" in found
    assert "Cat" not in found
    assert "ROUGE-L (COCO): 1.00" in found
    assert found.count("<svg") == 4
    # The study without a value is left out and counted.
    assert found.count("<td>39</td>") == 2


def test_where_no_single_study_is_public_the_page_says_so(store: BoardStore) -> None:
    assert store.per_study(result_id(2)) is None
    assert "nothing here that could be shown" in studies_html(store, "", "", "mimic-cxr")


def test_the_record_has_both_tracks() -> None:
    assert {section.title for section in published.sections("report")} == {
        "How hard the benchmarks are",
        "Do the metrics agree?",
        "From benchmark to benchmark",
    }


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's chromium is not installed")
def test_a_visitor_sees_both_sources_and_single_studies(tmp_path: Path) -> None:
    errors: list[str] = []
    with running(tmp_path / "hub") as server, sync_playwright() as playwright:
        accounts.add_user(server.root, "owner")
        token = accounts.create_token(server.root, "owner", "write")
        values = np.linspace(0, 1, len(STUDIES)).tolist()
        files = {per_study_path(result_id(0)): long_rows(0, {"bleu2": values, "rouge_l": values[::-1]})}
        results = {**tables(board().leaderboard), "host.json": WIDE.to_bytes(), **files}
        publish(connect(server.url, token), "owner", results=results)
        with running_board(tmp_path / "board", server.url, "owner") as process:
            chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
            page = chromium.new_page(viewport={"width": 390, "height": 800})
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(f"{process.url}/analyses")
            expect(page.locator("#analyses-text svg")).to_have_count(6, timeout=30_000)
            assert page.locator("#analyses-text b b, #analyses-text th b").count() == 0
            page.locator("#analyses-open button").first.click()
            page.locator("#analyses-load").click()
            expect(page.locator("#analyses-studies")).to_contain_text(
                "values are public (1), on the 40 studies", timeout=30_000
            )
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            page.locator("#analyses-source input").click()
            page.get_by_role("option", name=RECORD, exact=True).click()
            expect(page.locator("#analyses-text")).to_contain_text("MoERad-IU shifts most", timeout=30_000)
            expect(page.locator("#analyses-open")).not_to_be_visible()
            chromium.close()
    assert errors == []
