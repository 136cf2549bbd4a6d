"""The board as visitors see it: ``python app.py`` beside a real Hub, driven through Debian's chromium."""

import csv
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from space_fixtures import (
    HOST,
    RunningBoard,
    board_row,
    heartbeat,
    publish,
    queue_request,
    request_files,
    request_id,
    result_id,
    running_board,
    score_row,
    tables,
    worker_files,
)

from rexrank.board.host import PATH as HOST_FILE
from rexrank.hub import Hub, connect
from rexrank.hub.clock import utc_now
from rexrank.localhub import accounts, running

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = "Zed <b>CXR</b> *2* ${x} {{y}}"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's chromium is not installed"),
]

ROWS = [
    board_row(1, "Ant", 2, bleu2=0.25, rouge_l=0.30, organization="Hospital North", over_floor=0.25),
    board_row(2, "Bee", 1, bleu2=0.30, rouge_l=None, over_floor=0.3),
    board_row(3, "Constant report", 3, bleu2=0.0, rouge_l=0.10, is_baseline=True),
    board_row(4, HOSTILE, None, bleu2=None, rouge_l=0.20, organization="<img src=x onerror=alert(1)>"),
    board_row(5, "Fox", 1, section="impression", bleu2=0.11, rouge_l=0.12),
]
SCORES = [
    score_row(1, "Ant", "bleu2", 0.25),
    score_row(1, "Ant", "radgraph_combined", None, reason="no module computes it yet"),
]


