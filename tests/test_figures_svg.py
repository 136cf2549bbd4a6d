"""Pictures: what they say in words, that they stand in any page, and that they are refused where there is nothing."""

import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rexrank.figures import (
    Column,
    Figure,
    InvalidFigure,
    Row,
    distributions,
    heatmap,
    intervals,
    rank_shifts,
    scatter,
)
from rexrank.figures.canvas import wrapped
from rexrank.figures.scales import Scale, number

HOSTILE = 'Ant </svg><script>alert(1)</script> $\\frac{1}{2}$ & "Bee" \x00\x1b\u202e'
SPREAD = np.random.default_rng(0).beta(2, 5, 200)
MAKERS: dict[str, Callable[[], Figure]] = {
    "intervals": lambda: intervals(
        [Row(HOSTILE, 0.3, 0.2, 0.4), Row("Floor", 0.1, 0.05, 0.2, True)], "A", "higher", 0.0
    ),
    "distributions": lambda: distributions([Column(HOSTILE, SPREAD), Column("Floor", SPREAD / 2, True)], "B"),
    "heatmap": lambda: heatmap([HOSTILE, "Bee"], [[1.0, -0.25], [-0.25, 1.0]], "C"),
    "heatmap of columns": lambda: heatmap(
        [HOSTILE, "Bee"], [[0.5, None, 0.1], [0.2, 0.3, 1.0]], "C", ["x", "y", "z z"]
    ),
    "rank_shifts": lambda: rank_shifts([HOSTILE, "Bee", "Cat"], {"a": [1, 2, 3], "b": [3, 1, None]}, "D"),
    "scatter": lambda: scatter(np.arange(200), SPREAD, "E", ("words", HOSTILE)),
    "scatter of names": lambda: scatter([1, 2], [2, 1], "F", ("words", "score"), names=[HOSTILE, "Bee"]),
}


def texts(svg: str) -> list[str]:
    return [
        words for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text") if (words := part.text)
    ]


