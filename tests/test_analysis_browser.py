"""The report of analyses as a reader sees it: Debian's chromium, without network, at two widths, in light and dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import rexrank
from rexrank.analysis.blocks import Section, Table
from rexrank.analysis.page import page as html_page
from rexrank.analysis.report import report

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's chromium is not installed"),
]
REFERENCES = {f"s{number}": f"Lungs clear. Nodule {'very ' * (number % 7)}{number} mm." for number in range(30)}
LONG = "A-model-with-a-very-long-name-that-somebody-gave-it-to-see-what-happens-v2.0.1"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One chromium for the module."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of two systems and the published tables."""
    keys = ["bleu2", "rouge_l", "report_words", "reference_words"]
    systems = [
        {study: words.replace("Nodule", "Mass") for study, words in REFERENCES.items()},
        dict.fromkeys(REFERENCES, "Lungs clear."),
    ]
    cards = [rexrank.score(one, REFERENCES, metrics=keys, progress=False) for one in systems]
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_text(report(cards, [LONG, "floor"], baselines=["floor"], snapshot="newest"), encoding="utf-8")
    return page.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_asks_for_nothing(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    # Folded parts count too.
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert asked == [address]
    assert said == []
    page.close()


@pytest.mark.parametrize(("width", "medium"), [(1280, "screen"), (718, "print")])
def test_names_in_the_last_column_wrap_on_a_desk_and_on_paper(browser: Browser, width: int, medium: str) -> None:
    head = ("Score", "MoERad", "Floor", "Difference (95% interval)", "So it is", "Which floor")
    row = ("ROUGE-L (COCO) ↑", "0.271", "0.255", "+0.015 (+0.005 to +0.026)", "better", "constant for ROUGE-L (COCO)")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=medium)
    page.set_content(html_page("Audit", "", [Section("Floors", (Table(head, (row,)),))], ""))
    frame = page.evaluate(
        "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])(document.querySelector('.wide'))"
    )
    assert frame[0] <= frame[1]
    page.close()


def test_words_in_pictures_are_readable_on_a_phone(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(address)
    sizes = page.evaluate(
        """[...document.querySelectorAll('svg')].filter(one => one.getBoundingClientRect().width).flatMap(one => {
             const scale = one.getBoundingClientRect().width / one.viewBox.baseVal.width;
             return [...one.querySelectorAll('text')].map(text => scale * parseFloat(getComputedStyle(text).fontSize));
           })"""
    )
    assert sizes
    assert min(sizes) > 8
    page.close()


def test_no_word_of_a_picture_leaves_it(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    outside = page.evaluate(
        """[...document.querySelectorAll('svg')].flatMap(one => {
             const frame = one.getBoundingClientRect();
             return [...one.querySelectorAll('text')].filter(text => {
               const place = text.getBoundingClientRect();
               return place.left < frame.left - 2 || place.right > frame.right + 2 ||
                 place.top < frame.top - 2 || place.bottom > frame.bottom + 2;
             }).map(text => text.textContent);
           })"""
    )
    assert outside == []
    page.close()


def test_a_dark_page_has_light_words_in_its_pictures(browser: Browser, address: str) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(address)
        colours[scheme] = page.evaluate(
            """[getComputedStyle(document.body).backgroundColor,
                getComputedStyle(document.querySelector('svg text')).fill]"""
        )
        context.close()
    assert colours["light"] == ["rgb(255, 255, 255)", "rgb(78, 98, 106)"]
    assert colours["dark"] == ["rgb(14, 21, 24)", "rgb(159, 177, 184)"]