@dataclass
class Stage:
    """A Hub with content, and the board beside it."""

    hub: Hub
    board: RunningBoard


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The board with five results and a queue in every state."""
    root = tmp_path_factory.mktemp("stage")
    with running(root / "hub") as server:
        accounts.add_user(server.root, "owner")
        token = accounts.create_token(server.root, "owner", "write")
        hub = connect(server.url, token)
        now = utc_now()
        publish(
            hub,
            "owner",
            results={**tables(ROWS, SCORES), HOST_FILE: HOST.to_bytes()},
            requests=request_files(
                [
                    queue_request(1, "Ant", "FINISHED", now),
                    queue_request(6, "Gnu", "RUNNING", now),
                    queue_request(7, "Hen", "PENDING", now),
                    queue_request(8, "Ibis", "FAILED", now),
                ]
            ),
            status=worker_files([heartbeat("gpu-1", now - timedelta(minutes=40))]),
        )
        with running_board(
            root / "board", server.url, "owner", REXRANK_LOCAL_USER="owner", REXRANK_LOCAL_TOKEN=token
        ) as board:
            yield Stage(hub, board)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One chromium for the module."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A visitor of the test's own; any error in the page fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    visitor = context.new_page()
    visitor.set_default_timeout(20_000)
    errors: list[str] = []
    visitor.on("pageerror", lambda error: errors.append(str(error)))
    yield visitor
    context.close()
    assert errors == []


def _open(page: Page, board: RunningBoard, query: str = "") -> None:
    page.goto(f"{board.url}/{query}")
    page.wait_for_selector("#lb [data-testid='cell-0-1']")


def _models(page: Page) -> list[str]:
    return [cell.inner_text().split("\n")[0] for cell in page.locator("#lb .body-cell[data-col='1'] .rx-name").all()]


def _expect_models(page: Page, names: list[str]) -> None:
    expect(page.locator("#lb .body-cell[data-col='1'] .rx-name")).to_have_text(names)


def _headers(page: Page) -> list[str]:
    return [head.inner_text().strip() for head in page.locator("#lb [data-heading]").all()]


def _choose(page: Page, elem_id: str, option: str) -> None:
    page.locator(f"#{elem_id} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_ranking_stands_with_intervals_arrows_and_the_word_provisional(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    _expect_models(page, ["Bee", "Ant", "Constant report", HOSTILE])
    headers = _headers(page)
    assert headers[0].replace("\n", " ") == "Rank (provisional)"
    assert headers[1:5] == ["Model", "BLEU-2 ↑", "Over the floor", "ROUGE-L (COCO) ↑"]
    assert "3 models and 1 blind baseline on iu-xray" in page.locator("#lb-heading").inner_text()
    first = page.locator("#lb [data-testid='cell-0-2']").inner_text()
    assert first.split("\n") == ["0.300", "0.290 – 0.310"]
    assert page.locator("#lb [data-testid='cell-2-2']").inner_text().startswith("0.000")
    assert page.locator("#lb [data-testid='cell-3-2']").inner_text().strip() == "—"
    assert "does not compute RadCliQ-v1" in page.locator("#lb-heading").inner_text()
    expect(page.locator("#lb [data-testid='cell-2-1'] .rx-chip")).to_have_text("baseline")
    expect(page.locator("#lb-chart .rx-mark[title]")).to_have_count(3)


def test_a_click_on_a_head_sorts_and_missing_values_stay_last(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    head = page.locator("#lb [data-heading]", has_text="ROUGE-L")
    head.click()
    _expect_models(page, ["Ant", "Constant report", HOSTILE, "Bee"])
    head.click()
    _expect_models(page, ["Constant report", "Ant", HOSTILE, "Bee"])
    # This one stands beside the ranking score, apart from the other columns of its kind.
    above = page.locator("#lb [data-heading]", has_text="Over the floor")
    above.click()
    _expect_models(page, ["Bee", "Ant", "Constant report", HOSTILE])
    above.click()
    _expect_models(page, ["Ant", "Bee", "Constant report", HOSTILE])
    page.wait_for_function("() => location.search.includes('metric=over_floor&order=worst')")
    page.reload()
    _expect_models(page, ["Ant", "Bee", "Constant report", HOSTILE])
    expect(page.locator("#lb-sort input")).to_have_value("Over the floor")


def test_the_sort_control_does_the_same(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    _choose(page, "lb-sort", "Model")
    _expect_models(page, ["Ant", "Bee", "Constant report", HOSTILE])
    _choose(page, "lb-order", "Worst first")
    _expect_models(page, [HOSTILE, "Constant report", "Bee", "Ant"])


def test_search_and_column_choice(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    page.locator("#lb-search textarea, #lb-search input").fill("north")
    _expect_models(page, ["Ant"])
    assert "1 of 3 models and 0 of 1 blind baseline on iu-xray" in page.locator("#lb-heading").inner_text()
    page.locator("#lb-search textarea, #lb-search input").fill("")
    _expect_models(page, ["Bee", "Ant", "Constant report", HOSTILE])
    before = _headers(page)
    page.locator("#lb-choose button").first.click()
    page.locator("#lb-columns label", has_text="ROUGE-L").locator("input").uncheck()
    expect(page.locator("#lb [data-heading]")).to_have_count(len(before) - 1)
    assert not any("ROUGE-L" in name for name in _headers(page))
    page.locator("#lb-columns label", has_text="Submitted").locator("input").check()
    expect(page.locator("#lb [data-heading]")).to_have_count(len(before))
    assert _headers(page)[-1] == "Submitted"


def test_hostile_names_are_text(stage: Stage, page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    _open(page, stage.board, f"?model={result_id(4)}")
    expect(page.locator("#lb-detail .rx-name")).to_have_text(HOSTILE)
    assert page.locator("#lb b b, #lb img, #lb-detail img, #lb-detail .rx-name b, #lb .rx-name b").count() == 0
    assert "<img src=x" in page.locator("#lb [data-testid='cell-3-1']").inner_text()
    assert dialogs == []


def test_another_track_and_a_deep_link(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    _choose(page, "lb-track", "impression")
    _expect_models(page, ["Fox"])
    _open(page, stage.board, "?benchmark=iu-xray&track=findings&metric=rouge_l&order=worst")
    expect(page.locator("#lb-order input")).to_have_value("Worst first")
    assert _models(page)[0] == "Constant report"
    link = page.locator("#lb-heading a").get_attribute("href") or ""
    assert "metric=rouge_l" in link
    assert "order=worst" in link
    _choose(page, "lb-order", "Best first")
    page.wait_for_function("() => !location.search.includes('order=')")
    assert "metric=rouge_l" in page.url
    _open(page, stage.board, "?search=north&columns=organization")
    _expect_models(page, ["Ant"])
    expect(page.locator("#lb-search textarea, #lb-search input")).to_have_value("north")
    assert _headers(page)[1:] == ["Model", "BLEU-2 ↑", "Organisation"]


def test_a_link_to_what_is_not_there_says_so(stage: Stage, page: Page) -> None:
    _open(page, stage.board, "?benchmark=iu-xray&track=nothing&model=01K")
    notes = page.locator("#lb-heading .rx-note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("iu-xray has no track “nothing”")
    expect(notes.last).to_contain_text("The linked model is not on this board")
    assert page.locator("#lb-detail .rx-detail").count() == 0


def test_a_link_that_also_searches_keeps_what_is_said_of_it(stage: Stage, page: Page) -> None:
    _open(page, stage.board, "?benchmark=iu-xray&track=nothing&search=ant")
    notes = page.locator("#lb-heading .rx-note")
    expect(notes).to_have_count(1)
    expect(notes).to_contain_text("iu-xray has no track “nothing”")
    page.locator("#lb-search textarea, #lb-search input").fill("bee")
    _expect_models(page, ["Bee"])
    expect(notes).to_have_count(0)


def test_a_search_without_hits_and_an_empty_track_say_so(stage: Stage, page: Page) -> None:
    _open(page, stage.board, f"?model={result_id(1)}")
    expect(page.locator("#lb-detail .rx-detail")).to_be_visible()
    page.locator("#lb-search textarea, #lb-search input").fill("zebra")
    expect(page.locator("#lb-heading .rx-none")).to_contain_text("No model matches “zebra”")
    expect(page.locator("#lb")).not_to_be_visible()
    assert page.locator("#lb-detail .rx-detail").count() == 0
    page.locator("#lb-search textarea, #lb-search input").fill("")
    expect(page.locator("#lb")).to_be_visible()
    page.goto(f"{stage.board.url}/?track=impression&protocol=plain@1")
    page.locator("#lb-heading .rx-none a").click()
    expect(page.locator("#submit-track label", has_text="impression").locator("input")).to_be_checked()
    expect(page.locator("#submit-protocol input")).to_have_value("plain@1")


def test_a_table_sorted_by_a_column_out_of_sight_moves_to_it(stage: Stage, page: Page) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    _open(page, stage.board)
    head = page.locator("#lb [data-heading]", has_text="Empty")
    assert not _is_in_view(page, "Empty")
    _choose(page, "lb-sort", "Empty")
    page.wait_for_function("() => document.querySelector('#lb .virtual-table-viewport').scrollLeft > 0")
    expect(head).to_be_visible()
    assert _is_in_view(page, "Empty")


def _is_in_view(page: Page, heading: str) -> bool:
    place = page.locator("#lb [data-heading]", has_text=heading).bounding_box()
    frame = page.locator("#lb .virtual-table-viewport").bounding_box()
    assert place
    assert frame
    return place["x"] + place["width"] <= frame["x"] + frame["width"] + 1


def test_every_page_carries_the_name_and_the_lead_is_about_this_host(stage: Stage, page: Page) -> None:
    for path in ("", "submit", "queue", "about"):
        page.goto(f"{stage.board.url}/{path}")
        page.wait_for_selector(".nav-holder nav")
        # Gradio adds our style sheet after it has drawn the page.
        brand = "getComputedStyle(document.querySelector('.nav-holder nav'), '::before').content"
        page.wait_for_function(f"""{brand} === '"rexrank"'""")
    page.goto(stage.board.url)
    expect(page.locator("#lb-title")).to_contain_text("This host computes BLEU-2")
    page.locator("#lb-title a", has_text="How to cite").click()
    expect(page.locator("#cite")).to_be_in_viewport()


def test_an_address_without_a_page_leads_home(stage: Stage, page: Page) -> None:
    answer = page.goto(f"{stage.board.url}/nowhere")
    assert answer is not None
    assert answer.status == 404
    page.get_by_role("link", name="Back to the leaderboard").click()
    expect(page.locator("#lb-title h1")).to_be_visible()


def test_signatures_are_readable_on_a_phone(stage: Stage, browser: Browser) -> None:
    visitor = browser.new_page(viewport={"width": 375, "height": 800})
    visitor.goto(f"{stage.board.url}/?model={result_id(1)}")
    signature = visitor.locator("#lb-detail td[data-label=Signature] code").first
    signature.scroll_into_view_if_needed()
    place = signature.bounding_box()
    assert place
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= 375
    visitor.close()


def test_a_click_on_a_row_opens_all_its_scores(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    page.locator("#lb [data-testid='cell-1-1']").click()
    detail = page.locator("#lb-detail .rx-detail")
    expect(detail.locator(".rx-name")).to_have_text("Ant")
    text = detail.inner_text()
    assert "bleu2|conv:published|prep:findings-ref|v:1" in text
    assert "not available: no module computes it yet" in text
    assert "2 of 3 by BLEU-2, provisional" in text
    expect(detail).to_be_in_viewport()
    for sign in page.locator("#lb .selection-button").all():
        assert not sign.is_visible()
    here = page.locator("#lb-heading a.rx-here").get_attribute("href") or ""
    assert f"model={result_id(1)}" in here
    page.wait_for_function("here => location.search === here", arg=here)
    page.reload()
    expect(detail.locator(".rx-name")).to_have_text("Ant")
    expect(detail).to_be_in_viewport()


def test_the_csv_holds_the_track_with_full_precision(stage: Stage, page: Page, tmp_path: Path) -> None:
    _open(page, stage.board)
    with page.expect_download() as waiting:
        page.locator("#lb-download").click()
    waiting.value.save_as(tmp_path / "board.csv")
    with (tmp_path / "board.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert waiting.value.suggested_filename == "rexrank-iu-xray-findings.csv"
    assert [row["rank"] for row in rows] == ["1", "2", "3", ""]
    assert float(rows[0]["bleu2"]) == 0.3


def test_the_queue_shows_every_state_the_reason_and_the_late_worker(stage: Stage, page: Page) -> None:
    page.goto(f"{stage.board.url}/queue?request={request_id(8)}")
    failed = page.locator(f".rx-mine [data-request='{request_id(8)}']")
    expect(failed.locator(".rx-reason")).to_contain_text("2 of 590 studies missing: q03, q31")
    assert "missing_ids" in failed.inner_text()
    states = {entry.get_attribute("data-state") for entry in page.locator("#queue-entries .rx-entry").all()}
    assert states == {"done", "running", "pending", "failed"}
    expect(page.locator("#queue-workers .rx-late")).to_contain_text(re.compile("last run 4. min ago"))
    page.locator("#queue-entries a", has_text="see the scores").click()
    expect(page.locator("#lb-detail .rx-name")).to_have_text("Ant")
    expect(page.locator("#lb-detail .rx-detail")).to_be_in_viewport()
    assert "protocol=rexrank%402025-09-05" in page.url


def test_a_form_without_content_is_refused_with_every_fault(stage: Stage, page: Page) -> None:
    page.goto(f"{stage.board.url}/submit")
    expect(page.locator("#submit-identity")).to_contain_text("owner")
    expect(page.locator("#submit-benchmark input")).to_have_value("iu-xray")
    page.locator("#submit-send").click()
    expect(page.locator("#submit-answer [role=alert] li")).to_have_count(2)
    assert not page.locator("#submit-token").is_visible()


@pytest.mark.parametrize("path", ["", "submit", "queue", "about", f"?model={result_id(1)}"])
@pytest.mark.parametrize("width", [375, 1280])
def test_no_page_is_wider_than_the_screen(
    stage: Stage, browser: Browser, path: str, width: int, tmp_path: Path
) -> None:
    visitor = browser.new_page(viewport={"width": width, "height": 800})
    visitor.goto(f"{stage.board.url}/{path}")
    visitor.wait_for_selector("h1")
    visitor.wait_for_selector("#lb [data-testid='cell-0-1'], #submit-send, .rx-entry, #about-text h2")
    visitor.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert visitor.evaluate("document.documentElement.scrollWidth") <= width
    visitor.close()


def test_a_phone_has_narrow_margins_and_no_arrow_over_a_choice(stage: Stage, browser: Browser) -> None:
    visitor = browser.new_page(viewport={"width": 375, "height": 800})
    visitor.goto(f"{stage.board.url}/across")
    expect(visitor.locator("#across-protocol input")).not_to_have_value("")
    for start in ("h1", ".nav-holder nav"):
        inset = visitor.locator(start).first.evaluate(
            "e => parseFloat(getComputedStyle(e).paddingLeft) + e.getBoundingClientRect().left"
        )
        assert inset == pytest.approx(15, abs=1), start
    ends = visitor.locator("#across-protocol").evaluate(
        """e => {
          const input = e.querySelector("input"), brush = document.createElement("canvas").getContext("2d");
          brush.font = getComputedStyle(input).font;
          const text = input.getBoundingClientRect().left + brush.measureText(input.value).width;
          return [text, e.querySelector(".dropdown-arrow path").getBoundingClientRect().left];
        }"""
    )
    assert ends[0] < ends[1]
    visitor.close()


def test_the_first_columns_stay_while_the_table_scrolls(stage: Stage, browser: Browser) -> None:
    visitor = browser.new_page(viewport={"width": 700, "height": 800})
    visitor.goto(stage.board.url)
    visitor.wait_for_selector("#lb [data-testid='cell-0-1']")
    before = visitor.locator("#lb [data-testid='cell-0-1']").bounding_box()
    visitor.locator("#lb .virtual-table-viewport").evaluate("element => { element.scrollLeft = 200 }")
    moved = visitor.locator("#lb .virtual-table-viewport").evaluate("element => element.scrollLeft")
    assert moved > 100
    assert visitor.locator("#lb [data-testid='cell-0-1']").bounding_box() == before
    visitor.close()


def test_every_request_stays_on_this_machine(stage: Stage, page: Page) -> None:
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    for path, ready in (("", "#lb [data-testid='cell-0-1']"), ("submit", "#submit-send"), ("about", "#about-text h2")):
        page.goto(f"{stage.board.url}/{path}")
        page.wait_for_selector(ready)
    assert len(asked) > 10
    assert not [url for url in asked if not re.match(r"(http://127\.0\.0\.1:\d+/|data:|blob:)", url)]


def test_two_visitors_do_not_see_each_other(stage: Stage, browser: Browser) -> None:
    visitors = [browser.new_context().new_page() for _ in range(2)]
    for visitor in visitors:
        _open(visitor, stage.board)
    visitors[0].locator("#lb-search textarea, #lb-search input").fill("ant")
    _expect_models(visitors[0], ["Ant", "Constant report"])
    _choose(visitors[1], "lb-track", "impression")
    _expect_models(visitors[1], ["Fox"])
    _expect_models(visitors[0], ["Ant", "Constant report"])
    for visitor in visitors:
        visitor.context.close()


def test_programs_may_ask_and_only_for_what_is_offered(stage: Stage) -> None:
    client = Client(stage.board.url, verbose=False)
    rows = client.predict(benchmark="iu-xray", track="findings", protocol="", api_name="/leaderboard")
    assert [row["rank"] for row in rows] == [1, 2, 3, None]
    assert client.predict(result_id=result_id(1), api_name="/result")["scores"][0]["metric"] == "bleu2"
    assert client.predict(result_id="none", api_name="/result") == {}
    status = client.predict(api_name="/status")
    assert status["queue"] == {"pending": 1, "running": 1, "done": 1, "failed": 1, "cancelled": 0}
    offered = client.view_api(return_format="dict", print_info=False)
    assert set(offered["named_endpoints"]) == {"/leaderboard", "/result", "/status"}


def test_a_new_result_appears_by_itself(stage: Stage, page: Page) -> None:
    _open(page, stage.board)
    rows = [*ROWS, board_row(9, "Jay", 1, bleu2=0.9, rouge_l=0.9)]
    publish(stage.hub, "owner", results=tables(rows, SCORES))
    try:
        expect(page.locator("#lb .rx-name", has_text="Jay")).to_be_visible()
    finally:
        publish(stage.hub, "owner", results=tables(ROWS, SCORES))


def test_a_hub_that_goes_away_leaves_the_data_and_the_board_ends_in_order(browser: Browser, tmp_path: Path) -> None:
    with running(tmp_path / "hub") as server:
        accounts.add_user(server.root, "owner")
        hub = connect(server.url, accounts.create_token(server.root, "owner", "write"))
        publish(hub, "owner", results={**tables(ROWS, SCORES), HOST_FILE: HOST.to_bytes()})
        started = running_board(tmp_path / "board", server.url, "owner")
        board = started.__enter__()
        visitor = browser.new_page()
        _open(visitor, board)
    expect(visitor.locator("#lb-fresh .rx-late")).to_contain_text("The Hub cannot be read", timeout=30_000)
    assert _models(visitor)[0] == "Bee"
    board.process.send_signal(signal.SIGTERM)
    assert board.process.wait(30) == 0
    visitor.close()
    started.__exit__(None, None, None)
    with running_board(tmp_path / "board", server.url, "owner") as again:
        fresh = browser.new_page()
        _open(fresh, again)
        expect(fresh.locator("#lb-fresh .rx-late")).to_contain_text("The Hub cannot be read")
        assert _models(fresh)[0] == "Bee"
        fresh.close()
    with running_board(tmp_path / "other", server.url, "owner") as empty:
        fresh = browser.new_page()
        fresh.goto(empty.url)
        expect(fresh.locator("#lb-empty")).to_contain_text("python -m backend serve")
        fresh.close()


def test_a_taken_port_is_one_clear_sentence(stage: Stage, tmp_path: Path) -> None:
    port = stage.board.url.rpartition(":")[2]
    with pytest.raises(AssertionError, match=f"port {port} is taken; set REXRANK_BOARD_PORT"):  # noqa: SIM117
        with running_board(tmp_path, stage.hub.endpoint, "owner", REXRANK_BOARD_PORT=port):
            pass


def test_a_file_goes_from_the_form_to_the_queue(stage: Stage, page: Page, tmp_path: Path) -> None:
    predictions = tmp_path / "preds.csv"
    predictions.write_text("study_id,prediction\nq01,Clear lungs.\n", encoding="utf-8")
    page.goto(f"{stage.board.url}/submit")
    expect(page.locator("#submit-benchmark input")).to_have_value("iu-xray")
    page.locator("#submit-name input, #submit-name textarea").fill("Kiwi 1")
    page.locator("#submit-file input[type=file]").set_input_files(predictions)
    expect(page.locator("#submit-file")).to_contain_text("preds")
    page.locator("#submit-send").click()
    expect(page.locator("#submit-answer [role=status]")).to_contain_text("In the queue", timeout=30_000)
    # By itself the answer goes on to what the queue says.
    expect(page.locator("#submit-answer .rx-entry")).to_contain_text("in line", timeout=15_000)
    page.locator("#submit-answer a").first.click()
    expect(page.locator(".rx-mine .rx-name")).to_have_text("Kiwi 1", timeout=15_000)


def test_a_refused_file_stays_in_the_form_and_no_raw_key_is_shown(stage: Stage, page: Page, tmp_path: Path) -> None:
    notes = tmp_path / "preds.docx"
    notes.write_bytes(b"PK\x03\x04")
    page.goto(f"{stage.board.url}/submit")
    expect(page.locator("#submit-benchmark input")).to_have_value("iu-xray")
    page.evaluate(
        "() => { window.said = []; new MutationObserver(() => window.said.push(document.body.innerText))"
        ".observe(document.body, {subtree: true, childList: true, characterData: true}) }"
    )
    page.locator("#submit-name input, #submit-name textarea").fill("Kiwi 2")
    page.locator("#submit-file input[type=file]").set_input_files(notes)
    expect(page.locator("#submit-file")).to_contain_text("preds")
    page.locator("#submit-send").click()
    expect(page.locator("#submit-answer [role=alert] li")).to_have_count(1, timeout=30_000)
    expect(page.locator("#submit-answer")).to_contain_text(".ndjson")
    expect(page.locator("#submit-file")).to_contain_text("preds")
    expect(page.locator("#submit-send")).to_have_text("Check and submit")
    assert page.locator(".toast-body").count() == 0
    assert page.evaluate("() => window.said.some(text => text.includes('Checking'))")
    assert not page.evaluate("() => window.said.some(text => text.includes('common.'))")
