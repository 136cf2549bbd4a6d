"""A module's page, started as its Space starts it, in a real browser."""

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from module_processes import FOLDERS, LIGHT, ROOT, environment, run
from waiting import free_port, until

from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.registry import metrics
from rexrank.modules.arguments import features_of
from rexrank.modules.widget import TAKE_A_PATH, settings_of

pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")
pytest.importorskip("gradio", reason="the extra 'space' is not installed")
gradio_client = pytest.importorskip("gradio_client")
sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium")
MARK = "ZEBRAFISH"


# Opens the page of every module and presses its button: what it opens with is the module's first worked example.
PAGES = r"""
import json, runpy, sys
from pathlib import Path
from rexrank.modules.widget import build

shown = {}
for folder in map(Path, sys.argv[1:]):
    page = build(folder / f"{folder.name}.py")
    parts = page.input_components
    result = page.fn(*(part.value["data"] if hasattr(part, "headers") else part.value for part in parts))
    case = runpy.run_path(str(folder / "tests.py"))["test_cases"][0]
    shown[folder.name] = {
        "result": {key: result[key] for key in case["result"] if key in result},
        "expected": case["result"],
        "fields": [part.label for part in parts if part.visible],
    }
print(json.dumps(shown))
"""


@pytest.fixture(scope="module")
def page_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and log of the page of ``bleu``, run from a copied folder, offline."""
    folder = tmp_path_factory.mktemp("space")
    shutil.copytree(ROOT / "evaluate_modules" / "bleu", folder / "app")
    port = free_port()
    settings = environment(
        folder / "cache",
        HF_HUB_OFFLINE="1",
        GRADIO_SERVER_PORT=str(port),
        GRADIO_ANALYTICS_ENABLED="False",
        GRADIO_TEMP_DIR=str(folder / "files"),
    )
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "ui/app.py"], cwd=folder / "app", env=settings, stdout=output, stderr=output
        )
    try:
        until(lambda: _listens(port), process=process, told=lambda: log.read_text(errors="replace")[-2000:], pause=0.25)
        yield f"http://127.0.0.1:{port}", log
    finally:
        process.terminate()
        process.wait(timeout=20)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is not installed")
def test_a_visitor_scores_the_examples(page_address: tuple[str, Path]) -> None:
    address, _ = page_address
    hosts: set[str] = set()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 375, "height": 800})
        page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname or "inline"))
        page.goto(address, timeout=30_000)
        page.get_by_role("button", name="Score").click(timeout=30_000)
        page.locator("#result").get_by_text('"bleu2_per_report"', exact=True).wait_for(timeout=30_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        browser.close()
    assert hosts - {"inline"} == {"127.0.0.1"}


def test_refusals_are_one_sentence_and_leave_no_text_in_the_log(page_address: tuple[str, Path]) -> None:
    address, log = page_address
    client = gradio_client.Client(address, verbose=False)

    def score(*rows: list[str], keys: tuple[str, ...] = ("bleu2",), options: str = "") -> dict[str, object]:
        table = {"headers": ["prediction", "reference"], "data": list(rows)}
        return client.predict(table, "published", list(keys), "", options, api_name="/score")

    assert score([f"{MARK} a", f"{MARK} a"], ["", ""])["bleu2_per_report"] == [1.0]
    undefined = score(["", "a b"], ["a b", "a b"], options='{"on_empty_prediction": "undefined"}')
    assert undefined["bleu2_per_report"] == [None, 1.0]
    for rows, keys, options, message in (
        ([["", ""]], ("bleu2",), "", "no items"),
        ([[MARK, MARK]], (), "", "keys: expected some of"),
        ([[MARK, MARK]] * 201, ("bleu2",), "", "at most 200 reports"),
        ([["a", "a"], [MARK, MARK * 3000]], ("bleu2",), "", "row 2: at most 20,000 characters"),
        ([[MARK, MARK]], ("bleu2",), f'{{"stemmer": "{MARK}"}}', 'unknown option "stemmer"; bleu takes'),
        ([[MARK, MARK]], ("bleu2",), f"{MARK} a", "options: this is not JSON"),
        ([[MARK, MARK]], ("bleu2",), f'["{MARK}"]', "options: expected an object of names and values, got list"),
        ([[MARK, MARK]], ("bleu2",), '{"keys": ["bleu2"]}', "options: keys is not set here"),
    ):
        with pytest.raises(gradio_client.exceptions.AppError, match=message) as caught:
            score(*rows, keys=keys, options=options)
        assert MARK not in str(caught.value)
    text = log.read_text(errors="replace")
    assert MARK not in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_every_page_opens_with_an_example_that_it_can_score(tmp_path: Path) -> None:
    settings = environment(tmp_path / "cache", HF_HUB_OFFLINE="1", GRADIO_ANALYTICS_ENABLED="False")
    pages = run(PAGES, [str(FOLDERS / name) for name in LIGHT], tmp_path, settings)
    assert tuple(pages) == LIGHT
    for name, page in pages.items():
        assert page["result"], name
        for key, value in page["result"].items():
            expected = page["expected"][key]
            assert value == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-6)), name
        assert ("Features, as JSON" in page["fields"]) == bool(features_of(metrics()[name]))
    assert pages["bleu"]["fields"] == ["Reports, one a row", "Convention", "Scores", "Options, as JSON"]


def test_no_visitor_names_a_file_of_the_machine() -> None:
    options = [option for metric in metrics().values() for option in metric.options]
    assert {option.name for option in options if re.search(r"\b(path|file)\b", option.values)} == set(TAKE_A_PATH)
    for name in TAKE_A_PATH:
        with pytest.raises(InvalidCall, match=f"options: {name} cannot be a file here; give its content"):
            settings_of("", json.dumps({name: "/etc/passwd"}))
