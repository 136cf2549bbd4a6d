"""What orders of systems say: the key findings on ReXrank's published tables come out, and the laws hold."""

import numpy as np
import pytest
from scipy import stats

from rexrank.analysis import published
from rexrank.analysis.blocks import Paragraph, Picture, Table
from rexrank.analysis.systems import SystemTable, metric_agreement, ranks, robustness
from rexrank.analysis.tracks import tracks_of_systems
from rexrank.published.checks import flags
from rexrank.published.record import rows

# shared/specs/rexrank.md 11, computed there from ReXrank's tables of August 2026: findings, 31 models.
METRICS = ("bleu2", "bertscore", "sembscore", "radgraph_combined", "ratescore", "green", "crimson")
WITH_RADCLIQ = {
    "iu-xray": (0.93, 0.94, 0.88, 0.95, 0.92, 0.37, 0.38),
    "rexgradient": (0.94, 0.94, 0.91, 0.94, 0.93, 0.53, 0.46),
    "mimic-cxr": (0.94, 0.98, 0.96, 0.97, 0.84, 0.96, 0.86),
    "chexpert-plus": (0.89, 0.95, 0.93, 0.98, 0.88, 0.87, 0.84),
}
BETWEEN = {
    ("iu-xray", "rexgradient"): 0.89,
    ("mimic-cxr", "chexpert-plus"): 0.90,
    ("iu-xray", "mimic-cxr"): 0.55,
    ("iu-xray", "chexpert-plus"): 0.57,
    ("rexgradient", "mimic-cxr"): 0.64,
    ("rexgradient", "chexpert-plus"): 0.66,
}
MEANS = {
    "iu-xray": {"inv_radcliq_v1": (1.389, 0.747), "green": (0.596, 0.150), "crimson": (0.541, 0.239)},
    "rexgradient": {"inv_radcliq_v1": (0.966, 0.337), "bleu2": (0.186, 0.065)},
    "mimic-cxr": {"inv_radcliq_v1": (0.819, 0.222), "crimson": (0.066, 0.129)},
    "chexpert-plus": {"inv_radcliq_v1": (0.734, 0.172), "bertscore": (0.306, 0.072)},
}


@pytest.fixture(scope="module")
def record() -> dict[str, SystemTable]:
    """The newest published tables of findings, by benchmark."""
    return {table.label: table for table in published.tables("findings")}


def table(label: str, values: dict[str, float], direction: str = "higher") -> SystemTable:
    column = np.array(list(values.values()))[:, None]
    return SystemTable(label, tuple(values), ("bleu2",), ("BLEU-2",), (direction,), column)  # type: ignore[arg-type]


@pytest.mark.parametrize("benchmark", WITH_RADCLIQ)
def test_published_metrics_go_with_radcliq_as_the_specification_says(
    record: dict[str, SystemTable], benchmark: str
) -> None:
    found = record[benchmark]
    assert len(found.names) == 31
    assert found.keys[0] == "inv_radcliq_v1"
    row = metric_agreement(found)[0]
    # Printed to two decimals; .5 in the third may have been rounded either way.
    for key, expected in zip(METRICS, WITH_RADCLIQ[benchmark], strict=True):
        assert row[found.keys.index(key)] == pytest.approx(expected, abs=0.0051)


def test_green_and_crimson_disagree_on_the_two_mostly_normal_benchmarks(record: dict[str, SystemTable]) -> None:
    expected = {"iu-xray": 0.29, "rexgradient": 0.45, "mimic-cxr": 0.87, "chexpert-plus": 0.83}
    for benchmark, value in expected.items():
        keys = record[benchmark].keys
        found = metric_agreement(record[benchmark])[keys.index("green")][keys.index("crimson")]
        assert found == pytest.approx(value, abs=0.0051)


def test_published_orders_fall_into_two_clusters(record: dict[str, SystemTable]) -> None:
    found = robustness(list(record.values()), "inv_radcliq_v1")
    for (left, right), value in BETWEEN.items():
        place, other = found.benchmarks.index(left), found.benchmarks.index(right)
        assert found.agreement[place][other] == pytest.approx(value, abs=0.0051)
        assert found.agreement[other][place] == found.agreement[place][other]


def test_published_ranks_shift_as_the_specification_says(record: dict[str, SystemTable]) -> None:
    order = ["iu-xray", "rexgradient", "mimic-cxr", "chexpert-plus"]
    found = {one.name: one for one in robustness([record[name] for name in order], "inv_radcliq_v1").spreads}
    assert len(found) == 31
    assert found["MoERad-IU"].ranks == (4, 7, 26, 24)
    assert found["VLCI-IU"].ranks == (10, 13, 28, 29)
    assert found["MoERad-IU"].way == 22
    best = sorted(found.values(), key=lambda one: one.mean)[:3]
    assert [(one.name, one.mean) for one in best] == [
        ("UniRG-CXR", 1.75),
        ("Deepwise-RG", 2.0),
        ("zzy-RGv2-2b", 2.5),
    ]