@pytest.mark.parametrize("name", MAKERS)
def test_a_picture_stands_in_any_page(name: str) -> None:
    svg = MAKERS[name]().svg()
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox", "").startswith("0 0 400 ")
    assert "width: 100%" in (root.get("style") or "")
    tags = {part.tag.rpartition("}")[2] for part in root.iter()}
    assert not tags & {"script", "style", "image", "metadata", "foreignObject"}
    addresses = set(re.findall(r"https?://[^\"]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"\d{4}-\d\d-\d\dT", svg)
    assert "\x00" not in svg
    assert "\u202e" not in svg


@pytest.mark.parametrize("name", MAKERS)
def test_a_picture_has_a_name_and_its_content_in_words(name: str) -> None:
    figure = MAKERS[name]()
    root = ElementTree.fromstring(figure.svg())
    named = {part.get("id"): part.text for part in root.iter() if part.get("id")}
    label, described = (root.get("aria-labelledby") or "").split()
    assert root.get("role") == "img"
    assert named[label] == figure.title
    assert named[described] == figure.description != ""


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_picture_gives_the_same_text(name: str) -> None:
    assert MAKERS[name]().svg() == MAKERS[name]().svg()


def test_pictures_of_one_page_share_no_id() -> None:
    found = [re.findall(r' id="([^"]+)"', make().svg()) for make in MAKERS.values()]
    every = [one for ids in found for one in ids]
    assert len(every) == len(set(every))


def test_every_reference_inside_a_picture_has_its_target() -> None:
    svg = MAKERS["scatter"]().svg()
    targets = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert targets
    assert targets <= set(re.findall(r' id="([^"]+)"', svg))


def test_colours_follow_the_page() -> None:
    svg = MAKERS["intervals"]().svg()
    assert "var(--rx-accent, #0f766e)" in svg
    assert not re.search(r": #(14262b|0f766e|7b8b92|4e626a|d7e0e3)", svg)


def test_an_interval_is_said_in_words_and_drawn_at_its_place() -> None:
    figure = intervals([Row("Ant", 0.31, 0.29, 0.33), Row("Bee", None)], "BLEU-2", "higher")
    assert figure.description == "Ant: 0.310, interval 0.290 to 0.330; Bee: no value."
    words = texts(figure.svg())
    assert {"Ant", "0.310", "Bee", "–", "further right is better"} <= set(words)


def test_lower_is_better_is_said() -> None:
    assert "further left is better" in texts(intervals([Row("Ant", 1.0)], "RadCliQ", "lower").svg())


def test_a_dollar_is_a_dollar() -> None:
    assert "cost $1$" in texts(intervals([Row("cost $1$", 1.0)], "A").svg())


def test_nan_and_none_have_no_mark_and_no_number() -> None:
    figure = distributions([Column("Ant", SPREAD), Column("Bee", [np.nan, None])], "A")
    assert "Bee: no value" in figure.description
    assert "200 studies" in figure.description
    cells = texts(heatmap(["a", "b"], [[1.0, float("nan")], [None, -0.5]], "B").svg())
    assert cells.count("–") == 2
    assert "−.50" in cells


def test_one_column_of_equal_values_presses_no_hill_flat() -> None:
    def hill(columns: list[Column]) -> float:
        """Height of the last hill in the picture."""
        areas = re.findall(r'<path d="([^"]*)"[^>]*opacity: ?0\.35', distributions(columns, "A").svg())
        heights = [float(y) for _x, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", areas[-1])]
        return max(heights) - min(heights)

    alone = hill([Column("Ant", SPREAD)])
    assert alone > 20
    assert hill([Column("Same", np.full(40, 0.9)), Column("Ant", SPREAD)]) == pytest.approx(alone)


def test_the_longest_ways_of_ranks_are_the_thick_lines() -> None:
    names = [f"m{number}" for number in range(8)]
    places = [float(number) for number in range(1, 9)]
    svg = rank_shifts(names, {"a": places, "b": [8.0, *places[:7]]}, "A").svg()
    assert svg.count("stroke-width: 2.2") == 4
    assert "m0: a 1, b 8" in rank_shifts(names, {"a": places, "b": [8.0, *places[:7]]}, "A").description


def test_equal_ranks_put_no_name_over_another() -> None:
    svg = rank_shifts(["m0", "m1", "m2"], {"a": [1, 1, 3], "b": [1, 2, 3]}, "A").svg()
    heights = re.findall(r'y="([\d.]+)"[^>]*>m\d<', svg)
    assert len(heights) == 3
    assert len(set(heights)) == 3


def test_many_points_are_gathered_to_few_dots() -> None:
    generator = np.random.default_rng(1)
    svg = scatter(generator.normal(size=20_000), generator.normal(size=20_000), "A", ("x", "y")).svg()
    assert len(svg) < 400_000
    assert "20,000 points" in svg


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: intervals([Row("Ant", None)], "BLEU-2"), "BLEU-2: there is no value to draw"),
        (lambda: intervals([], "BLEU-2"), "there is no value"),
        (lambda: distributions([Column("Ant", [])], "A"), "there is no value"),
        (lambda: heatmap(["a"], [[None]], "A"), "there is no value"),
        (lambda: heatmap(["a", "b"], [[1.0]], "A"), "expected 2 rows of 2 numbers"),
        (lambda: heatmap(["a"], [[0.0] * 17], "A", ["x"] * 17), "too many to read; choose at most 16"),
        (lambda: rank_shifts(["a"], {"x": [1]}, "A"), "at least two columns"),
        (lambda: rank_shifts(["a"], {"x": [1], "y": [1, 2]}, "A"), "expected 1 ranks in each column"),
        (lambda: rank_shifts(["a"], {"x": [None], "y": [None]}, "A"), "there is no value"),
        (lambda: scatter([1], [np.nan], "A", ("x", "y")), "there is no value"),
        (lambda: scatter([1, 2], [1], "A", ("x", "y")), "as many values across as upwards"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(make: Callable[[], Figure], said: str) -> None:
    with pytest.raises(InvalidFigure, match=re.escape(said)) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("ending", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_file_has_the_form_of_its_ending_and_equal_bytes(tmp_path: Path, ending: str, start: bytes) -> None:
    figure = intervals([Row("Ant ${x}", 0.3, 0.2, 0.4)], "BLEU-2 – ranks 李", "higher")
    figure.save(tmp_path / f"a{ending}")
    figure.save(tmp_path / f"b{ending}")
    content = (tmp_path / f"a{ending}").read_bytes()
    assert content.startswith(start)
    assert content == (tmp_path / f"b{ending}").read_bytes()
    assert b"var(--" not in content


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFigure, match=r'"a\.gif" is no picture\'s name; end it with \.svg, \.png or \.pdf'):
        intervals([Row("Ant", 0.3)], "A").save(tmp_path / "a.gif")


def test_pictures_leave_the_settings_of_matplotlib_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    intervals([Row("李", 0.3)], "A").svg()
    assert dict(matplotlib.rcParams) == before


def test_a_picture_in_a_page_needs_no_pyplot() -> None:
    code = (
        "import sys; from rexrank.figures import Row, intervals\n"
        "intervals([Row('a', 1.0)], 'A').svg(); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_threads_draw_the_same_as_one() -> None:
    alone = MAKERS["heatmap"]().svg()
    drawn: list[str] = []
    threads = [threading.Thread(target=lambda: drawn.append(MAKERS["heatmap"]().svg())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawn == [alone] * 8


def test_without_matplotlib_one_sentence_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from rexrank.figures import Row, intervals, MissingPlots\n"
        "try: intervals([Row('a', 1.0)], 'A')\n"
        "except MissingPlots as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "pictures need matplotlib; install it with: pip install 'rexrank[plots]'\n"


def test_importing_the_package_imports_no_matplotlib() -> None:
    code = "import sys, rexrank.figures; print('matplotlib' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([0.0, 1.0], (0.0, 0.25, 0.5, 0.75, 1.0)), ([-3.0, 4.0], (-4.0, -2.0, 0.0, 2.0, 4.0)), ([5.0, 5.0], None)],
)
def test_an_axis_has_round_ticks_that_enclose_the_values(values: list[float], ticks: tuple[float, ...] | None) -> None:
    scale = Scale.around(values, 100.0, 300.0)
    assert scale.ticks[0] <= min(values)
    assert max(values) <= scale.ticks[-1]
    assert scale(scale.ticks[0]) == 100.0
    assert scale(scale.ticks[-1]) == 300.0
    if ticks:
        assert scale.ticks == ticks


@pytest.mark.parametrize(
    ("value", "words"), [(0.5, "0.500"), (-0.5, "−0.500"), (-0.0001, "0.000"), (12345.0, "12,345.000")]
)
def test_numbers_have_a_true_minus_and_none_before_zero(value: float, words: str) -> None:
    assert number(value) == words


def test_long_names_are_wrapped_and_cut() -> None:
    lines = wrapped("a very long name of a model that nobody can remember, version 2", 100)
    assert len(lines) == 2
    assert lines[1].endswith("…")