@pytest.mark.parametrize("benchmark", MEANS)
def test_published_means_and_deviations(record: dict[str, SystemTable], benchmark: str) -> None:
    found = record[benchmark]
    for key, (mean, deviation) in MEANS[benchmark].items():
        values = found.values[:, found.keys.index(key)]
        assert np.nanmean(values) == pytest.approx(mean, abs=0.00051)
        assert np.nanstd(values, ddof=1) == pytest.approx(deviation, abs=0.00051)


def test_odd_rows_are_counted_and_taken_as_printed() -> None:

    for track in ("findings", "report"):
        odd = sum(bool(found) for found in flags(rows(track=track, snapshot="newest")))
        said = [block.text for block in published.sections(track)[0].blocks if isinstance(block, Paragraph)]
        assert any(text.startswith(f"{odd} of these ") for text in said) == (odd > 0)


def test_models_have_one_spelling_in_all_tables() -> None:
    names = {name for found in published.tables("report") for name in found.names}
    assert not {name for name in names if "_" in name}


def test_agreement_is_scipys_spearman_of_values_turned_to_higher_is_better() -> None:
    values = np.random.default_rng(3).normal(size=(12, 2)).round(1)
    found = SystemTable("a", tuple("abcdefghijkl"), ("x", "y"), ("X", "Y"), ("higher", "lower"), values)
    expected = stats.spearmanr(values[:, 0], -values[:, 1]).statistic
    assert metric_agreement(found)[0][1] == pytest.approx(expected, abs=1e-12)
    assert metric_agreement(found)[1][1] == pytest.approx(1.0)


def test_agreement_asks_for_orders_alone() -> None:
    values = np.random.default_rng(4).normal(size=(9, 3))
    plain = SystemTable("a", tuple("abcdefghi"), ("x", "y", "z"), ("X", "Y", "Z"), ("higher",) * 3, values)
    bent = SystemTable("a", plain.names, plain.keys, plain.labels, plain.directions, np.exp(values) * [1, 7, 0.01])
    assert metric_agreement(plain) == metric_agreement(bent)


def test_equal_scores_share_a_rank_and_missing_ones_have_none() -> None:
    assert ranks(np.array([0.2, 0.9, np.nan, 0.2, 0.1])) == [2, 1, None, 2, 4]


def test_only_systems_of_all_benchmarks_are_ranked_and_the_others_are_named() -> None:
    first = table("one", {"ant": 0.1, "bee": 0.2, "cat": 0.3, "dog": 0.4})
    second = table("two", {"cat": 0.1, "bee": 0.2, "ant": 0.3, "elk": 0.9, "dog": np.nan})
    found = robustness([first, second], "bleu2")
    assert {one.name: one.ranks for one in found.spreads} == {"cat": (1, 3), "bee": (2, 2), "ant": (3, 1)}
    assert found.left_out == ("dog", "elk")
    assert found.agreement[0][1] == pytest.approx(-1.0)


def test_where_lower_is_better_the_lowest_is_first() -> None:
    found = robustness([table("one", {"ant": 0.1, "bee": 0.2}, "lower")] * 2, "bleu2")
    assert {one.name: one.ranks for one in found.spreads} == {"ant": (1, 1), "bee": (2, 2)}


def test_tracks_are_compared_on_the_systems_that_both_have() -> None:
    findings = table("one", {"ant": 0.1, "bee": 0.2, "cat": 0.3, "dog": 0.4, "elk": 0.9})
    reports = table("one", {"dog": 0.3, "cat": 0.2, "bee": 0.1, "ant": 0.0})
    (means, picture) = tracks_of_systems([findings], [reports, table("two", {"ant": 1.0})]).blocks
    assert isinstance(means, Table)
    assert means.rows == (("one", "4", "0.250", "0.150"),)
    assert isinstance(picture, Picture)
    assert picture.draw().description == "one: BLEU-2 1.00."


def test_tracks_with_too_few_systems_in_common_are_not_compared() -> None:
    few = table("one", {"ant": 0.1, "bee": 0.2}), table("one", {"ant": 0.3, "bee": 0.1})
    for found in (tracks_of_systems(few[:1], few[1:]), tracks_of_systems([], [])):
        (said,) = found.blocks
        assert isinstance(said, Paragraph)
        assert "it takes 4 systems that stand on both tracks" in said.text


def test_published_tracks_share_nine_models() -> None:
    means = published.between_tracks().blocks[0]
    assert isinstance(means, Table)
    assert [row[:2] for row in means.rows] == [
        (name, "9") for name in ("rexgradient", "mimic-cxr", "iu-xray", "chexpert-plus")
    ]
